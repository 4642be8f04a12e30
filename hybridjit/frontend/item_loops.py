"""`for` loops over arrays: their elements or rows, also with enumerate, zip and reversed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hybridjit.arith.ranges import ONE, ZERO, constant, minus, plus, tidy, times
from hybridjit.errors import ShapeMismatch
from hybridjit.frontend.frame import LoopScope
from hybridjit.frontend.loops import LoopTranslator, is_iterator
from hybridjit.frontend.refusals import refusal
from hybridjit.frontend.values import (
    AnyArray,
    ArrayExpr,
    Builtin,
    Foreign,
    Items,
    Place,
    Scalar,
    Value,
    describe,
    index,
)
from hybridjit.ir.expr import Const, Expr, FloorDiv, Load, Max, Min, Sub, Var
from hybridjit.ir.stmt import For, LoopKind
from hybridjit.ir.visit import walk


@dataclass(frozen=True, slots=True)
class Walk:
    """What a loop goes through: how many items there are, and the one at a position.

    With `is_tuple`, the items are of several kinds, and the position must be a constant.
    """

    extent: Expr
    item: Callable[[Expr], Value]
    is_tuple: bool = False


class ItemLoopTranslator(LoopTranslator):
    """A loop whose variable is an element, a row, or several of them."""

    def run_items(self, stmt: ast.For) -> bool:
        """A loop over a tuple is expanded, one over an array runs; whether its end is reached."""
        found = self._walk(stmt.iter)
        if not found.is_tuple:
            self._run_walk(found, stmt)
            return True
        size = constant(found.extent)
        if size is None:
            raise self.refuse(
                "a tuple and an array of a size that is not known now cannot be looped over "
                "together",
                stmt.iter,
                help="loop over const_range(len(...)) and index both",
            )
        self.check_rounds(stmt, size)
        return self.expand(stmt, [found.item(Const(k)) for k in range(size)])

    def _run_walk(self, found: Walk, stmt: ast.For) -> None:
        name = stmt.target.id if isinstance(stmt.target, ast.Name) else "item"
        span = self.span(stmt)
        var = Var(f"{name}_index", span=self.span(stmt.target))
        self.unit.loop_ranges[var] = ZERO, found.extent, ONE
        self.frame.loops.append(LoopScope(LoopKind.SERIAL, "for"))

        def bind() -> None:
            self._bind_item(stmt.target, found.item(var), stmt)

        self.run_counted(
            stmt, [var], bind, lambda body: For(var, ZERO, found.extent, ONE, body, span=span)
        )
        self.frame.loops.pop()

    def _bind_item(self, target: ast.expr, value: Value, stmt: ast.For) -> None:
        """Give a target of the loop its value for this round."""
        match target:
            case ast.Name():
                if isinstance(value, Scalar):
                    value = self.let(value, target.id, self.span(stmt))
                self.frame.fixed[target] = value
                self.assign_name(target, value, stmt)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                for part, item in zip(elts, self._parts(value, target, len(elts)), strict=True):
                    self._bind_item(part, item, stmt)
            case _:
                raise refusal(target, self.span(target))

    def _parts(self, value: Value, target: ast.expr, wanted: int) -> Sequence[Value]:
        """The items that a tuple of targets is given."""
        items: Sequence[Value] = ()
        if isinstance(value, Items):
            items = value.items
        elif isinstance(value, AnyArray) and constant(value.shape[0]) is not None:
            items = self.rows_of(value, target)
        if len(items) != wanted:
            raise self.mismatch(f"cannot unpack {describe(value)} into {wanted} names", target)
        return items

    # -- what can be looped over ---------------------------------------------------------------

    def _walk(self, node: ast.expr) -> Walk:
        if isinstance(node, ast.Call) and not isinstance(node.func, ast.Subscript):
            callee = self.evaluate(node.func)
            if isinstance(callee, Foreign) and is_iterator(callee.value):
                return self._combined(callee.value, node)
            if isinstance(callee, Builtin) and callee.name in ("range", "serial"):
                return self._range(node)
        value = self.evaluate(node)
        if isinstance(value, Items):
            items = value.items
            return Walk(Const(len(items)), lambda at: items[constant(at) or 0], is_tuple=True)
        if isinstance(value, AnyArray):
            return self._rows(value, node)
        raise self.refuse_items(value, node)

    def _combined(self, function: object, node: ast.Call) -> Walk:
        if function is enumerate:
            return self._enumerated(node)
        args, keywords = node.args, [keyword.arg for keyword in node.keywords]
        if keywords and (function is not zip or keywords != ["strict"]):
            raise self.refuse_keyword(ast.unparse(node.func), node.keywords[0])
        if not args:
            raise self.refuse(f"{ast.unparse(node.func)} needs something to loop over", node)
        walks = [self._walk(arg) for arg in args]
        if function is zip:
            is_strict = bool(keywords) and self.scalar(node.keywords[0].value).constant
            return self._zipped(walks, node if is_strict else None)
        first, last = walks[0], minus(walks[0].extent, ONE)
        return Walk(first.extent, lambda at: first.item(minus(last, at)), first.is_tuple)

    def _enumerated(self, node: ast.Call) -> Walk:
        args = self.arguments(node, "iterable", "start", required=1)
        found = self._walk(args["iterable"])
        start = self.fixed_index(self.index(args["start"], "start")) if "start" in args else ZERO

        def item(at: Expr) -> Value:
            return Items((index(plus(at, start)), found.item(at)))

        return Walk(found.extent, item, found.is_tuple)

    def _zipped(self, walks: Sequence[Walk], strict: ast.Call | None) -> Walk:
        """Items side by side, as many as the shortest has; `strict` says that all have as many."""
        extent = walks[0].extent
        for other in walks[1:]:
            if self.ranges.same(extent, other.extent):
                continue
            if strict is not None:
                self._require_length(extent, other.extent, strict)
            extent = tidy(Min(extent, other.extent))

        def item(at: Expr) -> Value:
            return Items(tuple(part.item(at) for part in walks))

        return Walk(extent, item, any(part.is_tuple for part in walks))

    def _require_length(self, extent: Expr, other: Expr, node: ast.Call) -> None:
        if isinstance(extent, Const) and isinstance(other, Const):
            raise ShapeMismatch(
                f"`{ast.unparse(node)}` goes through {extent.value} and {other.value} items",
                self.span(node),
            )
        self.require_size(extent, other, node)

    def _range(self, node: ast.Call) -> Walk:
        start, stop, step = (self.fixed_index(b) for b in self.loop_bounds(node, node.args))
        # ceil((stop - start) / step) by floor division, right for either sign of step
        extent = tidy(Max(Sub(ZERO, FloorDiv(minus(start, stop), step)), ZERO))
        return Walk(extent, lambda at: index(plus(start, times(at, step))))

    def _rows(self, value: AnyArray, node: ast.expr) -> Walk:
        if not value.shape:
            raise self.mismatch("an array without dimensions cannot be looped over", node)
        kept = self._steady(value, node)
        rest = tuple(Place(ZERO, 1, axis) for axis in range(len(value.shape) - 1))

        def item(at: Expr) -> Value:
            row = self.shown(kept, (Place(at), *rest), kept.shape[1:], node)
            return self.element_or_part(row, node)

        return Walk(value.shape[0], item)

    def _steady(self, value: AnyArray, node: ast.expr) -> AnyArray:
        """An array whose items are found again in every round of the loop."""
        if isinstance(value, ArrayExpr):
            if value.mask is None and not self._reads_memory(value):
                return value
            return self.materialize(value, "items", self.span(node))
        if value.buffer in self.unit.rebound:  # the name may get another array meanwhile
            return self.materialize(self.array(value), "items", self.span(node))
        return value

    def _reads_memory(self, value: ArrayExpr) -> bool:
        with self.collect() as stmts:
            found = value.element([Var(f"i{axis}") for axis in range(len(value.shape))]).expr
        return bool(stmts) or any(isinstance(node, Load) for node in walk(found))
