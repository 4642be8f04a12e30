"""What integers become where they meet floats: `A[i] / 255.0` of an int8 tensor.

NumPy's answer is the type that holds both, here a float64. Inside `integers_give_way(FLOAT32)` they
become the float that they meet, and a float32 where that is a literal: TVM's answer.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from hybridjit.ir.dtype import BOOL, DType, ScalarType
from hybridjit.scalars.conversion import convert
from hybridjit.scalars.scalar import Scalar

_literals: ContextVar[DType | None] = ContextVar("hybridjit_te_literals", default=None)


@contextmanager
def integers_give_way(literals: DType) -> Generator[None]:
    """Inside, integers become floats of the type they meet; with literals, of type `literals`."""
    token = _literals.set(literals)
    try:
        yield
    finally:
        _literals.reset(token)


def meet(operands: Sequence[Scalar]) -> list[Scalar]:
    """Operands of one operation, with the integers among them converted, if they give way."""
    literals = _literals.get()
    floats = [operand.type for operand in operands if operand.type.dtype.is_float]
    if literals is None or not floats:
        return list(operands)
    typed = [type.dtype for type in floats if not type.weak]
    return [_as_float(operand, (typed or [literals])[0]) for operand in operands]


def _as_float(operand: Scalar, wanted: DType) -> Scalar:
    dtype = operand.type.dtype
    if operand.type.weak or not (dtype.is_integer or dtype is BOOL):
        return operand
    return Scalar(convert(operand, wanted, None), ScalarType(wanted))
