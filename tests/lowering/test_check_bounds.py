"""check_bounds: what schedules leave is proved, and what is proved is never outside."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import hybridjit as hj
from hybridjit import hybrid, parse
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.ir.expr import Expr, Select
from hybridjit.ir.func import PrimFunc
from hybridjit.lowering import check_bounds as check_bounds_module
from hybridjit.lowering.check_bounds import check_bounds
from hybridjit.runtime.inspection import find_safety
from hybridjit.schedule.schedule import Schedule
from tests.lowering.index_programs import (
    find_wrong_index,
    make_program,
    make_program_of_choices,
)
from tests.lowering.tail_kernels import CUBES, LINES, PLANES, AnyKernel
from tests.lowering.ways import assert_all_ways_agree
from tests.support.array_results import assert_agree
from tests.support.choices import samples, strategy

EVERY: tuple[tuple[AnyKernel, int], ...] = (
    *((kernel, 1) for kernel in LINES),
    *((kernel, 2) for kernel in PLANES),
    *((kernel, 3) for kernel in CUBES),
)
SHAPES: dict[int, tuple[tuple[Any, ...], ...]] = {
    1: ((100,), (96,), (1,), ("n",)),
    2: ((100, 50), (8, 16), ("n", "m"), ("n", 50), (100, "m")),
    3: ((6, 5, 7), ("n", "m", "k"), ("n", 5, "k"), (6, "m", 7)),
}
SIZES: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((0,), (1,), (7,), (31,), (32,), (33,), (97,)),
    2: ((0, 3), (3, 0), (1, 1), (7, 9), (8, 16), (5, 17)),
    3: ((0, 2, 2), (2, 2, 0), (1, 1, 1), (2, 3, 5)),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("kernel", "shape"),
    [
        pytest.param(kernel, shape, id=f"{kernel.__name__}-{'x'.join(map(str, shape))}")
        for kernel, rank in EVERY
        for shape in SHAPES[rank]
    ],
)
def test_tails_of_schedules_are_proved(kernel: AnyKernel, shape: Any) -> None:
    assert kernel.safety(hj.f64[shape]).checks == ()


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("kernel", "rank"), EVERY)
def test_tails_compute_the_same_in_all_ways(kernel: AnyKernel, rank: int) -> None:
    for shape in SIZES[rank]:
        assert_all_ways_agree(kernel, np.random.default_rng(0).random(shape))


@hybrid.script
def multiply(a: Any, b: Any, c: Any) -> Any:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def tile(s: Schedule) -> None:
    i, j, k = s.loops("c")
    i_0, i_1 = s.split(i, factor=32)
    j_0, j_1 = s.split(j, factor=16)
    s.reorder(i_0, j_0, k, i_1, j_1)
    s.vectorize(j_1)


def split_in_three(s: Schedule) -> None:
    s.split(s.loops("c")[0], factors=[None, 4, 8])


def split_by_parts(s: Schedule) -> None:
    s.split(s.loops("c")[2], nparts=4)


def fuse_and_split(s: Schedule) -> None:
    i, j, _ = s.loops("c")
    s.split(s.fuse(i, j), factor=16)


@pytest.mark.parametrize("shape", [(100, 70, 30), ("n", "m", "k"), ("n", 70, "k")])
@pytest.mark.parametrize("steps", [tile, split_in_three, split_by_parts, fuse_and_split])
def test_schedules_leave_nothing_to_check(steps: Any, shape: Any) -> None:
    n, m, k = shape
    schedule = multiply.schedule(hj.f64[n, k], hj.f64[k, m], hj.f64[n, m])
    steps(schedule)
    assert find_safety(schedule.func).checks == ()


def wrong_index(func: PrimFunc) -> None:
    checked = check_bounds(func)
    found = find_wrong_index(checked)
    assert found is None, f"{found}\n{checked}"


@given(strategy(make_program))
def test_what_is_proved_is_inside(func: PrimFunc) -> None:
    wrong_index(func)


@given(strategy(make_program_of_choices))
def test_what_is_proved_of_choices_is_inside(func: PrimFunc) -> None:
    wrong_index(func)


@pytest.mark.parametrize("make", [make_program, make_program_of_choices])
def test_what_is_proved_is_inside_in_many_programs(make: Any) -> None:
    for func in samples(make, 150):
        wrong_index(func)


@hybrid.script
def asserted(a: Any, k: Any) -> Any:
    assert k >= 0
    assert k < a.shape[0]
    a[k] = 1.0


@hybrid.script
def refused(a: Any, k: Any) -> Any:
    if k < 0 or k >= a.shape[0]:
        raise ValueError("k")
    a[k] = 1.0


@hybrid.script
def one_side(a: Any, k: Any) -> Any:
    if k < a.shape[0]:
        a[k] = 1.0


@hybrid.script
def leaves_something_else(a: Any, k: Any) -> Any:
    for i in range(a.shape[0]):
        if k >= a.shape[0]:
            break
        a[i] = 2.0
    if k >= 0:
        a[k] = 1.0


@pytest.mark.parametrize("size", [5, "n"])
@pytest.mark.parametrize(
    ("kernel", "checks"), [(asserted, 0), (refused, 0), (one_side, 1), (leaves_something_else, 1)]
)
def test_what_was_tested_before_is_known(kernel: AnyKernel, checks: int, size: Any) -> None:
    assert len(kernel.safety(hj.f64[size], 3).checks) == checks


@pytest.mark.parametrize("size", [10, "n"])
def test_a_guard_may_say_more_than_is_needed(size: Any) -> None:
    @hybrid.script
    def halves(a: Any) -> Any:
        for i in range(100):
            if 2 * i < a.shape[0]:
                a[i] = 1.0
            if i < a.shape[0] - 3:
                a[i + 2] = 1.0

    assert halves.safety(hj.f64[size]).checks == ()


def test_sums_that_may_wrap_prove_nothing() -> None:
    @hybrid.script
    def wraps(a: Any, k: Any) -> Any:
        if k >= 0 and k + 1 < a.shape[0]:
            a[k] = 1.0

    assert len(wraps.safety(np.zeros(5), 2**60).checks) == 1
    assert wraps.safety(np.zeros(5), 3).checks == ()  # of small ints none wraps


def test_products_of_different_arrays_may_wrap() -> None:
    """The sizes of one array multiply to something that fits; those of two need not."""

    @hybrid.script
    def across(a: Any, b: Any) -> Any:
        for f in range(a.shape[0] * b.shape[0]):
            a[f // b.shape[0]] = 1.0

    assert len(across.safety(hj.f64["n"], hj.f64["m"]).checks) == 1


def test_sizes_of_results_are_sizes() -> None:
    """Memory for a result is there before anything runs, so that n is not negative, and no sum of
    a few such numbers wraps.
    """

    @hybrid.script
    def in_steps(n: Any) -> Any:
        a = np.zeros(n)
        for j in range(0, n, 16):
            if j + 16 <= n:
                for lane in range(16):
                    a[j + lane] = lane
        return a

    assert in_steps.safety(40).checks == ()
    with pytest.raises(ValueError, match="negative dimensions"):
        in_steps(-1)


@hybrid.script
def in_blocks(a: Any, n: int) -> Any:
    """Triangles of blocks of eight, each row in steps of four and a rest, as products are cut."""
    for first in range(0, a.shape[0], 8):
        last = min(first + 8, a.shape[0])
        for k in range(first + 1, last):
            for j in range(0, (k - first) // 4 * 4, 4):
                a[first + j + 3] += 1
            for j in range((k - first) // 4 * 4, k - first):
                a[first + j] += 1
            for lane in range(4):
                if (k - first) // 4 * 4 + lane < k - first:
                    a[first + (k - first) // 4 * 4 + lane] += 1
            for j in range((k - first) % 4):
                a[first + (k - first) // 4 * 4 + j] += 1


@pytest.mark.parametrize("size", [30, "n"])
def test_quotients_and_their_rests_are_known(size: Any) -> None:
    assert in_blocks.safety(hj.i64[size], 3).checks == ()


def test_quotients_and_their_rests_compute_the_same_in_all_ways() -> None:
    for size in (0, 1, 7, 8, 9, 30):
        assert_all_ways_agree(in_blocks, np.zeros(size, int), 3)


def settled(text: str) -> str:
    return str(check_bounds(lower_blocks(parse(text))))


def test_a_branch_that_is_never_taken_goes() -> None:
    text = settled(
        """
