"""rfactor: partial results, combined afterwards."""

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import INIT, PLAIN, REGISTER, SCAN, TOTAL, check, numbers, refuse
from tests.support.before_after import assert_unchanged

INTO = """
def f(a: {0}[8], c: {0}[1]):
    for k in range({1}):
        c[0] = {2}
"""


def test_one_element(golden: Golden) -> None:
    s = Schedule(TOTAL.func(None))
    final = s.rfactor("i")
    assert final.name == "c_final"
    golden.check(s.show(), "ir")


def test_many_elements_of_a_row(golden: Golden) -> None:
    s = Schedule(_rows())
    s.parallel("i")
    s.rfactor("k")
    golden.check(s.show(), "ir")
    assert_unchanged(s.original, s.func, _row_args(), native=True)


def _rows() -> hj.PrimFunc:
    return hj.parse("""
def f(a: int64[5, 4], b: int64[4, 3], c: int64[5, 3]):
    for i in range(5):
        for k in range(4):
            for j in range(3):
                c[i, j] = c[i, j] + a[i, k] * b[k, j]
""")


def _row_args() -> list[Any]:
    return [numbers(5, 4), numbers(4, 3), numbers(5, 3)]


def test_results_stay() -> None:
    # Element 0 must be there: of nothing there is no sum.
    guarded = type(TOTAL)("total", TOTAL.body.replace("c[0]", "c[N - 1]"))
    check(guarded, lambda s: s.rfactor("i"))
    check(REGISTER, lambda s: s.rfactor("j"))


def test_the_loop_can_then_be_parallel() -> None:
    def steps(s: Any) -> None:
        outer, _ = s.split("i", factor=3)
        s.rfactor(outer)
        s.parallel(outer)

    check(type(TOTAL)("total", TOTAL.body.replace("c[0]", "c[N - 1]")), steps)


VALUES = np.array([1.0, 0.0, -0.0, 0.0, np.nan, 3.0, -0.0, 2.0])


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("dtype", "update"),
    [
        ("int64", "c[0] - a[k]"),
        ("uint8", "c[0] * a[k]"),
        ("int8", "c[0] & a[k]"),
        ("int64", "c[0] ^ a[k]"),
        ("float64", "min(c[0], a[k])"),
        ("float64", "max(c[0], a[k])"),
        ("float64", "minimum(c[0], a[k])"),
        ("float64", "maximum(a[k], c[0])"),
        ("bool", "c[0] or k > 6"),
    ],
)
@pytest.mark.parametrize("bounds", ["8", "7, -1, -1", "1, 8, 3", "0"])
def test_operators(dtype: str, update: str, bounds: str) -> None:
    s = Schedule(hj.parse(INTO.format(dtype, bounds, update)))
    s.rfactor("k")
    for rolled in range(4):
        values: Any = VALUES if dtype == "float64" else numbers(8)
        args = [np.roll(values, rolled).astype(dtype), np.array([5]).astype(dtype)]
        assert_unchanged(s.original, s.func, args, native=rolled == 0)


@pytest.mark.parametrize("update", ["minimum(a[k], c[0])", "maximum(a[k], c[0])"])
def test_the_operands_keep_their_sides(update: str) -> None:
    """Of two equal zeros NumPy's minimum takes one by its side."""
    s = Schedule(hj.parse(INTO.format("float64", 8, update)))
    s.rfactor("k")
    zeros = np.array([0.0, 0.0, -0.0, -0.0, 0.0, 0.0, 0.0, -0.0])
    for sign in (1, -1):
        for start in (0.0, -0.0):
            args = [zeros * sign, np.array([start])]
            assert_unchanged(s.original, s.func, args, native=True)


def test_a_break_before_the_end() -> None:
    func = hj.parse("""
def f(a: int64[8], c: int64[1]):
    for k in range(8):
        if a[k] > 4:
            break
        c[0] = c[0] + a[k]
""")
    s = Schedule(func)
    s.rfactor("k")
    assert_unchanged(func, s.func, [numbers(8), numbers(1)], native=True)


def test_a_return_before_the_end(golden: Golden) -> None:
    func = hj.parse("""
def f(a: int64[8], c: int64[1]):
    for k in range(8):
        if a[k] > 4:
            return
        c[0] = c[0] + a[k]
""")
    golden.check(str(refuse(func, lambda s: s.rfactor("k"), "leave without combining")), "txt")


