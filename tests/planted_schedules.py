"""Test the testers of schedules: bugs planted in primitives, in the analysis and in the trace.

Each must make a scheduled program differ from its original: a random one, with steps of the kind
that the bug is in, or a given one. `python -m tests.planted_schedules` plants them all and says
how each was noticed; tests/test_planted_schedule_bugs.py does the same in the suite.
"""

from __future__ import annotations

import dataclasses
import math
import random
import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, ScheduleError, hybrid
from hybridjit.analysis import concurrency, dependence, instances
from hybridjit.analysis.bounds import Facts
from hybridjit.analysis.context import infer_context
from hybridjit.analysis.coverage import Coverage
from hybridjit.analysis.dependence import Dependences
from hybridjit.analysis.elements import Elements
from hybridjit.analysis.instances import Instances
from hybridjit.analysis.private_reduction import PrivateReduction, find_updates
from hybridjit.analysis.reduction import ReductionOp
from hybridjit.analysis.regions import Region
from hybridjit.arith.linear import Linear
from hybridjit.arith.polyhedra import AffineNames
from hybridjit.arith.products import Product
from hybridjit.arith.simplify import simplify
from hybridjit.frontend.parse import parse_text
from hybridjit.ir.expr import Buffer, Const, Expr, FloorDiv, Le, Lt, Mod
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, Stmt
from hybridjit.lower import version_guards
from hybridjit.runtime.specialization import Specialization
from hybridjit.schedule import restriction, staging, trace
from hybridjit.schedule.copies import copy_beside
from hybridjit.schedule.primitives import (
    cache_read,
    cache_write,
    compute_at,
    compute_inline,
    decompose_reduction,
    double_buffer,
    fission,
    fuse,
    merge,
    partition,
    reorder,
    reverse_compute_at,
    reverse_compute_inline,
    rfactor,
    split,
    transform_layout,
)
from hybridjit.schedule.schedule import Schedule
from tests.before_after import assert_unchanged, replayed
from tests.choices import Choose
from tests.nests.check import Scheduled, check_scheduled, make_program, run, take_move
from tests.nests.generate import Nest
from tests.nests.sized import make_sized
from tests.planted_native import AnyKernel, Bug, Check, notices, replaced

# Programs until a bug counts as missed.
MAX_PROGRAMS = 150
Steps = Callable[[Schedule], object]


# -- checks ----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class RandomSchedules:
    """Random programs under random steps of the given kinds compute what they did before.

    The search starts at program number `first`, which is known to show the bug.
    """

    first: int
    moves: tuple[str, ...]
    make: Callable[[Choose], Nest] = make_program
    count: int = MAX_PROGRAMS

    @property
    def __name__(self) -> str:
        return f"random {', '.join(self.moves)}"

    def __call__(self) -> None:
        for number in range(self.first, self.first + self.count):
            try:
                self._check(number)
            except AssertionError as error:
                raise AssertionError(f"program {number}: {error}") from error

    def _check(self, number: int) -> None:
        choose = random.Random(number).randrange
        nest = self.make(choose)
        try:
            expected = run(nest.func, nest.fresh_args())
        except (IndexError, RuntimeError):
            return
        for _ in range(4):
            found = Scheduled(nest, Schedule(nest.func))
            for _ in range(1 + choose(3)):
                take_move(found, self.moves[choose(len(self.moves))], choose)
            check_scheduled(found, native=False, expected=expected)


def at_random(first: int, *moves: str) -> RandomSchedules:
    return RandomSchedules(first, moves)


def at_random_sizes(first: int, *moves: str) -> RandomSchedules:
    return RandomSchedules(first, moves, make_sized)


def scheduled(text: str, steps: Steps, *, native: bool = False) -> Check:
    """The program computes the same after the steps, or one of them is refused."""

    def check() -> None:
        schedule = Schedule(parse_text(text))
        for size in (5, 8, 1):
            args = [_argument(param, size) for param in schedule.func.params]
            again = Schedule(schedule.func)
            try:
                steps(again)
            except ScheduleError:
                return
            assert_unchanged(again.original, again.func, args, native=native)

    check.__name__ = text.split("(")[0].split()[-1]
    return check


def _argument(param: Any, size: int) -> Any:
    """Values for a parameter; run-time sizes are `size`."""
    assert isinstance(param, Buffer)
    shape = [int(n.value.real) if isinstance(n, Const) else size for n in param.shape]
    if param.dtype.is_float:  # sums are rounded, in each order otherwise
        return np.random.default_rng(7).standard_normal(shape).astype(param.dtype.numpy)
    values: Any = np.arange(1, 1 + math.prod(shape)) * 7 % 11
    return values.astype(param.dtype.numpy).reshape(shape)


