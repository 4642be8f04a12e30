"""Arithmetic with whole tensors: `A + B` is the tensor of the sums, with NumPy's broadcasting."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from hybridjit.errors import ArgumentValueError
from hybridjit.ir.expr import Binary, Const, Expr
from hybridjit.ir.printer import format_expr
from hybridjit.scalars.operators import binary
from hybridjit.tensors.compute import compute
from hybridjit.tensors.expression import Expression, as_scalar
from hybridjit.tensors.sizes import same_size
from hybridjit.tensors.tensor import Tensor

ONE = Const(1)


def combine(op: type[Binary], lhs: object, rhs: object) -> Any:
    """The tensor whose elements are `lhs op rhs`; either may be a number."""
    shapes = [tuple(x.buffer.shape) if isinstance(x, Tensor) else () for x in (lhs, rhs)]
    shape = _broadcast(*shapes)

    def element(*indices: Any) -> Expression:
        return Expression(binary(op, _at(lhs, indices), _at(rhs, indices), None))

    return compute([Expression(as_scalar(size)) for size in shape], element, op.__name__.lower())


def negate(tensor: Any) -> Any:
    """The tensor of the elements with the other sign."""
    return _each(tensor, operator.neg, "negative")


def convert(tensor: Any, dtype: object) -> Any:
    """The tensor of the elements as `dtype`."""
    return _each(tensor, lambda element: element.astype(dtype), "cast")


def _each(tensor: Any, function: Callable[[Any], Any], name: str) -> Any:
    def element(*indices: Any) -> Any:
        return function(tensor(*indices))

    return compute(tensor.shape, element, name)


def _at(operand: object, indices: Sequence[Any]) -> Any:
    if not isinstance(operand, Tensor) or operand.ndim == 0:
        return as_scalar(operand)
    own = indices[len(indices) - operand.ndim :]
    sizes = operand.buffer.shape
    places = [0 if size == ONE else index for index, size in zip(own, sizes, strict=True)]
    return as_scalar(operand(*places))


def _broadcast(left: tuple[Expr, ...], right: tuple[Expr, ...]) -> list[Expr]:
    rank = max(len(left), len(right))
    pairs = zip(_padded(left, rank), _padded(right, rank), strict=True)
    return [_common(a, b) for a, b in pairs]


def _padded(shape: tuple[Expr, ...], rank: int) -> tuple[Expr, ...]:
    return (ONE,) * (rank - len(shape)) + shape


def _common(left: Expr, right: Expr) -> Expr:
    if left == ONE:
        return right
    if right == ONE or same_size(left, right):
        return left
    raise ArgumentValueError(
        f"tensors of sizes {format_expr(left)} and {format_expr(right)} do not broadcast",
        help="sizes are the same, or one of them is 1",
    )
