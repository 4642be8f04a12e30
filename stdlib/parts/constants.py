"""Tensors whose elements are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hybridjit.ir.dtype import DType
from hybridjit.stdlib.parts.shapes import fill
from hybridjit.te import const, if_then_else


def constant_vector(name: str, values: Sequence[Any], dtype: DType) -> Any:
    """A tensor of these elements."""
    return fill(name, (len(values),), lambda at: _chosen(values, at[0], dtype))


def constant_matrix(name: str, rows: Sequence[Sequence[Any]], dtype: DType) -> Any:
    """A tensor of these rows, all of one length."""
    width = len(rows[0])
    values = [value for row in rows for value in row]
    shape = (len(rows), width)
    return fill(name, shape, lambda at: _chosen(values, at[0] * width + at[1], dtype))


def _chosen(values: Sequence[Any], place: Any, dtype: DType, first: int = 0) -> Any:
    """The value at a place, by halves: as many questions as the number of places has bits."""
    if len(values) <= 1:
        return const(values[0] if values else 0, dtype)
    half = len(values) // 2
    low = _chosen(values[:half], place, dtype, first)
    high = _chosen(values[half:], place, dtype, first + half)
    return if_then_else(place < first + half, low, high)