def test_an_element_that_no_update_touches_need_not_exist() -> None:
    func = hj.parse("""
def f(a: int64[8], c: int64[4], p: int):
    for k in range(8):
        if a[k] > 5:
            c[p] = c[p] + a[k]
""")
    s = Schedule(func)
    s.rfactor("k")
    for p, shift in ((17, 100), (17, 0), (2, 0), (-1, 0)):
        assert_unchanged(func, s.func, [numbers(8) - shift, numbers(4), p], native=p == 17)


def test_elements_that_are_not_set_yet() -> None:
    func = hj.parse("""
def f(a: int64[8], c: int64[1]):
    t = allocate((4,), "int64", "global", zero=False)
    t[1] = 5
    t[2] = 4
    for k in range(8):
        for j in range(1, 3):
            t[j] = t[j] + a[k]
    c[0] = t[1] + t[2]
""")
    s = Schedule(func)
    s.rfactor("k")
    assert_unchanged(func, s.func, [numbers(8), numbers(1)], native=True)


def test_a_variable_without_a_value() -> None:
    func = hj.parse("""
def f(a: int64[8], p: int):
    x: int64
    if p > 0:
        x = 3
    for k in range(8):
        if a[k] > 100:
            x = x + a[k]
    if p > 0:
        a[0] = x
""")
    refuse(func, lambda s: s.rfactor("k"), "'x' may have no value yet")


def test_threads_would_share_elements() -> None:
    func = hj.parse("""
def f(a: int64[2, 4], c: int64[6]):
    for i in parallel(2):
        for k in range(4):
            for j in range(3):
                c[2 * j + i] = c[2 * j + i] + a[i, k]
""")
    refuse(func, lambda s: s.rfactor("k"), "iterations of the parallel loop 'i' depend")


@pytest.mark.parametrize(
    ("dtype", "update", "match"),
    [
        ("float32", "c[0] + a[k]", "would be rounded otherwise"),
        ("float64", "min(a[k], c[0])", "holds no reduction"),
        ("bool", "c[0] or a[k]", "which `or` may skip"),
        ("int64", "c[0] * 2 + a[k]", "holds no reduction"),
    ],
)
def test_other_updates(dtype: str, update: str, match: str) -> None:
    refuse(hj.parse(INTO.format(dtype, 8, update)), lambda s: s.rfactor("k"), match)


def test_different_operators() -> None:
    func = hj.parse(INTO.format("int64", 8, "c[0] + a[k]") + "        c[0] = c[0] * 2\n")
    refuse(func, lambda s: s.rfactor("k"), "different operators")


def test_a_sum_of_floats_that_may_be_regrouped() -> None:
    @hj.hybrid.script(fastmath={"reassoc"})
    def total(a: Any, c: Any) -> None:
        for k in range(a.shape[0]):
            c[0] += a[k]

    s = total.schedule(hj.f32["n"], hj.f32[1])
    s.rfactor("k")
    assert_unchanged(s.original, s.func, [numbers(8).astype("f4"), numbers(1).astype("f4")])


def test_loops_without_a_reduction() -> None:
    refuse(PLAIN, lambda s: s.rfactor("i"), "holds no reduction")
    refuse(SCAN, lambda s: s.rfactor("i"), "holds no reduction")
    error = refuse(INIT, lambda s: s.rfactor("k"), "holds no reduction")
    assert "decompose_reduction" in str(error)


@pytest.mark.parametrize("size", ["n", 5, 6])
@pytest.mark.parametrize("split", [{"factor": 2}, {"nparts": 4}])
def test_a_guard_inside_of_the_loop_is_not_there_when_partial_results_are_combined(
    size: Any, split: dict[str, Any]
) -> None:
    shape = '["n", 3], c: int64["n"]' if size == "n" else f"[{size}, 3], c: int64[{size}]"
    s = Schedule(
        hj.parse(f"""
def rows(a: int64{shape}):
    for i in range(a.shape[0]):
        for k in range(3):
            c[i] = c[i] + a[i, k]
""")
    )
    s.split("i", **split)
    s.rfactor("k")
    for count in (0, 1, 5, 7) if size == "n" else (size,):
        args = [numbers(count * 3).reshape(count, 3), numbers(count)]
        assert_unchanged(s.original, s.func, args, native=count == 5)
