"""`for` loops that run: serial ones, parallel ones, grids ..."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from hybridjit.frontend.assignments import assign_name
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.carried import run_loop
from hybridjit.frontend.expansion import loop_bound, loop_bounds
from hybridjit.frontend.frame import LoopScope, Variable
from hybridjit.frontend.values import Items, Text, Value, describe
from hybridjit.ir.dtype import BOOL, WEAK_INT
from hybridjit.ir.expr import Add, And, Const, Expr, Gt, Load, Mul, Sub, Var
from hybridjit.ir.stmt import THREADS, UNSAFE, Annotations, For, If, LoopKind, Stmt
from hybridjit.ir.visit import walk
from hybridjit.lazy import lazy_module
from hybridjit.scalars.comparisons import compare
from hybridjit.scalars.operators import binary, conjunction
from hybridjit.scalars.scalar import Scalar, index, integer
from hybridjit.scalars.suggest import did_you_mean

if TYPE_CHECKING:
    from hybridjit.frontend import call_arguments
    from hybridjit.frontend.arrays import refusals as array_refusals
else:
    call_arguments = lazy_module("hybridjit.frontend.call_arguments")  # for errors
    array_refusals = lazy_module("hybridjit.frontend.arrays.refusals")


_KINDS = {
    "range": LoopKind.SERIAL,
    "serial": LoopKind.SERIAL,
    "parallel": LoopKind.PARALLEL,
    "prange": LoopKind.PARALLEL,
    "vectorize": LoopKind.VECTORIZED,
    "unroll": LoopKind.UNROLLED,
    "scan": LoopKind.SCAN,
    "bind": LoopKind.BOUND,
}


# loops at run time


def run_range(build: Builder, stmt: ast.For, name: str) -> None:
    assert isinstance(stmt.iter, ast.Call)
    if not isinstance(stmt.target, ast.Name):
        several = isinstance(stmt.target, (ast.Tuple, ast.List))
        raise build.refuse(
            f"a loop over {name}(...) has one variable"
            if several
            else "a loop variable must be a name",
            stmt.target,
            help="for several loops at once write `for i, j in grid(n, m):`"
            if several
            else "write `for i in ...` and store i in the body",
        )
    args, thread = list(stmt.iter.args), None
    if name == "bind":
        thread, args = _thread(build, stmt.iter)
    bounds = loop_bounds(build, stmt.iter, args)
    if _keeps(build, stmt.target) is not None:
        bounds = _frozen_bounds(build, bounds)
    start, stop, step = bounds
    var = Var(stmt.target.id, span=build.span(stmt.target))
    kind = _KINDS[name]
    build.unit.loop_ranges[var] = start, stop, step
    build.frame.loops.append(LoopScope(kind, name))
    hints, span = loop_annotations(build, stmt.iter), build.span(stmt)

    def make(body: Stmt) -> For:
        return For(var, start, stop, step, body, kind, thread, hints, span=span)

    loop = _run_counted(build, stmt, {stmt.target: var}, make)
    build.frame.loops.pop()
    assert isinstance(loop, For)
    _keep_last_values(build, [stmt.target], [loop])


def loop_annotations(build: Builder, call: ast.Call) -> Annotations:
    """Hints of a schedule in a printed loop or block, `annotations={"name": 1}`; and `unsafe`."""
    given: Annotations = ()
    for keyword in call.keywords:
        if keyword.arg == "annotations":
            given += _read_annotations(build, keyword.value)
        elif keyword.arg == UNSAFE and _is_true(build, keyword.value):
            given += ((UNSAFE, True),)
    return given


def _is_true(build: Builder, node: ast.expr) -> bool:
    known = build.scalar(node, "unsafe=").constant
    if not isinstance(known, bool):
        raise build.refuse(
            "unsafe= must be known when the script is compiled", node, help="write unsafe=True"
        )
    return known


def _read_annotations(build: Builder, node: ast.expr) -> Annotations:
    try:
        given = ast.literal_eval(node)
    except ValueError:
        given = None
    if isinstance(given, dict):
        items = tuple(cast("dict[Any, Any]", given).items())
        if all(isinstance(n, str) and isinstance(v, bool | int | float | str) for n, v in items):
            return items
    raise build.refuse(
        "annotations are names with numbers or strings",
        node,
        help='write them as in annotations={"name": 1}',
    )


def _thread(build: Builder, node: ast.Call) -> tuple[str, list[ast.expr]]:
    """The thread axis that a loop is bound to, and its bounds; TVM names the axis first."""
    args = list(node.args)
    if len(args) >= 2 and isinstance(build.evaluate(args[0]), Text):
        args.append(args.pop(0))
    value = build.evaluate(args[-1]) if len(args) >= 2 else None
    if not isinstance(value, Text):
        raise build.refuse(
            "bind takes an extent and then the name of a thread axis",
            node,
            help='write it as in bind(n, "threadIdx.x")',
        )
    if value.text not in THREADS:
        raise build.refuse(
            f"there is no thread axis {value.text!r}",
            args[-1],
            help=did_you_mean(value.text, THREADS) or f"use one of {', '.join(THREADS)}",
        )
    return value.text, args[:-1]


def _run_counted(
    build: Builder, stmt: ast.For, variables: dict[ast.Name, Var], make: Callable[[Stmt], Stmt]
) -> Stmt:
    def bind() -> None:
        for target, var in variables.items():
            _bind_target(build, target, index(var), stmt)

    return run_counted(build, stmt, tuple(variables.values()), bind, make)


def run_counted(
    build: Builder,
    stmt: ast.For,
    variables: Sequence[Var],
    bind: Callable[[], None],
    make: Callable[[Stmt], Stmt],
) -> Stmt:
    """A loop that counts `variables`; `bind` gives its targets their values."""
    around = build.unit.open_loops

    def once() -> bool:
        build.unit.open_loops = (*around, *variables)
        build.depth += 1
        bind()
        goes_on = build.run_block(stmt.body)
        build.depth -= 1
        build.unit.open_loops = around
        return goes_on

    ranges = [build.unit.loop_ranges[var] for var in variables]
    return run_loop(build, stmt, once, make, may_not_run=not all(map(_surely_runs, ranges)))


def _bind_target(build: Builder, target: ast.Name, value: Value, stmt: ast.stmt) -> None:
    """Give a loop target its value for this round."""
    build.frame.fixed[target] = value
    web = build.frame.variables.writes[target]
    if not web.is_mutable:
        build.frame.bindings[web] = value
    elif target in build.frame.variables.needs_store:
        assign_name(build, target, value, stmt)


def _keeps(build: Builder, target: ast.Name) -> Variable | None:
    """The variable that gets the last value of a loop target after the loop, if any does."""
    if target in build.frame.variables.needs_store:
        return None
    variable = build.frame.bindings.get(build.frame.variables.writes[target])
    return variable if isinstance(variable, Variable) else None


def _frozen_bounds(build: Builder, bounds: Sequence[Expr]) -> list[Expr]:
    """Bounds that are looked at again after a round, whatever it stored."""
    return [
        build.let(Scalar(bound, WEAK_INT), "bound", bound.span).expr
        if any(isinstance(node, Load) for node in walk(bound))
        else bound
        for bound in bounds
    ]


def _keep_last_values(build: Builder, targets: Sequence[ast.Name], loops: Sequence[For]) -> None:
    """Python's loop variables keep their last value; they get none if there was no round."""
    ran: Expr = Const(True, BOOL)
    for loop in loops:
        is_run = compare(Gt, Scalar(loop.safe_extent, WEAK_INT), integer(0), loop.span).expr
        ran = conjunction(And, ran, is_run, loop.span)
    if isinstance(ran, Const) and not ran.value:
        return
    with build.collect() as stmts:
        for target, loop in zip(targets, loops, strict=True):
            variable = _keeps(build, target)
            if variable is not None:
                build.assign_variable(variable, _last_value(loop), loop.span)
    if isinstance(ran, Const):
        build.body.extend(stmts)
    elif stmts:
        build.emit(If(ran, build.close(stmts), span=loops[0].span))


