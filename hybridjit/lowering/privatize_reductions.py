"""Give each chunk of a parallel loop a private copy of what the loop reduces into.

    for i in parallel(n):                 for chunk in parallel(chunks):
        s = s + a[i]                          copy = 0
                                              for i in range(chunk * size, chunk * size + size):
                                 -->              copy = copy + a[i]
                                              partial[chunk] = copy
                                          for chunk in range(chunks):
                                              s = s + partial[chunk]

The chunks depend on the number of iterations only, and are combined in order: the result does not
depend on the number of threads. A parallel loop with a reduction that no private copy can serve
becomes a serial one: in order, it is right. Relies on: checked indices.
"""

from __future__ import annotations

from dataclasses import replace

from hybridjit.analysis.cost import MIN_PARALLEL_WORK, find_work
from hybridjit.analysis.independence import Independence
from hybridjit.analysis.initialization import find_unassigned_reads
from hybridjit.analysis.private_reduction import (
    PrivateReduction,
    find_private_reductions,
    find_updates,
)
from hybridjit.ir.expr import Buffer, Const, Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import AUTOMATIC, Allocate, For, LoopKind, Stmt, Store, seq
from hybridjit.ir.visit import Mutator, walk_stmts
from hybridjit.kept_property import kept_property
from hybridjit.lowering.chunks import Chunks, unnamed

_ZERO, _ONE = Const(0), Const(1)


def privatize_reductions(func: PrimFunc) -> PrimFunc:
    """`func` with no parallel loop that updates one element in several iterations."""
    assert func.is_checked, "different indices are different elements only inside of an array"
    body = _Privatize(func).rewrite(func.body)
    return func if body is func.body else replace(func, body=body)


class _Privatize(Mutator):
    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.fastmath = func.fastmath
        self.is_inside = False

    @kept_property
    def unset(self) -> frozenset[Buffer]:
        return find_unassigned_reads(self.func)

    def rewrite_For(self, node: For) -> Stmt:
        if node.kind is not LoopKind.PARALLEL:
            return self.generic(node)
        # Loops inside a parallel one are not split: they run in order.
        is_split = not self.is_inside and _is_worth_it(node)
        found = find_private_reductions(node, self.fastmath, self.unset)
        reductions = found if is_split else ()
        if AUTOMATIC in node.annotations:
            # Whoever put it on threads has proved the rest, before the loop was cut into blocks.
            is_shared = len(reductions) < len(found)
        else:
            is_shared = self._has_shared_updates(node, {each.buffer for each in reductions})
        if is_shared:
            return replace(self.generic(node), kind=LoopKind.SERIAL)
        before, self.is_inside = self.is_inside, True
        loop = self.generic(node)
        self.is_inside = before
        return split_reductions(loop, reductions, self.fastmath) if reductions else loop

    def _has_shared_updates(self, loop: For, private: set[Buffer]) -> bool:
        """True if iterations of `loop` may update the same element, other than of `private`.

        Any other conflict between its iterations has been refused. A variable is one element.
        """
        declared = {node.buffer for node in walk_stmts(loop.body) if isinstance(node, Allocate)}
        known = private | declared
        assigned = {node.buffer for node in walk_stmts(loop.body) if isinstance(node, Store)}
        if any(buffer.is_register for buffer in assigned - known):
            return True
        independence = Independence.at(self.func)
        return any(
            update.reduction.buffer not in known
            and not independence.prove_distinct(loop, update.store)
            for update in find_updates(loop.body)
        )


def _is_worth_it(loop: For) -> bool:
    work = find_work(loop)
    return loop.has_short_steps and (work is None or work >= MIN_PARALLEL_WORK)


# Splitting


def split_reductions(
    loop: For,
    reductions: tuple[PrivateReduction, ...],
    fastmath: tuple[str, ...] = (),
    chunks: Chunks | None = None,
) -> Stmt:
    """`loop`, of a constant step, in chunks that have private copies, and their combination."""
    chunks = Chunks.of(loop) if chunks is None else chunks
    scope = "local" if isinstance(chunks.most, Const) else "global"
    body = loop.body
    opening: list[Stmt] = []
    closing: list[Stmt] = []
    partials: list[Buffer] = []
    for reduction in reductions:
        name, dtype = reduction.buffer.name, reduction.buffer.dtype
        copy = Buffer(f"{name}_copy", dtype, (), Buffer.REGISTER)
        partial = Buffer(f"{name}_partial", dtype, (chunks.most,), scope)
        body = reduction.redirect(body, copy)
        identity = reduction.identity(fastmath)
        opening += [Allocate(copy, zero=False), Store(copy, (), identity)]
        closing.append(Store(partial, (chunks.var,), Load(copy)))
        partials.append(partial)
    hints = tuple(hint for hint in loop.annotations if hint != AUTOMATIC)
    inner = chunks.inner_loop(replace(loop, body=body, kind=LoopKind.SERIAL, annotations=hints))
    outer = For(
        *(chunks.var, _ZERO, chunks.count, _ONE, seq(*opening, inner, *closing), loop.kind),
        annotations=unnamed(
            (*(hint for hint in loop.annotations if hint == AUTOMATIC), *loop.hints)
        ),
    )
    last = Var("chunk")
    combined = [
        reduction.combine(Load(partial, (last,)))
        for reduction, partial in zip(reductions, partials, strict=True)
    ]
    allocated = [Allocate(partial, zero=False) for partial in partials]
    combine = For(last, _ZERO, chunks.count, _ONE, seq(*combined))
    return seq(*chunks.lets, *allocated, replace(outer, span=loop.span), combine)
