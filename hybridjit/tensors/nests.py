"""Loop nests of computes: loops over the axes around one block.

te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="C")
-->
for i in range(n):
    for k in range(m):
        with block("C", i, reduce(k)):
            with init():
                C[i] = 0.0
            C[i] = C[i] + A[i, k]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hybridjit.analysis.bounds import Facts
from hybridjit.arith.linear import Linear
from hybridjit.arith.simplify import simplify
from hybridjit.ir.dtype import BOOL
from hybridjit.ir.expr import Buffer, Const, Expr, Le, Load, Or, Sub, Var
from hybridjit.ir.stmt import Block, For, If, Iter, IterKind, Let, Stmt, Store, seq
from hybridjit.ir.visit import substitute, walk
from hybridjit.record import record
from hybridjit.scalars.operators import conjunction
from hybridjit.tensors.block_map import BlockMap
from hybridjit.tensors.reduction import Reduction
from hybridjit.tensors.tensor import Axis, Compute

Fixed = Mapping[Var, Var]
"""Variables of axes that a loop around the whole nest runs over, and the variables of the loops."""


def make_compute(op: Compute, places: BlockMap, fixed: Fixed | None = None) -> list[Stmt]:
    """The nest of a compute. The loops of `fixed`, which are scans, stand around it already."""
    spatial = [_loop(op, axis, places, fixed or {}) for axis in op.axis]
    if isinstance(op.body, Reduction):
        return _make_reduction(op, op.body, spatial, places)
    values = [over_iters(scalar.expr, spatial) for scalar in op.body]
    return [_make_block(op, places.name_block(op), spatial, values)]


@record(eq=False)
class _Loop:
    """A loop over an axis, and the iter of the block that is bound to it."""

    axis: Axis
    var: Var
    item: Iter
    is_fixed: bool


def _loop(op: Compute, axis: Axis, places: BlockMap, fixed: Fixed) -> _Loop:
    """A loop over a data axis: a new one, or the one around."""
    around = fixed.get(axis.var)
    if around is None:
        return _new_loop(op, axis, places, IterKind.SPATIAL)
    places.note_loop(op, axis, around)
    return _Loop(axis, around, Iter(Var(axis.name), around, IterKind.SCAN), is_fixed=True)


def _new_loop(op: Compute, axis: Axis, places: BlockMap, kind: IterKind) -> _Loop:
    var = Var(axis.name)
    places.note_loop(op, axis, var)
    return _Loop(axis, var, Iter(Var(axis.name), var, kind), is_fixed=False)


def _copied(loops: Sequence[_Loop]) -> list[_Loop]:
    """The same loops once more, for a second nest."""
    return [_copied_loop(loop) for loop in loops]


def _copied_loop(loop: _Loop) -> _Loop:
    var = loop.var if loop.is_fixed else Var(loop.axis.name)
    item = Iter(Var(loop.axis.name), var, loop.item.kind)
    return _Loop(loop.axis, var, item, loop.is_fixed)


def _make_block(
    op: Compute,
    name: str,
    loops: Sequence[_Loop],
    values: Sequence[Expr],
    condition: Expr | None = None,
) -> Stmt:
    """Every element of the outputs set to a value, where the condition holds."""
    indices = tuple(loop.item.var for loop in loops)
    body = store_all([tensor.buffer for tensor in op.outputs], indices, values)
    if condition is not None:
        body = If(condition, body)
    return _nest(Block(name, tuple(loop.item for loop in loops), body), loops)


def _make_reduction(
    op: Compute, reduction: Reduction, spatial: list[_Loop], places: BlockMap
) -> list[Stmt]:
    reduced = [_new_loop(op, axis, places, IterKind.REDUCE) for axis in reduction.axes]
    loops = [*spatial, *reduced]
    buffers = [tensor.buffer for tensor in op.outputs]
    indices = tuple(loop.item.var for loop in spatial)
    iters = tuple(loop.item for loop in loops)
    step = _combine(reduction, buffers, indices, loops)
    name = places.name_block(op)
    if _depends_on_itself(reduction):
        # The first of the inner ranges may be empty, and its start with it: begin separately.
        return [
            _make_start(op, reduction, _copied(spatial), places),
            _nest(Block(name, iters, step), loops),
        ]
    start = [over_iters(value, loops) for value in reduction.init]
    block = Block(name, iters, step, store_all(buffers, indices, start))
    return [*_fill_empty(op, reduction, spatial, places), _nest(block, loops)]


def _depends_on_itself(reduction: Reduction) -> bool:
    """True if the range of one reduced axis depends on another."""
    reduced = {axis.var for axis in reduction.axes}
    return any(_mentions(bound, reduced) for axis in reduction.axes for bound in axis.dom)


def _mentions(expr: Expr, variables: set[Var]) -> bool:
    return any(node in variables for node in walk(expr))


def _make_start(
    op: Compute,
    reduction: Reduction,
    spatial: Sequence[_Loop],
    places: BlockMap,
    condition: Expr | None = None,
) -> Stmt:
    """A nest that gives every element its starting value, where the condition holds."""
    start = [over_iters(value, spatial) for value in reduction.init]
    held = None if condition is None else over_iters(condition, spatial)
    return _make_block(op, places.name_block(op, "init"), spatial, start, held)


def _combine(
    reduction: Reduction,
    buffers: Sequence[Buffer],
    indices: tuple[Expr, ...],
    loops: Sequence[_Loop],
) -> Stmt:
    """One step: combine what is there with the next values, where the condition holds."""
    replaced: dict[Var, Expr] = {
        var: Load(buffer, indices) for var, buffer in zip(reduction.left, buffers, strict=True)
    }
    for var, source in zip(reduction.right, reduction.sources, strict=True):
        replaced[var] = over_iters(source, loops)
    values = [substitute(value, replaced) for value in reduction.combined]
    step = store_all(buffers, indices, values)
    if reduction.where is None:
        return step
    return If(over_iters(reduction.where, loops), step)


def _fill_empty(
    op: Compute, reduction: Reduction, spatial: Sequence[_Loop], places: BlockMap
) -> list[Stmt]:
    """A reduction over nothing gives its starting value: its own nest would not run at all."""
    condition = _empty_condition(op.axis, reduction.axes)
    loops = _copied(spatial)
    match condition:
        case Const(False):
            return []
        case Const(True):
            return [_make_start(op, reduction, loops, places)]
        case _ if _mentions(condition, {axis.var for axis in op.axis}):
            return [_make_start(op, reduction, loops, places, condition)]
        case _:
            return [If(condition, _make_start(op, reduction, loops, places))]


def _empty_condition(spatial: Iterable[Axis], reduced: Iterable[Axis]) -> Expr:
    """When there is nothing to reduce, over the axes of the result."""
    facts = Facts(frozenset(), ())
    for axis in spatial:
        facts.enter_loop(For(axis.var, axis.start, axis.stop, Const(1), seq()))
    empty: Expr = Const(False, BOOL)
    for axis in reduced:
        extent = facts.exact(Sub(axis.stop, axis.start))
        if extent is None or not facts.prove_non_negative(extent.plus(Linear({}, -1))):
            empty = conjunction(Or, empty, simplify(Le(axis.stop, axis.start)), None)
    return empty


def over_iters(expr: Expr, loops: Sequence[_Loop]) -> Expr:
    """`expr` over the iters of a block in the place of the axes."""
    return substitute(expr, {loop.axis.var: loop.item.var for loop in loops})


def _nest(body: Stmt, loops: Sequence[_Loop]) -> Stmt:
    outside = {loop.axis.var: loop.var for loop in loops}
    for loop in reversed(loops):
        if not loop.is_fixed:
            start, stop = (substitute(bound, outside) for bound in loop.axis.dom)
            body = For(loop.var, start, stop, Const(1), body)
    return body


def store_all(buffers: Sequence[Buffer], indices: tuple[Expr, ...], values: Sequence[Expr]) -> Stmt:
    """Store values that are all computed before the first is stored."""
    if len(buffers) == 1:
        return Store(buffers[0], indices, values[0])
    lets: list[Stmt] = []
    stores: list[Stmt] = []
    for buffer, value in zip(buffers, values, strict=True):
        if not isinstance(value, Const | Var):
            name = Var(f"{buffer.name}_value", buffer.dtype)
            lets.append(Let(name, value))
            value = name
        stores.append(Store(buffer, indices, value))
    return seq(*lets, *stores)