def run_grid(build: Builder, stmt: ast.For, node: ast.expr) -> None:
    assert isinstance(node, ast.Call)
    if node.keywords:
        raise call_arguments.refuse_keyword(build, "grid", node.keywords[0])
    extents = _extents(build, node)
    names = _grid_names(build, stmt.target, extents)
    if len(names) > 1 or _keeps(build, names[0]) is not None:
        extents = _frozen_bounds(build, extents)
    loop_vars = {name: Var(name.id, span=build.span(name)) for name in names}
    for name, extent in zip(names, extents, strict=True):
        build.unit.loop_ranges[loop_vars[name]] = Const(0), extent, Const(1)
    scopes = [LoopScope(LoopKind.SERIAL, "grid", is_grid=len(names) > 1) for _ in names]
    build.frame.loops.extend(scopes)
    zero, one = Const(0, span=build.span(stmt)), Const(1, span=build.span(stmt))
    loops: list[For] = []

    def make(body: Stmt) -> Stmt:
        for name, extent in zip(reversed(names), reversed(extents), strict=True):
            body = For(loop_vars[name], zero, extent, one, body, span=build.span(stmt))
            loops.append(body)
        return body

    _run_counted(build, stmt, loop_vars, make)
    del build.frame.loops[-len(scopes) :]
    _keep_last_values(build, names, loops[::-1])


