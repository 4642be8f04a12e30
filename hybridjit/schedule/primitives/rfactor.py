"""rfactor: give each iteration of a reduction loop a partial result of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hybridjit.analysis.dependence import may_reorder
from hybridjit.analysis.private_reduction import PrivateReduction, find_updates
from hybridjit.analysis.reduction import Reduction, ReductionOp
from hybridjit.arith.simplify import simplify
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import Buffer, BufferRef, Const, Expr, FloorDiv, Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, Block, For, Iter, IterKind, Let, Stmt, Store, seq
from hybridjit.ir.visit import substitute, walk
from hybridjit.schedule.bind_loops import bind_loops
from hybridjit.schedule.nest import trip_count
from hybridjit.schedule.program import replace_stmt, the_loop, variables_in
from hybridjit.schedule.refusal import refuse
from hybridjit.schedule.reindex import reindex
from hybridjit.schedule.staging import fresh_block_name

Element = tuple[Expr, ...] | None
"""The indices of the one element that a loop reduces into; None if there are several."""


def rfactor(func: PrimFunc, var: Var) -> tuple[PrimFunc, str]:
    """Reduce into partial results, one for each iteration of the loop over `var`, then combine.

        for k in range(n):            for k in range(n):
            c = c + a[k]                  c_rf[k] = 0
                               -->    for k in range(n):
                                          c_rf[k] = c_rf[k] + a[k]
                                      for k in range(n):
                                          c = c + c_rf[k]

    Legal if the updates may be grouped otherwise: integers, min and max, or with reassociation.
    """
    loop = the_loop(func, var)
    updates = _find_reduction(func, loop)
    reduction = updates[0]
    _check(func, loop, updates)

    element = _find_element(loop, updates)
    partial = _make_partial(func, loop, reduction, element)
    count = simplify(FloorDiv(loop.var - loop.start, loop.step))
    body = _redirect(loop.body, reduction.buffer, partial, count)
    name = fresh_block_name(func, f"{reduction.buffer.name}_final")
    stmts = [
        Allocate(partial, zero=False, span=loop.span),
        _fill(func, loop, reduction, partial),
        dataclasses.replace(loop, body=body),
        _combine(loop, dataclasses.replace(reduction, indices=element or ()), partial, name),
    ]
    return bind_loops(replace_stmt(func, loop, seq(*stmts))), name


def _find_reduction(func: PrimFunc, loop: For) -> list[Reduction]:
    """The updates of the one buffer that `loop` reduces into."""
    declared = {node.buffer for node in walk(loop.body) if isinstance(node, Allocate)}
    found: dict[Buffer, list[Reduction]] = {}
    for update in find_updates(loop.body):
        if update.reduction.buffer not in declared:
            found.setdefault(update.reduction.buffer, []).append(update.reduction)
    touched = _touched(loop.body)
    whole = {
        buffer: updates
        for buffer, updates in found.items()
        if touched[buffer] == 2 * len(updates)  # each update loads the element and stores it
    }
    if len(whole) != 1:
        count = "no reduction" if not whole else f"{len(whole)} reductions"
        raise refuse(
            func,
            f"rfactor: loop '{loop.var.name}' holds {count} that it only updates",
            [loop],
            help="rfactor takes a loop that combines values into one buffer, as in c[i] += ...",
        )
    return next(iter(whole.values()))


def _touched(stmt: Stmt) -> dict[Buffer, int]:
    counts: dict[Buffer, int] = {}
    for node in walk(stmt):
        if isinstance(node, Load | Store | BufferRef):
            counts[node.buffer] = counts.get(node.buffer, 0) + 1
    return counts


def _check(func: PrimFunc, loop: For, updates: Sequence[Reduction]) -> None:
    name = updates[0].buffer.name
    if len({update.op for update in updates}) > 1:
        raise refuse(func, f"rfactor: '{name}' is updated by different operators", [loop])
    if not all(may_reorder(update, func.fastmath) for update in updates):
        raise refuse(
            func,
            f"rfactor: partial results of '{name}' would be rounded otherwise",
            [loop],
            help='allow it: @hybrid.script(fastmath={"reassoc"})',
        )
    lazy = updates[0].op in (ReductionOp.AND, ReductionOp.OR)
    if lazy and not all(is_total(update.update) for update in updates):
        raise refuse(
            func,
            f"rfactor: the updates of '{name}' read memory, which `{updates[0].op.value}` may skip",
            [loop],
        )
    if not isinstance(loop.step, Const):
        raise refuse(func, f"rfactor: the step of loop '{loop.var.name}' is not a constant", [loop])


def _make_partial(func: PrimFunc, loop: For, reduction: Reduction, element: Element) -> Buffer:
    """A buffer with an element for each iteration, and for each element that they reduce into."""
    buffer = reduction.buffer
    shape = buffer.shape if element is None else ()
    return Buffer(f"{buffer.name}_rf", buffer.dtype, (trip_count(func, loop), *shape))


def _find_element(loop: For, updates: Sequence[Reduction]) -> Element:
    """The indices of the element, if all iterations of `loop` reduce into the same."""
    inside = {node.var for node in walk(loop) if isinstance(node, For | Let)}
    iters: dict[Var, Expr] = {}
    for node in walk(loop):
        if isinstance(node, Iter):
            iters[node.var] = substitute(node.value, iters)
    found = {tuple(substitute(i, iters) for i in update.indices) for update in updates}
    element = found.pop()
    moves = any(var in inside for index in element for var in variables_in(index))
    return None if found or moves or not all(map(is_total, element)) else element


def _redirect(body: Stmt, buffer: Buffer, partial: Buffer, count: Expr) -> Stmt:
    if partial.ndim == 1:
        return reindex(body, buffer, partial, lambda indices: (count,))
    return reindex(body, buffer, partial, lambda indices: (count, *indices))


def _fill(func: PrimFunc, loop: For, reduction: Reduction, partial: Buffer) -> Stmt:
    """Start every partial result with the value that changes nothing."""
    identity = PrivateReduction(reduction.op, partial, ()).identity(func.fastmath)
    loops = _loop_vars(loop, partial)
    store: Stmt = Store(partial, loops, identity, span=loop.span)
    name = fresh_block_name(func, f"{partial.name}_init")
    return _nest(_block(name, loops, (), store), loops, partial.shape)


def _combine(loop: For, reduction: Reduction, partial: Buffer, name: str) -> Stmt:
    """Combine each element with its partial results, in the order of the iterations."""
    loops = _loop_vars(loop, partial)
    element = loops[1:] if partial.ndim > 1 else reduction.indices
    whole = PrivateReduction(reduction.op, reduction.buffer, element)
    update = whole.combine(Load(partial, loops))
    block = _block(name, loops[1:], loops[:1], update)
    return _nest(block, (*loops[1:], loops[0]), (*partial.shape[1:], partial.shape[0]))


def _loop_vars(loop: For, partial: Buffer) -> tuple[Var, ...]:
    return (Var(loop.var.name), *(Var(f"d{axis}") for axis in range(partial.ndim - 1)))


def _block(name: str, spatial: Sequence[Var], reduce: Sequence[Var], body: Stmt) -> Block:
    kinds = [(var, IterKind.SPATIAL) for var in spatial]
    kinds += [(var, IterKind.REDUCE) for var in reduce]
    iters = tuple(Iter(Var(var.name), var, kind) for var, kind in kinds)
    inside = {item.value: item.var for item in iters if isinstance(item.value, Var)}
    return Block(name, iters, substitute(body, inside))


def _nest(body: Stmt, loops: Sequence[Var], shape: Sequence[Expr]) -> Stmt:
    for var, extent in zip(reversed(loops), reversed(shape), strict=True):
        body = For(var, Const(0), extent, Const(1), body)
    return body
