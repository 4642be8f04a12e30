"""rolling_buffer: keep only those elements of a scratch buffer that are still needed."""

from __future__ import annotations

import dataclasses

from hybridjit.analysis.coverage import Coverage
from hybridjit.analysis.instances import infer_instances
from hybridjit.ir.expr import Buffer, Const, Mod
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, For
from hybridjit.ir.visit import walk_stmts
from hybridjit.schedule.buffers import check_inside, scope_of, the_scratch_array
from hybridjit.schedule.label_iters import label_writers
from hybridjit.schedule.refusal import check_concurrent, refuse
from hybridjit.schedule.reindex import Indices, reindex


def rolling_buffer(func: PrimFunc, buffer: Buffer, axis: int | None = None) -> PrimFunc:
    """Fold `buffer` along an axis, so that it has places only for values that are still needed.

        t = allocate((n,), ...)                   t = allocate((3,), ...)
        for i in range(n):                        for i in range(n):
            t[i] = f(a[i])                -->         t[i % 3] = f(a[i])
            if i >= 2:                                if i >= 2:
                b[i] = t[i] + t[i - 2]                    b[i] = t[i % 3] + t[(i - 2) % 3]

    Legal if no element is written while the value of another one in the same place is needed.
    Without an axis, the first one along which that makes the buffer smaller.
    """
    allocation = the_scratch_array(func, buffer, "rolling_buffer")
    check_inside(func, buffer, scope_of(func, allocation), "rolling_buffer")
    axis, window = _find_fold(func, allocation, axis)

    def move(indices: Indices) -> Indices:
        return (*indices[:axis], Mod(indices[axis], Const(window)), *indices[axis + 1 :])

    shape = (*buffer.shape[:axis], Const(window), *buffer.shape[axis + 1 :])
    made = dataclasses.replace(buffer, shape=shape)
    body = reindex(func.body, buffer, made, move)

    folded = label_writers(dataclasses.replace(func, body=body), made)
    loops = [node for node in walk_stmts(scope_of(func, allocation)) if isinstance(node, For)]
    check_concurrent(folded, loops, "rolling_buffer")
    return folded


def _find_fold(func: PrimFunc, allocation: Allocate, axis: int | None) -> tuple[int, int]:
    """The axis to fold, and the number of places along it."""
    buffer, scope = allocation.buffer, scope_of(func, allocation)
    if axis is not None and not -buffer.ndim <= axis < buffer.ndim:
        raise refuse(
            func, f"rolling_buffer: '{buffer.name}' has {buffer.ndim} axes, there is no axis {axis}"
        )
    part = infer_instances(func, scope)
    if not part.statements:
        raise refuse(func, f"rolling_buffer: '{buffer.name}' is never used", [allocation])
    coverage = Coverage(part, scope, buffer)
    if allocation.zero and not coverage.prove_read_after_write():
        raise refuse(
            func,
            f"rolling_buffer: '{buffer.name}' may be read where it was not written and is zero",
            [allocation],
        )
    for candidate in range(buffer.ndim) if axis is None else [axis % buffer.ndim]:
        window = coverage.find_window(candidate)
        extent = buffer.shape[candidate]
        if window is not None and not (isinstance(extent, Const) and window >= extent.value.real):
            return candidate, window
    where = "any axis" if axis is None else f"axis {axis}"
    raise refuse(
        func,
        f"rolling_buffer: all elements of '{buffer.name}' along {where} are needed at some time",
        [allocation],
        help="compute its elements where they are used: s.compute_at(block, loop)",
    )
