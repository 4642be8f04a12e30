"""Expressions as hybrid script, with as few parentheses as Python's precedence allows.

No recursion: a formatter returns the pieces of one node, texts and operands, and `format_with`
works through them on a stack, so neither depth nor size of an expression is a concern.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hybridjit.ir import expr as ir
from hybridjit.ir.dtype import BOOL, COMPLEX128, FLOAT64, INT64, DType
from hybridjit.ir.expr import Const, Expr, Node
from hybridjit.ir.printer_names import ATTRIBUTES, Names

# Python's precedence, from the loosest to the tightest.
ANY, OR, AND, NOT, COMPARE, BITOR, BITXOR, BITAND, SHIFT, SUM, PRODUCT, SIGN, POWER, ATOM = range(
    14
)

# More digits than this are never needed to tell two float64 values apart.
_MAX_DIGITS = 17


class Operand(NamedTuple):
    """A subexpression, and how tightly it must bind to go without parentheses.

    `typed` says that the place fixes the type, so that a constant needs no cast.
    """

    expr: Expr
    floor: int = ANY
    typed: bool = False


class Parts(NamedTuple):
    """How tightly an expression binds, and the pieces of its text in order."""

    precedence: int
    pieces: Sequence[str | Operand]


def format_with(names: Names, expr: Expr, *, typed: bool = False) -> str:
    """`expr` as text; `typed` says that the place it stands in fixes its type."""
    return _text([Operand(expr, ANY, typed)], names)


def _text(pieces: Sequence[str | Operand], names: Names) -> str:
    out: list[str] = []
    stack = list(reversed(pieces))
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            out.append(piece)
            continue
        precedence, pieces = _parts(piece, names)
        if precedence < piece.floor:
            pieces = ("(", *pieces, ")")
        stack.extend(reversed(pieces))
    return "".join(out)


def _parts(operand: Operand, names: Names) -> Parts:
    expr = operand.expr
    if isinstance(expr, Const):
        text = format_const(expr, typed=operand.typed)
        return Parts(SIGN if text.startswith("-") else ATOM, (text,))
    formatter = EXPR_FORMATTERS.get(type(expr))
    if formatter is None:  # broken IR is printed too, when the verifier refuses it
        return Parts(ATOM, (f"<{type(expr).__name__}>",))
    return formatter(expr, names)


class _Infix(NamedTuple):
    symbol: str
    precedence: int
    left: int
    right: int


def _left_associative(symbol: str, precedence: int) -> _Infix:
    return _Infix(f" {symbol} ", precedence, precedence, precedence + 1)


def _comparison(symbol: str) -> _Infix:
    return _Infix(f" {symbol} ", COMPARE, COMPARE + 1, COMPARE + 1)  # never a chained one


_INFIX: dict[type[Node], _Infix] = {
    ir.Or: _left_associative("or", OR),
    ir.And: _left_associative("and", AND),
    ir.Eq: _comparison("=="),
    ir.Ne: _comparison("!="),
    ir.Lt: _comparison("<"),
    ir.Le: _comparison("<="),
    ir.Gt: _comparison(">"),
    ir.Ge: _comparison(">="),
    ir.BitOr: _left_associative("|", BITOR),
    ir.BitXor: _left_associative("^", BITXOR),
    ir.BitAnd: _left_associative("&", BITAND),
    ir.ShiftLeft: _left_associative("<<", SHIFT),
    ir.ShiftRight: _left_associative(">>", SHIFT),
    ir.Add: _left_associative("+", SUM),
    ir.Sub: _left_associative("-", SUM),
    ir.Mul: _left_associative("*", PRODUCT),
    ir.Div: _left_associative("/", PRODUCT),
    ir.FloorDiv: _left_associative("//", PRODUCT),
    ir.Mod: _left_associative("%", PRODUCT),
    ir.Pow: _Infix(" ** ", POWER, ATOM, SIGN),  # -x ** -y is -(x ** (-y))
}
_PREFIX: dict[type[Node], tuple[str, int]] = {
    ir.Not: ("not ", NOT),
    ir.Neg: ("-", SIGN),
    ir.Invert: ("~", SIGN),
}
_BINARY_FUNCTIONS: dict[type[Node], str] = {ir.Min: "min", ir.Max: "max"}


def _infix(expr: ir.Binary, names: Names) -> Parts:
    symbol, precedence, left, right = _INFIX[type(expr)]
    lhs, rhs = expr.lhs, expr.rhs
    return Parts(
        precedence,
        (Operand(lhs, left, _is_typed(rhs)), symbol, Operand(rhs, right, _is_typed(lhs))),
    )


def _prefix(expr: ir.Unary, names: Names) -> Parts:
    symbol, precedence = _PREFIX[type(expr)]
    return Parts(precedence, (symbol, Operand(expr.value, precedence)))


def _binary_function(expr: ir.Binary, names: Names) -> Parts:
    return _same_typed(_BINARY_FUNCTIONS[type(expr)], (expr.lhs, expr.rhs))


def _call(expr: ir.Call, names: Names) -> Parts:
    attribute = ATTRIBUTES.get(expr.name)
    if attribute is not None and len(expr.args) == 1:
        return Parts(ATOM, (Operand(expr.args[0], ATOM), attribute))
    if expr.name == "complex" and expr.args[0].dtype is not FLOAT64:
        return _same_typed(expr.dtype.name, expr.args)  # Python's complex(x, y) is complex128
    return _same_typed(expr.name, expr.args)


def _same_typed(function: str, args: Sequence[Expr]) -> Parts:
    typed = any(_is_typed(arg) for arg in args)
    return _application(function, [Operand(arg, typed=typed) for arg in args])


def _is_typed(expr: Expr) -> bool:
    """True when `expr` gives its own type to a literal beside it."""
    return not isinstance(expr, Const)


def _application(function: str, args: Sequence[Operand]) -> Parts:
    return Parts(ATOM, (function, "(", *_separated(args), ")"))


def _separated(operands: Sequence[str | Operand]) -> list[str | Operand]:
    pieces: list[str | Operand] = []
    for operand in operands:
        pieces += (operand, ", ")
    return pieces[:-1]


def _select(expr: ir.Select, names: Names) -> Parts:
    then, otherwise = expr.then, expr.otherwise
    return Parts(
        ATOM,
        (
            "(",
            Operand(then, OR, _is_typed(otherwise)),
            " if ",
            Operand(expr.cond, OR),
            " else ",
            Operand(otherwise, OR, _is_typed(then)),
            ")",
        ),
    )


def _cast(expr: ir.Cast, names: Names) -> Parts:
    flag = f", checked={expr.checked})" if expr.checked or _narrows_int64(expr) else ")"
    return Parts(ATOM, (f"{expr.to.name}(", Operand(expr.value), flag))


def _narrows_int64(expr: ir.Cast) -> bool:
    if not expr.to.is_integer or expr.to is INT64:
        return False
    try:
        return expr.value.dtype is INT64
    except (AttributeError, IndexError, KeyError):  # broken IR is printed too
        return False


def _load(expr: ir.Load, names: Names) -> Parts:
    name = names.text(expr.buffer)
    if expr.buffer.is_register and not expr.indices:
        return Parts(ATOM, (name,))
    return Parts(ATOM, (name, *_index_pieces(expr.indices)))


def index_text(names: Names, indices: Sequence[Expr]) -> str:
    """The subscript that follows a buffer's name; `[()]` without dimensions."""
    return _text(_index_pieces(indices), names)