def refused(text: str, steps: Steps, message: str) -> Check:
    """The last of the steps is refused with this message."""

    def check() -> None:
        with pytest.raises(ScheduleError, match=message):
            steps(Schedule(parse_text(text)))

    check.__name__ = f"refused: {message}"
    return check


def _with_schedule(kernel: AnyKernel, steps: Steps) -> AnyKernel:
    made: AnyKernel = Kernel(kernel.__hybrid_function__)
    return made.with_schedule(steps)


def tails_are_guarded() -> None:
    """Native code of a split loop writes nothing behind the end of an array."""
    kernel = _with_schedule(_tail, lambda s: s.split("i", 4))
    for size in (3, 4, 5, 11, 12, 13):
        a, memory = np.arange(40.0), np.full(40, -1.0)
        kernel(a[:size], memory[:size])
        expected = np.where(np.arange(40) < size, np.arange(40) + 1.0, -1.0)
        assert memory.tolist() == expected.tolist(), size


@hybrid.script
def _tail(a: Any, b: Any) -> Any:
    for i in range(a.shape[0]):
        b[i] = a[i] + 1


def traces_are_replayed() -> None:
    """The trace of a schedule, through JSON, gives the same program again."""
    schedule = Schedule(parse_text(_TWO_LOOPS))
    schedule.split("i", nparts=2)
    schedule.parallel("i_0", unsafe=True)
    assert str(replayed(schedule)) == str(schedule.func)


def shared_memory_is_run_in_order() -> None:
    """Arguments that overlap are given to the program as it was before the schedule."""
    kernel = _with_schedule(_shift, lambda s: s.reorder("j", "i"))
    results: list[Any] = []
    calls: Any = (_shift.interpret, kernel, kernel)
    for call in calls:
        memory: Any = np.arange(24.0)
        call(memory[:20].reshape(4, 5), memory[4:24].reshape(4, 5))
        results.append(memory.tolist())
    assert results[0] == results[1] == results[2]


@hybrid.script
def _shift(a: Any, b: Any) -> Any:
    for i in range(4):
        for j in range(5):
            b[i, j] = a[i, j] + 1


# -- programs --------------------------------------------------------------------------------------

_TWO_LOOPS = """
def two_loops(a: float32[7, 4], c: float32[7, 4]):
    for i in range(7):
        for j in range(4):
            c[i, j] = a[i, j] + 1.0
"""
_BLUR = """
def blur(a: float32["n"], c: float32["n"]):
    t = allocate((a.shape[0],), "float32")
    for i in range(a.shape[0]):
        t[i] = a[i] * 0.5
    for j in range(1, a.shape[0] - 1):
        c[j] = t[j - 1] + t[j] + t[j + 1]
"""
_ACCUMULATED = """
def accumulated(t: float32[8], a: float32[8], c: float32[8]):
    for i in range(8):
        t[i] = t[i] + a[i]
    for j in range(7):
        c[j] = t[j] + t[j + 1]
"""
_CHANGED = """
def changed(a: float32[8], c: float32[8]):
    t = allocate((8,), "float32")
    for i in range(8):
        t[i] = a[i] * 0.5
    for k in range(8):
        a[k] = 3.0
    for j in range(8):
        c[j] = t[j] + 1.0
"""
_PARTLY = """
def partly(a: float32[8], c: float32[8]):
    for i in range(4):
        c[2 * i] = a[i] + 1.0
"""
_HALF_STORED = """
def half_stored(a: float32[8], c: float32[8]):
    t = allocate((8,), "float32")
    for i in range(4):
        t[i] = a[i] * 0.5
    for j in range(8):
        c[j] = t[j] + 1.0
"""
_WINDOW = """
def window(a: float32[9], c: float32[9]):
    t = allocate((9,), "float32")
    for i in range(9):
        t[i] = a[i] * 0.5
        if i >= 2:
            c[i] = t[i] + t[i - 2]
"""
_SUM = """
def sum_rows(a: float32[5, 4], c: float32[5]):
    for i in range(5):
        for k in range(4):
            with block("c", i, reduce(k)):
                with init():
                    c[i] = 0.5
                c[i] = c[i] + a[i, k]
"""
_FILLED = """
def filled(a: float32[5, 4], c: float32[5, 4]):
    for i in range(5):
        t = allocate((4,), "float32")
        for j in range(4):
            t[j] = a[i, j] * 0.5
        for k in range(4):
            c[i, k] = t[3 - k]
"""
_READ_BACK = """
def read_back(a: float32[8], c: float32[8]):
    for i in range(8):
        a[i] = a[i] + 1.0
        c[i] = a[i] * 2.0
"""
_LATE = """
def late(a: float32[8], b: float32[8]):
    t = allocate((8,), "float32")
    for i in range(8):
        t[i] = a[i] * 0.5
    for j in range(7):
        b[j] = t[j + 1]
"""
_WAITS = """
def waits(a: float32[8]):
    t = allocate((8,), "float32")
    for i in range(8):
        t[i] = (a[i - 1] if i > 0 else 0.0) * 0.5
    for j in range(8):
        a[j] = t[j]
"""
_DOWN = """
def down(a: float32[5, 5]):
    for i in range(3, -1, -1):
        for j in range(4):
            a[i, j] = a[i + 1, j + 1] * 0.5
"""
_MIXED = """
def mixed(a: int64[5], s: int64[1]):
    for i in range(5):
        s[0] = min(s[0], 9)
        s[0] = s[0] + a[i]
"""
_OFFSET = """
def offset(a: float32[5], c: float32[5]):
    for i in range(4):
        a[i] = a[i] * 0.5
    for j in range(1, 5):
        c[j] = c[j] + 1.0
"""
_WRAPS = """
def wraps(a: float32[5], c: float32[5]):
    for i in range(5):
        a[i] = a[i] * 0.5
        c[i] = a[i - 1]
"""
_TOTAL = """
def total(a: float32[5, 5], c: float32[1]):
    for i in range(5):
        for j in range(5):
            c[0] = c[0] + a[i, j]
"""
_SCAN = """
def scanned(a: float32[8]):
    for i in scan(8):
        a[i] = a[i] + 1.0
"""
_STRIDE = """
def stride(a: int64["n"], n: int, k: int):
    if k > 0:
        for i in range(n):
            a[i * k] = i
"""
_LEAVES = """
def leaves(a: float32[8]):
    for i in range(8):
        if a[i] > 9.0:
            break
        a[i] = a[i] + 1.0
"""