def _grid_names(build: Builder, target: ast.expr, extents: Sequence[Expr]) -> list[ast.Name]:
    targets = [target]
    if isinstance(target, ast.Tuple) and len(target.elts) > 1:
        targets = target.elts
    names = [name for name in targets if isinstance(name, ast.Name)]
    if not extents or len(names) != len(extents):
        raise build.refuse(
            f"grid needs one variable for each extent, found "
            f"{array_refusals.count(len(targets), 'variable')} for "
            f"{array_refusals.count(len(extents), 'extent')}",
            target,
            help="write it as in `for i, j in grid(n, m):`",
        )
    return names


def _extents(build: Builder, node: ast.Call) -> list[Expr]:
    """The extents of a grid; `*a.shape` stands for all sizes of an array."""
    extents: list[Expr] = []
    for arg in node.args:
        what = "an extent of grid"
        if not isinstance(arg, ast.Starred):
            value = build.evaluate(arg)
            if isinstance(value, Items):
                raise build.mismatch(
                    f"{what} must be an integer, found {describe(value)}",
                    arg,
                    help=f"spread it out: grid(*{ast.unparse(arg)})",
                )
            extents.append(loop_bound(build, value, arg, what))
            continue
        value = build.evaluate(arg.value)
        if not isinstance(value, Items):
            raise build.mismatch(
                f"cannot spread {describe(value)} over the extents of grid",
                arg,
                help="spread a shape, as in grid(*a.shape)",
            )
        extents += [loop_bound(build, item, arg.value, what) for item in value.items]
    return extents


_ITERATORS: tuple[object, ...] = (enumerate, zip, reversed, np.ndenumerate, np.ndindex)


def is_iterator(function: object) -> bool:
    """True for the functions of Python that a loop can go through."""
    return any(function is known for known in _ITERATORS)


def _surely_runs(bounds: tuple[Expr, Expr, Expr]) -> bool:
    match bounds:
        case Const(start), Const(stop), Const(step):
            return len(range(int(start.real), int(stop.real), int(step.real) or 1)) > 0
        case _:
            return False


def _last_value(loop: For) -> Scalar:
    """What the variable of a loop that ran holds at its end."""
    span, start = loop.span, Scalar(loop.start, WEAK_INT)
    steps = binary(Sub, Scalar(loop.extent, WEAK_INT), integer(1), span)
    return binary(Add, start, binary(Mul, steps, Scalar(loop.step, WEAK_INT), span), span)
