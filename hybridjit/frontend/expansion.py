"""`for` loops that are expanded while the script is read, one copy of the body for each value."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hybridjit.frontend.arrays import loop_over
from hybridjit.frontend.builtin_calls import LOOP_NAMES
from hybridjit.frontend.frame import LoopScope
from hybridjit.frontend.statements import StatementTranslator
from hybridjit.frontend.values import Array, Builtin, Items, Scalar, Value, describe, integer
from hybridjit.ir.expr import Const, Expr

# A longer expansion is a slip: every iteration is a copy of the body.
MAX_EXPANDED = 1024
LOOP_HELP = f"loop over one of {', '.join(LOOP_NAMES)} or grid"


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
        self._check_rounds(stmt, max(0, -((start - stop) // step)))
        return self._expand(stmt, [integer(value) for value in range(start, stop, step)])

    def expand_items(self, stmt: ast.For) -> bool:
        """A loop over a tuple, a list or a shape; whether its end can be reached."""
        value = self.evaluate(stmt.iter)
        if not isinstance(value, Items):
            raise self.refuse(
                f"cannot loop over {describe(value)}",
                stmt.iter,
                help=_item_loop_help(value, stmt.iter),
            )
        self._check_rounds(stmt, len(value.items))
        return self._expand(stmt, value.items)

    def _check_rounds(self, stmt: ast.For, rounds: int) -> None:
        if rounds > MAX_EXPANDED:
            raise self.refuse(
                f"this loop would be expanded {rounds} times; at most {MAX_EXPANDED}",
                stmt.iter,
                help="loop over range(...) or unroll(...)",
            )

    def _expand(self, stmt: ast.For, values: Sequence[Value]) -> bool:
        """One copy of the body for each value."""
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


def _item_loop_help(value: Value, node: ast.expr) -> str:
    match value:
        case Array():
            return loop_over(value)
        case Scalar():
            return f"write `for i in range({ast.unparse(node)}):`"
        case Builtin(name) if name in LOOP_NAMES:
            return f"give it bounds, as in {name}(n)"
        case _:
            return LOOP_HELP
