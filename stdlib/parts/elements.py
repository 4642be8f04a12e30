"""Arithmetic on single elements, with the rules of NumPy's functions."""

from __future__ import annotations

from typing import Any

from hybridjit.scalars.functions import apply
from hybridjit.scalars.style import Style
from hybridjit.te import Expression
from hybridjit.tensors.expression import as_scalar


def call(name: str, *values: Any) -> Expression:
    """NumPy's function `name` of elements and numbers."""
    return Expression(apply(name, Style.NUMPY, [as_scalar(value) for value in values], None))


def maximum(x: Any, y: Any) -> Expression:
    """The larger one; NaN, if one of them is."""
    return call("maximum", x, y)


def minimum(x: Any, y: Any) -> Expression:
    """The smaller one; NaN, if one of them is."""
    return call("minimum", x, y)
