"""Vector loops: every iteration is a lane, and each statement runs in all lanes at once.

What a lane is, and what happens where one fails, is said at `Lanes` (emitter.py).
"""

from __future__ import annotations

import dataclasses

from hybridjit.analysis.limits import loop_extent
from hybridjit.analysis.packing import find_packing
from hybridjit.analysis.vector_width import count_lanes as count_lanes_of
from hybridjit.analysis.vector_width import find_width
from hybridjit.codegen.emit.emitter import Emitter, Lanes
from hybridjit.codegen.emit.index_factors import find_factor
from hybridjit.codegen.emit.load_groups import LoadGroups
from hybridjit.codegen.emit.loops import named_var, run_plain_loop
from hybridjit.codegen.emit.vector_values import Ramp
from hybridjit.codegen.llvm_types import Block
from hybridjit.ir import stmt as tis
from hybridjit.ir.expr import Const
from hybridjit.ir.stmt import LANES, LoopKind, Stmt, seq
from hybridjit.ir.visit import walk
from hybridjit.lowering.cut_loops import cut

MAX_LANES = 1 << 9


def count_lanes(loop: tis.For) -> int | None:
    """How many lanes run `loop` at once; None if it is an ordinary loop."""
    lanes = loop_extent(loop)
    if loop.kind is not LoopKind.VECTORIZED or lanes is None:
        return None
    is_power = lanes & (lanes - 1) == 0
    return lanes if is_power and 1 < lanes <= MAX_LANES else None


def run_vector_loop(emitter: Emitter, loop: tis.For) -> None:
    """Run all lanes of a vector loop at once, or another loop as it stands."""
    count = count_lanes(loop)
    if emitter.lanes is not None:
        # What an iteration stores comes before what the next one may fail in.
        emitter.lanes.has_stored |= _stores(loop)
        run_plain_loop(emitter, loop)
    elif count is None or not emitter.options.may_vectorize:
        run_plain_loop(emitter, loop)
    else:
        _run_lanes(emitter, loop, count)


def _run_lanes(emitter: Emitter, loop: tis.For, count: int) -> None:
    assert isinstance(loop.step, Const)
    emitter.factors[loop.var] = find_factor(loop.start, emitter.factors)  # of the first lane
    emitter.values[loop.var] = Ramp(emitter.emit(loop.start), int(loop.step.value.real))
    piece = count_lanes_of(loop.body, emitter.options.target)
    lanes = emitter.lanes = Lanes(
        count, piece, LoadGroups(loop, emitter.arrays), find_packing(loop)
    )
    shown = named_var(loop)
    emitter.loop_vars += shown
    emitter.run(loop.body)
    del emitter.loop_vars[len(emitter.loop_vars) - len(shown) :]
    emitter.lanes = None
    if lanes.in_order is not None:
        _run_in_order(emitter, loop, lanes.in_order)


def is_whole(emitter: Emitter, loop: tis.For) -> bool:
    """Whether `loop` is to have lanes and is not cut yet: one that runs in parallel, or a
    large one, of which part may be stored past the caches.
    """
    if emitter.lanes is not None or not emitter.options.may_vectorize or loop_extent(loop) == 1:
        return False
    has_lanes = loop.kind is LoopKind.VECTORIZED or (LANES, True) in loop.annotations
    return has_lanes and isinstance(loop.step, Const)


def run_whole(emitter: Emitter, loop: tis.For) -> None:
    """Run a vector loop that is not cut yet."""
    vector = dataclasses.replace(loop, kind=LoopKind.VECTORIZED, annotations=())
    parts = cut(vector, find_width(vector, emitter.options.target))
    emitter.run(seq(*parts.names, *parts.loops))


def _stores(stmt: Stmt) -> bool:
    """Whether `stmt`, in a vector loop, sets something that outlives an iteration of it."""
    stores = (node for node in walk(stmt) if isinstance(node, tis.Store))
    return any(not store.buffer.is_register for store in stores)


def _run_in_order(emitter: Emitter, loop: tis.For, begin: Block) -> None:
    """One iteration after the other, up to the one that fails."""
    done = emitter.function.append_basic_block("done")
    emitter.jump(done)
    emitter.b.position_at_end(begin)
    run_plain_loop(emitter, dataclasses.replace(loop, kind=LoopKind.SERIAL))
    emitter.jump(done)
    emitter.b.position_at_end(done)
