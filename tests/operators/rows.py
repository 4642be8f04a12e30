"""Rows of the table of operators: how each is called on a tensor, and what NumPy does on an array.

A row has the name of an operator, and a function that is given random choices and the sizes of an
array: it returns a call on tensors and the same on arrays, or None where the sizes do not suit.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from hybridjit import stdlib, te

np: Any = numpy  # whose types say nothing of arrays that may be any
hs: Any = stdlib
Function = Callable[[Any], Any]
AlongAxis = Callable[[Any, int], Any]
Call = tuple[Function, Function]
Draw = Callable[[random.Random, tuple[int, ...]], Call | None]


@dataclass(frozen=True, slots=True)
class Row:
    """An operator. It is `exact` if NumPy computes the same bits, whatever the numbers are, and
    takes only `floats`, or only `integers`, if it says so.
    """

    name: str
    draw: Draw
    exact: bool = True
    floats: bool = False
    integers: bool = False


def plain(name: str, function: Function | None = None, **kind: bool) -> Row:
    """An operator of one array and nothing else."""
    wanted = getattr(np, name) if function is None else function
    return Row(name, lambda choose, sizes: (getattr(hs, name), wanted), **kind)


def rounded(name: str, function: Function | None = None) -> Row:
    """An operator that rounds, held against a formula in float64: in float32 it may cancel."""
    wanted = getattr(np, name) if function is None else function

    def reference(x: Any) -> Any:
        return wanted(x.astype("float64")).astype(x.dtype)

    return plain(name, reference, exact=False, floats=True)


def with_number(name: str, *numbers: Any, **kind: bool) -> Row:
    """An operator of an array and a number, on either side."""
    wanted = getattr(np, name)

    def draw(choose: random.Random, sizes: tuple[int, ...]) -> Call:
        del sizes
        number = choose.choice(numbers)
        return lambda x: getattr(hs, name)(x, number), lambda x: wanted(x, number)

    return Row(name, draw, **kind)


def with_itself(name: str, **kind: bool) -> Row:
    """An operator of two arrays: one, and the same turned around, or its first row."""
    wanted = getattr(np, name)

    def draw(choose: random.Random, sizes: tuple[int, ...]) -> Call:
        if len(sizes) > 1 and choose.random() < 0.5:
            return (
                lambda x: getattr(hs, name)(x, hs.take(x, index_tensor([0]), axis=0)),
                lambda x: wanted(x, x[:1]),
            )
        return lambda x: getattr(hs, name)(x, hs.flip(x)), lambda x: wanted(x, np.flip(x))

    return Row(name, draw, **kind)


def along(name: str, function: AlongAxis | None = None, **kind: bool) -> Row:
    """An operator along an axis."""
    wanted = getattr(np, name) if function is None else function

    def draw(choose: random.Random, sizes: tuple[int, ...]) -> Call:
        axis = choose.randrange(-len(sizes), len(sizes))
        return lambda x: getattr(hs, name)(x, axis=axis), lambda x: wanted(x, axis)

    return Row(name, draw, **kind)


def reduction(name: str, **kind: bool) -> Row:
    wanted = getattr(np, name)

    def draw(choose: random.Random, sizes: tuple[int, ...]) -> Call:
        axis = choose.choice([None, *range(-len(sizes), len(sizes))])
        options = {"axis": axis, "keepdims": choose.random() < 0.5}
        return lambda x: getattr(hs, name)(x, **options), lambda x: wanted(x, **options)

    return Row(name, draw, **kind)


def special(name: str, least: int = 1, **kind: bool) -> Callable[[Draw], Row]:
    """An operator whose draw is written out, for arrays of at least so many dimensions."""

    def make(draw: Draw) -> Row:
        def suits(choose: random.Random, sizes: tuple[int, ...]) -> Call | None:
            return draw(choose, sizes) if len(sizes) >= least else None

        return Row(name, suits, **kind)

    return make


def index_tensor(numbers: Sequence[int]) -> Any:
    """Indices as a tensor."""
    values = list(numbers)
    return hs.const_vector(values, "int64", like=te.placeholder((), "int64"))


def weights(*shape: int) -> tuple[Any, Any]:
    """Small whole numbers: as a tensor, and as an array."""
    strides = [math.prod(shape[axis + 1 :]) * 5 + 3 for axis in range(len(shape))]

    def value(*places: Any) -> Any:
        place: Any = sum(i * s for i, s in zip(places, strides, strict=True))
        return (place % 7 - 3).astype("float32")

    tensor = te.compute(shape, value, name="W")
    found: Any = sum(np.indices(shape)[k] * s for k, s in enumerate(strides))
    return tensor, (found % 7 - 3).astype("float32")
