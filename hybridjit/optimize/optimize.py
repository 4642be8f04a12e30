"""Make a program fast without being asked: from plain nests to those that are compiled.

    front end --> plain program --> optimize --> lower

Every step is checked on the program alone. Except for folds that say that their order is open
(`reassociate`), each element is computed by the same operations in the same order as before. Loops
that are written by hand stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hybridjit.analysis.make_blocks import Known, make_blocks
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block
from hybridjit.ir.visit import walk_stmts
from hybridjit.optimize.decisions import Decisions
from hybridjit.optimize.fuse.fuse_arrays import fuse_arrays
from hybridjit.optimize.fuse.merge_updates import merge_updates
from hybridjit.optimize.jam_rows import jam_rows
from hybridjit.optimize.products import choose_products
from hybridjit.optimize.reduce_rows import Folds, reduce_rows
from hybridjit.schedule.arrays.fusion import Fusion, FusionNotes
from hybridjit.schedule.arrays.marks import count_elements, forget_touched, read_marks
from hybridjit.target import Target


@dataclass(frozen=True, slots=True)
class Optimized:
    """A program that was made fast, what was decided, and what became of its temporary arrays."""

    func: PrimFunc
    notes: FusionNotes = field(default_factory=FusionNotes)
    decisions: Decisions = field(default_factory=Decisions)


def optimize(
    func: PrimFunc,
    target: Target,
    as_written: PrimFunc | None = None,
    limit: int | None = None,
) -> Optimized:
    """`func` with its array statements run together, in tiles, lanes and in other orders.

    What the steps of a schedule made of `as_written` stays as they made it. With a `limit`, as far
    as so many decisions lead. Relies on: arguments that share no memory.
    """
    known = func if as_written is None else forget_touched(func, as_written)
    if not _has_array_statements(known):
        return Optimized(func)
    marks, decisions = read_marks(known), Decisions(limit)
    fusion = Fusion.of(func, marks.body, marks.loops)
    fusion.reassociable = set(marks.reassociable)
    body, products = choose_products(func, marks.body, fusion, target, decisions)
    fusion = Fusion.of(func, body, products.loops)
    fusion.reassociable = {*marks.reassociable, *products.sums}
    fusion.products = {*marks.stored_once, *products.stored_once}
    body = fuse_arrays(body, fusion, decisions)
    body = merge_updates(body, fusion, decisions)
    folds = Folds(fusion.loops, fusion.reassociable, fusion.ranges, target)
    body = reduce_rows(body, folds, decisions)
    body = jam_rows(body, products.rows, decisions)
    body = make_blocks(body, known=Known(fusion.loops, fusion.reassociable, fusion.products))
    return Optimized(replace(func, body=body), fusion.notes, decisions)


def _has_array_statements(func: PrimFunc) -> bool:
    stmts = walk_stmts(func.body)
    return any(isinstance(stmt, Block) and count_elements(stmt) for stmt in stmts)
