"""rfactor: give each iteration of a reduction loop a partial result of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from itertools import pairwise

from hybridjit.analysis.instances import Part, infer_instances
from hybridjit.analysis.private_reduction import (
    PrivateReduction,
    Update,
    find_flipped,
    find_updates,
    may_regroup,
)
from hybridjit.analysis.reduction import Reduction, ReductionOp
from hybridjit.arith.simplify import simplify
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import Buffer, BufferRef, Const, Expr, FloorDiv, Ge, Load, Lt, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import (
    Allocate,
    Block,
    Break,
    Continue,
    For,
    Iter,
    IterKind,
    Let,
    Return,
    Seq,
    Stmt,
    Store,
    seq,
)
from hybridjit.ir.visit import substitute, walk, walk_stmts
from hybridjit.record import record
from hybridjit.schedule.bind_loops import bind_loops
from hybridjit.schedule.nest import trip_count
from hybridjit.schedule.program import (
    jumps,
    loops_around,
    path_to,
    replace_stmt,
    the_loop,
    variables_in,
)
from hybridjit.schedule.refusal import check_concurrent, refuse
from hybridjit.schedule.reindex import reindex
from hybridjit.schedule.restriction import prove
from hybridjit.schedule.staging import fresh_block_name
from hybridjit.schedule.staging_scope import set_elements


def rfactor(func: PrimFunc, var: Var) -> tuple[PrimFunc, str]:
    """Reduce into partial results, one for each iteration of the loop over `var`, then combine.

        for k in range(n):            for k in range(n):
            c = c + a[k]                  c_rf[k] = 0
                               -->    for k in range(n):
                                          c_rf[k] = c_rf[k] + a[k]
                                      for k in range(n):
                                          c = c + c_rf[k]

    Legal if the updates may be grouped otherwise: integers, min and max, with reassociation, or in
    a block that says so.
    """
    check_rfactor(func, var)
    return make_rfactor(func, var)


def check_rfactor(func: PrimFunc, var: Var) -> None:
    """Refuse updates that may not be grouped otherwise."""
    loop = the_loop(func, var)
    _check(func, loop, _find_reduction(func, loop))
    around = loops_around(func, loop)
    if any(outer.kind.is_concurrent for outer in around):
        check_concurrent(make_rfactor(func, var)[0], around, "rfactor")


def make_rfactor(func: PrimFunc, var: Var) -> tuple[PrimFunc, str]:
    """`func` with partial results, and the name of the block that combines them."""
    loop = the_loop(func, var)
    updates = _find_reduction(func, loop)
    func = _set_elements(func, loop, updates)
    target = _find_target(func, loop, updates)
    partial = target.make_partial(func, loop)
    count = simplify(FloorDiv(loop.var - loop.start, loop.step))
    body = reindex(loop.body, target.buffer, partial, lambda idx: (count, *target.moving(idx)))
    name = fresh_block_name(func, f"{target.buffer.name}_final")
    stmts = [
        Allocate(partial, zero=False, span=loop.span),
        _fill(func, loop, updates[0].reduction, partial),
        dataclasses.replace(loop, body=body),
        _combine(loop, updates[0], target, partial, name),
    ]
    return bind_loops(replace_stmt(func, loop, seq(*stmts))), name


def _find_reduction(func: PrimFunc, loop: For) -> list[Update]:
    """The updates of the one buffer that `loop` reduces into."""
    declared = {node.buffer for node in walk_stmts(loop.body) if isinstance(node, Allocate)}
    found: dict[Buffer, list[Update]] = {}
    for update in find_updates(loop.body):
        if update.reduction.buffer not in declared:
            found.setdefault(update.reduction.buffer, []).append(update)
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
            help="rfactor takes a loop that combines values into one buffer, as in c[i] += ...; "
            "s.decompose_reduction takes an init out of it",
        )
    return next(iter(whole.values()))


def _touched(stmt: Stmt) -> dict[Buffer, int]:
    counts: dict[Buffer, int] = {}
    for node in walk(stmt):
        if isinstance(node, Load | Store | BufferRef):
            counts[node.buffer] = counts.get(node.buffer, 0) + 1
    return counts


def _check(func: PrimFunc, loop: For, updates: Sequence[Update]) -> None:
    name, op = updates[0].reduction.buffer.name, updates[0].reduction.op
    flips = [find_flipped(update) for update in updates]
    if len({update.reduction.op for update in updates}) > 1 or len(set(flips)) > 1:
        raise refuse(func, f"rfactor: '{name}' is updated by different operators", [loop])
    may_be = [may_regroup(update.reduction, func.fastmath) for update in updates]
    if flips[0] is None or not all(may_be):
        raise refuse(
            func,
            f"rfactor: partial results of '{name}' would be rounded otherwise",
            [loop],
            help='allow it: @hybrid.script(fastmath={"reassoc"})',
        )
    is_lazy = op in (ReductionOp.AND, ReductionOp.OR)
    if is_lazy and not all(is_total(update.reduction.update) for update in updates):
        raise refuse(
            func,
            f"rfactor: the updates of '{name}' read memory, which `{op.value}` may skip",
            [loop],
        )
    if not isinstance(loop.step, Const):
        raise refuse(func, f"rfactor: the step of loop '{loop.var.name}' is not a constant", [loop])
    if any(isinstance(node, Return) for node in walk_stmts(loop.body)):
        raise refuse(
            func,
            f"rfactor: a return in loop '{loop.var.name}' would leave without combining",
            [loop],
        )


def _set_elements(func: PrimFunc, loop: For, updates: Sequence[Update]) -> PrimFunc:
    """`func` in which combining, which may touch more elements than updating, finds them set."""
    buffer = updates[0].reduction.buffer
    if not buffer.is_register:
        return set_elements(func, buffer, loop)
    if not _is_certain(loop, updates) and not _is_assigned(func, loop, buffer):
        raise refuse(func, f"rfactor: '{buffer.name}' may have no value yet", [loop])
    return func


def _is_certain(loop: For, updates: Sequence[Update]) -> bool:
    """Whether every iteration of `loop` makes one of the updates."""
    if jumps(loop.body, Break, Continue):
        return False
    return any(update.stmt is stmt for stmt in _surely_run(loop.body) for update in updates)


def _is_assigned(func: PrimFunc, loop: For, register: Buffer) -> bool:
    """Whether a statement before `loop` surely gives `register` a value."""
    path = path_to(func, loop)
    before = [
        stmt
        for around, inner in pairwise(path)
        if isinstance(around, Seq)
        for stmt in around.stmts[: around.stmts.index(inner)]
    ]
    return any(
        isinstance(stmt, Store) and stmt.buffer is register
        for earlier in before
        for stmt in _surely_run(earlier)
    )


def _surely_run(stmt: Stmt) -> Iterator[Stmt]:
    """The statements that run whenever `stmt` does, unless something leaves it early."""
    match stmt:
        case Seq(stmts):
            for inner in stmts:
                yield from _surely_run(inner)
        case Block(body=body):
            yield from _surely_run(body)
        case _:
            yield stmt


@record(eq=False)
class _Target:
    """What a loop reduces into: for each axis the index, or None where it takes several."""

    buffer: Buffer
    fixed: tuple[Expr | None, ...]

    def moving(self, indices: Sequence[Expr]) -> tuple[Expr, ...]:
        """Those of `indices`, or of the shape, that are not the same in all iterations."""
        pairs = zip(indices, self.fixed, strict=True)
        return tuple(index for index, fixed in pairs if fixed is None)

    def element(self, moving: Sequence[Expr]) -> tuple[Expr, ...]:
        """All the indices of an element, from those that are not the same."""
        left = iter(moving)
        return tuple(next(left) if fixed is None else fixed for fixed in self.fixed)

    def make_partial(self, func: PrimFunc, loop: For) -> Buffer:
        """A buffer with an element for each iteration and each element that it reduces into."""
        shape = (trip_count(func, loop), *self.moving(self.buffer.shape))
        return Buffer(f"{self.buffer.name}_rf", self.buffer.dtype, shape)


def _find_target(func: PrimFunc, loop: For, updates: Sequence[Update]) -> _Target:
    buffer = updates[0].reduction.buffer
    part = infer_instances(func, loop)
    is_certain = _is_certain(loop, updates)
    values: dict[Var, Expr] = {}
    for node in walk(loop):  # outer blocks come before inner ones
        if isinstance(node, Iter):
            values[node.var] = substitute(node.value, values)
    fixed: list[Expr | None] = []
    for axis in range(buffer.ndim):
        indices = {substitute(update.reduction.indices[axis], values) for update in updates}
        index = indices.pop()
        same = not indices and _is_invariant(index, loop)
        # Combining happens even where a guard let no update happen: the index must be right then.
        safe = same and (is_certain or _is_inside(part, index, buffer.shape[axis]))
        fixed.append(index if safe else None)
    return _Target(buffer, tuple(fixed))


def _is_inside(part: Part, index: Expr, extent: Expr) -> bool:
    return prove(part, Ge(index, Const(0))) and prove(part, Lt(index, extent))


def _is_invariant(index: Expr, loop: For) -> bool:
    inside = {node.var for node in walk(loop) if isinstance(node, For | Let | Iter)}
    return is_total(index) and not any(var in inside for var in variables_in(index))


def _fill(func: PrimFunc, loop: For, reduction: Reduction, partial: Buffer) -> Stmt:
    """Start every partial result with the value that changes nothing."""
    identity = PrivateReduction(reduction.op, partial, ()).identity(func.fastmath)
    loops = _loop_vars(loop, partial)
    store: Stmt = Store(partial, loops, identity, span=loop.span)
    name = fresh_block_name(func, f"{partial.name}_init")
    return _nest(_block(name, loops, (), store), loops, partial.shape)


def _combine(loop: For, update: Update, target: _Target, partial: Buffer, name: str) -> Stmt:
    """Combine each element with its partial results, in the order of the iterations."""
    loops = _loop_vars(loop, partial)
    element, flipped = target.element(loops[1:]), bool(find_flipped(update))
    whole = PrivateReduction(update.reduction.op, target.buffer, element, flipped)
    joined = whole.join(Load(target.buffer, element), Load(partial, loops))
    block = _block(name, loops[1:], loops[:1], Store(target.buffer, element, joined))
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
