"""A number: what computes it, and its type."""

from __future__ import annotations

from typing import Any

from hybridjit.ir.dtype import WEAK_INT, ScalarType, find_dtype
from hybridjit.ir.expr import Const, Expr, const
from hybridjit.record import record
from hybridjit.scalars.kinds import is_numpy_scalar, is_python_number, weak_type


@record
class Scalar:
    """A number: its expression, and the type that says how it meets other numbers."""

    expr: Expr
    type: ScalarType

    @property
    def constant(self) -> Any:
        """The value when it is known now, else None."""
        return self.expr.value if isinstance(self.expr, Const) else None


def integer(value: int) -> Scalar:
    """The Python int `value`."""
    return Scalar(Const(value), WEAK_INT)


def index(expr: Expr) -> Scalar:
    """An int64 expression that behaves as a Python int: a loop variable, a dimension."""
    return Scalar(expr, WEAK_INT)


def lift_number(value: object) -> Scalar | None:
    """A number of Python or NumPy; None for anything else."""
    if is_python_number(value):
        type = weak_type(value)
        return Scalar(Const(value, type.dtype), type)
    dtype = find_dtype(value.dtype) if is_numpy_scalar(value) else None
    return None if dtype is None else Scalar(const(value, dtype), ScalarType(dtype))
