"""What the first iteration does alone stands in front of its loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import Kernel, hybrid
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.verify import Stage, verify
from hybridjit.lowering.hoist_inits import hoist_inits
from tests.corpus.case import Array
from tests.lowering.ways import assert_native_agrees
from tests.support.oracle import run_plain_and_interpreted


@hybrid.script
def sums(a: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(2):
                if k == 0 and j == 0:
                    c[i] = 0
                c[i] += a[i, k] * j


@hybrid.script
def later(a: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        c[i] += 1
        if i == 0:
            c[i] = 7


@hybrid.script
def elsewhere(a: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        if i == 1:
            c[i] = 7
        c[i] += 1


@hybrid.script
def read_end(a: Array, c: Array) -> None:
    for i in range(int(a[0, 0])):
        if i == 0:
            c[0] = 1
        c[i] += 1


@hybrid.script
def nothing(a: Array, c: Array) -> None:
    for _ in range(a.shape[0]):
        pass


@hybrid.script
def skips(a: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        if i == 0:
            c[3] = 5
            continue
        c[i] += 1


def hoisted(kernel: Kernel[..., Any], *specs: Any) -> tuple[PrimFunc, PrimFunc]:
    func = lower_blocks(kernel.prim_func(*specs))
    return func, hoist_inits(func)


def test_inits_go_in_front_of_all_loops_that_they_are_first_in() -> None:
    _, made = hoisted(sums, hj.f32[4, "n"], hj.f32[4])
    assert str(made).splitlines()[1:] == [
        "    for i in range(4):",
        "        if a.shape[1] > 0:",
        "            c[i] = 0.0",
        "        for k in range(a.shape[1]):",
        "            for j in range(2):",
        "                c[i] = c[i] + a[i, k] * float32(j)",
    ]


@pytest.mark.parametrize("kernel", [later, elsewhere, read_end, nothing, skips])
def test_other_steps_stay(kernel: Kernel[..., Any]) -> None:
    before, after = hoisted(kernel, hj.f32[4, 5], hj.f32[4])
    assert after is before


@pytest.mark.parametrize("columns", [0, 1, 3, 40])
def test_results_are_the_same(columns: int) -> None:
    run_plain_and_interpreted(sums, [np.ones((4, columns), np.float32), np.full(4, 9, np.float32)])


@hybrid.script
def down_to_zero(a: Array, b: Array, n: int) -> None:
    for i in range(n - 1, -1, -1):
        if i == n - 1:
            b[0] = 0.0
        b[0] = b[0] + a[i]


@hybrid.script
def down_by_twos(a: Array, b: Array, n: int) -> None:
    for i in range(n, 0, -2):
        if i == n:
            b[0] = 0.0
        b[0] = b[0] + a[i - 1]


@hybrid.script
def by_a_number(a: Array, b: Array, n: int) -> None:
    for i in range(0, 8, n + 1):
        if i == 0:
            b[0] = 0.0
        b[0] = b[0] + a[i]


@hybrid.script
def never(a: Array, b: Array, n: int) -> None:
    for i in range(5, 5):
        if i == 5:
            b[0] = 0.0
        b[0] = b[0] + a[i]


@pytest.mark.parametrize("n", [0, 1, 4, 7])
@pytest.mark.parametrize("kernel", [down_to_zero, down_by_twos, by_a_number, never])
def test_loops_that_go_down_or_nowhere(kernel: Kernel[..., Any], n: int) -> None:
    assert_native_agrees(kernel, np.arange(1.0, 9.0), np.full(2, 9.0), n)


@hybrid.script
def reckons_with_it(a: Array, b: Array) -> None:
    for i in range(3):
        for j in range(4):
            if j == 0:
                b[i] = a[j // 2] + (j + 1) % 3
            b[i] += a[j]


def test_what_the_first_step_reckons_is_folded() -> None:
    before, after = hoisted(reckons_with_it, hj.f64[4], hj.f64[3])
    assert before != after
    verify(after, Stage.LOOPS)
    assert_native_agrees(reckons_with_it, np.arange(4.0), np.zeros(3))


@hybrid.script
def may_fail_at_first(a: Array, b: Array, n: int) -> None:
    for i in range(n):
        if i == 0:
            b[int(a[3])] = 7.0
        b[i] = b[i] + a[i]


@pytest.mark.parametrize("n", [0, 1, 4])
def test_an_error_of_the_first_step_says_so(n: int) -> None:
    for place in (0, 1, 9):
        args = np.array([1.0, 2.0, 3.0, place]), np.zeros(4)
        if n == 0 or place < 4:
            assert_native_agrees(may_fail_at_first, *args, n)
            continue
        with pytest.raises(IndexError, match=r"index 9 is out of bounds(.|\n)*in iteration i=0"):
            may_fail_at_first(*args, n)
