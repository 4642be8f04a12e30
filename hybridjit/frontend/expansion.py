"""`for` loops that are expanded while the script is read, one copy of the body for each value."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from hybridjit.errors import HybridError, ParseError
from hybridjit.frontend.arrays.memory import evaluate_all
from hybridjit.frontend.assignments import assign_name
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.captures import Environment
from hybridjit.frontend.frame import LoopScope, Skip
from hybridjit.frontend.lift import lift
from hybridjit.frontend.statements import MAX_STATEMENTS, refuse_growth
from hybridjit.frontend.values import Array, Builtin, Callee, Items, Text, Value, describe
from hybridjit.ir.expr import Const, Expr
from hybridjit.ir.stmt import UNSAFE
from hybridjit.lazy import lazy_module
from hybridjit.scalars.scalar import Scalar, integer
from hybridjit.syntax import nodes_of

if TYPE_CHECKING:
    from hybridjit.frontend import call_arguments, expansion_size
else:
    call_arguments = lazy_module("hybridjit.frontend.call_arguments")  # for errors
    expansion_size = lazy_module("hybridjit.frontend.expansion_size")


# A longer expansion is a slip: every iteration is a copy of the body.
MAX_EXPANDED = 1024
# Loops whose iterations need a proof that they may run side by side, or somebody's word for it.
MAY_BE_UNSAFE = ("parallel", "prange")
LOOP_NAMES = (
    *("range", "serial", "parallel", "vectorize", "unroll", "const_range", "scan", "bind"),
    "prange",  # Numba's name for `parallel`
)
LOOP_HELP = f"loop over one of {', '.join(LOOP_NAMES[:-1])} or grid"


def loop_bounds(build: Builder, node: ast.Call, args: Sequence[ast.expr]) -> Sequence[Expr]:
    """Start, stop and step of the loop that is written `node`."""
    label = ast.unparse(node.func)
    for keyword in node.keywords:
        is_unsafe = keyword.arg == UNSAFE and label.rpartition(".")[2] in MAY_BE_UNSAFE
        if (keyword.arg != "annotations" or label == "range") and not is_unsafe:
            raise call_arguments.refuse_keyword(build, label, keyword)
    if not 1 <= len(args) <= 3:
        raise build.refuse(
            f"{label} takes 1 to 3 arguments, found {len(args)}",
            node,
            help=f"write {label}(stop), {label}(start, stop) or {label}(start, stop, step)",
        )
    bounds = [
        loop_bound(build, value, arg, f"a bound of {label}")
        for value, arg in zip(evaluate_all(build, args), args, strict=True)
    ]
    zero, one = Const(0, span=build.span(node)), Const(1, span=build.span(node))
    match bounds:
        case [stop]:
            return zero, stop, one
        case [start, stop]:
            return start, stop, one
        case [start, stop, step]:
            if isinstance(step, Const) and step.value == 0:
                raise build.refuse(
                    f"the step of {label} must not be zero", args[2], help="use 1 or -1"
                )
            return start, stop, step
        case _:
            raise AssertionError(bounds)


def loop_bound(build: Builder, value: Value, node: ast.expr, what: str) -> Expr:
    """A bound of a loop, an index."""
    if isinstance(value, Array) and not value.indices:
        raise build.mismatch(
            f"{what} must be an integer, found {describe(value)}",
            node,
            help=f"use its length, len({ast.unparse(node)})",
        )
    if isinstance(value, Items):
        raise build.mismatch(
            f"{what} must be an integer, found {describe(value)}",
            node,
            help=f"use one of its items, as in {ast.unparse(node)}[0]",
        )
    return build.as_index(build.as_scalar(value, node, what), node, what)


def expand_range(build: Builder, stmt: ast.For, node: ast.expr) -> bool:
    """A loop over const_range(...); whether its end can be reached."""
    assert isinstance(node, ast.Call)
    bounds = loop_bounds(build, node, node.args)
    constants = [int(b.value.real) for b in bounds if isinstance(b, Const)]
    if len(constants) != 3:
        raise build.refuse(
            "the bounds of const_range must be known when the script is compiled",
            node,
            help="loop over range(...), or make bounds of shapes, constants and integer arguments",
        )
    start, stop, step = constants
    check_rounds(build, stmt, max(0, -((start - stop) // step)))
    return expand(build, stmt, [integer(value) for value in range(start, stop, step)])


def refuse_items(build: Builder, value: Value, node: ast.expr) -> ParseError:
    """The error for a loop over what has no items."""
    return build.refuse(
        f"cannot loop over {describe(value)}", node, help=_item_loop_help(value, node)
    )


def check_rounds(build: Builder, stmt: ast.For, rounds: int) -> None:
    """Refuse a loop that would be copied too often."""
    if rounds > MAX_EXPANDED:
        raise build.refuse(
            f"this loop would be expanded {rounds} times; at most {MAX_EXPANDED}",
            stmt.iter,
            help="loop over range(...) or unroll(...)",
        )


def expand(build: Builder, stmt: ast.For, values: Sequence[Value]) -> bool:
    """One copy of the body for each value."""
    _check_growth(build, stmt, len(values))
    outer = build.unit.copied_at
    build.unit.copied_at = outer or build.span(stmt)
    path = build.frame.path
    goes_on = True
    for round, value in enumerate(values):
        if not goes_on:
            break
        build.frame.path = (*path, (id(stmt), round))
        build.frame.loops.append(LoopScope(None, "const_range", is_expanded=True))
        _bind_expanded(build, stmt.target, value, stmt)
        goes_on = build.run_block(stmt.body)
        build.frame.loops.pop()
    build.frame.path = path
    build.unit.copied_at = outer
    return goes_on


def _check_growth(build: Builder, stmt: ast.For, rounds: int) -> None:
    """Refuse a loop that is sure to become too large; inner ones were counted with it."""
    if expansion_size.may_escape(stmt) or any(scope.is_expanded for scope in build.frame.loops):
        return
    changed = expansion_size.assigned_names([stmt])

    def copies(loop: ast.For) -> int:
        return _find_rounds(build, loop, changed)

    each = expansion_size.least_statements(
        stmt.body, build.frame.environment, copies, partial(_find_inlined, build)
    )
    if build.unit.statements + rounds * each > MAX_STATEMENTS:
        build.unit.statements += rounds * each  # the only error that is worth reporting
        raise refuse_growth(build, stmt)


def _find_rounds(build: Builder, loop: ast.For, changed: set[str]) -> int:
    """How many copies of its body a loop inside another becomes; 0 if that is not known."""
    match loop.iter:
        case ast.Call(ast.Name("const_range"), [bound], []) if not _reads(bound, changed):
            pass
        case _:
            return 0
    try:
        with build.collect():
            value = build.evaluate(bound)
    except (HybridError, Skip):
        return 0
    match value:
        case Scalar(Const(count)):
            return int(count.real)
        case _:
            return 0


def _find_inlined(
    build: Builder, call: ast.Call, environment: Environment
) -> tuple[Sequence[ast.stmt], Environment] | None:
    """The statements of the function that a call copies, if it can be told, and its names."""
    if not isinstance(call.func, ast.Name) or call.func.id in build.frame.variables.names:
        return None
    found = lift(environment.find(call.func.id))
    if not isinstance(found, Callee):
        return None
    try:
        body = build.knowledge.read_callee(found.pyfunc).node.body
    except HybridError:
        return None
    return body, Environment.of(found.pyfunc)


def _bind_expanded(build: Builder, target: ast.expr, value: Value, stmt: ast.For) -> None:
    match target, value:
        case ast.Name(), _:
            build.frame.fixed[target] = value
            assign_name(build, target, value, stmt)
        case ((ast.Tuple(elts=elts) | ast.List(elts=elts)), Items(items)) if len(elts) == len(
            items
        ):
            for part, item in zip(elts, items, strict=True):
                _bind_expanded(build, part, item, stmt)
        case _:
            raise build.mismatch(f"cannot unpack {describe(value)} here", target)


def _reads(expr: ast.expr, names: set[str]) -> bool:
    return any(isinstance(node, ast.Name) and node.id in names for node in nodes_of(expr))


def _item_loop_help(value: Value, node: ast.expr) -> str:
    match value:
        case Scalar():
            return f"write `for i in range({ast.unparse(node)}):`"
        case Builtin(name) if name in LOOP_NAMES:
            return f"give it bounds, as in {name}(n)"
        case Text():
            return "pass its numbers, np.frombuffer(text.encode(), np.uint8), and loop over these"
        case _:
            return LOOP_HELP
