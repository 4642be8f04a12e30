"""The passes between the front end and LLVM, in order, each verified and timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Set
from types import ModuleType
from typing import TYPE_CHECKING

from hybridjit import config
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.ir.expr import Call, FloorDiv, Mod, Node
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.hints import drop_findings, drop_hints
from hybridjit.ir.stmt import (
    FINDINGS,
    IN_REGISTER,
    ON_THREADS,
    SUMS_IN_LANES,
    SUMS_IN_ROWS,
    Allocate,
    For,
    If,
    LoopKind,
)
from hybridjit.ir.verify import Stage, verify
from hybridjit.ir.visit import walk
from hybridjit.lazy import lazy_module
from hybridjit.lowering.check_bounds import check_all_bounds, check_bounds
from hybridjit.lowering.check_hints import check_hints, number_hints
from hybridjit.lowering.hoist_checks import hoist_checks
from hybridjit.lowering.refute_bounds import refute_bounds
from hybridjit.lowering.vectorize_inner import vectorize_inner
from hybridjit.lowering.vectorize_loops import vectorize_loops
from hybridjit.record import record
from hybridjit.target import Target

if TYPE_CHECKING:
    from hybridjit.lowering import (
        check_kinds,
        compact_buffers,
        expand_intrinsics,
        hand_out_blocks,
        hoist_divisions,
        hoist_inits,
        keep_in_registers,
        parallelize,
        plan_storage,
        privatize_reductions,
        sum_in_lanes,
        unroll_loops,
        unwrap_indices,
        version_guards,
        write_out_windows,
    )
else:
    check_kinds = lazy_module("hybridjit.lowering.check_kinds")
    expand_intrinsics = lazy_module("hybridjit.lowering.expand_intrinsics")
    compact_buffers = lazy_module("hybridjit.lowering.compact_buffers")
    hand_out_blocks = lazy_module("hybridjit.lowering.hand_out_blocks")
    hoist_divisions = lazy_module("hybridjit.lowering.hoist_divisions")
    hoist_inits = lazy_module("hybridjit.lowering.hoist_inits")
    keep_in_registers = lazy_module("hybridjit.lowering.keep_in_registers")
    parallelize = lazy_module("hybridjit.lowering.parallelize")
    plan_storage = lazy_module("hybridjit.lowering.plan_storage")
    privatize_reductions = lazy_module("hybridjit.lowering.privatize_reductions")
    sum_in_lanes = lazy_module("hybridjit.lowering.sum_in_lanes")
    unroll_loops = lazy_module("hybridjit.lowering.unroll_loops")
    unwrap_indices = lazy_module("hybridjit.lowering.unwrap_indices")
    version_guards = lazy_module("hybridjit.lowering.version_guards")
    write_out_windows = lazy_module("hybridjit.lowering.write_out_windows")

# What a program has: kinds of nodes and of loops, and names of hints.
Trait = type[Node] | LoopKind | str


@record
class Pass:
    """One step: a pure function, and the stage that its result is at.

    The function takes the target too, if what it makes depends on it. A pass that `reorders` the
    iterations of loops is left out where they are as a schedule wants them, or arrays may overlap;
    one that `makes_lanes`, or keeps values in variables, where arrays may overlap. One that is
    `only_with` something has nothing to do in a program that has none of it, and is not loaded.
    """

    run: Callable[..., PrimFunc]
    gives: Stage
    takes_target: bool = False
    reorders: bool = False
    makes_lanes: bool = False
    only_with: tuple[Trait, ...] = ()

    def has_work(self, traits: Set[Trait]) -> bool:
        """False if a program with these traits stays as it is."""
        return not self.only_with or not traits.isdisjoint(self.only_with)

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


def _late(module: ModuleType, name: str | None = None) -> Callable[..., PrimFunc]:
    """A pass that is loaded when it is run; without a `name`, it has that of its module."""
    found = name or module.__name__.rpartition(".")[2]

    def run(*args: object) -> PrimFunc:
        return getattr(module, found)(*args)

    run.__name__ = found
    return run


_NOT_SERIAL = tuple(kind for kind in LoopKind if kind is not LoopKind.SERIAL)
_THREADS = (LoopKind.PARALLEL,)
_DIVISIONS = (FloorDiv, Mod)
_SUMS = (SUMS_IN_LANES, SUMS_IN_ROWS)

# From blocks to loops in which every index is proved or checked.
_TO_LOOPS: tuple[Pass, ...] = (
    Pass(_late(check_kinds), gives=Stage.BLOCKS, only_with=_NOT_SERIAL),
    Pass(drop_findings, gives=Stage.BLOCKS, only_with=FINDINGS),
    Pass(number_hints, gives=Stage.BLOCKS),
    Pass(lower_blocks, gives=Stage.LOOPS),
    Pass(_late(expand_intrinsics), gives=Stage.LOOPS, only_with=(Call,)),
    Pass(check_bounds, gives=Stage.LOOPS),
)
_UNROLL = Pass(_late(unroll_loops), gives=Stage.LOOPS, only_with=(LoopKind.UNROLLED,))
_DROP_HINTS = Pass(drop_hints, gives=Stage.LOOPS)

PIPELINE: tuple[Pass, ...] = (
    *_TO_LOOPS,
    Pass(refute_bounds, gives=Stage.LOOPS),
    Pass(_late(parallelize), gives=Stage.LOOPS, reorders=True, only_with=_THREADS),
    Pass(
        _late(parallelize, "parallelize_asked"),
        gives=Stage.LOOPS,
        makes_lanes=True,
        only_with=(ON_THREADS,),
    ),
    Pass(_late(compact_buffers), gives=Stage.LOOPS, only_with=(Allocate,)),
    Pass(_late(plan_storage), gives=Stage.LOOPS, only_with=(Allocate,)),
    Pass(hoist_checks, gives=Stage.LOOPS),
    Pass(_late(privatize_reductions), gives=Stage.LOOPS, only_with=_THREADS),
    Pass(_late(version_guards), gives=Stage.LOOPS, only_with=(If,)),
    Pass(_late(hoist_divisions), gives=Stage.LOOPS, only_with=_DIVISIONS),
    Pass(_late(unwrap_indices), gives=Stage.LOOPS, only_with=_DIVISIONS),
    Pass(_late(hoist_inits), gives=Stage.LOOPS, only_with=(If,)),
    Pass(_late(hand_out_blocks), gives=Stage.LOOPS, makes_lanes=True, only_with=_SUMS),
    Pass(
        _late(sum_in_lanes),
        gives=Stage.LOOPS,
        takes_target=True,
        makes_lanes=True,
        only_with=_SUMS,
    ),
    Pass(
        _late(keep_in_registers),
        gives=Stage.LOOPS,
        makes_lanes=True,
        only_with=(IN_REGISTER, *_SUMS),
    ),
    Pass(vectorize_inner, gives=Stage.LOOPS, takes_target=True, makes_lanes=True),
    Pass(vectorize_loops, gives=Stage.LOOPS, takes_target=True),
    Pass(_late(write_out_windows), gives=Stage.LOOPS, makes_lanes=True, only_with=(Allocate,)),
    _UNROLL,
    Pass(check_hints, gives=Stage.LOOPS, takes_target=True, makes_lanes=True),
    _DROP_HINTS,
)


# As little as code can be made of: everything is checked where it stands.
DEBUG_PIPELINE: tuple[Pass, ...] = (
    *_TO_LOOPS,
    Pass(check_all_bounds, gives=Stage.LOOPS),
    _UNROLL,
    _DROP_HINTS,
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
    traits = find_traits(func)
    for step in PIPELINE:
        if (step.reorders and not may_reorder) or (step.makes_lanes and not may_vectorize):
            continue
        start, result = time.perf_counter(), func
        if step.has_work(traits):
            result = step.run(func, target) if step.takes_target else step.run(func)
        seconds = time.perf_counter() - start
        if check and result is not func:
            verify(result, step.gives, step.name)
        yield Step(step.name, result, seconds, result is not func)
        if result is not func:
            func, traits = result, find_traits(result)


def find_traits(func: PrimFunc) -> frozenset[Trait]:
    """What there is in a program; one that may run on threads has parallel loops, or will have."""
    traits: set[Trait] = {LoopKind.PARALLEL} if func.parallel else set()
    for node in walk(func.body):
        traits.add(type(node))
        if isinstance(node, For):
            traits.add(node.kind)
            traits.update(name for name, _ in node.annotations)
    return frozenset(traits)
