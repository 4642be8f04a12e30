"""`for` loops that run: serial ones, parallel ones, grids ..."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, cast

from hybridjit.frontend.arrays.refusals import count
from hybridjit.frontend.builtin_calls import LOOP_NAMES
from hybridjit.frontend.comparisons import compare
from hybridjit.frontend.expansion import LOOP_HELP, ExpansionTranslator
from hybridjit.frontend.frame import LoopScope, Variable
from hybridjit.frontend.operators import binary, conjunction
from hybridjit.frontend.statements import ELSE_HELP
from hybridjit.frontend.suggest import did_you_mean
from hybridjit.frontend.values import (
    Builtin,
    Foreign,
    Items,
    Scalar,
    Text,
    Value,
    describe,
    index,
    integer,
)
from hybridjit.ir.dtype import BOOL, WEAK_INT
from hybridjit.ir.expr import Add, And, Const, Expr, Gt, Load, Mul, Sub, Var
from hybridjit.ir.stmt import THREADS, Annotations, For, If, LoopKind, Stmt
from hybridjit.ir.visit import walk

# Deeper nests are a slip; the passes recurse over them.
MAX_LOOP_DEPTH = 16
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


class LoopTranslator(ExpansionTranslator):
    """Loops that run; the others are handed on."""

    def run_for(self, stmt: ast.For) -> bool:
        if stmt.orelse:
            raise self.refuse("for ... else is not supported", stmt.orelse[0], help=ELSE_HELP)
        depth = sum(1 for loop in self.frame.loops if not loop.is_expanded)
        if depth >= MAX_LOOP_DEPTH:
            raise self.refuse(
                f"loops are nested more than {MAX_LOOP_DEPTH} deep",
                stmt,
                help="loop over a product of extents in one loop, and find the indices "
                "with // and %",
            )
        name = self._loop_name(stmt.iter)
        if name is None:
            return self.run_items(stmt)
        if name == "const_range":
            return self.expand_range(stmt, stmt.iter)
        if name == "grid":
            self._grid(stmt, stmt.iter)
        else:
            self._loop(stmt, name)
        return True

    def run_items(self, stmt: ast.For) -> bool:
        """A loop over the items of a tuple or an array; provided by the layer above."""
        raise NotImplementedError

    def _loop_name(self, node: ast.expr) -> str | None:
        if not isinstance(node, ast.Call):
            return None
        callee = self.evaluate(node.func)
        if isinstance(callee, Builtin) and callee.name in (*LOOP_NAMES, "grid"):
            return callee.name
        if isinstance(callee, Foreign) and not is_iterator(callee.value):
            raise self.refuse(
                f"cannot loop over {ast.unparse(node.func)}(...)", node, help=_loop_help(node)
            )
        return None

    # -- loops at run time ---------------------------------------------------------------------

    def _loop(self, stmt: ast.For, name: str) -> None:
        assert isinstance(stmt.iter, ast.Call)
        if not isinstance(stmt.target, ast.Name):
            several = isinstance(stmt.target, (ast.Tuple, ast.List))
            raise self.refuse(
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
            thread = self._thread(stmt.iter)
            args.pop()
        bounds = self.loop_bounds(stmt.iter, args)
        if self._keeps(stmt.target) is not None:
            bounds = self._frozen_bounds(bounds)
        start, stop, step = bounds
        var = Var(stmt.target.id, span=self.span(stmt.target))
        kind = _KINDS[name]
        self.unit.loop_ranges[var] = start, stop, step
        self.frame.loops.append(LoopScope(kind, name))
        hints, span = self.annotations(stmt.iter), self.span(stmt)

        def make(body: Stmt) -> For:
            return For(var, start, stop, step, body, kind, thread, hints, span=span)

        loop = self._run_counted(stmt, {stmt.target: var}, make)
        self.frame.loops.pop()
        assert isinstance(loop, For)
        self._keep_last_values([stmt.target], [loop])

    def annotations(self, call: ast.Call) -> Annotations:
        """The hints of a schedule in a printed loop or block: `annotations={"name": 1}`."""
        for keyword in call.keywords:
            if keyword.arg == "annotations":
                return self._read_annotations(keyword.value)
        return ()

    def _read_annotations(self, node: ast.expr) -> Annotations:
        try:
            given = ast.literal_eval(node)
        except ValueError:
            given = None
        if isinstance(given, dict):
            items = tuple(cast("dict[Any, Any]", given).items())
            if all(
                isinstance(n, str) and isinstance(v, bool | int | float | str) for n, v in items
            ):
                return items
        raise self.refuse(
            "annotations are names with numbers or strings",
            node,
            help='write them as in annotations={"name": 1}',
        )

    def _thread(self, node: ast.Call) -> str:
        value = self.evaluate(node.args[-1]) if len(node.args) >= 2 else None
        if not isinstance(value, Text):
            raise self.refuse(
                "bind takes an extent and then the name of a thread axis",
                node,
                help='write it as in bind(n, "threadIdx.x")',
            )
        if value.text not in THREADS:
            raise self.refuse(
                f"there is no thread axis {value.text!r}",
                node.args[-1],
                help=did_you_mean(value.text, THREADS) or f"use one of {', '.join(THREADS)}",
            )
        return value.text

    def _run_counted(
        self, stmt: ast.For, variables: dict[ast.Name, Var], make: Callable[[Stmt], Stmt]
    ) -> Stmt:
        def bind() -> None:
            for target, var in variables.items():
                self._bind_target(target, index(var), stmt)

        return self.run_counted(stmt, tuple(variables.values()), bind, make)

    def run_counted(
        self,
        stmt: ast.For,
        variables: Sequence[Var],
        bind: Callable[[], None],
        make: Callable[[Stmt], Stmt],
    ) -> Stmt:
        """A loop that counts `variables`; `bind` gives its targets their values."""
        around = self.unit.open_loops

        def once() -> bool:
            self.unit.open_loops = (*around, *variables)
            self.depth += 1
            bind()
            goes_on = self.run_block(stmt.body)
            self.depth -= 1
            self.unit.open_loops = around
            return goes_on

        ranges = [self.unit.loop_ranges[var] for var in variables]
        return self.run_loop(stmt, once, make, may_not_run=not all(map(_surely_runs, ranges)))

    def _bind_target(self, target: ast.Name, value: Value, stmt: ast.stmt) -> None:
        """Give a loop target its value for this round."""
        self.frame.fixed[target] = value
        web = self.frame.variables.writes[target]
        if not web.is_mutable:
            self.frame.bindings[web] = value
        elif target in self.frame.variables.needs_store:
            self.assign_name(target, value, stmt)

    def _keeps(self, target: ast.Name) -> Variable | None:
        """The variable that gets the last value of a loop target after the loop, if any does."""
        if target in self.frame.variables.needs_store:
            return None
        variable = self.frame.bindings.get(self.frame.variables.writes[target])
        return variable if isinstance(variable, Variable) else None

    def _frozen_bounds(self, bounds: Sequence[Expr]) -> list[Expr]:
        """Bounds that are looked at again after a round, whatever it stored."""
        return [
            self.let(Scalar(bound, WEAK_INT), "bound", bound.span).expr
            if any(isinstance(node, Load) for node in walk(bound))
            else bound
            for bound in bounds
        ]

    def _keep_last_values(self, targets: Sequence[ast.Name], loops: Sequence[For]) -> None:
        """Python's loop variables keep their last value; they get none if there was no round."""
        ran: Expr = Const(True, BOOL)
        for loop in loops:
            is_run = compare(Gt, Scalar(loop.safe_extent, WEAK_INT), integer(0), loop.span).expr
            ran = conjunction(And, ran, is_run, loop.span)
        if isinstance(ran, Const) and not ran.value:
            return
        with self.collect() as stmts:
            for target, loop in zip(targets, loops, strict=True):
                variable = self._keeps(target)
                if variable is not None:
                    self.assign_variable(variable, _last_value(loop), loop.span)
        if isinstance(ran, Const):
            self.body.extend(stmts)
        elif stmts:
            self.emit(If(ran, self.close(stmts), span=loops[0].span))

    def _grid(self, stmt: ast.For, node: ast.expr) -> None:
        assert isinstance(node, ast.Call)
        if node.keywords:
            raise self.refuse_keyword("grid", node.keywords[0])
        extents = self._extents(node)
        names = self._grid_names(stmt.target, extents)
        if len(names) > 1 or self._keeps(names[0]) is not None:
            extents = self._frozen_bounds(extents)
        loop_vars = {name: Var(name.id, span=self.span(name)) for name in names}
        for name, extent in zip(names, extents, strict=True):
            self.unit.loop_ranges[loop_vars[name]] = Const(0), extent, Const(1)
        scopes = [LoopScope(LoopKind.SERIAL, "grid", is_grid=len(names) > 1) for _ in names]
        self.frame.loops.extend(scopes)
        zero, one = Const(0, span=self.span(stmt)), Const(1, span=self.span(stmt))
        loops: list[For] = []

        def make(body: Stmt) -> Stmt:
            for name, extent in zip(reversed(names), reversed(extents), strict=True):
                body = For(loop_vars[name], zero, extent, one, body, span=self.span(stmt))
                loops.append(body)
            return body

        self._run_counted(stmt, loop_vars, make)
        del self.frame.loops[-len(scopes) :]
        self._keep_last_values(names, loops[::-1])

    def _grid_names(self, target: ast.expr, extents: Sequence[Expr]) -> list[ast.Name]:
        targets = [target]
        if isinstance(target, ast.Tuple) and len(target.elts) > 1:
            targets = target.elts
        names = [name for name in targets if isinstance(name, ast.Name)]
        if not extents or len(names) != len(extents):
            raise self.refuse(
                f"grid needs one variable for each extent, found "
                f"{count(len(targets), 'variable')} for {count(len(extents), 'extent')}",
                target,
                help="write it as in `for i, j in grid(n, m):`",
            )
        return names

    def _extents(self, node: ast.Call) -> list[Expr]:
        """The extents of a grid; `*a.shape` stands for all sizes of an array."""
        extents: list[Expr] = []
        for arg in node.args:
            what = "an extent of grid"
            if not isinstance(arg, ast.Starred):
                value = self.evaluate(arg)
                if isinstance(value, Items):
                    raise self.mismatch(
                        f"{what} must be an integer, found {describe(value)}",
                        arg,
                        help=f"spread it out: grid(*{ast.unparse(arg)})",
                    )
                extents.append(self.loop_bound(value, arg, what))
                continue
            value = self.evaluate(arg.value)
            if not isinstance(value, Items):
                raise self.mismatch(
                    f"cannot spread {describe(value)} over the extents of grid",
                    arg,
                    help="spread a shape, as in grid(*a.shape)",
                )
            extents += [self.loop_bound(item, arg.value, what) for item in value.items]
        return extents


def is_iterator(function: object) -> bool:
    """True for the functions of Python that a loop can go through."""
    return function is enumerate or function is zip or function is reversed


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


def _loop_help(node: ast.Call) -> str:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
    args = [ast.unparse(arg) for arg in node.args]
    first = args[0] if args else "n"
    match name:
        case "prange":
            return f"write parallel({', '.join(args)})"
        case "ndindex" | "product":
            is_shape = len(args) == 1 and first.endswith(".shape") and first[0] != "*"
            return f"write grid({'*' * is_shape}{', '.join(args)})"
        case _:
            return LOOP_HELP
