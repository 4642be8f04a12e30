"""The nests of array statements: products cut, statements run together, folds in lanes.

t = a * 2 + 1                              for i in range(n):
for i in range(n): t[i] = a[i] * 2 + 1         b[i] = (a[i] * 2 + 1) * c[i]
for i in range(n): b[i] = t[i] * c[i]  -->
"""

from __future__ import annotations

from hybridjit.analysis.make_blocks import Known
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Stmt
from hybridjit.optimize.decisions import Decisions
from hybridjit.optimize.fuse.fuse_arrays import fuse_arrays
from hybridjit.optimize.fuse.merge_folds import merge_folds
from hybridjit.optimize.fuse.merge_updates import merge_updates
from hybridjit.optimize.jam_rows import jam_rows
from hybridjit.optimize.products import choose_products
from hybridjit.optimize.ravel_loops import ravel_loops
from hybridjit.optimize.reduce_rows import Folds, reduce_rows
from hybridjit.schedule.arrays.fusion import Fusion
from hybridjit.schedule.arrays.fusion_notes import FusionNotes
from hybridjit.schedule.arrays.marks import Marks
from hybridjit.target import Target


def run_together(
    func: PrimFunc, marks: Marks, target: Target, decisions: Decisions, *, in_c_order: bool
) -> tuple[Stmt, Known, FusionNotes]:
    """The body of `func` with other nests for its array statements, what is known of its stores,
    and what became of its arrays.
    """
    fusion = Fusion.of(func, marks.body, marks.loops)
    fusion.reassociable = set(marks.reassociable)
    body, products = choose_products(func, marks.body, fusion, target, decisions)
    fusion = Fusion.of(func, body, products.loops)
    fusion.reassociable = {*marks.reassociable, *products.sums}
    fusion.products = {*marks.stored_once, *products.stored_once}
    body = fuse_arrays(body, fusion, target, decisions)
    body = merge_updates(body, fusion, decisions)
    body = merge_folds(body, fusion, target, decisions)
    loops = set(fusion.loops)
    body = ravel_loops(body, loops, fusion.reassociable, decisions, joins_rows=in_c_order)
    folds = Folds(loops, fusion.reassociable, fusion.ranges, target)
    body = reduce_rows(body, folds, decisions)
    body = jam_rows(body, products.rows, decisions)
    known = Known(loops, fusion.reassociable, fusion.products)
    return body, known, fusion.notes
