"""Fused loops, and loops split into parts, of sizes that are known at run time only."""

import re
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.ir.func import PrimFunc
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.nests.check import backwards
from tests.schedule.programs import Steps, numbers, refuse
from tests.support.before_after import assert_unchanged

SHAPES = [(0, 0), (0, 3), (5, 0), (1, 1), (2, 7), (7, 2), (13, 5)]
HEADER = 'def f(a: int64["n", "m"], b: int64["n", "m"], c: int64["n"], d: int64["m"]):'


def program(store: str, rows: str = "n", columns: str = "m") -> PrimFunc:
    """A nest over rows and columns; in it and in its bounds, n and m are the sizes of `a`."""
    body = f"""
    for i in range({rows}):
        for j in range({columns}):
            {store}
"""
    body = re.sub(r"\bn\b", "a.shape[0]", re.sub(r"\bm\b", "a.shape[1]", body))
    return hj.parse(HEADER + body)


def arguments(n: int, m: int) -> list[Any]:
    return [numbers(n, m), numbers(n, m) + 1, numbers(n), numbers(m)]


def check(func: PrimFunc, steps: Steps) -> None:
    """Fail unless the steps are taken and change nothing, for all sizes and in every way."""
    s = Schedule(func)
    steps(s)
    for shape in SHAPES:
        native = shape in ((0, 3), (13, 5))
        assert_unchanged(func, s.func, arguments(*shape), native=native)
        assert_unchanged(func, backwards(s.func), arguments(*shape))


# -- what can be done with it ----------------------------------------------------------------------


def fused(s: Schedule) -> None:
    s.parallel(s.fuse("i", "j"))


def fused_and_split(s: Schedule) -> None:
    outer, inner = s.split(s.fuse("i", "j"), factor=4)
    s.parallel(outer)
    s.vectorize(inner)


def fused_and_dealt_out(s: Schedule) -> None:
    outer, inner = s.split(s.fuse("i", "j"), nparts=3)
    s.parallel(outer)
    s.vectorize(inner)


def fused_and_bound(s: Schedule) -> None:
    outer, middle, inner = s.split(s.fuse("i", "j"), factors=[None, 2, 4])
    s.bind(outer, "blockIdx.x")
    s.bind(middle, "threadIdx.x")
    s.vectorize(inner)


def dealt_out(s: Schedule) -> None:
    outer, inner = s.split("i", nparts=4)
    s.parallel(outer)
    s.vectorize(inner)


def dealt_out_twice(s: Schedule) -> None:
    outer, inner = s.split("i", nparts=4)
    first, second = s.split(inner, nparts=2)
    s.reorder(second, outer)
    s.parallel(first)


def tiled_in_parts(s: Schedule) -> None:
    i, ii = s.split("i", nparts=2)
    j, ji = s.split("j", nparts=3)
    s.reorder(j, i, ji, ii)
    s.parallel(s.fuse(j, i))


ALL = (
    fused,
    fused_and_split,
    fused_and_dealt_out,
    fused_and_bound,
    dealt_out,
    dealt_out_twice,
    tiled_in_parts,
)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("steps", ALL)
@pytest.mark.parametrize(
    "store", ["b[i, j] = a[i, j] * 2", "b[n - 1 - i, j] = a[i, m - 1 - j] + c[i] * d[j]"]
)
def test_independent_iterations(store: str, steps: Steps) -> None:
    check(program(store), steps)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("steps", ALL)
def test_loops_that_leave_out_the_border(steps: Steps) -> None:
    check(program("b[i, j] = a[i - 1, j + 1]", "1, n", "m - 2, -1, -1"), steps)


def test_three_loops() -> None:
    func = hj.parse("""
def f(a: int64["n", "m", "l"]):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                a[i, j, k] = a[i, j, k] * 2
""")
    s = Schedule(func)
    outer, inner = s.split(s.fuse("i", "j", "k"), factor=4)
    s.parallel(outer)
    s.vectorize(inner)
    for shape in [(0, 1, 2), (3, 2, 5), (4, 4, 1)]:
        assert_unchanged(func, s.func, [numbers(*shape)], native=shape == (3, 2, 5))
        assert_unchanged(func, backwards(s.func), [numbers(*shape)])


