"""Arithmetic on single elements, with the rules of NumPy's functions."""

from __future__ import annotations

from typing import Any

from hybridjit.errors import ArgumentError, TypeMismatch
from hybridjit.ir.dtype import INT64, UINT64, ScalarType
from hybridjit.scalars.conversion import store_value
from hybridjit.scalars.functions import apply
from hybridjit.scalars.scalar import Scalar
from hybridjit.scalars.style import Style
from hybridjit.te import Expression, const
from hybridjit.te import min as least
from hybridjit.tensors.expression import as_scalar


def call(name: str, *values: Any) -> Expression:
    """NumPy's function `name` of elements and numbers."""
    return Expression(apply(name, Style.NUMPY, [as_scalar(value) for value in values], None))


def stored(value: Any, dtype: Any) -> Expression:
    """A number as an element of an array of this type: a Python integer has to fit, as in NumPy.

    What is known only when the code runs is checked there.
    """
    try:
        found = store_value(as_scalar(value), dtype, None)
    except TypeMismatch as error:
        raise ArgumentError(error.message, help="choose a type of elements that holds it") from None
    return Expression(Scalar(found, ScalarType(dtype)))


def as_index(value: Any) -> Any:
    """An integer as an index, of type int64, in which the upper half of uint64 would be negative:
    the largest one in its place is no index of any axis, either.
    """
    if value.dtype is UINT64:
        value = least(value, const(2**63 - 1, UINT64))
    return value.astype(INT64)


def maximum(x: Any, y: Any) -> Expression:
    """The larger one; NaN, if one of them is."""
    return call("maximum", x, y)


def minimum(x: Any, y: Any) -> Expression:
    """The smaller one; NaN, if one of them is."""
    return call("minimum", x, y)
