"""Run loops on all cores, where that is proved to change nothing and the work is worth it.

    for i in range(n):                    for i in parallel(n):
        for j in range(m):         -->        for j in range(m):
            c[i, j] = a[i, j] + 1                 c[i, j] = a[i, j] + 1

    for i in range(n):                    for block in parallel(blocks):
        for k in range(l):         -->        for i in range(block * size, min(..., n)):
            for j in range(m):                    ...
                c[i, j] += a[i, k] * b[k, j]

    for k in range(l):                    for block in parallel(blocks):
        for i in range(n):         -->        for k in range(l):
            c[i] += a[i, k]                       for i in range(block * size, min(..., n)):
                                                      c[i] += a[i, k]

The outermost loops that can are taken, but one of a few iterations only if none inside can. Loops
that are not just walked through are cut into blocks, so that what later passes make of them is made
inside of a block. A reduction is no obstacle where any grouping gives the same result:
`privatize_reductions` deals with it; histograms and the places of extrema get copies here. Small
work stays on one thread: where sizes are known at run time only, there are versions for both.

An error is the first one in the order of the program, whatever the number of threads; iterations
after it may have stored their results. Relies on: `parallel` of the function; checked indices;
arguments that share no memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hybridjit.analysis.context import infer_context
from hybridjit.analysis.cost import (
    FUNCTION,
    MIN_AUTOMATIC_WORK,
    calls_function,
    find_work,
    make_work,
)
from hybridjit.analysis.counting_nest import Nest
from hybridjit.analysis.independence import Independence, has_effects
from hybridjit.analysis.initialization import find_unassigned_reads
from hybridjit.analysis.limits import Limits, limits_in, loop_extent
from hybridjit.analysis.private_reduction import (
    PrivateReduction,
    find_private_reductions,
    find_scattered_reductions,
    find_single_reductions,
)
from hybridjit.arith.totality import is_total, operation_may_fail
from hybridjit.ir.expr import Buffer, Const, Ge, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import (
    ON_THREADS,
    Allocate,
    Break,
    Continue,
    For,
    If,
    Let,
    LoopKind,
    Print,
    Reserve,
    Return,
    Seq,
    Stmt,
    Store,
    While,
    seq,
)
from hybridjit.ir.visit import StmtMutator, fresh_copy, walk, walk_stmts
from hybridjit.kept_property import kept_property
from hybridjit.lazy import lazy_module
from hybridjit.lowering.chunks import Chunks, make_parallel
from hybridjit.lowering.privatize_reductions import split_reductions

if TYPE_CHECKING:
    from hybridjit.lowering import blocks, split_histograms, split_selections
else:
    # For loops that are worth it.
    blocks = lazy_module("hybridjit.lowering.blocks")
    split_histograms = lazy_module("hybridjit.lowering.split_histograms")
    split_selections = lazy_module("hybridjit.lowering.split_selections")


# A loop of fewer iterations leaves threads without work: one inside is better, if there is one.
_FEW = 8
# Iterations that have a copy of a sum each: so many at most, and so much work at least.
MOST_SINGLE, MIN_SINGLE = 1 << 13, 1 << 8


def parallelize(func: PrimFunc) -> PrimFunc:
    """`func` with loops on several threads, if it asks for that."""
    if not func.parallel:
        return func
    body = _Parallelize(func).rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


def parallelize_asked(func: PrimFunc) -> PrimFunc:
    """`func` with loops on several threads that a hint wants there, and no others.

    That is all there is to do where other steps of a schedule say in which order loops run.
    """
    loops = (stmt for stmt in walk_stmts(func.body) if isinstance(stmt, For))
    if not func.parallel or not any(loop.hint(ON_THREADS) for loop in loops):
        return func
    body = _Parallelize(func, only_asked=True).rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


class _Parallelize(StmtMutator):
    def __init__(self, func: PrimFunc, *, only_asked: bool = False) -> None:
        self.func = func
        self.only_asked = only_asked
        self.scope: list[For | Let] = []

    @kept_property
    def unset(self) -> frozenset[Buffer]:
        return find_unassigned_reads(self.func)

    def rewrite_Seq(self, node: Seq) -> Stmt:
        known = len(self.scope)
        rewritten = self.generic(node)
        del self.scope[known:]
        return rewritten if rewritten is node else seq(*rewritten.stmts)

    def rewrite_Let(self, node: Let) -> Stmt:
        self.scope.append(node)
        return node

    def rewrite_For(self, node: For) -> Stmt:
        if node.kind.is_concurrent:
            return node
        if _is_wanted_inside(node):
            return self._across(node) or self._inside(node)
        if not self.only_asked and not node.hint(ON_THREADS) and self._is_small(node):
            return node
        extent = loop_extent(node)
        if extent is not None and extent < _FEW:
            inner = self._inside(node)
            return inner if inner is not node else self._on_threads(node) or node
        return self._on_threads(node) or self._across(node) or self._inside(node)

    def _is_small(self, loop: For) -> bool:
        """True if nothing in `loop` is worth it: no loop inside does more than all of it."""
        extent = loop_extent(loop)
        return (extent is None or extent > 1) and not is_worth_it(loop, limits_in(self.scope))

    def _inside(self, loop: For) -> For:
        self.scope.append(loop)
        rewritten = self.generic(loop)
        self.scope.pop()
        return rewritten

    def _on_threads(self, loop: For) -> Stmt | None:
        if not is_candidate(loop) or loop.hint(ON_THREADS) is False:
            return None
        if not self._is_worth_it(loop):
            return None
        reduced = find_private_reductions(loop, self.func.fastmath, self.unset)
        buffers = [found.buffer for found in reduced]
        if self._is_independent(loop, buffers):
            is_whole = bool(reduced) or is_walk(loop)
            made = make_parallel(loop) if is_whole else blocks.make_blocks(loop)
            return make_versions(loop, made)
        return self._with_copies(loop, buffers)

    def _is_worth_it(self, loop: For) -> bool:
        if loop.hint(ON_THREADS) is True or self.only_asked:
            return loop.hint(ON_THREADS) is True
        return is_worth_it(loop, limits_in(self.scope))

    def _across(self, loop: For) -> Stmt | None:
        """The nest of `loop` in blocks of a loop inside, if that alone tells what iterations touch.

        No iteration may fail: another error might come first.
        """
        nest = _nest_of(loop)
        wanted = [each for each in nest.loops[1:] if each.hint(ON_THREADS)]
        inner = wanted or nest.loops[1:]
        if not inner or not (wanted or self._is_worth_it(loop)) or not is_plain(loop):
            return None
        independence = Independence.at(self.func, tuple(self.scope))
        for each in inner:
            if each.hint(ON_THREADS) is False:
                continue
            if has_own_bounds(each, nest) and independence.prove_independent_along(
                nest.loops, each, nest.body
            ):
                return make_versions(loop, blocks.make_blocks(each, loop))
        return None

    def _with_copies(self, loop: For, reduced: list[Buffer]) -> Stmt | None:
        """`loop` on several threads, which have copies of more than single elements."""
        fastmath = self.func.fastmath
        selection = split_selections.find_selection(loop, self.unset)
        if selection is not None and self._is_independent(loop, [*reduced, *selection.buffers]):
            return make_versions(loop, split_selections.split_selection(loop, selection, fastmath))
        single = find_single_reductions(loop, fastmath, self.unset)
        if single and has_long_iterations(loop) and self._are_all(loop, reduced, single):
            chunks = Chunks.single(loop)
            return make_versions(
                loop, split_reductions(make_parallel(loop), single, fastmath, chunks)
            )
        scattered = find_scattered_reductions(loop, fastmath)
        found = [each for each in scattered if each.buffer not in reduced]
        if found and split_histograms.can_split(found) and self._are_all(loop, reduced, found):
            return split_histograms.split_histograms(loop, found, fastmath)
        return None

    def _are_all(self, loop: For, reduced: list[Buffer], more: Sequence[PrivateReduction]) -> bool:
        """True if iterations meet in reductions only."""
        return self._is_independent(loop, [*reduced, *(each.buffer for each in more)])

    def _is_independent(self, loop: For, besides: list[Buffer]) -> bool:
        independence = Independence.at(self.func, tuple(self.scope))
        return independence.prove_independent([loop], loop.body, besides=besides)


# -- choice ----------------------------------------------------------------------------------------


def is_candidate(loop: For) -> bool:
    """True for a plain loop that runs to its end, without effects that others see."""
    if loop.kind is not LoopKind.SERIAL or loop.has_own_annotations:
        return False
    if not loop.has_short_steps:
        return False
    if not all(map(is_total, (loop.start, loop.stop))) or has_effects(loop.body):
        return False
    return loop.var not in infer_context(loop).left_early


def _is_wanted_inside(loop: For) -> bool:
    """True if a hint wants a loop inside on several threads, and no hint wants this one there."""
    inner = (stmt for stmt in walk_stmts(loop.body) if isinstance(stmt, For))
    return loop.hint(ON_THREADS) is not True and any(each.hint(ON_THREADS) for each in inner)


def is_worth_it(loop: For, known: Mapping[Var, Limits]) -> bool:
    """True unless the loop is sure to do less than it takes to wake up another thread."""
    extent, work, most = loop_extent(loop), make_work(loop), find_work(loop, known)
    if extent is not None and extent < 2:
        return False
    if isinstance(work, Const):
        return int(work.value.real) >= MIN_AUTOMATIC_WORK
    each = FUNCTION if calls_function(loop.body) else 1
    return most is None or most * each >= MIN_AUTOMATIC_WORK


def has_long_iterations(loop: For) -> bool:
    """True if an iteration does far more than to keep one value, and there are not too many."""
    extent, work = loop_extent(loop), make_work(loop.body, [loop.var])
    if extent is not None and extent > MOST_SINGLE:
        return False
    return not isinstance(work, Const) or int(work.value.real) >= MIN_SINGLE


def _nest_of(loop: For) -> Nest:
    """The loops from `loop` on inwards, and what they run: names that stand between them, too.

    for k in range(0, n, 4):                 for k in range(0, n, 4):
        x = a[k]                      -->        for i in range(m):
        for i in range(m):                           x = a[k]
            y[i] += x * b[k, i]                      y[i] += x * b[k, i]
    """
    loops: list[For] = []
    names: list[Let] = []
    body: Stmt = loop
    while True:
        match body:
            case For() if _is_stepping(body):
                loops.append(body)
                body = body.body
            case Seq((*lets, For() as inner)) if all(isinstance(each, Let) for each in lets):
                names += [each for each in lets if isinstance(each, Let)]
                body = inner
            case _:
                return Nest(tuple(loops), seq(*names, body))


def _is_stepping(loop: For) -> bool:
    """True for a loop of a constant step whose bounds can be computed anywhere in scope."""
    bounds = (loop.start, loop.stop)
    is_free = loop.kind is LoopKind.SERIAL and not loop.has_own_annotations
    return is_free and loop.has_short_steps and all(map(is_total, bounds))


def has_own_bounds(loop: For, nest: Nest) -> bool:
    """True if a loop has several iterations, the same ones all over the nest around it."""
    names = {node.var for node in walk_stmts(nest.body) if isinstance(node, Let)}
    variables = names.union(each.var for each in nest.loops)
    nodes = (node for bound in (loop.start, loop.stop) for node in walk(bound))
    return loop_extent(loop) not in (0, 1) and not any(node in variables for node in nodes)


def is_plain(loop: For) -> bool:
    """True if nothing in a nest can fail or leave it."""
    return not any(
        operation_may_fail(node)
        or isinstance(node, Break | Continue | Return | While | Print | Reserve)
        for node in walk(loop)
    )


def is_walk(loop: For) -> bool:
    """True if a nest goes through its arrays along rows, each element for itself: as it should."""
    loops = [loop]
    while isinstance(inner := loops[-1].body, For):
        loops.append(inner)
    nodes = list(walk(loops[-1].body))
    if any(isinstance(node, For | Allocate) for node in nodes):
        return False
    variables = [each.var for each in loops]
    stores = [node for node in nodes if isinstance(node, Store) and not node.buffer.is_register]
    return all(store.indices[-len(variables) :] == tuple(variables) for store in stores)


# -- building --------------------------------------------------------------------------------------


def make_versions(loop: For, on_threads: Stmt) -> Stmt:
    """`on_threads` if there is enough to do, which may be known at run time only; else `loop`.

    A loop that is handed to the pool is a function of its own, which costs something, too.
    """
    work = make_work(loop)
    if isinstance(work, Const):
        return on_threads
    return If(Ge(work, Const(MIN_AUTOMATIC_WORK)), on_threads, fresh_copy(loop), span=loop.span)
