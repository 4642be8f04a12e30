"""Unrolled loops become one single iteration after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import Kernel, hybrid
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.analysis.unrolling import MAX_STATEMENTS
from hybridjit.errors import ScheduleError
from hybridjit.hybrid import unroll
from hybridjit.interp.run import compile_func
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.verify import Stage, verify
from hybridjit.lowering.check_kinds import check_kinds
from hybridjit.lowering.unroll_loops import unroll_loops
from tests.corpus.case import Array
from tests.support.oracle import assert_same_outcome, run_native, run_once


def unrolled(kernel: Kernel[..., Any], *specs: Any) -> PrimFunc:
    func = unroll_loops(lower_blocks(kernel.prim_func(*specs)))
    verify(func, Stage.LOOPS, "unroll_loops")
    return func


def body_of(func: PrimFunc) -> str:
    return "\n".join(line[4:] for line in str(func).splitlines()[1:])


@hybrid.script
def squares(a: Array) -> None:
    for i in unroll(1, 6, 2):
        x = a[i] * a[i]
        a[i] = x + i


@hybrid.script
def nested(a: Array) -> None:
    for i in unroll(2):
        for j in unroll(2):
            a[i, j] += 10 * i + j


@hybrid.script
def leaves(a: Array) -> None:
    for i in unroll(4):
        if a[i] > 2:
            break
        a[i] = 9


@hybrid.script
def skips(a: Array) -> None:
    for i in unroll(4):
        if a[i] > 2:
            continue
        a[i] = 9


@hybrid.script
def divides(a: Array, b: Array) -> None:
    for i in unroll(4):
        b[i] = 12 // a[i]


@hybrid.script
def up_to(a: Array, n: int) -> None:
    for i in unroll(n):
        a[i] = i


@hybrid.script
def tile(a: Array, b: Array) -> None:
    for i in unroll(6):
        for j in unroll(5):
            a[i, j] = 2 * b[j, i]


@hybrid.script
def long(a: Array) -> None:
    for i in unroll(70):
        for j in unroll(70):
            a[i, j] = 1


@hybrid.script
def loops_in_copies(a: Array, b: Array) -> None:
    for i in unroll(9):
        for j in unroll(a.shape[0]):
            for k in range(b.shape[0]):
                if b[k] > i:
                    a[j] += b[k] * i


def test_each_iteration_is_a_loop_of_its_own() -> None:
    assert body_of(unrolled(squares, hj.i64[8])) == (
        "for i in range(1, 3, 2):\n"
        "    x = a[i] * a[i]\n"
        "    a[i] = x + i\n"
        "for i_1 in range(3, 5, 2):\n"
        "    x_1 = a[i_1] * a[i_1]\n"
        "    a[i_1] = x_1 + i_1\n"
        "for i_2 in range(5, 7, 2):\n"
        "    x_2 = a[i_2] * a[i_2]\n"
        "    a[i_2] = x_2 + i_2"
    )


@pytest.mark.parametrize("kernel", [leaves, up_to])
def test_break_and_run_time_ranges_stay_loops(kernel: Kernel[..., Any]) -> None:
    specs = (hj.i64[8], 3) if kernel is up_to else (hj.i64[8],)

    assert "for i in range(" in body_of(unrolled(kernel, *specs))
    assert "i_1" not in str(unrolled(kernel, *specs))


def test_many_copies_are_left_to_llvm() -> None:
    assert "for i in unroll(6):" in body_of(unrolled(tile, hj.i64[6, 5], hj.i64[5, 6]))


def test_too_many_copies_are_refused_before() -> None:
    with pytest.raises(ScheduleError, match=f"more than {MAX_STATEMENTS}"):
        check_kinds(long.prim_func(hj.i64[70, 70]))


def test_what_grew_too_long_on_the_way_stays_a_loop() -> None:
    assert "for i in range(70):" in body_of(unrolled(long, hj.i64[70, 70]))


def test_many_copies_of_loops_stay_loops() -> None:
    # LLVM would unroll each of them in its turn, which takes minutes for some hundred.
    kept = 'for k_1 in serial(33, annotations={"unroll": False}):'
    assert kept in str(unrolled(loops_in_copies, hj.i64[5], hj.i64[33]))
    assert "annotations" not in str(unrolled(loops_in_copies, hj.i64[3], hj.i64[33]))


@pytest.mark.parametrize(
    ("kernel", "args"),
    [
        (loops_in_copies, (np.arange(3), np.arange(33))),
        (squares, (np.arange(8),)),
        (nested, (np.zeros((2, 2), np.int32),)),
        (leaves, (np.arange(8),)),
        (skips, (np.array([1, 5, 2, 7]),)),
        (up_to, (np.zeros(8), 5)),
        (tile, (np.zeros((6, 5)), np.random.default_rng(0).random((5, 6)))),
        (divides, (np.array([1, 2, 3, 4]), np.zeros(4, np.int64))),
        (divides, (np.array([1, 2, 0, 4]), np.zeros(4, np.int64))),
    ],
)
def test_unrolled_loops_mean_the_same(kernel: Kernel[..., Any], args: Any) -> None:
    func = kernel.prim_func(*args)

    def interpret(_: object, *values: Any) -> Any:
        return compile_func(func)(values)

    def interpret_unrolled(_: object, *values: Any) -> Any:
        return compile_func(unroll_loops(lower_blocks(func)))(values)

    expected = run_once(interpret, kernel, args)

    assert_same_outcome(run_once(interpret_unrolled, kernel, args), expected)
    native = run_once(run_native, kernel, args)
    assert_same_outcome(native, expected)
    assert str(native.error) == str(expected.error)  # it names the iteration


@hybrid.script
def smoothed(a: Array, b: Array) -> None:
    for i in range(1, a.shape[0] - 1):
        for k in range(-1, 2):
            b[i] += a[i + k]


def test_other_loops_stay() -> None:
    func = lower_blocks(smoothed.prim_func(hj.f32[9], hj.f32[9]))
    assert unroll_loops(func) is func
