"""Index maps: how the indices of a buffer change, as a function or as text.

The text is `i, j -> i // 4, j, i % 4`: names, integers, and the operators + - * // %.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from hybridjit.arith.simplify import simplify
from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import (
    Add,
    Cast,
    Const,
    Expr,
    FloorDiv,
    Max,
    Mod,
    Mul,
    Neg,
    Node,
    Sub,
    Var,
)
from hybridjit.ir.printer import format_expr
from hybridjit.ir.visit import rewrite, substitute
from hybridjit.record import record
from hybridjit.syntax import parse_expression

IndexFunction = (
    Callable[[Expr], Any]
    | Callable[[Expr, Expr], Any]
    | Callable[[Expr, Expr, Expr], Any]
    | Callable[[Expr, Expr, Expr, Expr], Any]
    | Callable[..., Any]
)
"""An index map as a function. It takes any number of indices; the first cases type lambdas."""


@record(eq=False)
class IndexMap:
    """`inputs`, one variable for each old index, and the expression of each new index."""

    inputs: tuple[Var, ...]
    outputs: tuple[Expr, ...]

    def apply(self, indices: Sequence[Expr]) -> tuple[Expr, ...]:
        """The new indices of the element at `indices`."""
        values = dict(zip(self.inputs, indices, strict=True))
        return tuple(simplify(substitute(output, values)) for output in self.outputs)

    def shape_of_image(self, shape: Sequence[Expr]) -> tuple[Expr, ...]:
        """The sizes of the box that holds the new indices of all elements of a box."""
        ranges: Ranges = {
            var: (Const(0), extent) for var, extent in zip(self.inputs, shape, strict=True)
        }
        stops = (_range(output, ranges)[1] for output in self.outputs)
        # A size computed from an empty axis could be negative, unless it is one of the old sizes.
        return tuple(
            stop if stop in shape or _is_size(stop) else _at_least_0(stop) for stop in stops
        )

    def __str__(self) -> str:
        inputs = ", ".join(var.name for var in self.inputs)
        return f"{inputs} -> {', '.join(map(format_expr, self.outputs))}"


Ranges = dict[Var, tuple[Expr, Expr]]


def _range(expr: Expr, ranges: Ranges) -> tuple[Expr, Expr]:
    """Where the values of an affine expression lie: start and stop."""
    match expr:
        case Var():
            return ranges[expr]
        case Add(x, y):
            (low, stop), (other_low, other_stop) = _range(x, ranges), _range(y, ranges)
            return _simplified(low + other_low, stop + other_stop - 1)
        case Sub(x, y):
            (low, stop), (other_low, other_stop) = _range(x, ranges), _range(y, ranges)
            return _simplified(low - other_stop + 1, stop - other_low)
        case Neg(x):
            return _range(x * -1, ranges)
        case Mul(x, Const(int(factor))) | Mul(Const(int(factor)), x):
            low, stop = _range(x, ranges)
            ends = [low * factor, (stop - 1) * factor]
            first, last = ends if factor >= 0 else reversed(ends)
            return _simplified(first, last + 1)
        case FloorDiv(x, Const(int(divisor))):
            low, stop = _range(x, ranges)
            return _simplified(low // divisor, (stop + (divisor - 1)) // divisor)
        case Mod(_, divisor):
            return Const(0), divisor
        case _:
            return _simplified(expr, expr + 1)


def _simplified(low: Expr, stop: Expr) -> tuple[Expr, Expr]:
    return simplify(low), simplify(stop)


def _is_size(stop: Expr) -> bool:
    """Whether `stop` is sure not to be negative when sizes are not."""
    match stop:
        case Const(int(value)):
            return value >= 0
        case Var():
            return True
        case FloorDiv(x, Const()):
            return _is_size(x)
        case Add(x, y):
            return _is_size(x) and _is_size(y)
        case _:
            return False


def _at_least_0(stop: Expr) -> Expr:
    return simplify(Max(stop, Const(0)))


def text_of(index_map: str | IndexFunction) -> str:
    """The text of an index map that is given as a function: what a trace can hold."""
    return index_map if isinstance(index_map, str) else str(_trace(index_map))


def _trace(function: IndexFunction) -> IndexMap:
    """The index map that `function` computes when it is called with variables."""
    if not callable(function):
        raise ScheduleError(f"expected an index map, a function or its text, got {function!r}")
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is not parameter.POSITIONAL_OR_KEYWORD for parameter in parameters):
        raise ScheduleError("an index map takes one argument for each index, each with a name")
    inputs = tuple(Var(parameter.name) for parameter in parameters)
    call: Callable[..., Any] = function
    result = call(*inputs)
    outputs = cast("Sequence[Any]", result) if isinstance(result, tuple | list) else [result]
    return IndexMap(inputs, tuple(map(_lift, outputs)))


def _lift(value: Any) -> Expr:
    match value:
        case Expr():
            return value
        case int():
            return Const(int(value))
        case _:
            raise ScheduleError(f"an index map gave {value!r}, which is no index")


_OPERATORS: dict[type[ast.operator], type[Expr]] = {
    ast.Add: Add,
    ast.Sub: Sub,
    ast.Mult: Mul,
    ast.FloorDiv: FloorDiv,
    ast.Mod: Mod,
}


def parse_index_map(text: str) -> IndexMap:
    """The index map that `text` says."""
    left, arrow, right = text.partition("->")
    names = [name.strip() for name in left.split(",")]
    if not arrow or not all(name.isidentifier() for name in names) or len({*names}) != len(names):
        raise ScheduleError(f"expected an index map such as 'i, j -> j, i', got {text!r}")
    try:
        tree = parse_expression(right.strip())
    except SyntaxError as error:
        raise ScheduleError(f"cannot read the index map {text!r}: {error.msg}") from None
    variables = {name: Var(name) for name in names}
    items = tree.elts if isinstance(tree, ast.Tuple) else [tree]
    outputs = tuple(_expr(item, variables, f"the index map {text!r}") for item in items)
    return IndexMap(tuple(variables.values()), outputs)


def size_text(size: Expr) -> str:
    """What `parse_size` reads as `size`; names are of any type of integers there."""

    def plain(node: Node) -> Expr | None:
        return node.value if isinstance(node, Cast) else None

    return format_expr(rewrite(size, plain))


def parse_size(text: str, variables: Mapping[str, Expr]) -> Expr:
    """The size that `text` says, such as "n // 2", of `variables`."""
    try:
        tree = parse_expression(text)
    except SyntaxError as error:
        raise ScheduleError(f"cannot read the size {text!r}: {error.msg}") from None
    return _expr(tree, variables, f"the size {text!r}")


def _expr(node: ast.expr, variables: Mapping[str, Expr], text: str) -> Expr:
    match node:
        case ast.Name(name) if name in variables:
            return variables[name]
        case ast.Constant(int(value)) if not isinstance(value, bool):
            return Const(value)
        case ast.UnaryOp(ast.USub(), value):
            return simplify(Neg(_expr(value, variables, text)))
        case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
            build: Any = _OPERATORS[type(op)]
            return simplify(build(_expr(left, variables, text), _expr(right, variables, text)))
        case _:
            raise ScheduleError(
                f"cannot read {ast.unparse(node)!r} in {text}",
                help=f"it has integers, + - * // %, and of names {', '.join(variables) or 'none'}",
            )
