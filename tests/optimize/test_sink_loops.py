"""sink_loops: loops along rows go inside, where no iteration can tell the difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import Kernel, ScheduleError, hybrid, te
from hybridjit import stdlib as hs
from hybridjit.interp.run import interpret
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For
from hybridjit.ir.visit import walk
from hybridjit.optimize import sink_loops
from hybridjit.optimize.optimize import optimize
from hybridjit.processor import current_target
from tests.corpus.case import Array
from tests.lowering.ways import assert_all_ways_agree
from tests.support.before_after import run_example
from tests.support.optimized import optimized

AnyKernel = Kernel[..., Any]


@hybrid.script
def planes(a: Array, b: Array) -> None:
    for k in range(1, a.shape[2]):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j, k] = 0.5 * a[i, j, k - 1] + b[i, j, k]


@hybrid.script
def numpy_style(a: Array, b: Array) -> None:
    for k in range(1, a.shape[2]):
        a[:, :, k] = 0.5 * a[:, :, k - 1] + b[:, :, k]


@hybrid.script
def backwards(a: Array, b: Array) -> None:
    last = np.zeros((a.shape[0], a.shape[1]))
    for k in range(a.shape[2] - 1, -1, -1):
        if k < a.shape[2] - 1:
            a[:, :, k] -= b[:, :, k] * last
        last[:, :] = a[:, :, k]
        b[:, :, k] = 2.0 * a[:, :, k]


@hybrid.script
def neighbours(a: Array, b: Array) -> None:
    for k in range(1, a.shape[2]):
        for i in range(a.shape[0] - 1):
            for j in range(a.shape[1]):
                a[i, j, k] = 0.5 * a[i + 1, j, k - 1] + b[i, j, k]


@hybrid.script
def neighbours_of_two(a: Array, b: Array) -> None:
    for k in range(1, a.shape[2]):
        for i in range(a.shape[0] - 1):
            for j in range(a.shape[1]):
                a[i, j, k] += b[i, j, k]
        for i in range(a.shape[0] - 1):
            for j in range(a.shape[1]):
                b[i, j, k] += a[i + 1, j, k - 1]


@hybrid.script
def shifted_by_planes(a: Array, b: Array) -> None:
    for k in range(1, min(a.shape[2], 5)):
        for i in range(a.shape[0] - 5):
            for j in range(a.shape[1]):
                a[i + k, j, k] = a[i + k, j, k - 1] + b[i, j, k]


@hybrid.script
def triangles(a: Array, b: Array) -> None:
    for k in range(1, a.shape[2]):
        for i in range(a.shape[0]):
            for j in range(min(k, a.shape[1])):
                a[i, j, k] = 0.5 * a[i, j, k - 1] + b[i, j, k]


@hybrid.script
def other_ranges(a: Array, b: Array) -> None:
    for k in range(1, a.shape[2]):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j, k] = 0.5 * a[i, j, k - 1]
        for i in range(a.shape[0] - 1):
            for j in range(a.shape[1]):
                b[i, j, k] = 2.0 * a[i, j, k]


@hybrid.script
def one_total(a: Array, b: Array) -> None:
    for k in range(a.shape[2]):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                b[0, 0, 0] = 0.5 * b[0, 0, 0] + a[i, j, k]


@hybrid.script
def along_rows(a: Array, b: Array) -> None:
    for k in range(a.shape[0]):
        for i in range(a.shape[1]):
            for j in range(a.shape[2]):
                a[k, i, j] = 2.0 * b[k, i, j]


@hybrid.script
def guarded_by_data(a: Array, b: Array) -> None:
    for k in range(1, a.shape[2]):
        if b[0, 0, k] > 0.5:
            for i in range(a.shape[0]):
                for j in range(a.shape[1]):
                    a[i, j, k] = 0.5 * a[i, j, k - 1] + b[i, j, k]


SUNK = (planes, numpy_style, backwards)
KEPT = (
    *(neighbours, neighbours_of_two, shifted_by_planes, triangles, other_ranges),
    *(one_total, along_rows, guarded_by_data),
)
SHAPES = ((7, 3, 5), (8, 2, 9), (6, 1, 4), (6, 4, 1), (7, 0, 4), (5, 3, 0))


def cube(shape: Sequence[int], seed: int) -> Any:
    return np.random.default_rng(seed).random(shape)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kernel", [*SUNK, *KEPT], ids=lambda kernel: kernel.__name__)
def test_all_ways_agree(kernel: AnyKernel) -> None:
    for shape in SHAPES:
        assert_all_ways_agree(kernel, cube(shape, 1), cube(shape, 2))


def test_arrays_that_overlap() -> None:
    memory = cube((8, 3, 5), 1)
    expected = memory.copy()
    planes.py_func(expected[1:], expected[:-1])
    planes(memory[1:], memory[:-1])
    assert memory.tolist() == expected.tolist()


def fast(kernel: AnyKernel, *shape: Any) -> PrimFunc:
    spec = hj.f64[shape]
    return optimized(kernel, spec, spec)


def outermost(func: PrimFunc) -> set[str]:
    """The names of the loops that stand in no other one."""
    loops = [node for node in walk(func.body) if isinstance(node, For)]
    inner = {id(node) for loop in loops for node in walk(loop.body)}
    return {loop.var.name.rstrip("_0123456789") for loop in loops if id(loop) not in inner}


@pytest.mark.parametrize("kernel", SUNK, ids=lambda kernel: kernel.__name__)
def test_loops_along_rows_go_inside(kernel: AnyKernel) -> None:
    assert "k" not in outermost(fast(kernel, 7, 8, 9))


def test_sizes_of_run_time() -> None:
    assert "k" not in outermost(fast(planes, "n", "m", "l"))


@pytest.mark.parametrize("kernel", KEPT, ids=lambda kernel: kernel.__name__)
def test_other_loops_stay(kernel: AnyKernel) -> None:
    spec = hj.f64[7, 8, 9]
    taken = optimize(kernel.prim_func(spec, spec), current_target()).decisions.taken
    assert "sink" not in [decision.step for decision in taken]


def test_short_loops_stay() -> None:
    assert "k" in outermost(fast(planes, 7, 8, 4))


def test_conditions_go_along(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "if k < 27:" in str(fast(backwards, 26, 27, 28))
    monkeypatch.setattr(sink_loops, "_GAIN", 100)
    assert "k" in outermost(fast(backwards, 26, 27, 28))


def test_what_may_be_outside_stays() -> None:
    """The first error and what was stored before it are those of the order as written."""
    specs = hj.f64["n", "m", "l"], hj.f64["n", "m", "o"]
    func = planes.prim_func(*specs)
    assert optimize(func, current_target()).func is func


# -- the step --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", SUNK, ids=lambda kernel: kernel.__name__)
def test_the_receipt_says_so(kernel: AnyKernel) -> None:
    args = cube((7, 8, 9), 1), cube((7, 8, 9), 2)
    s = kernel.auto_schedule(*args)
    assert "s.sink(k)" in str(s.trace)
    again = kernel.with_schedule(s.trace)
    assert again.inspect("asm", *args) == kernel.inspect("asm", *args)


def test_the_step_by_hand() -> None:
    """Also where the compiler would not: few elements along the rows."""
    args = cube((7, 8, 3), 1), cube((7, 8, 3), 2)
    s = planes.schedule(*args)
    run_example(s, "sink")
    assert outermost(s.func) == {"i"}
    assert "equal at" in str(s.verify(*args))


def test_what_a_schedule_touched_stays() -> None:
    args = cube((7, 8, 9), 1), cube((7, 8, 9), 2)
    kernel = planes.with_schedule(lambda s: s.unroll("j"))
    assert "for i in range(7)" in kernel.inspect("optimized", *args).partition("range(1, 9)")[2]


@pytest.mark.parametrize(
    ("kernel", "last", "reason"),
    [
        (neighbours, "l", "what its iterations touch is not proved to be apart"),
        (triangles, "l", "it is not one around nests over the same ranges"),
        (planes, "o", "an index in it is not proved to be inside of its array"),
        (guarded_by_data, "l", "it is not one around nests over the same ranges"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_refusals(kernel: AnyKernel, last: str, reason: str) -> None:
    s = kernel.schedule(hj.f64["n", "m", "l"], hj.f64["n", "m", last])
    before = s.func
    with pytest.raises(ScheduleError, match=f"sink: loop 'k': {reason}"):
        s.sink("k")
    assert s.func is before


def test_a_scan_of_tensors_goes_along_rows() -> None:
    """A block is no obstacle, nor is the kind of the loop; what was sunk scans all the same."""
    a = te.placeholder((6, 9), "float64", name="a")
    func = te.create_prim_func([a, hs.cumsum(a, 1)])
    made = optimize(func, current_target()).func
    loops = [stmt for stmt in walk(made.body) if isinstance(stmt, For)]
    assert [loop.kind.value for loop in loops][-2:] == ["range", "scan"]
    x = cube((6, 9), 3)
    interpret(made, [x, sums := np.zeros((6, 9))])
    assert sums.tobytes() == np.cumsum(x, 1).tobytes()


def test_a_scan_down_columns_stays() -> None:
    a = te.placeholder((6, 9), "float64", name="a")
    func = te.create_prim_func([a, hs.cumsum(a, 0)])
    assert optimize(func, current_target()).func is func