def _index_pieces(indices: Sequence[Expr]) -> list[str | Operand]:
    if not indices:
        return ["[()]"]
    return ["[", *_separated([Operand(index) for index in indices]), "]"]


def _extern_call(expr: ir.ExternCall, names: Names) -> Parts:
    return _application(names.text(expr.callee), [Operand(arg) for arg in expr.args])


def _bounded(expr: ir.Bounded, names: Names) -> Parts:
    return _application("checked_index", [Operand(expr.index), Operand(expr.extent)])


def _var(expr: ir.Var, names: Names) -> Parts:
    return Parts(ATOM, (names.text(expr),))


def _buffer_ref(expr: ir.BufferRef, names: Names) -> Parts:
    name = names.text(expr.buffer)
    if not expr.starts:
        return Parts(ATOM, (name,))
    starts = [Operand(start) for start in expr.starts]
    extents = ["None" if extent is None else Operand(extent) for extent in expr.extents]
    return Parts(ATOM, (f"part({name}, ", *_tuple(starts), ", ", *_tuple(extents), ")"))


def _tuple(items: Sequence[str | Operand]) -> list[str | Operand]:
    return ["(", *_separated(items), ",)" if len(items) == 1 else ")"]


Formatter = Callable[[Any, Names], Parts]
EXPR_FORMATTERS: dict[type[Node], Formatter] = {
    **dict.fromkeys(_INFIX, _infix),
    **dict.fromkeys(_PREFIX, _prefix),
    **dict.fromkeys(_BINARY_FUNCTIONS, _binary_function),
    ir.Var: _var,
    ir.Select: _select,
    ir.Cast: _cast,
    ir.Load: _load,
    ir.Bounded: _bounded,
    ir.Call: _call,
    ir.BufferRef: _buffer_ref,
    ir.ExternCall: _extern_call,
}


def format_const(const: Const, *, typed: bool) -> str:
    """A constant as text, with a cast where neither it nor its place tells the type."""
    literal = format_literal(const.value, const.of)
    if typed or const.of in (BOOL, INT64, FLOAT64, COMPLEX128):
        return literal
    return f"{const.of.name}({literal})"


def format_literal(value: Any, dtype: DType) -> str:
    """A value of type `dtype` as the literal that means it where the type is known."""
    if dtype.is_float:
        return _format_float(value, dtype)
    if dtype.is_complex:
        part = dtype.component
        return f"complex({_format_float(value.real, part)}, {_format_float(value.imag, part)})"
    return str(value)


def _format_float(value: Any, dtype: DType) -> str:
    if math.isnan(value):
        return "-nan" if math.copysign(1.0, value) < 0 else "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(float(value) if dtype is FLOAT64 else _shortest(float(value), dtype))


def _shortest(value: float, dtype: DType) -> float:
    """The float64 with the fewest digits that rounds to `value` in the narrower type `dtype`."""
    narrow = dtype.numpy.type
    with np.errstate(all="ignore"):
        wanted = narrow(value)
        for digits in range(1, _MAX_DIGITS):
            candidate = float(f"{value:.{digits}g}")
            if narrow(candidate) == wanted:
                return candidate
    return value
