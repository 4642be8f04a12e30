"""Arguments of random array scripts: arrays of every type, with odd values, in every layout, some
in each other's memory.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy

from tests.arrays.style import Style

# Arrays of unknown types have no static types worth the name.
np: Any = numpy

_SPECIAL = (float("nan"), float("inf"), float("-inf"), -0.0)
# How many arrays of integers have values at the ends of their types.
_SPECIAL_INTEGERS = 0.5
NUMBERS: tuple[Any, ...] = (2, 3, -1, 0.5, np.float32(1.5), np.int8(3), np.uint8(2), True)
# Rows, columns and terms of factors: several tiles and a rest, and few results.
_ROWS = (1, 2, 3, 7, 8, 9, 12, 16, 17, 20)
_TERMS = (0, 1, 2, 3, 8, 15, 16, 17, 33, 67)


@dataclass(frozen=True, slots=True)
class ArrayPlan:
    """How to make one argument, the same each time: type, shape, layout and numbers of a span."""

    dtype: str
    shape: tuple[int, ...]
    layout: str = "C"
    seed: int = 0
    is_special: bool = False
    span: tuple[int, int] = (-9, 9)

    def make(self) -> Any:
        """The array, in its layout."""
        return LAYOUTS[self.layout](self._values())

    def _values(self) -> Any:
        """The elements: small halves for floats, whose sums are exact in any order."""
        generator = np.random.default_rng(self.seed)
        whole = generator.integers(self.span[0], self.span[1] + 1, self.shape)
        if self.dtype == "bool":
            return whole > 0
        if self.dtype.startswith(("int", "uint")):
            is_unsigned = self.dtype.startswith("uint")
            values = (whole & 127 if is_unsigned else whole).astype(self.dtype)
            ends = np.iinfo(self.dtype)
            odd = np.array([ends.min, ends.max, ends.max - 1, ends.max // 2 + 1], self.dtype)
        else:
            values, odd = (whole / 2).astype(self.dtype), _SPECIAL
        if self.dtype.startswith("complex"):
            return values + values.dtype.type(1j) * generator.integers(-3, 4, self.shape)
        if self.is_special and values.size:
            places = generator.integers(0, values.size, 2)
            values.reshape(-1)[places] = generator.choice(odd, 2)
        return values


def _strided(array: Any) -> Any:
    wide = np.zeros((*array.shape, 2), array.dtype)
    wide[..., 1] = array
    return wide[..., 1]


def _reversed(array: Any) -> Any:
    return np.ascontiguousarray(array[::-1])[::-1] if array.ndim else array


def _mirrored(array: Any) -> Any:
    return np.ascontiguousarray(array[..., ::-1])[..., ::-1] if array.ndim else array


def _offset(array: Any) -> Any:
    """Neither at the beginning of a line nor of a vector."""
    memory = np.zeros(array.size + 1, array.dtype)[1:]
    memory[:] = array.reshape(-1)
    return memory.reshape(array.shape)


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    **{"C": np.ascontiguousarray, "F": np.asfortranarray, "strided": _strided},
    **{"reversed": _reversed, "mirrored": _mirrored, "offset": _offset},
}


@dataclass(frozen=True, slots=True)
class Arguments:
    """How to make the arguments of a call, the same each time.

    `share` is text that gives some of the names other arrays, in the memory of others.
    """

    plans: Mapping[str, ArrayPlan]
    numbers: Mapping[str, Any] = field(default_factory=dict[str, Any])
    share: str = ""

    def make(self) -> dict[str, Any]:
        """Fresh arguments, by name."""
        made = {name: plan.make() for name, plan in self.plans.items()}
        exec(self.share, {"np": np}, made)
        return {**{name: made[name] for name in self.plans}, **self.numbers}


# What scripts are tried out with while they are written, and then called with, if that is something
# else.
Calls = list[Arguments]


def any_arrays(choose: random.Random, style: Style) -> Calls:
    """Three arrays that are likely to fit each other, one of indices, and a number."""
    pool = [choose.choice(style.sizes) for _ in range(2)]
    return _with_indices(choose, style, {name: _plan(choose, pool, style) for name in "abc"})


def factors(choose: random.Random, style: Style) -> Calls:
    """Two matrices that can be multiplied, perhaps transposed, and one like their product."""
    rows, columns, terms = choose.choice(_ROWS), choose.choice(_ROWS), choose.choice(_TERMS)
    dtype = choose.choice(style.dtypes)
    shapes = {"a": (rows, terms), "b": (terms, columns), "c": (rows, columns)}
    plans = {
        name: ArrayPlan(
            dtype if choose.random() < 0.9 else choose.choice(style.dtypes),
            shape if choose.random() < 0.6 else shape[::-1],
            choose.choice(("C", *LAYOUTS)),
            choose.randrange(1 << 30),
        )
        for name, shape in shapes.items()
    }
    return _with_indices(choose, style, plans)


def alike(choose: random.Random, style: Style) -> Calls:
    """Arrays of one shape and type and one like their rows: whatever is made of them fits."""
    shape = (choose.choice(style.sizes),)
    if choose.random() < style.planes:
        shape = (choose.choice((1, 2, 3, 4, 5, 6)), *shape)
    dtype, layouts = choose.choice(style.dtypes), ("C",) * 12 + tuple(LAYOUTS)
    plans = {
        name: ArrayPlan(dtype, size, choose.choice(layouts), choose.randrange(1 << 30))
        for name, size in (("a", shape), ("b", shape), ("c", shape[-1:]), ("d", shape))
    }
    return [Arguments(plans)]


def _with_indices(choose: random.Random, style: Style, plans: dict[str, ArrayPlan]) -> Calls:
    count = tuple(choose.choice((1, 2, 3)) for _ in range(choose.choice((1, 1, 2))))
    plans["k"] = ArrayPlan(choose.choice(("int64", "int32", "uint8")), count)
    is_shared = plans["a"].shape and choose.random() < style.sharing
    share = "b = a[1:] if len(a) > 1 else a" if is_shared else ""
    return [Arguments(plans, {"s": choose.choice(NUMBERS)}, share)]


def _plan(choose: random.Random, pool: list[int], style: Style) -> ArrayPlan:
    ndim = choose.choice((0, 1, 1, 2, 2, 2, 3, 3, 4))
    shape = tuple(1 if choose.random() < 0.15 else choose.choice(pool) for _ in range(ndim))
    while math.prod(shape) > style.most:
        shape = shape[1:]
    layout = choose.choice(("C", "C", "C", *LAYOUTS))
    seed = choose.randrange(1 << 30)
    dtype = choose.choice(style.dtypes)
    special = style.special if dtype.startswith(("float", "complex")) else _SPECIAL_INTEGERS
    return ArrayPlan(dtype, shape, layout, seed, choose.random() < special)