def f(a: int64["n"]):
    for first in range(0, a.shape[0], 8):
        for k in range(first, min(first + 8, a.shape[0])):
            if k - first < 8:
                a[k] = 1
            else:
                a[k] = 2
            if k < first:
                a[k] = 3
"""
    )
    assert "a[k] = 1" in text
    assert not any(gone in text for gone in ("if", "= 2", "= 3"))


def test_a_test_that_may_fail_stays() -> None:
    text = settled(
        """
def f(a: int64["n"], b: uint8["m"], k: int):
    if int64(b[k]) >= 0:
        a[0] = 1
"""
    )
    assert "if int64(b[checked_index(k, b.shape[0])]) >= 0" in text


# Choices in expressions


@hybrid.script
def padded(a: Any, b: Any) -> Any:
    for i in range(b.shape[0]):
        b[i] = a[i - 2] if i - 2 >= 0 and i - 2 < a.shape[0] else 0.0


@hybrid.script
def padded_elsewhere(a: Any, b: Any) -> Any:
    for i in range(b.shape[0]):
        b[i] = 0.0 if i < 2 or i >= a.shape[0] + 2 else 2 * a[i - 2]


@hybrid.script
def padded_sum(a: Any, b: Any) -> Any:
    for i in range(b.shape[0]):
        b[i] += (a[i - 2] if 2 <= i < a.shape[0] + 2 else 0.0) + (a[i] if i < a.shape[0] else 1.0)


@hybrid.script
def added_up(a: Any, b: Any) -> Any:
    for i in range(b.shape[0]):
        b[0] = b[0] + (a[i - 2] if 2 <= i < a.shape[0] + 2 else 0.0)


CHOICES = (padded, padded_elsewhere, padded_sum, added_up)


@pytest.mark.parametrize("kernel", CHOICES)
@pytest.mark.parametrize("size", [40, "n"])
def test_choices_keep_indices_inside(kernel: AnyKernel, size: Any) -> None:
    other = size + 4 if isinstance(size, int) else "m"
    assert kernel.safety(hj.f64[size], hj.f64[other]).checks == ()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kernel", CHOICES)
@pytest.mark.parametrize("size", [1, 5, 16, 40])
def test_choices_compute_the_same_in_all_ways(kernel: AnyKernel, size: int) -> None:
    values = np.random.default_rng(0).random(size)
    for more in (1, 4, 9):
        assert_all_ways_agree(kernel, values, np.zeros(size + more))


@hybrid.script
def choice_that_is_outside(a: Any, b: Any) -> Any:
    for i in range(b.shape[0]):
        b[i] = a[i - 2] if i >= 2 else 0.0


@hybrid.script
def choice_after_a_failure(a: Any, b: Any, k: int) -> Any:
    for i in range(b.shape[0]):
        b[i] = a[k] + (a[i - 2] if i >= 2 and i < 7 else 0.0)


@hybrid.script
def choice_behind_another(a: Any, b: Any, k: int) -> Any:
    for i in range(b.shape[0]):
        b[i] = (a[i - 2] if i >= 2 else a[k]) if i < 7 else 1.0


def test_choices_that_fail_do_so_where_they_did() -> None:
    values = np.random.default_rng(0).random(5)
    for size in (3, 7, 8, 20):
        assert_all_ways_agree(choice_that_is_outside, values, np.zeros(size))
        for k in (0, 4, 5, -5, -6):
            assert_all_ways_agree(choice_after_a_failure, values, np.zeros(size), k)
            assert_all_ways_agree(choice_behind_another, values, np.zeros(size), k)


def test_a_choice_that_stayed_one_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def proved_in_place(self: Any, node: Select) -> Expr:
        then = self._under(node.cond, node.then)
        return dataclasses.replace(node, cond=self.rewrite(node.cond), then=then)

    handler = vars(check_bounds_module)["_CheckBounds"]
    monkeypatch.setattr(handler, "rewrite_Select", proved_in_place)
    with pytest.raises(AssertionError, match="is_checked=False"):
        test_what_is_proved_is_inside_in_many_programs(make_program_of_choices)


@hybrid.script
def counts_of(codes: Any, k: np.int64) -> Any:
    counts: Any = np.zeros((4**k, k // 2 + 1), np.int64)
    for code in codes:
        counts[code, code % 3] += 1
    return counts


def test_a_size_that_takes_a_while_is_found_once() -> None:
    text = counts_of.inspect("lowered", np.arange(9), np.int64(3))
    assert "checked_index(code, size)" in text
    assert "4 ** k" not in text.partition("for ")[2]
    for codes in ([], [0, 3, 63, 1, -64, 3], [0, 64], [5]):
        assert_all_ways_agree(counts_of, np.array(codes, int), np.int64(3))
    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 1"):
        counts_of(np.array([5]), np.int64(3))


@pytest.mark.parametrize("size", [120, "n"])
def test_parts_by_numbers_of_the_caller(size: Any) -> None:
    """A part of an array lies in it, wherever numbers say that it begins and ends."""

    @hybrid.script
    def moving(a: Any, k: Any) -> Any:
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i - k : i].sum() + a[k:i].max(initial=0.0) + a[-k : i + 3].mean()
        return s

    assert moving.safety(hj.f64[size], 5).checks == ()
    a = np.random.default_rng(0).random(40)
    for k in (5, 0, -3, 39, 40, 41, 100, -100):
        assert_agree(moving, [a, k])
