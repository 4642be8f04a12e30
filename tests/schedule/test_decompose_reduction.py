"""decompose_reduction: the init of a reduction in a nest of its own."""

from typing import Any

import pytest

import hybridjit as hj
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import INIT, PLAIN, Steps, check, numbers, refuse
from tests.support.before_after import assert_unchanged

SUM = """
def f(a: int64[5, 6], c: int64[6], d: int64[1], n: int):
    for i in range(5):
        {before}
        for k in range({bounds}):
            with block("c", {iters}):
                with init():
                    c[i] = {first}
                c[i] = c[i] * 2 + a[i, k]
"""


def summed(
    bounds: str = "6", first: str = "3", before: str = "pass", iters: str = "i, reduce(k)"
) -> hj.PrimFunc:
    return hj.parse(SUM.format(bounds=bounds, first=first, before=before, iters=iters))


def args(n: int = 6) -> list[Any]:
    return [numbers(5, 6), numbers(6), numbers(1), n]


def decompose(loop: str) -> Steps:
    def steps(s: Schedule) -> None:
        s.decompose_reduction("c", loop)

    return steps


@pytest.mark.parametrize("loop", ["i", "k"])
def test_before_a_loop(loop: str, golden: Golden) -> None:
    s = Schedule(INIT.func(None))
    assert s.decompose_reduction("total", loop).name == "total_init"
    golden.check(s.show(), "ir")


def test_results_stay() -> None:
    for loop in ("i", "k"):
        check(INIT.__class__("init", INIT.body), lambda s, at=loop: _try(s, at))
    check(INIT, lambda s: (s.reorder("k", "i"), _try(s, "k")))
    check(INIT, lambda s: (s.split("k", factor=2), s.split("i", factor=3), _try(s, "i_1")))


def test_a_fused_reduction() -> None:
    s = Schedule(summed())
    s.fuse("i", "k")
    s.decompose_reduction("c", "i_k")
    assert_unchanged(s.original, s.func, args(), native=True)


def _try(s: Any, loop: str) -> None:
    """A reduction over nothing has no init to take out."""
    if "range(0)" not in s.show():
        s.decompose_reduction("total", loop)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "bounds", ["n", "1, n", "i", "i, 6", "n - 1, -1, -1", "0, n, 2", "5, -1, -1"]
)
@pytest.mark.parametrize("factor", [None, 2, 3])
@pytest.mark.parametrize("loop", ["i", "k"])
def test_bounds(bounds: str, factor: int | None, loop: str) -> None:
    s = Schedule(summed(bounds))
    if factor is not None:
        s.split("k", factor=factor)
    s.decompose_reduction("c", "k_0" if loop == "k" and factor else loop)
    for n in (-1, 0, 1, 5, 6):
        assert_unchanged(s.original, s.func, args(n), native=n == 5 and factor == 2)


def test_a_part_that_never_starts(golden: Golden) -> None:
    s = Schedule(summed())
    s.split("k", factor=2)
    s.peel("k_0")
    rest = s.loops("c_1")[1]
    error = refuse(s.func, lambda s: s.decompose_reduction("c_1", rest), "'c_1' never runs")
    golden.check(str(error), "txt")


def test_a_loop_that_repeats_it() -> None:
    func = hj.parse("""
def f(a: int64[5, 6], c: int64[5]):
    for t in range(2):
        for i in range(5):
            for k in range(6):
                with block("c", i, reduce(k)):
                    with init():
                        c[i] = 3
                    c[i] = c[i] + a[i, k]
""")
    refuse(func, decompose("t"), "every iteration of loop 't' starts the reduction anew")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ({"before": "d[0] = i", "first": "d[0]"}, "`d.0.` written .* is read"),
        ({"before": "x = a[i, 0]", "first": "x"}, "needs 'x', which loop 'i' makes"),
        ({"before": "c[i] = c[i] + 1"}, "`c.0.` written .* is written"),
        ({"first": "c[i - 1]"}, "`c.0.` written .* is read"),
        ({"bounds": "d[0]"}, "may or may not run"),
    ],
)
def test_what_the_init_would_overtake(text: dict[str, str], match: str) -> None:
    refuse(summed(**text), decompose("i"), match)


def test_a_reader_of_the_old_value() -> None:
    func = hj.parse("""
def f(a: int64[4], c: int64[1], d: int64[4]):
    for k in range(4):
        with block("d", k):
            d[k] = c[0]
        with block("c", reduce(k)):
            with init():
                c[0] = 0
            c[0] = c[0] + a[k]
""")
    refuse(func, decompose("k"), "`c.0.` read by .* is written")


def test_a_condition_that_is_only_known_inside() -> None:
    func = hj.parse("""
def f(a: int64[4, 5], c: int64[4], g: int64[4]):
    for i in range(4):
        g[i] = 1
        if g[i] > 0:
            for k in range(5):
                with block("c", i, reduce(k)):
                    with init():
                        c[i] = 3
                    c[i] = c[i] + a[i, k]
""")
    refuse(func, decompose("i"), "may or may not run")


def test_blocks_and_loops_that_do_not_fit() -> None:
    refuse(PLAIN, decompose("i"), "block 'c' has no init")
    s = Schedule(summed())
    s.reorder("k", "i")
    refuse(s.func, decompose("i"), "the reduction runs over loop 'k', too")


def test_an_init_that_uses_the_variable_of_the_reduction() -> None:
    func = hj.parse("""
def f(a: int64[5, 6], c: int64[12]):
    for i in range(5):
        for k in range(2, 6):
            with block("c", scan(i), reduce(k)):
                with init():
                    c[i + k] = a[i, k] + k
                a[i, k] = a[i, k] + 1
""")
    s = Schedule(func)
    s.split("k", factor=2)
    s.decompose_reduction("c", "k_0")
    assert_unchanged(func, s.func, [numbers(5, 6), numbers(12)], native=True)
