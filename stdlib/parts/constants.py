"""Tensors of a few elements that are known one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hybridjit.ir.dtype import DType
from hybridjit.stdlib.parts.elements import stored
from hybridjit.stdlib.parts.shapes import fill
from hybridjit.te import const, if_then_else


def constant_vector(name: str, values: Sequence[Any], dtype: DType) -> Any:
    """A tensor of these elements."""
    numbers = [stored(value, dtype) for value in values] or [const(0, dtype)]
    return fill(name, (len(values),), lambda at: chosen(numbers, at[0]))


def constant_matrix(name: str, rows: Sequence[Sequence[Any]], dtype: DType) -> Any:
    """A tensor of these rows, all of one length."""
    width = len(rows[0])
    values = [const(value, dtype) for row in rows for value in row]
    shape = (len(rows), width)
    return fill(name, shape, lambda at: chosen(values, at[0] * width + at[1]))


def chosen(values: Sequence[Any], place: Any, first: int = 0) -> Any:
    """The value at a place, by halves: as many questions as the number of places has bits."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    low, high = chosen(values[:half], place, first), chosen(values[half:], place, first + half)
    return if_then_else(place < first + half, low, high)
