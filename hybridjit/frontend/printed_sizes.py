"""Sizes in the annotations of printed functions: `C: float32["n * 2 + 1"]`."""

from __future__ import annotations

import ast
from collections.abc import Callable

from hybridjit.errors import ParseError, Span
from hybridjit.ir.dtype import INT64, ScalarType
from hybridjit.ir.expr import Cast, Expr, Max, Min
from hybridjit.scalars.comparisons import COMPARE, compare, extremum
from hybridjit.scalars.operators import BINARY, binary, select, unary
from hybridjit.scalars.scalar import Scalar, integer
from hybridjit.syntax import parse_expression

_EXTREMA = {"min": Min, "max": Max}


def read_size(text: str, lookup: Callable[[str], Scalar], span: Span | None) -> Expr:
    """The expression that `text` is; `lookup` says what a name stands for."""
    reader = _Reader(lookup)
    try:
        return reader.scalar(parse_expression(text)).expr
    except (SyntaxError, KeyError):
        raise ParseError(f'cannot read the size "{text}"', span) from None


class _Reader:
    """What the printer writes of expressions over sizes. A KeyError is something else."""

    def __init__(self, lookup: Callable[[str], Scalar]) -> None:
        self.lookup = lookup

    def scalar(self, node: ast.expr) -> Scalar:
        match node:
            case ast.Constant(value=int(value)):
                return integer(value)
            case ast.Name(id=name):
                return self.lookup(name)
            case ast.BinOp(left=left, op=op, right=right):
                return binary(BINARY[type(op)], self.scalar(left), self.scalar(right), None)
            case ast.UnaryOp(op=op, operand=operand):
                return unary(op, self.scalar(operand), None)
            case ast.IfExp(test=test, body=then, orelse=other):
                cond = self.scalar(test).expr
                return select(cond, self.scalar(then), self.scalar(other), None)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return compare(COMPARE[type(op)], self.scalar(left), self.scalar(right), None)
            case ast.Call(func=ast.Name(id=name), args=args):
                return self._call(name, [self.scalar(arg) for arg in args])
            case _:
                raise KeyError(type(node).__name__)

    def _call(self, name: str, args: list[Scalar]) -> Scalar:
        if name == INT64.name:
            return Scalar(Cast(INT64, args[0].expr), ScalarType(INT64))
        first, second = args
        return extremum(_EXTREMA[name], first, second, None)
