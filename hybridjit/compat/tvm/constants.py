"""Numbers with a type, `tir.const(3, "int32")`, and what is known of expressions without a run."""

from __future__ import annotations

from typing import Any

import numpy as np

from hybridjit import te
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Const
from hybridjit.tensors.expression import Expression

_NUMBER: tuple[type[Any], ...] = (bool, int, float, np.generic)


class Constant(Expression):
    """A number of a type, which can be asked for."""

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The number."""
        return self.scalar.constant


def const(value: Any, dtype: Any = None) -> Constant:
    """A number of a type; without one, it takes the type of what it meets."""
    return Constant(te.const(value, dtype).scalar)


def find_number(value: Any) -> Any:
    """The number that `value` is, if that is known before the program runs, else None."""
    if isinstance(value, _NUMBER):
        return np.asarray(value).item()
    if not isinstance(value, Expression):
        return None
    expr = simplify(value.expr)
    return expr.value if isinstance(expr, Const) else None
