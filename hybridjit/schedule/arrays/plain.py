"""A program in plain loops, for steps on its array statements: find a place, change what is there.

Steps take the blocks off, rewrite a list of statements, and put the blocks back. Nests that a step
leaves alone are the same objects as before, so that they still count as untouched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hybridjit.analysis.make_blocks import Known
from hybridjit.ir.expr import Buffer, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import (
    Allocate,
    Block,
    For,
    If,
    LoopKind,
    Seq,
    Stmt,
    Store,
    While,
    flat_stmts,
    seq,
)
from hybridjit.ir.visit import StmtMutator, children, walk_stmts
from hybridjit.record import record
from hybridjit.schedule.arrays.fusion import Fusion
from hybridjit.schedule.arrays.marks import Marks, read_marks
from hybridjit.schedule.program import the_block

_THREADS = (LoopKind.PARALLEL, LoopKind.BOUND)


@record(eq=False)
class Plain:
    """`func` without blocks, and what they say of it."""

    func: PrimFunc
    marks: Marks
    fusion: Fusion

    @staticmethod
    def of(func: PrimFunc) -> Plain:
        """`func` with its automatic blocks taken off."""
        marks = read_marks(func)
        fusion = Fusion.of(func, marks.body, marks.loops)
        fusion.loops = set(marks.loops) - _around_threads(marks.body)
        fusion.reassociable = set(marks.reassociable)
        fusion.products = set(marks.stored_once)
        return Plain(func, marks, fusion)

    def find_loop(self, var: Var) -> For | None:
        """The loop over `var`, if it is one over the elements of arrays."""
        loops = (stmt for stmt in walk_stmts(self.marks.body) if isinstance(stmt, For))
        found = next((loop for loop in loops if loop.var is var), None)
        return found if found is not None and self.fusion.is_nest(found) else None

    def find_allocation(self, buffer: Buffer) -> Allocate | None:
        """Where an array is made that is not the caller's."""
        made = (stmt for stmt in walk_stmts(self.marks.body) if isinstance(stmt, Allocate))
        return next((stmt for stmt in made if stmt.buffer is buffer), None)

    def find_nest(self, block_name: str) -> For | None:
        """The outermost loop over elements around a block."""
        block = the_block(self.func, block_name)
        store = next((s for s, origin in self.marks.origins.items() if origin is block), None)
        way = [] if store is None else _way_to(self.marks.body, store)
        return next((s for s in way if isinstance(s, For) and self.fusion.is_nest(s)), None)

    def list_with(self, place: Stmt) -> list[Stmt]:
        """The list of statements that `place` stands in."""
        way = _way_to(self.marks.body, place)
        around = [stmt for stmt in way[:-1] if not isinstance(stmt, Seq)]
        if not around:
            return flat_stmts(self.marks.body)
        sides = (child for child in children(around[-1]) if isinstance(child, Stmt))
        return next(stmts for side in sides if place in (stmts := flat_stmts(side)))

    def outputs_of(self, stmts: Sequence[Stmt]) -> tuple[Buffer, ...]:
        """The outputs, if a list is all that the function does: they are zero to begin with."""
        is_whole = flat_stmts(self.marks.body)[:1] == stmts[:1]
        return self.func.outputs if is_whole else ()

    def with_new_blocks(self, place: Stmt) -> Plain:
        """The same, but blocks in `place` are made anew: what their iterations are changes."""
        inside = set(walk_stmts(place))
        kept = {stmt: block for stmt, block in self.marks.origins.items() if stmt not in inside}
        return replace(self, marks=replace(self.marks, origins=kept))

    def with_list(self, place: Stmt, stmts: Sequence[Stmt]) -> PrimFunc:
        """The function with other statements for those of the list that `place` stands in."""
        body = _ChangeList(self.fusion, place, stmts).scope(self.marks.body)
        fusion = self.fusion
        known = Known(fusion.loops, fusion.reassociable, fusion.products)
        return replace(self.func, body=self.marks.put_back(body, known))


def _around_threads(body: Stmt) -> set[Var]:
    """The loops around those that run on several threads: a variable in them is one for each."""
    loops = [stmt for stmt in walk_stmts(body) if isinstance(stmt, For)]
    if not any(loop.kind in _THREADS for loop in loops):
        return set()
    inner = {loop: [s for s in walk_stmts(loop) if isinstance(s, For)] for loop in loops}
    return {loop.var for loop in loops if any(other.kind in _THREADS for other in inner[loop])}


def _way_to(root: Stmt, place: Stmt) -> list[Stmt]:
    """The statements from `root` down to `place`, both included; none if it is not there."""
    if root is place:
        return [root]
    for child in children(root):
        below = _way_to(child, place) if isinstance(child, Stmt) else []
        if below:
            return [root, *below]
    return []


class _ChangeList(StmtMutator):
    """Put `stmts` in the place of a list. A nest without statements goes, too."""

    def __init__(self, fusion: Fusion, place: Stmt, stmts: Sequence[Stmt]) -> None:
        self.fusion = fusion
        self.place = place
        self.stmts = stmts

    def scope(self, body: Stmt) -> Stmt:
        """A list of statements of its own."""
        if self.place in flat_stmts(body):
            return seq(*self.stmts)
        return self.rewrite(body)

    def rewrite_For(self, node: For) -> Stmt:
        body = self.scope(node.body)
        if body is node.body:
            return node
        is_empty = isinstance(body, Seq) and not body.stmts
        return body if is_empty and self.fusion.is_nest(node) else replace(node, body=body)

    def rewrite_While(self, node: While) -> Stmt:
        body = self.scope(node.body)
        return node if body is node.body else replace(node, body=body)

    def rewrite_If(self, node: If) -> Stmt:
        then = self.scope(node.then)
        otherwise = None if node.otherwise is None else self.scope(node.otherwise)
        is_same = then is node.then and otherwise is node.otherwise
        return node if is_same else replace(node, then=then, otherwise=otherwise)

    def rewrite_Block(self, node: Block) -> Stmt:
        body = self.scope(node.body)
        return node if body is node.body else replace(node, body=body)


def stored_in(block: Block) -> list[Buffer]:
    """The buffers that a block stores to."""
    stores = (stmt for stmt in walk_stmts(block) if isinstance(stmt, Store))
    return list(dict.fromkeys(store.buffer for store in stores))
