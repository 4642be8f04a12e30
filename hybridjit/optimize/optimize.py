"""Make a program fast without being asked: from plain nests to those that are compiled.

    front end --> plain program --> optimize --> lower

Every step is checked on the program alone. Except for folds that say that their order is open
(`reassociate`), each element is computed by the same operations in the same order as before. Of
loops that are written by hand, those along rows may go inside, those across rows run in squares,
rows are summed before they are used, and large products of matrices run in tiles; else they stay as
they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import TYPE_CHECKING

from hybridjit.analysis.make_blocks import make_blocks
from hybridjit.ir.expr import Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block, For, If, IterKind, Seq, Stmt, Store, flat_stmts
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.lazy import lazy_module
from hybridjit.optimize.decisions import Decisions
from hybridjit.record import record
from hybridjit.schedule.arrays.fusion_notes import FusionNotes
from hybridjit.target import Target

if TYPE_CHECKING:
    from hybridjit.optimize import (
        array_nests,
        mark_sums,
        pack_products,
        put_sums_first,
        sink_loops,
        transpose_tiles,
    )
    from hybridjit.schedule.arrays import marks as array_marks
else:
    array_nests = lazy_module("hybridjit.optimize.array_nests")  # of array statements only
    mark_sums = lazy_module("hybridjit.optimize.mark_sums")  # of statements that add to something
    pack_products = lazy_module("hybridjit.optimize.pack_products")  # of sums in nests of loops
    put_sums_first = lazy_module("hybridjit.optimize.put_sums_first")  # of loops of sums and more
    sink_loops = lazy_module("hybridjit.optimize.sink_loops")  # of loops around loops
    transpose_tiles = lazy_module("hybridjit.optimize.transpose_tiles")  # of two loops
    array_marks = lazy_module("hybridjit.schedule.arrays.marks")

_MATRIX = 2  # axes


@record
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
    *,
    says_order: bool = True,
    in_c_order: bool = True,
) -> Optimized:
    """`func` with its array statements run together, in tiles, lanes and in other orders.

    What the steps of a schedule made of `as_written` stays as they made it; if these do not say in
    which order loops run, sums run side by side all the same. With a `limit`, as far as so many
    decisions lead. Whether arguments are `in_c_order`, rows next to each other, is a matter of
    speed. Relies on: arguments that share no memory.
    """
    is_free = _untouched_loops(func, as_written).__contains__
    decisions = Decisions(limit)
    if _has_deep_sums(func):
        func = pack_products.pack_products(func, target, is_free, decisions)
    known = func if as_written is None else array_marks.forget_touched(func, as_written)
    made = _rewrite(func, known, _Choices(target, is_free, decisions, in_c_order))
    if not _has_sums(made.func):
        return made
    may_mark = is_free if says_order and as_written is not None else _always
    marked = mark_sums.mark_sums(made.func, target, may_mark, made.decisions)
    return replace(made, func=marked)


@record
class _Choices:
    """The machine that code is for, the loops whose order is free, and what was decided."""

    target: Target
    is_free: Callable[[Var], bool]
    decisions: Decisions
    in_c_order: bool


def _rewrite(func: PrimFunc, known: PrimFunc, choices: _Choices) -> Optimized:
    """`func` with other loops: all but the marks on them. What is `known` of it are the blocks that
    no step touched.
    """
    target, is_free, decisions = choices.target, choices.is_free, choices.decisions
    has_arrays = _has_array_statements(known)
    has_rows = _has_rows_of_sums(func)
    if not has_arrays and not has_rows and not _may_sink(func) and not _may_cross(func):
        return Optimized(func, decisions=decisions)
    marks = array_marks.read_marks(known)
    body, stated, notes = marks.body, marks.known, FusionNotes()
    if has_arrays:
        body, stated, notes = array_nests.run_together(
            func, marks, target, decisions, in_c_order=choices.in_c_order
        )
    body = sink_loops.sink_loops(func, body, is_free, decisions)
    body = transpose_tiles.transpose_tiles(func, body, is_free, target, decisions)
    if has_rows:
        body = put_sums_first.put_sums_first(func, body, is_free, target, decisions)
    if body is marks.body and not has_arrays:
        return Optimized(func, decisions=decisions)
    body = make_blocks(body, stated)
    return Optimized(replace(func, body=body), notes, decisions)


def _always(_: Var) -> bool:
    return True


def _untouched_loops(func: PrimFunc, as_written: PrimFunc | None) -> set[Var]:
    """The loops that steps of a schedule left as they were."""
    loops = [stmt for stmt in walk_stmts(func.body) if isinstance(stmt, For)]
    if as_written is not None:
        written = set(walk_stmts(as_written.body))
        loops = [loop for loop in loops if loop in written]
    return {loop.var for loop in loops}


# Looks that cost little, before the modules that look closely are loaded


def _has_deep_sums(func: PrimFunc) -> bool:
    """Whether something is added up in three loops or more."""
    return any(
        len(block.iters) > _MATRIX and any(it.kind is IterKind.REDUCE for it in block.iters)
        for block in walk_stmts(func.body)
        if isinstance(block, Block)
    )


def _has_sums(func: PrimFunc) -> bool:
    """Whether some statement updates what it stores to."""
    return any(map(_is_update, walk_stmts(func.body)))


def _is_update(stmt: Stmt) -> bool:
    if not isinstance(stmt, Store):
        return False
    return any(isinstance(node, Load) and node.buffer is stmt.buffer for node in walk(stmt.value))


def _may_sink(func: PrimFunc) -> bool:
    """Whether there is a loop around nests, and them alone."""
    bodies = (flat_stmts(stmt.body) for stmt in walk_stmts(func.body) if isinstance(stmt, For))
    return any(all(isinstance(stmt, For | If) for stmt in body) for body in bodies)


def _may_cross(func: PrimFunc) -> bool:
    """Whether there is a loop around one loop alone."""
    loops = (stmt for stmt in walk_stmts(func.body) if isinstance(stmt, For))
    return any(isinstance(loop.body, For) for loop in loops)


def _has_rows_of_sums(func: PrimFunc) -> bool:
    """Whether there is a loop around one that updates a variable, and more."""
    return any(
        isinstance(stmt, For) and isinstance(stmt.body, Seq) and any(map(_is_sum, stmt.body.stmts))
        for stmt in walk_stmts(func.body)
    )


def _is_sum(stmt: Stmt) -> bool:
    """Whether `stmt` is a loop that updates a variable, and perhaps other things."""
    updates = filter(_is_update, walk_stmts(stmt)) if isinstance(stmt, For) else ()
    return any(isinstance(update, Store) and update.buffer.is_register for update in updates)


def _has_array_statements(func: PrimFunc) -> bool:
    stmts = walk_stmts(func.body)
    return any(
        isinstance(stmt, Block) and stmt.annotations and array_marks.count_elements(stmt)
        for stmt in stmts
    )
