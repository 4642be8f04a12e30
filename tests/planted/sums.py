"""Bugs planted in sums side by side: in what is proved, in what is moved, in rows and lanes.

Each must be noticed by a comparison of native code with the interpreter, or by random programs.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from hybridjit import Kernel
from hybridjit.analysis import plain
from hybridjit.analysis.counting_nest import Nest
from hybridjit.analysis.distances import Distances
from hybridjit.analysis.independence import Independence
from hybridjit.arith.ranges import ZERO
from hybridjit.ir.stmt import Stmt
from hybridjit.lowering import keep_in_registers
from hybridjit.runtime import specialization
from hybridjit.schedule.arrays import sum_tiles, unroll_and_jam, update_nests
from hybridjit.schedule.arrays.sum_tiles import TileSums
from tests.lowering import (
    sum_kernels,
    sum_programs,
    test_keep_in_registers,
    test_sum_in_lanes,
)
from tests.lowering.sum_kernels import arrays
from tests.lowering.ways import assert_native_agrees
from tests.optimize import test_mark_sums
from tests.planted.bugs import Bug, Check, RandomCheck, always, replaced
from tests.planted.vectors import guarded


def on_shared_memory() -> None:
    """What one row writes, the next one reads."""
    memory: Any = np.random.default_rng(3).random((40, 40))
    kernel: Kernel[..., Any] = Kernel(sum_kernels.terms_outside.__hybrid_function__)
    assert_native_agrees(kernel, memory[:39], memory[1:, :20], arrays(39, 20, 40)[2])


def of(kernel: Kernel[..., Any]) -> Check:
    return guarded(kernel, *arrays(9, 17, 41))


def at_random(first: int) -> RandomCheck:
    """Random programs, from one on that shows the bug."""

    def check(number: int) -> None:
        sum_programs.check_number(number)

    return RandomCheck("sums", check, first, 40)


# -- the bugs --------------------------------------------------------------------------------------


def unguarded(_: Any, then: Any, **__: Any) -> Any:
    return then


def itself(stmt: Stmt) -> Stmt:
    return stmt


def outermost_last(self: Nest, body: Any) -> Any:
    return _over(dataclasses.replace(self, loops=self.loops[::-1]), body)


_over = Nest.over


BUGS = (
    Bug(
        "every index moves with the lanes",
        [replaced(Distances, "is_same", True)],
        of(sum_kernels.neighbours),
    ),
    Bug(
        "every variable of an index is alone in it",
        [replaced(Distances, "is_zero", always(True))],
        of(sum_kernels.diagonals),
    ),
    Bug(
        "an element that is updated is never a term",
        [replaced(Independence, "prove_never_meet", always(True))],
        of(sum_kernels.terms_from_itself),
    ),
    Bug(
        "iterations after the bound of a loop never meet those before",
        [replaced(Independence, "_prove_different", always(True))],
        of(sum_kernels.columns_before_and_this_one),
    ),
    Bug(
        "all iterations are independent",
        [replaced(Independence, "prove_independent", always(True))],
        of(sum_kernels.scaled_after),
    ),
    Bug(
        "lanes that write to each other's elements are independent",
        [replaced(Independence, "prove_independent", always(True))],
        of(sum_kernels.mirrored_into_the_next),
    ),
    Bug(
        "loops go outside of those that their bounds need",
        [replaced(update_nests, "_can_reorder", always(True))],
        of(sum_kernels.each_term_again),
    ),
    Bug(
        "elements without terms are touched",
        [replaced(update_nests, "If", unguarded)],
        test_sum_in_lanes.test_elements_without_terms_are_not_touched,
    ),
    Bug(
        "loops that go inside change their order",
        [replaced(Nest, "over", outermost_last)],
        of(sum_kernels.terms_of_two_loops),
    ),
    Bug(
        "rows share their variables",
        [replaced(unroll_and_jam, "fresh_copy", itself)],
        of(sum_kernels.terms_outside),
    ),
    Bug(
        "the last rows are left out",
        [replaced(unroll_and_jam, "minus", always(ZERO))],
        of(sum_kernels.terms_outside),
    ),
    Bug(
        "all rows have as many terms as the first",
        [
            replaced(sum_tiles, "has_common_bounds", always(True)),
            replaced(unroll_and_jam, "_is_same_loop", always(True)),
        ],
        of(sum_kernels.fewer_terms_in_a_variable),
    ),
    Bug(
        "failures come in any order",
        [replaced(plain, "may_fail", always(False))],
        of(sum_kernels.divides),
    ),
    Bug(
        "variables have a value everywhere",
        [replaced(TileSums, "unset", frozenset())],
        of(sum_kernels.maybe_unset),
    ),
    Bug(
        "anything in a loop may run side by side",
        [replaced(sum_tiles, "is_plain", always(True))],
        of(sum_kernels.asserts),
    ),
    Bug(
        "what is marked needs no proof",
        [replaced(TileSums, "_is_legal", always(True))],
        test_mark_sums.test_sums_that_need_each_other_are_refused,
    ),
    Bug(
        "a sum is in a register though a failure shows what it is",
        [replaced(keep_in_registers, "_can_fail", always(False))],
        test_keep_in_registers.test_what_was_added_before_a_failure_is_there,
    ),
    Bug(
        "every sum is in a register, wanted or not",
        [replaced(keep_in_registers, "_is_wanted", always(True))],
        test_keep_in_registers.test_the_pass_alone,
    ),
    Bug(
        "arguments that share memory are taken for disjoint ones",
        [replaced(specialization, "share_memory", always(False))],
        on_shared_memory,
    ),
    Bug(
        "every index of random programs moves with the lanes",
        [replaced(Distances, "is_same", True)],
        at_random(105),
    ),
    Bug(
        "no element of random programs is a term of another",
        [replaced(Independence, "prove_never_meet", always(True))],
        at_random(105),
    ),
    Bug(
        "every variable of an index of random programs is alone in it",
        [replaced(Distances, "is_zero", always(True))],
        at_random(105),
    ),
)
