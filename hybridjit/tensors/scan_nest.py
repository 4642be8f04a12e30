"""The loops of a scan: nests that copy the first steps, and one loop with the nests of a step.

for i in range(n):
    with block("scan_init", i):
        scan[0, i] = init[0, i]
for t in scan(1, m):
    for i in range(n):
        with block("update", scan(t), i):
            scan[t, i] = scan[t - 1, i] + X[t, i]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hybridjit.ir.expr import Buffer, Const, Expr, Load, Var
from hybridjit.ir.stmt import Allocate, Block, For, Iter, LoopKind, Stmt, Store, seq
from hybridjit.ir.visit import Mutator
from hybridjit.tensors.block_map import BlockMap
from hybridjit.tensors.nests import make_compute
from hybridjit.tensors.scan import Scan
from hybridjit.tensors.tensor import Compute, Tensor

Targets = Mapping[Buffer, tuple[Buffer, int | None]]
"""What stands for a buffer inside of a step, and which of its dimensions is left out, if any."""


def make_scan(op: Scan, places: BlockMap) -> list[Stmt]:
    """The statements of a scan."""
    var = Var(op.scan_axis.name)
    places.note_loop(op, op.scan_axis, var)
    targets = _find_targets(op)
    room: list[Stmt] = [
        Allocate(targets[tensor.buffer][0], zero=False)
        for stage in op.stages
        for tensor in stage.outputs
        if tensor not in op.update
    ]
    redirect = _Redirect(targets)
    nests = [
        redirect.rewrite(stmt) for stage in op.stages for stmt in _step(op, stage, var, places)
    ]
    start, stop = op.scan_axis.dom
    loop = For(var, start, stop, Const(1), seq(*room, *nests), LoopKind.SCAN)
    copies = [
        _copy(op, init, result, places) for init, result in zip(op.init, op.outputs, strict=True)
    ]
    return [*copies, loop]


def _find_targets(op: Scan) -> Targets:
    """The states and updates are the result; other stages have room for one step."""
    targets: dict[Buffer, tuple[Buffer, int | None]] = {}
    for stage in op.stages:
        time = op.times[stage]
        for tensor in stage.outputs:
            targets[tensor.buffer] = _one_step(tensor.buffer, time), time
    for update, state, result in zip(op.update, op.state, op.outputs, strict=True):
        targets[update.buffer] = targets[state.buffer] = result.buffer, None
    return targets


def _one_step(buffer: Buffer, time: int | None) -> Buffer:
    return Buffer(buffer.name, buffer.dtype, _without(buffer.shape, time))


def _without(items: tuple[Expr, ...], place: int | None) -> tuple[Expr, ...]:
    return items if place is None else (*items[:place], *items[place + 1 :])


def _step(op: Scan, stage: Compute, var: Var, places: BlockMap) -> list[Stmt]:
    time = op.times[stage]
    fixed = {} if time is None else {stage.axis[time].var: var}
    return make_compute(stage, places, fixed)


class _Redirect(Mutator):
    """Put other buffers in the place of tensors."""

    def __init__(self, targets: Targets) -> None:
        self.targets = targets

    def rewrite_Load(self, node: Load) -> Expr:
        return self._redirected(self.generic(node))

    def rewrite_Store(self, node: Store) -> Stmt:
        return self._redirected(self.generic(node))

    def _redirected(self, node: Any) -> Any:
        if node.buffer not in self.targets:
            return node
        buffer, dropped = self.targets[node.buffer]
        return replace(node, buffer=buffer, indices=_without(node.indices, dropped))


def _copy(op: Scan, init: Tensor, result: Tensor, places: BlockMap) -> Stmt:
    """The first steps of a result."""
    loops = [Var(f"i{dim}") for dim in range(init.ndim)]
    iters = tuple(Iter(Var(var.name), var) for var in loops)
    indices = tuple(item.var for item in iters)
    store = Store(result.buffer, indices, Load(init.buffer, indices))
    body: Stmt = Block(places.name_block(op, "init"), iters, store)
    for var, extent in reversed(list(zip(loops, init.buffer.shape, strict=True))):
        body = For(var, Const(0), extent, Const(1), body)
    return body