def test_sizes_that_are_scalars() -> None:
    func = hj.parse("""
def f(a: int64[9, 9], n: int, m: int):
    for i in range(n):
        for j in range(m):
            a[i, j] = a[i, j] * 2
""")
    s = Schedule(func)
    outer, inner = s.split(s.fuse("i", "j"), nparts=4)
    s.parallel(outer)
    s.vectorize(inner)
    for n, m in [(-1, 3), (0, 0), (9, 9), (4, 7)]:
        assert_unchanged(func, s.func, [numbers(9, 9), n, m], native=n == 4)


def test_a_reduction_inside() -> None:
    """The order of rows and columns is told apart from that of the sum."""
    func = hj.parse("""
def f(a: float32["n", "m"], b: float32["m", "l"], c: float32["n", "l"]):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] = c[i, j] + a[i, k] * b[k, j]
""")
    s = Schedule(func)
    s.parallel(s.fuse("i", "j"))
    s.reorder("k", "i_j")
    values = np.random.default_rng(1).standard_normal
    for n, m, k in [(3, 5, 4), (1, 7, 2), (0, 2, 2)]:
        args = [values(shape).astype("float32") for shape in ((n, m), (m, k), (n, k))]
        assert_unchanged(func, s.func, args, native=n == 3)


def test_what_it_looks_like(golden: Golden) -> None:
    s = Schedule(program("b[i, j] = a[i, j] * 2"))
    fused_and_dealt_out(s)
    golden.check(s.show(), "ir")


@hybrid.script
def stencil(a: Any, b: Any) -> None:
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]


def parallel_parts(s: Schedule) -> None:
    outer, _ = s.split("i", nparts=4)
    s.parallel(outer)


@pytest.mark.parametrize("steps", [fused, parallel_parts])
def test_indices_are_proved_to_be_inside(steps: Steps) -> None:
    """Where the loop runs, max(m - 2, 0) is m - 2."""
    kernel = stencil.with_schedule(steps)
    assert kernel.safety(hj.f64["n", "m"], hj.f64["n", "m"]).checks == ()
    for shape in [(0, 5), (1, 5), (2, 2), (3, 1), (3, 3), (9, 4)]:
        a: Any = np.random.default_rng(1).standard_normal(shape)
        found, expected = np.zeros(shape), np.zeros(shape)
        stencil.py_func(a, expected)
        kernel(a, found)
        assert found.tobytes() == expected.tobytes()


# -- what depends on each other still does ---------------------------------------------------------


@pytest.mark.parametrize(
    ("store", "steps"),
    [
        ("c[i] = a[i, j]", fused),
        ("d[j] = a[i, j]", fused),
        ("c[i] = a[i, j]", fused_and_split),
        ("b[i // 2, j] = a[i, j]", fused),
        ("b[i, j] = b[i - 1, j] * 2", fused),
        ("b[i, j] = b[i, j - 1] * 2", fused_and_split),
        ("b[i, j] = b[n - 1 - i, j] * 2", dealt_out),
        ("b[i // 2, j] = a[i, j]", dealt_out),
        ("b[i, j] = b[i - 1, j] * 2", dealt_out),
        ("d[j] = a[i, j]", dealt_out),
    ],
)
def test_iterations_that_depend_on_each_other(store: str, steps: Steps) -> None:
    func = program(store)
    s = Schedule(func)
    with pytest.raises(hj.ScheduleError, match=r"cannot be (parallel|vectorized)"):
        steps(s)
    assert not any("parallel" in str(line) for line in str(s.func).splitlines())


def test_a_stencil_is_not_turned_around() -> None:
    func = program("b[i, j] = b[i - 1, j + 1] * 2", "1, n", "m - 1")
    s = Schedule(func)
    s.split("i", nparts=2)
    with pytest.raises(hj.ScheduleError, match="would turn a dependence around"):
        s.reorder("j", "i_0", "i_1")


def test_the_example_is_right() -> None:
    """The sizes and iterations that a refusal shows are such that the two do meet."""
    s = Schedule(program("c[i] = a[i, j]"))
    loop = s.fuse("i", "j")
    with pytest.raises(hj.ScheduleError, match=r"i_j=0 .* i_j=1 \(for example with n=4, m=4\)"):
        s.parallel(loop)


def test_products_that_may_wrap_around() -> None:
    """With k = 2^63, iterations 0 and 2 write to one element."""
    func = hj.parse("""
def f(a: int64["n"], n: int, k: int):
    if k > 0:
        for i in range(n):
            a[i * k] = i
""")
    refuse(func, lambda s: s.parallel("i"), "cannot be parallel")
