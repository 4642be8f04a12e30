"""The passes between the front end and LLVM, in order, each verified and timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from hybridjit import config
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.hints import drop_hints
from hybridjit.ir.verify import Stage, verify
from hybridjit.lowering.check_bounds import check_all_bounds, check_bounds
from hybridjit.lowering.check_hints import check_hints, number_hints
from hybridjit.lowering.check_kinds import check_kinds
from hybridjit.lowering.compact_buffers import compact_buffers
from hybridjit.lowering.expand_intrinsics import expand_intrinsics
from hybridjit.lowering.hand_out_blocks import hand_out_blocks
from hybridjit.lowering.hoist_checks import hoist_checks
from hybridjit.lowering.hoist_divisions import hoist_divisions
from hybridjit.lowering.hoist_inits import hoist_inits
from hybridjit.lowering.keep_in_registers import keep_in_registers
from hybridjit.lowering.parallelize import parallelize, parallelize_asked
from hybridjit.lowering.plan_storage import plan_storage
from hybridjit.lowering.privatize_reductions import privatize_reductions
from hybridjit.lowering.refute_bounds import refute_bounds
from hybridjit.lowering.sum_in_lanes import sum_in_lanes
from hybridjit.lowering.unroll_loops import unroll_loops
from hybridjit.lowering.unwrap_indices import unwrap_indices
from hybridjit.lowering.vectorize_inner import vectorize_inner
from hybridjit.lowering.vectorize_loops import vectorize_loops
from hybridjit.lowering.version_guards import version_guards
from hybridjit.lowering.write_out_windows import write_out_windows
from hybridjit.record import record
from hybridjit.target import Target


@record
class Pass:
    """One step: a pure function, and the stage that its result is at.

    The function takes the target too, if what it makes depends on it. A pass that `reorders` the
    iterations of loops is left out where they are as a schedule wants them, or arrays may overlap;
    one that `makes_lanes`, or keeps values in variables, where arrays may overlap.
    """

    run: Callable[..., PrimFunc]
    gives: Stage
    takes_target: bool = False
    reorders: bool = False
    makes_lanes: bool = False

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.run.__name__


@record
class Step:
    """What one pass did."""

    name: str
    func: PrimFunc
    seconds: float
    changed: bool


# From blocks to loops in which every index is proved or checked.
_TO_LOOPS: tuple[Pass, ...] = (
    Pass(check_kinds, gives=Stage.BLOCKS),
    Pass(number_hints, gives=Stage.BLOCKS),
    Pass(lower_blocks, gives=Stage.LOOPS),
    Pass(expand_intrinsics, gives=Stage.LOOPS),
    Pass(check_bounds, gives=Stage.LOOPS),
)

PIPELINE: tuple[Pass, ...] = (
    *_TO_LOOPS,
    Pass(refute_bounds, gives=Stage.LOOPS),
    Pass(parallelize, gives=Stage.LOOPS, reorders=True),
    Pass(parallelize_asked, gives=Stage.LOOPS, makes_lanes=True),
    Pass(compact_buffers, gives=Stage.LOOPS),
    Pass(plan_storage, gives=Stage.LOOPS),
    Pass(hoist_checks, gives=Stage.LOOPS),
    Pass(privatize_reductions, gives=Stage.LOOPS),
    Pass(version_guards, gives=Stage.LOOPS),
    Pass(hoist_divisions, gives=Stage.LOOPS),
    Pass(unwrap_indices, gives=Stage.LOOPS),
    Pass(hoist_inits, gives=Stage.LOOPS),
    Pass(hand_out_blocks, gives=Stage.LOOPS, makes_lanes=True),
    Pass(sum_in_lanes, gives=Stage.LOOPS, takes_target=True, makes_lanes=True),
    Pass(keep_in_registers, gives=Stage.LOOPS, makes_lanes=True),
    Pass(vectorize_inner, gives=Stage.LOOPS, takes_target=True, makes_lanes=True),
    Pass(vectorize_loops, gives=Stage.LOOPS, takes_target=True),
    Pass(write_out_windows, gives=Stage.LOOPS, makes_lanes=True),
    Pass(unroll_loops, gives=Stage.LOOPS),
    Pass(check_hints, gives=Stage.LOOPS, takes_target=True, makes_lanes=True),
    Pass(drop_hints, gives=Stage.LOOPS),
)


# As little as code can be made of: everything is checked where it stands.
DEBUG_PIPELINE: tuple[Pass, ...] = (
    *_TO_LOOPS,
    Pass(check_all_bounds, gives=Stage.LOOPS),
    Pass(unroll_loops, gives=Stage.LOOPS),
    Pass(drop_hints, gives=Stage.LOOPS),
)


def lower_to_debug(func: PrimFunc) -> PrimFunc:
    """`func` as plain loops in order, every index checked."""
    for step in debug_steps(func):
        func = step.func
    return func


def debug_steps(func: PrimFunc) -> Iterator[Step]:
    """Every step of `lower_to_debug`, as it is made."""
    for step in DEBUG_PIPELINE:
        start = time.perf_counter()
        result = step.run(func)
        seconds = time.perf_counter() - start
        verify(result, step.gives, step.name)
        yield Step(step.name, result, seconds, result is not func)
        func = result


def lower(
    func: PrimFunc, target: Target, *, may_reorder: bool = False, may_vectorize: bool = False
) -> PrimFunc:
    """`func` as plain, checked loops."""
    steps = lower_steps(func, target, may_reorder=may_reorder, may_vectorize=may_vectorize)
    for step in steps:
        func = step.func
    return func


def lower_steps(
    func: PrimFunc, target: Target, *, may_reorder: bool = False, may_vectorize: bool = False
) -> Iterator[Step]:
    """Every step of lowering `func`, as it is made."""
    check = config.current().verify
    for step in PIPELINE:
        if (step.reorders and not may_reorder) or (step.makes_lanes and not may_vectorize):
            continue
        start = time.perf_counter()
        result = step.run(func, target) if step.takes_target else step.run(func)
        seconds = time.perf_counter() - start
        if check and result is not func:
            verify(result, step.gives, step.name)
        yield Step(step.name, result, seconds, result is not func)
        func = result