def _at(block: str, loop: str) -> Steps:
    return lambda s: s.compute_at(block, loop)


def _cached_tile(s: Schedule) -> None:
    outer, _ = s.split("j", 4)
    s.cache_read("c", "t", "local", at=outer)


# -- bugs ------------------------------------------------------------------------------------------

_extents = vars(split)["_extents"]
_conflicts = vars(Dependences)["_conflicts"]
_condition = AffineNames.condition
_largest = vars(version_guards)["_largest"]
_find_window = Coverage.find_window
_box_around = vars(compute_at)["box_around"]
_step_to_json = vars(trace)["_step_to_json"]
_compared = Product.compared


def _always(value: Any) -> Callable[..., Any]:
    def give(*_: Any, **__: Any) -> Any:
        return value

    return give


def first(x: Any, y: Any) -> Any:
    return x


def second(x: Any, y: Any) -> Any:
    return y


def rounded_down(factors: Sequence[int | None], trips: Expr) -> list[Expr]:
    found = _extents(factors, trips)
    known = [factor for factor in factors if factor is not None]
    rest = simplify(FloorDiv(trips, Const(math.prod(known))))
    return [rest if factor is None else old for factor, old in zip(factors, found, strict=True)]


def writes_only(self: Dependences, buffer: Any, accesses: Any) -> Any:
    return _conflicts(self, buffer, [found for found in accesses if found[1].is_write])


def in_old_order(statement: Instances, order: Any) -> list[str]:
    return []


def one_operator(self: Any, statement: Instances, buffer: Buffer | None) -> ReductionOp | None:
    reduction = statement.reduction
    return None if reduction is None or reduction.buffer is not buffer else ReductionOp.ADD


def without_the_last(x: Expr, y: Expr) -> Lt:
    return Lt(x, y - 1)


def other_side(self: AffineNames, cond: Expr, *, holds: bool = True) -> str | None:
    return _condition(self, cond, holds=not holds)


def any_update(loop: For, fastmath: Sequence[str]) -> list[PrivateReduction]:
    return [
        PrivateReduction(found.reduction.op, found.reduction.buffer, ())
        for found in find_updates(loop.body)
    ]


def identity_of_one(self: PrivateReduction, fastmath: Sequence[str] = ()) -> Const:
    return Const(1, self.buffer.dtype)


def one_early(func: PrimFunc, stmt: Stmt) -> Stmt:
    """A copy of a loop that ends one iteration early."""
    copy = copy_beside(func, stmt)
    return dataclasses.replace(copy, stop=copy.stop - 1) if isinstance(copy, For) else copy


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


