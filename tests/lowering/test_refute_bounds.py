"""refute_bounds: an access that every run fails at is an IndexError before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import Kernel
from hybridjit.errors import BoundsError, RefutedIndex
from hybridjit.runtime.inspection import Refuted
from tests.lowering.failing_kernels import SURE, UNSURE, past_the_end
from tests.lowering.ways import assert_all_ways_agree
from tests.support.oracle import fresh, run_native

AnyKernel = Kernel[..., Any]


@pytest.mark.parametrize(("kernel", "args", "message", "iteration"), SURE)
def test_a_sure_failure_is_found_before_anything_runs(
    kernel: AnyKernel, args: Sequence[Any], message: str, iteration: str
) -> None:
    copies = [np.array(arg) for arg in args]
    with pytest.raises(RefutedIndex, match=message) as caught:
        run_native(kernel, *copies)
    assert (f"in iteration {iteration}\n" in str(caught.value)) == bool(iteration)
    assert [copy.tolist() for copy in copies] == [arg.tolist() for arg in args]
    assert isinstance(assert_all_ways_agree(kernel, *args).error, IndexError)


@pytest.mark.parametrize(("kernel", "args", "message", "iteration"), SURE)
def test_the_interpreter_fails_at_the_same_access(
    kernel: AnyKernel, args: Sequence[Any], message: str, iteration: str
) -> None:
    with pytest.raises(BoundsError, match=message) as caught:
        kernel.interpret(*(np.array(arg) for arg in args))
    with pytest.raises(RefutedIndex, match=message) as refuted:
        kernel.compile(*args)
    assert refuted.value.span == caught.value.span
    assert refuted.value.message == caught.value.message


@pytest.mark.parametrize(("kernel", "args"), UNSURE)
def test_what_may_not_happen_is_left_to_the_run(kernel: AnyKernel, args: Sequence[Any]) -> None:
    assert not isinstance(assert_all_ways_agree(kernel, *args).error, RefutedIndex)
    assert kernel.safety(*args).refuted is None


def test_safety_lists_the_verdicts() -> None:
    safety = past_the_end.safety(hj.f64[8], hj.f64[8])
    assert isinstance(safety.refuted, Refuted)
    assert (safety.refuted.value, safety.refuted.iteration) == (8, (("i", 8),))
    assert len(safety.checks) == 1
    assert "index `i` of 'a', axis 0, is refuted: it is 8 in iteration i=8" in str(safety)


def test_sizes_known_at_run_time_refute_nothing() -> None:
    past_the_end.compile(hj.f64["n"], hj.f64["m"])
    assert past_the_end.safety(hj.f64["n"], hj.f64["m"]).refuted is None


def test_sizes_that_vary_still_fail() -> None:
    kernel = fresh(past_the_end)
    for size in (3, 4, 5, 6):
        with pytest.raises(IndexError, match=f"index {size} is out of bounds"):
            run_native(kernel, np.ones(size), np.ones(size + 1))


def split(s: Any) -> None:
    s.split("i", factor=4)


def split_and_turned(s: Any) -> None:
    outer, inner = s.split("i", factor=4)
    s.reorder(inner, outer, unsafe=True)


def split_in_three(s: Any) -> None:
    s.split("i", factors=[2, None, 2])


@pytest.mark.parametrize(
    ("steps", "iteration"),
    [
        (split, "i_0=2, i_1=0"),
        (split_and_turned, "i_1=0, i_0=2"),
        (split_in_three, "i_0=1, i_1=1, i_2=0"),
    ],
)
def test_a_split_loop_fails_for_sure_too(steps: Any, iteration: str) -> None:
    kernel = past_the_end.with_schedule(steps)
    args = (np.zeros(8), np.zeros(8))
    with pytest.raises(RefutedIndex, match="index 8 is out of bounds") as caught:
        run_native(kernel, *args)
    assert f"in iteration {iteration}\n" in str(caught.value)


@hj.script
def guarded_late(a: Any) -> None:
    for i in range(12):
        if i > 8:
            a[i] = 1.0


def test_guards_that_leave_out_the_first_iteration_that_would_fail() -> None:
    """Nothing is sure then; the run fails where it does."""
    assert guarded_late.safety(hj.f64[8]).refuted is None
    outcome = assert_all_ways_agree(guarded_late, np.zeros(8))
    assert "index 9 is out of bounds" in str(outcome.error)


@hj.script
def guarded_early(a: Any) -> None:
    for i in range(12):
        if i < 9:
            a[i] = 1.0


def test_guards_that_let_it_run() -> None:
    with pytest.raises(RefutedIndex, match="index 8 is out of bounds"):
        run_native(guarded_early, np.zeros(8))
    assert isinstance(assert_all_ways_agree(guarded_early, np.zeros(8)).error, IndexError)
