"""Arguments of random scripts: records, structured arrays, arrays of others, lists of numbers.

An argument is made anew for each run, the same each time. What plain Python cannot compute with (a
memoryview) is for it the NumPy array in that memory.
"""

from __future__ import annotations

import array
import ctypes
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy

from hybridjit.scalars.contents import arrays_in
from tests.brought.classes import Body, ByDlpack, ByInterface, Column, Model, Pair

np: Any = numpy
# How long vectors are in the calls of a script; matrices have these rows.
SIZES = (3, 0, 1, 8, 17, 33)
COLUMNS = 3
DTYPES = ("float64", "float64", "float32", "int64", "int32")
STRUCTURES = {
    "flat": [("mass", "f8"), ("id", "i4")],
    "mixed": [("mass", "f4"), ("at", "f8", 2), ("id", "i2")],
    "nested": [("id", "i8"), ("to", [("u", "f8"), ("v", "f4")]), ("mass", "f8")],
}
_CODES = {"float64": "d", "float32": "f", "int64": "q", "int32": "i"}
_C_TYPES: dict[str, Any] = {
    "float64": ctypes.c_double,
    "float32": ctypes.c_float,
    "int64": ctypes.c_int64,
    "int32": ctypes.c_int32,
}


def _strided(made: Any) -> Any:
    wide = np.zeros((*made.shape, 2), made.dtype)
    wide[..., 1] = made
    return wide[..., 1]


def _read_only(made: Any) -> Any:
    made.flags.writeable = False
    return made


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C": lambda made: made,
    "F": lambda made: np.asfortranarray(made),
    "strided": _strided,
    "reversed": lambda made: made[::-1].copy()[::-1],
    "read-only": _read_only,
}


def _ctypes_array(made: Any) -> Any:
    kind = _C_TYPES[made.dtype.name]
    for size in reversed(made.shape):
        kind = kind * size
    return kind.from_buffer_copy(made.tobytes())


# Of a NumPy array: an object of somebody else. The first ones have one dimension only.
FOREIGN: dict[str, Callable[[Any], Any]] = {
    "array.array": lambda made: array.array(_CODES[made.dtype.name], made.tobytes()),
    "memoryview": memoryview,
    "ctypes": _ctypes_array,
    "interface": ByInterface,
    "DLPack": ByDlpack,
    "column": Column,
}
_OF_ONE_DIMENSION = 1


def own_array(value: Any) -> Any:
    """The memory of an object of somebody else, as NumPy sees it."""
    return value.data if isinstance(value, (ByDlpack, ByInterface)) else np.asarray(value)


@dataclass(frozen=True, slots=True)
class Plan:
    """How to make an argument: what kind it is, and what it is made of."""

    kind: str
    dtype: str = ""
    ndim: int = 1
    form: str = "C"  # the layout of an array, the class of a record, the kind of a foreign array
    seed: int = 0

    @property
    def name(self) -> str:
        """What it is counted as."""
        return self.kind if self.kind == "numbers" else f"{self.kind}: {self.form}"

    def make(self, size: int) -> Any:
        """The argument, for vectors of a size."""
        return _MAKERS[self.kind](self, size)

    def numbers(self, size: int, dtype: str | None = None, ndim: int | None = None) -> Any:
        """Small halves or integers, whose sums are exact in any order."""
        shape = (size, COLUMNS)[: self.ndim if ndim is None else ndim]
        whole = np.random.default_rng(self.seed).integers(-6, 9, shape)
        dtype = dtype or self.dtype
        return (whole if dtype.startswith("int") else whole / 2).astype(dtype)


def _array(plan: Plan, size: int) -> Any:
    return LAYOUTS[plan.form](plan.numbers(size))


def _foreign(plan: Plan, size: int) -> Any:
    return FOREIGN[plan.form](plan.numbers(size))


def _list(plan: Plan, size: int) -> Any:
    numbers: list[Any] = plan.numbers(size % 5 + 1).tolist()
    return tuple(numbers) if plan.form == "tuple" else numbers


def _record(plan: Plan, size: int) -> Any:
    pair = Pair(plan.numbers(size), 2.5)
    if plan.form == "Pair":
        return pair
    if plan.form == "Body":
        return Body(plan.numbers(size, ndim=2), np.float32(1.5))
    return Model(plan.numbers(size, "float64"), pair)


def _structured(plan: Plan, size: int) -> Any:
    is_aligned = plan.seed % 2 == 0
    made = np.zeros((size, COLUMNS)[: plan.ndim], np.dtype(STRUCTURES[plan.form], align=is_aligned))
    made["id"] = plan.numbers(size, "int64")
    made["mass"] = plan.numbers(size, "float64")
    if plan.form == "mixed":
        made["at"][..., 1] = plan.numbers(size, "float64") + 1
    if plan.form == "nested":
        made["to"]["u"] = plan.numbers(size, "float64") - 1
    return _strided(made) if plan.seed % 3 == 0 else made


def _number(plan: Plan, size: int) -> Any:
    return {"int": size + 2, "float": size / 2 + 0.5, "float32": np.float32(size + 0.5)}[plan.form]


_MAKERS: dict[str, Callable[[Plan, int], Any]] = {
    "array": _array,
    "foreign": _foreign,
    "numbers": _list,
    "record": _record,
    "structured": _structured,
    "number": _number,
}


def draw_plan(choose: random.Random, kind: str) -> Plan:
    """An argument of a kind."""
    dtype, ndim, seed = choose.choice(DTYPES), choose.choice((1, 1, 2)), choose.randrange(1 << 20)
    forms = {
        "array": list(LAYOUTS),
        "foreign": list(FOREIGN)[_OF_ONE_DIMENSION if ndim > 1 else 0 :],
        "numbers": ["list", "list", "tuple"],
        "record": ["Pair", "Body", "Model"],
        "structured": list(STRUCTURES),
        "number": ["int", "float", "float32"],
    }
    ndim = 1 if kind in ("record", "numbers") else ndim
    return Plan(kind, dtype, ndim, choose.choice(forms[kind]), seed)


def as_plain(value: Any) -> Any:
    """The argument as plain Python can compute with it."""
    is_foreign = isinstance(value, (memoryview, array.array, ctypes.Array, ByDlpack, ByInterface))
    return own_array(value) if is_foreign else value


def memory_of(values: list[Any]) -> Iterator[Any]:
    """The arrays that arguments hold; a structured array is one of them."""
    for value in values:
        plain = as_plain(value)
        yield from [plain] if isinstance(plain, np.ndarray) else arrays_in(plain)