def without_rest(self: Product) -> str:
    return f"{self.remainder} = 0"


def other_way_round(self: Product, other: Product) -> str:
    return _compared(dataclasses.replace(self, scale=other.scale, text=self.text), other)


def never_left(loop: For) -> Any:
    return dataclasses.replace(infer_context(loop), left_early=frozenset())


_TAILS = ("split", "split in three", "tile")
_ORDER = ("reorder", "tile")
_SIZED = ("fuse", "split in parts", "parallel", "vectorize", "reorder")

BUGS = (
    # -- loops
    Bug("split: the guard is off by one", [replaced(split, "Lt", Le)], at_random(0, *_TAILS)),
    Bug(
        "split: the guard is missing",
        [replaced(split, "_divides", _always(True))],
        at_random(0, *_TAILS),
    ),
    Bug(
        "split: the open factor is rounded down",
        [replaced(split, "_extents", rounded_down)],
        at_random(0, *_TAILS),
    ),
    Bug(
        "split: loops start at 0, whatever they did",
        [replaced(split, "_is_offset", _always(False))],
        at_random(0, *_TAILS),
    ),
    Bug(
        "fuse: // and % are swapped",
        [replaced(fuse, "FloorDiv", Mod), replaced(fuse, "Mod", FloorDiv)],
        at_random(0, "fuse"),
    ),
    Bug(
        "fuse: starts and steps are forgotten",
        [replaced(fuse, "_value", second)],
        at_random(0, "fuse"),
    ),
    Bug(
        "partition: the second loop ends one early",
        [replaced(partition, "copy_beside", one_early)],
        at_random(10, "partition", "peel"),
    ),
    Bug(
        "merge: conflicts are not looked for",
        [replaced(merge, "_find_conflict", _always(None))],
        at_random(6, "merge"),
    ),
    Bug(
        "merge: all loops start at the same value",
        [replaced(merge, "_same_range", _always(True))],
        scheduled(_OFFSET, lambda s: s.merge("i", "j")),
    ),
    Bug(
        "fission: conflicts are not looked for",
        [replaced(fission, "_check_dependences", _always(None))],
        at_random(0, "fission"),
    ),
    # -- the analysis
    Bug(
        "conflicts: reads do not count",
        [replaced(Dependences, "_conflicts", writes_only)],
        at_random(9, *_ORDER),
    ),
    Bug(
        "conflicts: negative indices touch nothing",
        [replaced(Elements, "_may_be_negative", _always(False))],
        scheduled(_WRAPS, lambda s: s.fission("i", after="a")),
    ),
    Bug(
        "conflicts: the last iteration does not count",
        [replaced(instances, "Lt", without_the_last)],
        at_random(0, *_ORDER, "merge", "parallel"),
    ),
    Bug(
        "conflicts: guards hold on the other side",
        [replaced(AffineNames, "condition", other_side)],
        at_random(0, *_ORDER, "merge", "parallel"),
    ),
    Bug(
        "conflicts: loops never count down",
        [replaced(instances, "steps_down", _always(False))],
        scheduled(_DOWN, lambda s: s.reorder("j", "i")),
    ),
    Bug(
        "conflicts: sums of floats are the same in any order",
        [replaced(dependence, "may_reorder", _always(True))],
        scheduled(_TOTAL, lambda s: s.reorder("j", "i")),
    ),
    Bug(
        "conflicts: different reductions commute",
        [replaced(Dependences, "_commutes", one_operator)],
        scheduled(_MIXED, lambda s: s.fission("i", after="s")),
    ),
    Bug(
        "reorder: the new order is not asked about",
        [replaced(reorder, "_times", in_old_order)],
        at_random(0, "reorder"),
    ),
    Bug(
        "parallel: all updates are independent",
        [replaced(concurrency, "find_private_reductions", any_update)],
        at_random(9, "parallel", "vectorize"),
    ),
    Bug(
        "parallel: conflicts are not looked for",
        [replaced(Dependences, "find_carried", _always(None))],
        at_random(0, "parallel", "vectorize"),
    ),
    Bug(
        "parallel: scans are taken for loops",
        [replaced(concurrency, "LoopKind", SimpleNamespace(SCAN=None))],
        refused(_SCAN, lambda s: s.parallel("i"), "a scan carries state"),
    ),
    Bug(
        "parallel: loops are never left early",
        [replaced(concurrency, "infer_context", never_left)],
        refused(_LEAVES, lambda s: s.parallel("i"), "break or return may leave it early"),
    ),
    # -- sizes known at run time only
    Bug(
        "products: a division leaves no rest",
        [replaced(Product, "division", property(without_rest))],
        at_random_sizes(0, *_SIZED),
    ),
    Bug(
        "products: all with one factor are equal",
        [replaced(Product, "compared", other_way_round)],
        at_random_sizes(0, *_SIZED),
    ),
    Bug(
        "products: none wraps around",
        [replaced(Facts, "is_exact", _always(True))],
        refused(_STRIDE, lambda s: s.parallel("i"), "cannot be parallel"),
    ),
    # -- reductions
    Bug(
        "rfactor: partial results start at one",
        [replaced(PrivateReduction, "identity", identity_of_one)],
        at_random(0, "rfactor"),
    ),
    Bug(
        "rfactor: sums of floats may be regrouped",
        [replaced(rfactor, "may_regroup", _always(True))],
        scheduled(_TOTAL, lambda s: s.rfactor("i")),
    ),
    Bug(
        "rfactor: partial results are counted from 0",
        [replaced(rfactor, "FloorDiv", first)],
        at_random(65, "rfactor"),
    ),
    Bug(
        "decompose_reduction: the init is lost",
        [replaced(decompose_reduction, "seq", second)],
        scheduled(_SUM, lambda s: s.decompose_reduction("c", "k")),
    ),
    # -- stages
    Bug(
        "compute_at: the region is too small",
        [replaced(compute_at, "box_around", smaller_box)],
        scheduled(_BLUR, _at("t", "j")),
    ),
    Bug(
        "compute_at: the region is not clipped",
        [replaced(restriction, "_joined", the_new_one)],
        scheduled(_HALF_STORED, _at("t", "j")),
    ),
    Bug(
        "compute_at: elements are accumulated twice",
        [replaced(compute_at, "_check_runs_once", _always(None))],
        scheduled(_ACCUMULATED, _at("t", "j")),
    ),
    Bug(
        "compute_at: inputs may change in between",
        [replaced(compute_at, "_check_inputs", _always(None))],
        scheduled(_CHANGED, _at("t", "j")),
    ),
    Bug(
        "compute_inline: inputs may change in between",
        [replaced(compute_inline, "_check_inputs", _always(None))],
        scheduled(_CHANGED, lambda s: s.compute_inline("t")),
    ),
    Bug(
        "compute_inline: elements that were not stored are computed",
        [replaced(compute_inline, "_check_reads", _always(None))],
        scheduled(_HALF_STORED, lambda s: s.compute_inline("t")),
    ),
    Bug(
        "reverse_compute_at: any iteration may come at any time",
        [replaced(reverse_compute_at, "find_fault", _always(None))],
        at_random(4, "reverse compute at"),
    ),
    Bug(
        "reverse_compute_inline: readers never wait",
        [replaced(reverse_compute_inline, "find_hindrance", _always(None))],
        scheduled(_WAITS, lambda s: s.reverse_compute_inline("a")),
    ),
    # -- memory
    Bug(
        "cache_write: what is not overwritten is not read in",
        [replaced(cache_write, "is_overwritten", _always(True))],
        scheduled(_PARTLY, lambda s: s.cache_write("c", "c", "local")),
    ),
    Bug(
        "cache_read: the copy may be out of date",
        [replaced(cache_read, "_check_flow", _always(None))],
        scheduled(_READ_BACK, lambda s: s.cache_read("c", "a", "local")),
    ),
    Bug(
        "staging: copies have no guards",
        [replaced(staging, "_guards", _always([]))],
        scheduled(_BLUR, _cached_tile),
    ),
    Bug(
        "rolling_buffer: the window is too small",
        [replaced(Coverage, "find_window", smaller_window)],
        scheduled(_WINDOW, lambda s: s.rolling_buffer("t")),
    ),
    Bug(
        "transform_layout: elements may share a place",
        [replaced(transform_layout, "_check_map", _always(None))],
        scheduled(_BLUR, lambda s: s.transform_layout("t", "i -> i // 2")),
    ),
    Bug(
        "double_buffer: both places are the same",
        [replaced(double_buffer, "_count", first_place)],
        scheduled(_FILLED, lambda s: s.double_buffer("t")),
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
        [replaced(Specialization, "_func", in_schedule)],
        shared_memory_is_run_in_order,
    ),
)


def main() -> int:
    missed = 0
    for bug in BUGS:
        found = notices(bug.check, bug.plants)
        missed += found is None
        name = getattr(bug.check, "__name__", "")
        print(f"{bug!s:60} {name:44} {'MISSED' if found is None else found[:90]}", flush=True)
    print(f"{len(BUGS) - missed} of {len(BUGS)} bugs noticed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
