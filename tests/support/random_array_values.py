"""Random arrays: of every type, with odd values, in every layout, some in each other's memory."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

# Arrays of unknown types have no static types worth the name.
np: Any = numpy

DTYPES = (
    *("float64", "float64", "float32", "float32", "float16", "int64", "int64", "int32", "int16"),
    *("int8", "uint8", "uint8", "uint16", "uint32", "uint64", "bool", "bool"),
    *("complex64", "complex128"),
)
SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 5, 7)
# Up to several vectors and a rest.
LONG_SIZES = (0, 1, 2, 3, 8, 15, 16, 17, 31, 33, 40, 67, 130)
# Sizes that arrays of one program are likely to share, so that they can meet.
_MAX_NDIM = 4
_SPECIAL = (float("nan"), float("inf"), float("-inf"), -0.0)
# How many arrays of integers have values at the ends of their types.
SPECIAL_INTEGERS = 0.5
# Rows, columns and terms of factors: several tiles and a rest, and few results.
_ROWS = (1, 2, 3, 7, 8, 9, 12, 16, 17, 20)
_TERMS = (0, 1, 2, 3, 8, 15, 16, 17, 33, 67)


@dataclass(frozen=True, slots=True)
class ArrayPlan:
    """How to make one argument, the same each time: type, shape, layout and numbers."""

    dtype: str
    shape: tuple[int, ...]
    layout: str
    seed: int
    is_special: bool

    def values(self) -> Any:
        """The elements: small halves for floats, whose sums are exact in any order."""
        generator = np.random.default_rng(self.seed)
        whole = generator.integers(-9, 10, self.shape)
        if self.dtype == "bool":
            return whole > 0
        if self.dtype.startswith(("int", "uint")):
            return self._integers(whole, generator)
        halves = (whole / 2).astype(self.dtype)
        if self.dtype.startswith("complex"):
            return halves + halves.dtype.type(1j) * generator.integers(-3, 4, self.shape)
        if self.is_special and halves.size:
            places = generator.integers(0, halves.size, 2)
            halves.reshape(-1)[places] = generator.choice(_SPECIAL, 2)
        return halves

    def _integers(self, whole: Any, generator: Any) -> Any:
        """Small integers; special arrays have some at the ends of the type, and at its middle."""
        is_unsigned = self.dtype.startswith("uint")
        values = (whole & 127 if is_unsigned else whole).astype(self.dtype)
        if self.is_special and values.size:
            ends = np.iinfo(self.dtype)
            special = np.array([ends.min, ends.max, ends.max - 1, ends.max // 2 + 1], self.dtype)
            places = generator.integers(0, values.size, 2)
            values.reshape(-1)[places] = generator.choice(special, 2)
        return values

    def make(self) -> Any:
        """The array, in its layout."""
        return LAYOUTS[self.layout](self.values())


def _strided(array: Any) -> Any:
    wide = np.zeros((*array.shape, 2), array.dtype)
    wide[..., 1] = array
    return wide[..., 1]


def _reversed(array: Any) -> Any:
    if not array.ndim:
        return array
    return np.ascontiguousarray(array[::-1])[::-1]


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": _strided,
    "reversed": _reversed,
}
NUMBERS: tuple[Any, ...] = (2, 3, -1, 0.5, np.float32(1.5), np.int8(3), np.uint8(2), True)


@dataclass(frozen=True, slots=True)
class Arguments:
    """How to make the arguments of a program, the same each time.

    With `shares`, the array at its second number is a part of the one at its first.
    """

    plans: dict[str, ArrayPlan]
    numbers: dict[str, Any]
    shares: tuple[str, str] | None = None

    def make(self) -> dict[str, Any]:
        """Fresh arguments, by name."""
        made = {name: plan.make() for name, plan in self.plans.items()}
        if self.shares is not None:
            whole, part = self.shares
            made[part] = made[whole][1:] if made[whole].shape[0] > 1 else made[whole]
        return {**made, **self.numbers}


@dataclass(frozen=True, slots=True)
class Style:
    """What arguments are like: their sizes and types, how often one is a part of another, how
    often odd numbers like NaN are among the elements. Arrays have at most `most` elements. Scripts
    that `select` have arrays whose sizes depend on elements; those that `multiply`, matrices whose
    products have a value.
    """

    sizes: tuple[int, ...] = SIZES
    dtypes: tuple[str, ...] = DTYPES
    sharing: float = 0.08
    special: float = 0.2
    most: int = 1 << 20
    selects: bool = False
    multiplies: bool = False


def make_arguments(choose: random.Random, style: Style) -> Arguments:
    """Three arrays that are likely to fit each other, one of indices, and a number."""
    pool = [choose.choice(style.sizes) for _ in range(2)]
    make_plans = _factors if style.multiplies else _plans
    plans = make_plans(choose, pool, style)
    count = tuple(choose.choice((1, 2, 3)) for _ in range(choose.choice((1, 1, 2))))
    plans["k"] = ArrayPlan(choose.choice(("int64", "int32", "uint8")), count, "C", 0, False)
    first = plans["a"].shape
    shares = ("a", "b") if first and choose.random() < style.sharing else None
    return Arguments(plans, {"s": choose.choice(NUMBERS)}, shares)


def _plans(choose: random.Random, pool: list[int], style: Style) -> dict[str, ArrayPlan]:
    return {name: _plan(choose, pool, style) for name in "abc"}


def _factors(choose: random.Random, pool: list[int], style: Style) -> dict[str, ArrayPlan]:
    """Two matrices that can be multiplied, perhaps transposed, and one like their product."""
    del pool
    rows, columns, terms = choose.choice(_ROWS), choose.choice(_ROWS), choose.choice(_TERMS)
    dtype = choose.choice(style.dtypes)
    shapes = {"a": (rows, terms), "b": (terms, columns), "c": (rows, columns)}
    return {
        name: ArrayPlan(
            dtype if choose.random() < 0.9 else choose.choice(style.dtypes),
            shape if choose.random() < 0.6 else shape[::-1],
            choose.choice(("C", *LAYOUTS)),
            choose.randrange(1 << 30),
            is_special=False,
        )
        for name, shape in shapes.items()
    }


def _plan(choose: random.Random, pool: list[int], style: Style) -> ArrayPlan:
    ndim = choose.choice((0, 1, 1, 2, 2, 2, 3, 3, 4))
    shape = tuple(
        1 if choose.random() < 0.15 else choose.choice(pool) for _ in range(min(ndim, _MAX_NDIM))
    )
    while math.prod(shape) > style.most:
        shape = shape[1:]
    layout = choose.choice(("C", "C", "C", *LAYOUTS))
    seed = choose.randrange(1 << 30)
    dtype = choose.choice(style.dtypes)
    special = style.special if dtype.startswith(("float", "complex")) else SPECIAL_INTEGERS
    return ArrayPlan(dtype, shape, layout, seed, choose.random() < special)
