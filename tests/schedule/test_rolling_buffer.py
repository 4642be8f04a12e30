"""rolling_buffer: a scratch buffer keeps only what is still needed."""

from collections.abc import Callable
from typing import Any

import pytest

import hybridjit as hj
from hybridjit import ScheduleError, hybrid
from hybridjit.hybrid import allocate, output_tensor, parallel
from hybridjit.ir.equal import structural_equal
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.support.before_after import assert_unchanged, replayed, run_example
from tests.support.memory_programs import SIZES, integers, negative_scratch, sliding, two_stages

LONG = (*SIZES, 23)


@hybrid.script
def recomputed(a: Any) -> Any:
    """As compute_at leaves it: every iteration makes the three rows that it uses."""
    t = allocate((a.shape[0] + 2, a.shape[1]), a.dtype, "global")
    b = output_tensor((a.shape[0], a.shape[1]), a.dtype)
    for i in range(a.shape[0] - 2):
        for r in range(3):
            for j in range(a.shape[1]):
                t[i + r, j] = a[i + r, j] * 2
        for k in range(a.shape[1]):
            b[i, k] = t[i, k] + t[i + 1, k] + t[i + 2, k]
    return b


@hybrid.script
def fibonacci(a: Any) -> None:
    n = a.shape[0]
    t = allocate((n + 2,), a.dtype, "global")
    t[0] = 1
    t[1] = 1
    for i in range(n):
        t[i + 2] = t[i + 1] + t[i]
    for j in range(n):
        a[j] = t[n + 1]


@hybrid.script
def downwards(a: Any) -> Any:
    t = allocate(a.shape, a.dtype, "global")
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0] - 1, -1, -1):
        t[i] = a[i] * 2
        if i + 3 < a.shape[0]:
            b[i] = t[i] + t[i + 3]
    return b


@hybrid.script
def second_axis(a: Any) -> Any:
    t = allocate((a.shape[0], a.shape[1]), a.dtype, "global")
    b = output_tensor((a.shape[0], a.shape[1]), a.dtype)
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            t[i, j] = a[i, j] * 2
        for k in range(a.shape[0]):
            if j > 0:
                b[k, j] = t[a.shape[0] - 1 - k, j - 1]
    return b


@hybrid.script
def never_written(a: Any) -> Any:
    t = allocate(a.shape, a.dtype, "global")
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0] - 1):
        t[i] = a[i]
        b[i] = t[i + 1]
    return b


@hybrid.script
def in_parallel(a: Any) -> Any:
    t = allocate(a.shape, a.dtype, "global")
    b = output_tensor(a.shape, a.dtype)
    for i in parallel(a.shape[0]):
        t[i] = a[i] * 2
        b[i] = t[i] + 1
    return b


@hybrid.script
def in_rounds(a: Any) -> Any:
    """The life of a value ends where it is surely overwritten, in the next round."""
    t = allocate(a.shape, a.dtype, "global")
    b = output_tensor(a.shape, a.dtype)
    for r in range(3):
        for i in range(a.shape[0]):
            t[i] = a[i] * r
            b[i] = b[i] + t[i]
    return b


CASES: list[tuple[Any, int, Any, Callable[[int], Any]]] = [
    (sliding, 3, (hj.i64["n"],), lambda n: (integers(n),)),
    (recomputed, 3, (hj.i64["n", "m"],), lambda n: (integers(n, 2),)),
    (fibonacci, 2, (hj.i64["n"],), lambda n: (integers(n),)),
    (downwards, 4, (hj.i64["n"],), lambda n: (integers(n),)),
    (second_axis, 2, (hj.i64["n", "m"],), lambda n: (integers(2, n),)),
    (in_rounds, 1, (hj.i64["n"],), lambda n: (integers(n),)),
]


@pytest.mark.parametrize(("kernel", "window", "specs", "make"), CASES)
def test_windows(kernel: Any, window: int, specs: Any, make: Any) -> None:
    s = Schedule(kernel.prim_func(*specs))

    s.rolling_buffer("t")

    text = next(line for line in s.show().splitlines() if "t = allocate" in line)
    assert f"({window}," in text or f" {window})" in text
    for size in LONG:
        assert_unchanged(s.original, s.func, make(size), native=size == LONG[-1])


@pytest.mark.parametrize(("kernel", "window", "specs", "make"), CASES)
def test_one_place_less_would_be_wrong(kernel: Any, window: int, specs: Any, make: Any) -> None:
    """The window is the smallest: the program with a smaller one computes something else."""
    if window == 1:
        return
    s = Schedule(kernel.prim_func(*make(23)))
    s.rolling_buffer("t")
    smaller = hj.parse(str(s.func).replace(f"% {window}", f"% {window - 1}"))
    with pytest.raises(AssertionError, match="interpreted on"):
        assert_unchanged(s.original, smaller, make(23))


def test_golden(golden: Golden) -> None:
    s = Schedule(sliding.prim_func(hj.i64["n"]))
    s.rolling_buffer("t")
    golden.check(s.show(), "ir")
    assert structural_equal(replayed(s), s.func)


def test_an_axis_can_be_chosen() -> None:
    s = Schedule(second_axis.prim_func(integers(5, 9)))
    s.rolling_buffer("t", axis=-1)
    assert "t = allocate((5, 2)" in s.show()


def test_the_example_runs() -> None:
    run_example(Schedule(sliding.prim_func(integers(9))), "rolling_buffer")


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize(
    ("kernel", "shape", "message"),
    [
        (two_stages, (7, 5), "all elements of 't' along any axis are needed at some time"),
        (never_written, (7,), "'t' may be read where it was not written and is zero"),
        (negative_scratch, (7, 7), "is not proved to lie inside of 't'"),
        (in_parallel, (7,), "would make iterations of the parallel loop 'i' depend on each other"),
    ],
)
def test_refusals(kernel: Any, shape: tuple[int, ...], message: str, symbolic: bool) -> None:
    spec = hj.i64[("n", "m")[: len(shape)]] if symbolic else integers(*shape)
    s = Schedule(kernel.prim_func(spec))

    with pytest.raises(ScheduleError, match=message):
        s.rolling_buffer("t")

    assert s.func is s.original
    assert not s.trace.steps


def test_a_window_as_large_as_the_buffer_is_no_use() -> None:
    s = Schedule(sliding.prim_func(integers(3)))
    with pytest.raises(ScheduleError, match="all elements of 't' along axis 0 are needed"):
        s.rolling_buffer("t", axis=0)
    with pytest.raises(ScheduleError, match="'t' has 1 axes, there is no axis 1"):
        s.rolling_buffer("t", axis=1)


def test_what_comes_from_outside_is_needed_afterwards() -> None:
    s = Schedule(sliding.prim_func(integers(9)))
    with pytest.raises(ScheduleError, match="'b' is an output of the function"):
        s.rolling_buffer("b")


def test_what_is_never_used_has_no_window() -> None:
    func = hj.parse("""
def f(a: float32[5]):
    for i in range(5):
        t = allocate((4,), "float32", "local")
    a[0] = 1.0
""")
    with pytest.raises(ScheduleError, match="'t' is never used"):
        Schedule(func).rolling_buffer("t")
