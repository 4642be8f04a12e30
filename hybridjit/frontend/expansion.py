"""`for` loops that are expanded while the script is read, one copy of the body for each value."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FunctionType

from hybridjit.errors import HybridError, ParseError
from hybridjit.frontend.builtin_calls import LOOP_NAMES
from hybridjit.frontend.captures import Environment
from hybridjit.frontend.frame import LoopScope, Skip
from hybridjit.frontend.growth import assigned_names, least_statements, may_escape
from hybridjit.frontend.lift import lift
from hybridjit.frontend.statements import MAX_STATEMENTS, StatementTranslator
from hybridjit.frontend.values import (
    Array,
    Builtin,
    Callee,
    Items,
    Scalar,
    Value,
    describe,
    integer,
)
from hybridjit.ir.expr import Const, Expr
from hybridjit.source import FunctionSource

# A longer expansion is a slip: every iteration is a copy of the body.
MAX_EXPANDED = 1024
LOOP_HELP = f"loop over one of {', '.join(LOOP_NAMES[:-1])} or grid"


class ExpansionTranslator(StatementTranslator):
    """The bounds of loops, and the loops whose values are all known now."""

    def loop_bounds(self, node: ast.Call, args: Sequence[ast.expr]) -> Sequence[Expr]:
        """Start, stop and step of the loop that is written `node`."""
        label = ast.unparse(node.func)
        for keyword in node.keywords:
            if keyword.arg != "annotations" or label == "range":
                raise self.refuse_keyword(label, keyword)
        if not 1 <= len(args) <= 3:
            raise self.refuse(
                f"{label} takes 1 to 3 arguments, found {len(args)}",
                node,
                help=f"write {label}(stop), {label}(start, stop) or {label}(start, stop, step)",
            )
        bounds = [
            self.loop_bound(value, arg, f"a bound of {label}")
            for value, arg in zip(self.evaluate_all(args), args, strict=True)
        ]
        zero, one = Const(0, span=self.span(node)), Const(1, span=self.span(node))
        match bounds:
            case [stop]:
                return zero, stop, one
            case [start, stop]:
                return start, stop, one
            case [start, stop, step]:
                if isinstance(step, Const) and step.value == 0:
                    raise self.refuse(
                        f"the step of {label} must not be zero", args[2], help="use 1 or -1"
                    )
                return start, stop, step
            case _:
                raise AssertionError(bounds)

    def loop_bound(self, value: Value, node: ast.expr, what: str) -> Expr:
        """A bound of a loop, an index."""
        if isinstance(value, Array) and not value.indices:
            raise self.mismatch(
                f"{what} must be an integer, found {describe(value)}",
                node,
                help=f"use its length, len({ast.unparse(node)})",
            )
        if isinstance(value, Items):
            raise self.mismatch(
                f"{what} must be an integer, found {describe(value)}",
                node,
                help=f"use one of its items, as in {ast.unparse(node)}[0]",
            )
        return self.as_index(self.as_scalar(value, node, what), node, what)

    def expand_range(self, stmt: ast.For, node: ast.expr) -> bool:
        """A loop over const_range(...); whether its end can be reached."""
        assert isinstance(node, ast.Call)
        bounds = self.loop_bounds(node, node.args)
        constants = [int(b.value.real) for b in bounds if isinstance(b, Const)]
        if len(constants) != 3:
            raise self.refuse(
                "the bounds of const_range must be known when the script is compiled",
                node,
                help="loop over range(...), or use bounds made of shapes and constants",
            )
        start, stop, step = constants
        self.check_rounds(stmt, max(0, -((start - stop) // step)))
        return self.expand(stmt, [integer(value) for value in range(start, stop, step)])

    def refuse_items(self, value: Value, node: ast.expr) -> ParseError:
        """The error for a loop over what has no items."""
        return self.refuse(
            f"cannot loop over {describe(value)}", node, help=_item_loop_help(value, node)
        )

    def check_rounds(self, stmt: ast.For, rounds: int) -> None:
        """Refuse a loop that would be copied too often."""
        if rounds > MAX_EXPANDED:
            raise self.refuse(
                f"this loop would be expanded {rounds} times; at most {MAX_EXPANDED}",
                stmt.iter,
                help="loop over range(...) or unroll(...)",
            )

    def expand(self, stmt: ast.For, values: Sequence[Value]) -> bool:
        """One copy of the body for each value."""
        self._check_growth(stmt, len(values))
        outer = self.unit.copied_at
        self.unit.copied_at = outer or self.span(stmt)
        path = self.frame.path
        goes_on = True
        for round, value in enumerate(values):
            if not goes_on:
                break
            self.frame.path = (*path, (id(stmt), round))
            self.frame.loops.append(LoopScope(None, "const_range", is_expanded=True))
            self._bind_expanded(stmt.target, value, stmt)
            goes_on = self.run_block(stmt.body)
            self.frame.loops.pop()
        self.frame.path = path
        self.unit.copied_at = outer
        return goes_on

    def _check_growth(self, stmt: ast.For, rounds: int) -> None:
        """Refuse a loop that is sure to become too large; inner ones were counted with it."""
        if may_escape(stmt) or any(scope.is_expanded for scope in self.frame.loops):
            return
        changed = assigned_names([stmt])

        def copies(loop: ast.For) -> int:
            return self._find_rounds(loop, changed)

        each = least_statements(stmt.body, self.frame.environment, copies, self._find_inlined)
        if self.unit.statements + rounds * each > MAX_STATEMENTS:
            self.unit.statements += rounds * each  # the only error that is worth reporting
            raise self.refuse_growth(stmt)

    def _find_rounds(self, loop: ast.For, changed: set[str]) -> int:
        """How many copies of its body a loop inside another becomes; 0 if that is not known."""
        match loop.iter:
            case ast.Call(ast.Name("const_range"), [bound], []) if not _reads(bound, changed):
                pass
            case _:
                return 0
        try:
            with self.collect():
                value = self.evaluate(bound)
        except (HybridError, Skip):
            return 0
        match value:
            case Scalar(Const(count)):
                return int(count.real)
            case _:
                return 0

    def _find_inlined(
        self, call: ast.Call, environment: Environment
    ) -> tuple[Sequence[ast.stmt], Environment] | None:
        """The statements of the function that a call copies, if it can be told, and its names."""
        if not isinstance(call.func, ast.Name) or call.func.id in self.frame.variables.names:
            return None
        found = lift(environment.find(call.func.id))
        if not isinstance(found, Callee):
            return None
        try:
            body = self.read_callee(found.pyfunc).node.body
        except HybridError:
            return None
        return body, Environment.of(found.pyfunc)

    def read_callee(self, pyfunc: FunctionType) -> FunctionSource:
        """The source of a function; the same nodes in every round, for they name variables."""
        raise NotImplementedError

    def _bind_expanded(self, target: ast.expr, value: Value, stmt: ast.For) -> None:
        match target, value:
            case ast.Name(), _:
                self.frame.fixed[target] = value
                self.assign_name(target, value, stmt)
            case ((ast.Tuple(elts=elts) | ast.List(elts=elts)), Items(items)) if len(elts) == len(
                items
            ):
                for part, item in zip(elts, items, strict=True):
                    self._bind_expanded(part, item, stmt)
            case _:
                raise self.mismatch(f"cannot unpack {describe(value)} here", target)


def _reads(expr: ast.expr, names: set[str]) -> bool:
    return any(isinstance(node, ast.Name) and node.id in names for node in ast.walk(expr))


def _item_loop_help(value: Value, node: ast.expr) -> str:
    match value:
        case Scalar():
            return f"write `for i in range({ast.unparse(node)}):`"
        case Builtin(name) if name in LOOP_NAMES:
            return f"give it bounds, as in {name}(n)"
        case _:
            return LOOP_HELP
