"""Bugs planted in primitives that move stages and memory, in traces and in scheduled calls.

Each must make a scheduled program differ from its original: a random one, with steps of the kind
that the bug is in, or a given one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from hybridjit.analysis.coverage import Coverage
from hybridjit.analysis.private_reduction import PrivateReduction
from hybridjit.analysis.regions import Region
from hybridjit.arith.linear import Linear
from hybridjit.ir.expr import Buffer, Const, Expr
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For
from hybridjit.lowering import version_guards
from hybridjit.runtime.specialization import Specialization
from hybridjit.schedule import restriction, staging, trace
from hybridjit.schedule.primitives import (
    cache_read,
    cache_write,
    compute_at,
    compute_inline,
    decompose_reduction,
    double_buffer,
    reverse_compute_at,
    reverse_compute_inline,
    rfactor,
    transform_layout,
)
from hybridjit.schedule.schedule import Schedule
from tests.planted import schedule_programs as programs
from tests.planted.bugs import Bug, always, first, replaced, second
from tests.planted.schedule_checks import (
    Steps,
    at_random,
    scheduled,
    shared_memory_is_run_in_order,
    tails_are_guarded,
    traces_are_replayed,
)

_largest = vars(version_guards)["_largest"]
_find_window = Coverage.find_window
_box_around = vars(compute_at)["box_around"]
_step_to_json = vars(trace)["_step_to_json"]


def identity_of_one(self: PrivateReduction, fastmath: Sequence[str] = ()) -> Const:
    return Const(1, self.buffer.dtype)


def one_less(form: Linear, loop: For) -> Linear | None:
    found = _largest(form, loop)
    return None if found is None else found.plus(Linear({}, -1))


def at_the_other_end(form: Linear, loop: For) -> Linear | None:
    turned = dataclasses.replace(loop, start=loop.stop, stop=loop.start)
    return _largest(form, turned)


def smaller_box(part: Any, buffer: Buffer, touched: Any) -> Region:
    found: Region = _box_around(part, buffer, touched)
    axes = tuple(dataclasses.replace(axis, stop=axis.stop - 1) for axis in found.axes)
    return dataclasses.replace(found, axes=axes)


def the_new_one(join: Any, old: Expr, new: Expr, part: Any) -> Expr:
    return new


def smaller_window(self: Coverage, axis: int) -> int | None:
    found = _find_window(self, axis)
    return None if found is None else max(found - 1, 1)


def without_options(step: Any, numbers: Any) -> dict[str, Any]:
    return {**_step_to_json(step, numbers), "options": {}}


def first_place(loop: For) -> Expr:
    return Const(0)


def in_schedule(self: Specialization, layout: Any) -> PrimFunc:
    return self.func


def _at(block: str, loop: str) -> Steps:
    return lambda s: s.compute_at(block, loop)


def _cached_tile(s: Schedule) -> None:
    outer, _ = s.split("j", 4)
    s.cache_read("c", "t", "local", at=outer)


BUGS = (
    # -- reductions
    Bug(
        "rfactor: partial results start at one",
        [replaced(PrivateReduction, "identity", identity_of_one)],
        at_random(6, "rfactor"),
    ),
    Bug(
        "rfactor: sums of floats may be regrouped",
        [replaced(rfactor, "may_regroup", always(True))],
        scheduled(programs.TOTAL, lambda s: s.rfactor("i")),
    ),
    Bug(
        "rfactor: partial results are counted from 0",
        [replaced(rfactor, "FloorDiv", first)],
        at_random(30, "rfactor"),
    ),
    Bug(
        "decompose_reduction: the init is lost",
        [replaced(decompose_reduction, "seq", second)],
        scheduled(programs.SUM, lambda s: s.decompose_reduction("c", "k")),
    ),
    # -- stages
    Bug(
        "compute_at: the region is too small",
        [replaced(compute_at, "box_around", smaller_box)],
        scheduled(programs.BLUR, _at("t", "j")),
    ),
    Bug(
        "compute_at: the region is not clipped",
        [replaced(restriction, "_joined", the_new_one)],
        scheduled(programs.HALF_STORED, _at("t", "j")),
    ),
    Bug(
        "compute_at: elements are accumulated twice",
        [replaced(compute_at, "_check_runs_once", always(None))],
        scheduled(programs.ACCUMULATED, _at("t", "j")),
    ),
    Bug(
        "compute_at: inputs may change in between",
        [replaced(compute_at, "_check_inputs", always(None))],
        scheduled(programs.CHANGED, _at("t", "j")),
    ),
    Bug(
        "compute_inline: inputs may change in between",
        [replaced(compute_inline, "_check_inputs", always(None))],
        scheduled(programs.CHANGED, lambda s: s.compute_inline("t")),
    ),
    Bug(
        "compute_inline: elements that were not stored are computed",
        [replaced(compute_inline, "_check_reads", always(None))],
        scheduled(programs.HALF_STORED, lambda s: s.compute_inline("t")),
    ),
    Bug(
        "reverse_compute_at: any iteration may come at any time",
        [replaced(reverse_compute_at, "find_fault", always(None))],
        at_random(3, "reverse compute at"),
    ),
    Bug(
        "reverse_compute_inline: a reader may write to what the other nest reads",
        [replaced(reverse_compute_inline, "_prove_apart", always(True))],
        scheduled(programs.WAITS_FOR_ALL, lambda s: s.reverse_compute_inline("a")),
    ),
    Bug(
        "reverse_compute_inline: readers never wait",
        [replaced(reverse_compute_inline, "find_hindrance", always(None))],
        scheduled(programs.WAITS, lambda s: s.reverse_compute_inline("a")),
    ),
    # -- memory
    Bug(
        "cache_write: what is not overwritten is not read in",
        [replaced(cache_write, "is_overwritten", always(True))],
        scheduled(programs.PARTLY, lambda s: s.cache_write("c", "c", "local")),
    ),
    Bug(
        "cache_read: the copy may be out of date",
        [replaced(cache_read, "_check_flow", always(None))],
        scheduled(programs.READ_BACK, lambda s: s.cache_read("c", "a", "local")),
    ),
    Bug(
        "staging: copies have no guards",
        [replaced(staging, "_guards", always([]))],
        scheduled(programs.BLUR, _cached_tile),
    ),
    Bug(
        "rolling_buffer: the window is too small",
        [replaced(Coverage, "find_window", smaller_window)],
        scheduled(programs.WINDOW, lambda s: s.rolling_buffer("t")),
    ),
    Bug(
        "transform_layout: elements may share a place",
        [replaced(transform_layout, "_check_map", always(None))],
        scheduled(programs.BLUR, lambda s: s.transform_layout("t", "i -> i // 2")),
    ),
    Bug(
        "double_buffer: both places are the same",
        [replaced(double_buffer, "_count", first_place)],
        scheduled(programs.FILLED, lambda s: s.double_buffer("t")),
    ),
    # -- what is around
    Bug(
        "guards are dropped one iteration too early",
        [replaced(version_guards, "_largest", one_less)],
        tails_are_guarded,
    ),
    Bug(
        "guards are tested in the first iteration",
        [replaced(version_guards, "_largest", at_the_other_end)],
        tails_are_guarded,
    ),
    Bug(
        "traces lose their options",
        [replaced(trace, "_step_to_json", without_options)],
        traces_are_replayed,
    ),
    Bug(
        "arguments that overlap run the schedule",
        [replaced(Specialization, "compiled_func", in_schedule)],
        shared_memory_is_run_in_order,
    ),
)
