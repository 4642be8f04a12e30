"""name_invariants: what is read before a loop can be tested there, and nothing else changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import Kernel, hybrid
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.interp.run import compile_func
from hybridjit.ir.expr import Bounded
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For
from hybridjit.ir.verify import Stage, verify
from hybridjit.ir.visit import walk
from hybridjit.lowering.check_bounds import check_bounds
from hybridjit.lowering.hoist_checks import hoist_checks
from tests.lowering.ways import assert_all_ways_agree, assert_native_agrees
from tests.support.oracle import assert_same_outcome, run_once

AnyKernel = Kernel[..., Any]
HUGE = 2**63 - 1


@hybrid.script
def rows(first: Any, values: Any, out: Any) -> Any:
    for i in range(out.shape[0]):
        for k in range(first[i], first[i + 1]):
            out[i] += values[k]


@hybrid.script
def backwards(first: Any, values: Any, out: Any) -> Any:
    for i in range(out.shape[0]):
        for k in range(first[i + 1], first[i], -1):
            out[i] += values[k]


@hybrid.script
def moving(a: Any, out: Any, step: Any) -> Any:
    base = 0
    for i in range(out.shape[0]):
        for j in range(3):
            out[i] += a[base * 2 + j]
        base += step


@hybrid.script
def changing(a: Any, out: Any, step: Any) -> Any:
    base = 0
    for i in range(out.shape[0]):
        out[i] += a[base + i]
        base += step


@hybrid.script
def butterflies(a: Any, out: Any, blocks: Any, width: Any, rest: Any) -> Any:
    size = blocks
    length = rest
    for _ in range(2):
        for q in range(width):
            for b in range(size):
                for t in range(length):
                    out[(q * size + b) * length + t] += a[(b * width + q) * length + t]
        size += 1
        length -= 1


@hybrid.script
def scaled(a: Any, out: Any, offset: Any, stride: Any) -> Any:
    for i in range(out.shape[0]):
        out[i] += a[offset + i * stride]


@hybrid.script
def maybe_unset(a: Any, out: Any, n: Any) -> Any:
    if n > 2:
        base = n
    for i in range(n):
        if i > 2:
            out[i] += a[base - 3 + i]  # pyright: ignore[reportPossiblyUnboundVariable]


@hybrid.script
def divided(a: Any, out: Any, n: Any, d: Any) -> Any:
    base = n
    for i in range(n):
        out[i] += a[base // d + i]


def line(size: int) -> Any:
    return np.arange(1.0, size + 1)


STARTS = ([0, 2, 5], [0, 0, 0], [0, 3, 6], [-1, 2, 5], [1, 7, 2], [5, 2, 4], [-HUGE, 1, 2])
CALLS: tuple[tuple[AnyKernel, Sequence[Sequence[Any]]], ...] = (
    (rows, [(np.array(x, dtype), line(5), np.zeros(2)) for x in STARTS[:6]
            for dtype in (np.int64, np.int32)]),
    (backwards, [(np.array(x), line(6), np.zeros(2)) for x in STARTS[:6]]),
    (moving, [(line(n), np.zeros(4), k) for n in (9, 8, 3) for k in (0, 1, -1, 2)]),
    (changing, [(line(9), np.zeros(4), k) for k in (0, 1, 2, -1, -5)]),
    (butterflies, [(line(n), np.zeros(m), b, w, r) for n, m in ((18, 18), (12, 18), (18, 12))
                   for b in (0, 1, 2, -2) for w in (2, 3, -1) for r in (1, 2, 3, 0, -3)]),
    (scaled, [(line(9), np.zeros(n), k, s) for n in (0, 1, 3) for k in (0, 2, 8, -1, 9)
              for s in (0, 1, 4, -4, 5)]),
    (maybe_unset, [(line(9), np.zeros(9), n) for n in (0, 1, 2, 3, 5, 6, 9)]),
    (divided, [(line(9), np.zeros(9), n, d) for n in (0, 3, 6, 9) for d in (0, 1, 2, -1)]),
)  # fmt: skip
KERNELS = [pytest.param(kernel, calls, id=kernel.__name__) for kernel, calls in CALLS]
HUGE_CALLS = [
    *((scaled, (line(9), np.zeros(3), k, s)) for k in (0, HUGE) for s in (HUGE, -HUGE, 2**62)),
    *(
        (butterflies, (line(9), np.zeros(9), b, 2, r))
        for b in (2**32, 2)
        for r in (2**32, 2**63 - 5)
    ),
    *((moving, (line(9), np.zeros(3), k)) for k in (2**62 - 1, 2**61)),
    (rows, (np.array(STARTS[-1]), line(5), np.zeros(2))),
    (rows, (np.array([HUGE - 1, HUGE, 0]), line(5), np.zeros(2))),
]


def versions(kernel: AnyKernel, args: Sequence[Any]) -> PrimFunc:
    func = hoist_checks(check_bounds(lower_blocks(kernel.prim_func(*args))))
    verify(func, Stage.LOOPS, "hoist_checks")
    return func


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("kernel", "calls"), KERNELS)
def test_all_ways_agree(kernel: AnyKernel, calls: Sequence[Sequence[Any]]) -> None:
    outcomes = [assert_all_ways_agree(kernel, *args) for args in calls]
    assert any(outcome.error is None for outcome in outcomes)
    assert any(outcome.error is not None for outcome in outcomes)


@pytest.mark.parametrize(("kernel", "args"), HUGE_CALLS)
def test_numbers_that_overflow(kernel: AnyKernel, args: Sequence[Any]) -> None:
    assert assert_native_agrees(kernel, *args).error is not None


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("kernel", "calls"), KERNELS)
def test_versions_run_in_the_interpreter(kernel: AnyKernel, calls: Sequence[Sequence[Any]]) -> None:
    """The same result, the same error, and the same memory when it is raised."""
    for args in calls:
        before, after = kernel.prim_func(*args), versions(kernel, args)
        expected = run_once(_interpret(before), kernel, args)
        assert_same_outcome(run_once(_interpret(after), kernel, args), expected)


def _interpret(func: PrimFunc) -> Any:
    run = compile_func(func)

    def interpret(_: AnyKernel, *args: Any) -> Any:
        return run(args)

    return interpret


def loops_with_checks(func: PrimFunc) -> tuple[int, int]:
    """How many loops of `func` have checks inside, and how many have none."""
    loops = [node for node in walk(func.body) if isinstance(node, For)]
    checked = [any(isinstance(node, Bounded) for node in walk(loop)) for loop in loops]
    return sum(checked), len(checked) - sum(checked)


@pytest.mark.parametrize(
    ("kernel", "specs", "plain"),
    [
        (rows, (hj.i64["n"], hj.f64["m"], hj.f64["k"]), 1),
        (rows, (hj.u32[5], hj.f64[9], hj.f64[4]), 1),
        (backwards, (hj.i64[5], hj.f64[9], hj.f64[4]), 1),
        (moving, (hj.f64["n"], hj.f64["m"], 1), 1),
        (butterflies, (hj.f64["n"], hj.f64["m"], 1, 2, 3), 3),
        (scaled, (hj.f64[9], hj.f64[3], 1, 2), 1),
        (changing, (hj.f64["n"], hj.f64["m"], 1), 0),
        (maybe_unset, (hj.f64["n"], hj.f64["m"], 1), 0),
        (divided, (hj.f64["n"], hj.f64["m"], 1, 2), 0),
    ],
)
def test_loops_without_checks(kernel: AnyKernel, specs: Any, plain: int) -> None:
    assert loops_with_checks(versions(kernel, specs))[1] == plain


def test_bounds_and_parts_get_names() -> None:
    text = str(versions(rows, (hj.i64[5], hj.f64[9], hj.f64[4])))
    assert "k_start = first[i]\n" in text
    assert "k_stop = first[i + 1]\n" in text
    assert "0 <= k_start and" in text
    text = str(versions(butterflies, (hj.f64[9], hj.f64[9], 1, 2, 3)))
    assert "= width * length\n" in text


def test_a_loop_that_nothing_helps_is_left_alone() -> None:
    func = check_bounds(lower_blocks(changing.prim_func(hj.f64["n"], hj.f64["m"], 1)))
    assert "part" not in str(hoist_checks(func))


@hybrid.script
def names_inside(a: Any, out: Any, start: Any) -> Any:
    base = start
    for i in range(out.shape[0]):
        whole = base * 3
        nothing = i - i + base
        out[i] += a[whole + i] + a[nothing + i]


def test_names_inside_the_loop_stay() -> None:
    """A name for nothing but another name is no valid IR."""
    versions(names_inside, (hj.f64["n"], hj.f64["m"], 1))
    for start in (0, 1, 3, -1, -4):
        assert_all_ways_agree(names_inside, line(9), np.zeros(4), start)


@hybrid.script
def in_eights(a: Any, first: Any, out: Any) -> Any:
    start = first[0]
    for k in range(0, min(first[1], 64) // 8 * 8, 8):
        for j in range(8):
            out[j] += a[start + k + j]


def test_multiples_stay_multiples() -> None:
    """A whole array is inside itself: no room is lost to steps that are not taken."""
    for start, count in ((0, 16), (1, 16), (0, 17), (8, 8), (-1, 8), (0, 7), (5, 0)):
        assert_all_ways_agree(in_eights, line(16), np.array([start, count]), np.zeros(8))
    assert "start + k_stop * 8 <= 16" in str(
        versions(in_eights, (hj.f64[16], hj.i64[2], hj.f64[8]))
    )
