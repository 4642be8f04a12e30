"""hoist_checks: loops without checks where indices were tested before, and nothing else changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import hybridjit as hj
from hybridjit import Kernel, hybrid, parse
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.interp.run import compile_func
from hybridjit.ir.expr import Bounded
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, If
from hybridjit.ir.verify import Stage, verify
from hybridjit.ir.visit import walk
from hybridjit.lowering import hoist_checks as hoisting
from hybridjit.lowering.check_bounds import check_bounds
from hybridjit.lowering.hoist_checks import hoist_checks
from hybridjit.processor import current_target
from hybridjit.scalars.builtins import vectorize
from tests.frontend.from_text import script_from_text
from tests.lowering.index_programs import find_wrong_index, make_program, traces
from tests.lowering.ways import assert_all_ways_agree, assert_native_agrees
from tests.support.choices import samples, strategy
from tests.support.oracle import Outcome, assert_same_outcome, run_once

AnyKernel = Kernel[..., Any]
HUGE = 2**63 - 1


@hybrid.script
def shifted(a: Any, out: Any, k: Any) -> Any:
    for i in range(out.shape[0]):
        out[i] = a[i + k]


@hybrid.script
def strided(a: Any, out: Any, k: Any, s: Any) -> Any:
    for i in range(out.shape[0]):
        out[i] = a[i * 2 + k] + a[i + s]


@hybrid.script
def section(a: Any, start: Any, stop: Any) -> Any:
    for i in range(start, stop):
        a[i] = a[i - 1] + 1.0


@hybrid.script
def falling(a: Any, start: Any, stop: Any) -> Any:
    for i in range(start, stop, -2):
        a[i] += 1.0


@hybrid.script
def different_sizes(a: Any, b: Any, out: Any) -> Any:
    for i in range(a.shape[0]):
        out[i] = a[i] + b[i]


@hybrid.script
def triangle(a: Any, b: Any) -> Any:
    for i in range(a.shape[0]):
        for j in range(i):
            b[i, j] = a[i, j] - a[j, i]


@hybrid.script
def stencil(a: Any, out: Any, r: Any, s: Any) -> Any:
    for i in range(1, out.shape[0] - 1):
        for j in range(1, out.shape[1] - 1):
            out[i, j] = a[i + r, j + s] - a[i - r, j - s]


@hybrid.script
def one_is_data(a: Any, indices: Any, out: Any, k: Any) -> Any:
    for i in range(indices.shape[0]):
        out[i] = a[indices[i]] + a[i + k]


@hybrid.script
def bytes_as_indices(table: Any, data: Any, out: Any) -> Any:
    for i in range(data.shape[0]):
        out[i] = table[data[i]]


@hybrid.script
def left_early(a: Any, k: Any, n: Any) -> Any:
    total = a[0]
    for i in range(n):
        if a[i + k] > 5.0:
            break
        total += a[i + k]
    return total


@hybrid.script
def inner_offset(a: Any, offsets: Any) -> Any:
    total = 0.0
    for i in range(offsets.shape[0]):
        start = offsets[i]
        for j in range(3):
            total += a[start + j]
    return total


def line(size: int) -> Any:
    return np.arange(1.0, size + 1)


def plane(n: int, m: int) -> Any:
    return np.random.default_rng(n * m).random((n, m))


OFFSETS = (0, 1, 2, 3, -1, -5, 8, HUGE, -HUGE, -HUGE - 1, HUGE - 2)
CALLS: tuple[tuple[AnyKernel, Sequence[Sequence[Any]]], ...] = (
    (shifted, [(line(8), np.zeros(n), k) for n in (0, 1, 5, 8) for k in OFFSETS]),
    (strided, [(line(9), np.zeros(n), k, s) for n in (0, 1, 4) for k in OFFSETS for s in (0, 6)]),
    (section, [(line(6), a, b) for a in (*OFFSETS, 6) for b in (0, 1, 6, 7, -HUGE - 1)]),
    (falling, [(line(6), a, b) for a in (0, 5, 6, -1, 20) for b in (-1, 0, 3, -9, 6)]),
    (different_sizes, [(line(n), line(m), line(k)) for n in (0, 3) for m in (2, 3) for k in (3,)]),
    (triangle, [(plane(n, m), plane(k, 4)) for n in (0, 1, 4) for m in (3, 4, 5) for k in (3, 4)]),
    (stencil, [(plane(6, 7), plane(n, m), r, s) for n in (0, 3, 6) for m in (2, 7)
               for r in (0, 1, 2) for s in (-1, 0, 1, HUGE)]),
    (one_is_data, [(line(5), np.array(x), np.zeros(3), k)
                   for x in ([0, 4, -5], [1, 5, 2]) for k in (0, 2, 3, -1)]),
    (bytes_as_indices, [(line(n), np.array(x, np.uint8), np.zeros(2))
                        for n in (255, 256) for x in ([0, 3], [255, 255])]),
    (left_early, [(line(7), k, n) for k in (0, 1, 7, -1, HUGE) for n in (0, 2, 6, 9)]),
    (inner_offset, [(line(9), np.array(x)) for x in ([0, 6], [6, 7], [-3, 0], [HUGE, 0], [-9])]),
)  # fmt: skip


@pytest.mark.parametrize(
    ("kernel", "calls"),
    [pytest.param(kernel, calls, id=kernel.__name__) for kernel, calls in CALLS],
)
def test_all_ways_agree(kernel: AnyKernel, calls: Sequence[Sequence[Any]]) -> None:
    """Successes and failures at the edges; sizes of several calls become run-time sizes."""
    outcomes = [_agree(kernel, args) for args in calls]
    assert any(outcome.error is None for outcome in outcomes)
    assert any(outcome.error is not None for outcome in outcomes)


def _agree(kernel: AnyKernel, args: Sequence[Any]) -> Outcome:
    is_huge = any(isinstance(arg, int) and abs(arg) > 2**40 for arg in args)
    return (assert_native_agrees if is_huge else assert_all_ways_agree)(kernel, *args)


@pytest.mark.parametrize(
    ("kernel", "calls"),
    [pytest.param(kernel, calls, id=kernel.__name__) for kernel, calls in CALLS],
)
def test_versions_run_in_the_interpreter(kernel: AnyKernel, calls: Sequence[Sequence[Any]]) -> None:
    """The IR after the pass, interpreted, does what it did before."""
    for args in calls[::3]:
        func = kernel.prim_func(*args)
        versioned = hoist_checks(check_bounds(lower_blocks(func)))
        verify(versioned, Stage.LOOPS, "hoist_checks")
        expected = run_once(_interpret(func), kernel, args)
        assert_same_outcome(run_once(_interpret(versioned), kernel, args), expected)


def _interpret(func: PrimFunc) -> Any:
    run = compile_func(func)

    def interpret(_: AnyKernel, *args: Any) -> Any:
        return run(args)

    return interpret


# --- random programs ------------------------------------------------------------------------------


def check_versions(func: PrimFunc) -> None:
    checked = check_bounds(func)
    versioned = hoist_checks(checked)
    verify(versioned, Stage.LOOPS, "hoist_checks")
    assert find_wrong_index(versioned) is None, str(versioned)
    assert list(traces(versioned)) == list(traces(checked)), str(versioned)


@given(strategy(make_program))
def test_versions_take_the_same_course(func: PrimFunc) -> None:
    check_versions(func)


def test_versions_take_the_same_course_in_many_programs() -> None:
    for func in samples(make_program, 100, seed=1):
        check_versions(func)


# --- what is hoisted ------------------------------------------------------------------------------


def unchecked_loops(func: PrimFunc) -> int:
    """How many loops of a lowered function have no checks inside."""
    loops = [node for node in walk(func.body) if isinstance(node, For)]
    return sum(not any(isinstance(node, Bounded) for node in walk(loop)) for loop in loops)


def versions(kernel: AnyKernel, *specs: Any) -> PrimFunc:
    return hoist_checks(check_bounds(lower_blocks(kernel.prim_func(*specs))))


@pytest.mark.parametrize(
    ("kernel", "specs", "loops"),
    [
        (shifted, (hj.f64[9], hj.f64[5], 2), 1),
        (shifted, (hj.f64["n"], hj.f64["m"], 2), 1),
        (section, (hj.f64["n"], 1, 2), 1),
        (falling, (hj.f64["n"], 1, 2), 1),
        (different_sizes, (hj.f64["n"], hj.f64["m"], hj.f64["k"]), 1),
        (triangle, (hj.f64["n", "m"], hj.f64["k", "l"]), 2),
        (stencil, (hj.f64["n", "m"], hj.f64["k", "l"], 1, 1), 2),
        (one_is_data, (hj.f64["n"], hj.i64["m"], hj.f64["m"], 1), 0),
        (bytes_as_indices, (hj.f64["n"], hj.u8["m"], hj.f64["m"]), 1),
        (left_early, (hj.f64["n"], 1, 1), 1),
        (inner_offset, (hj.f64["n"], hj.i64["m"]), 1),
    ],
)
def test_a_loop_without_checks_is_made(kernel: AnyKernel, specs: Any, loops: int) -> None:
    func = versions(kernel, *specs)
    assert unchecked_loops(func) == loops
    assert any(isinstance(node, If) for node in walk(func.body))


def test_what_is_proved_is_left_alone() -> None:
    func = check_bounds(lower_blocks(different_sizes.prim_func(*[hj.f64["n"]] * 3)))
    assert hoist_checks(func) is func


def test_a_test_that_always_fails_is_not_made() -> None:
    """Here the first iteration counts from the end."""

    @hybrid.script
    def around(a: Any) -> Any:
        for i in range(a.shape[0]):
            a[i] = a[i - 1]

    func = check_bounds(lower_blocks(around.prim_func(hj.f64["n"])))
    assert hoist_checks(func) is func


def test_large_loops_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    func = check_bounds(lower_blocks(stencil.prim_func(hj.f64["n", "m"], hj.f64["k", "l"], 1, 1)))
    monkeypatch.setattr(hoisting, "MAX_NODES", 10)
    assert hoist_checks(func) is func


def test_the_versions_are_printed() -> None:
    text = str(versions(shifted, hj.f64["n"], hj.f64["m"], 2))
    assert "0 <= k and k <= 281474976710656 and k + out.shape[0] <= a.shape[0]:" in text
    assert "checked_index(i_1 + k, a.shape[0])" in text


@pytest.mark.skipif("x86_64" not in current_target().triple, reason="register names of x86-64")
def test_the_loop_vectorises() -> None:
    register = {512: "zmm", 256: "ymm", 128: "xmm"}[current_target().vector_bits]
    assert register in different_sizes.inspect("asm", hj.f64["n"], hj.f64["m"], hj.f64["k"])


# --- kinds of loops -------------------------------------------------------------------------------


@hybrid.script
def in_lanes(a: Any, out: Any, k: Any) -> Any:
    for i in vectorize(out.shape[0]):
        out[i] = a[i + k] * 2.0


@hybrid.script
def in_threads(a: Any, out: Any, k: Any) -> Any:
    for i in hybrid.parallel(out.shape[0]):
        out[i] = a[i + k] * 2.0


@hybrid.script
def unrolled(a: Any, out: Any, k: Any) -> Any:
    for i in range(out.shape[0]):
        for j in hybrid.unroll(4):
            out[i] += a[i + j * k]


@hybrid.script
def carried(a: Any, out: Any, k: Any) -> Any:
    for t in hybrid.scan(1, out.shape[0]):
        out[t] = out[t - 1] + a[t + k]


@pytest.mark.parametrize("kernel", [in_lanes, in_threads, unrolled, carried])
def test_every_kind_of_loop(kernel: AnyKernel) -> None:
    """Where all indices are inside, and where the first iteration fails: nothing was written."""
    for size, k in ((8, 0), (9, 1), (40, 3), (1, 0), (0, 0)):
        outcome = assert_all_ways_agree(kernel, line(size * 4 + k + 4), np.zeros(size), k)
        assert outcome.error is None
    with pytest.raises(IndexError, match="out of bounds"):
        kernel(line(8), np.zeros(8), -20)
    with pytest.raises(IndexError, match="out of bounds"):
        kernel(line(8), np.zeros(8), HUGE - 3)


def test_a_large_loop_that_keeps_some_checks_is_not_there_twice() -> None:
    updates = "\n".join(f"            out[j] = out[j] * {n}.0 + a[j + k]" for n in range(30))
    func = parse(
        f"""
def f(a: float64["n"], out: float64["m"], places: int64["l"], k: int):
    for i in range(places.shape[0]):
        out[places[i]] = 1.0
        for j in range(out.shape[0]):
{updates}
"""
    )
    hoisted = str(hoist_checks(check_bounds(lower_blocks(func))))
    assert hoisted.count("for i in") == 1
    assert hoisted.count("for j") == 2


# Where the loop runs, there is no q[3]; what stands behind that reads a name without a value.
AFTER_A_FAILURE = """
def f(q: hj.f64["n", "w"], x):
    for j in range(3, q.shape[0], -1):
        s = 0.0
        for m in range(4, j):
            s += x[m]
        for k in range(4, int(s) % 8 + 3, 2):
            q[3][k] = q[3][k] * s * q[m, q.shape[1] - 1 - k]
"""


@pytest.mark.parametrize("rows", [0, 2, 3, 4, 6])
def test_what_is_never_run_is_not_read_before_the_loop(rows: int) -> None:
    kernel = script_from_text(AFTER_A_FAILURE, {"hj": hj})
    assert_all_ways_agree(kernel, np.ones((rows, 40)), np.ones(9))
