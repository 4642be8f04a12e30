"""parallel: iterations on several threads, where none needs another."""

import pytest

import hybridjit as hj
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import (
    INIT,
    NEST,
    PROGRAMS,
    SCAN,
    TOTAL,
    check,
    refuse,
    sort,
)


def test_which_programs_take_it() -> None:
    found = sort(PROGRAMS, lambda s: s.parallel("i"))
    assert found["refused"] == ["scan", "break", "return"]


def test_an_inner_loop() -> None:
    check(NEST, lambda s: s.parallel("j"))
    check(INIT, lambda s: s.parallel("i"))


def test_both_loops() -> None:
    check(NEST, lambda s: (s.parallel("i"), s.parallel("j")))


def test_split_then_parallel() -> None:
    check(NEST, lambda s: s.parallel(s.split("i", factor=3)[0]))


def test_a_sum_of_integers() -> None:
    check(type(TOTAL)("total", TOTAL.body.replace("c[0]", "c[N - 1]")), lambda s: s.parallel("i"))


def test_a_dependence(golden: Golden) -> None:
    func = hj.parse("""
def f(a: int64[8]):
    for i in range(1, 8):
        a[i] = a[i - 1] + 1
""")
    error = refuse(func, lambda s: s.parallel("i"), "`a.1.` written .* is read")
    golden.check(str(error), "txt")


@pytest.mark.parametrize(
    ("body", "match"),
    [
        ("print(i)", "the effect .* comes before"),
        ("a[0] = i", "is written by"),
        ("a[p[i]] = i", "is written by"),
        ("a[i % 4] = i", r"`a\[0\]` written .* in iteration i=4"),
    ],
)
def test_iterations_that_depend_on_each_other(body: str, match: str) -> None:
    func = hj.parse(f"def f(a: int64[8], p: int64[8]):\n    for i in range(8):\n        {body}\n")
    refuse(func, lambda s: s.parallel("i"), match)


def test_a_sum_of_floats() -> None:
    func = hj.parse("""
def f(a: float32[8], c: float32[1]):
    for i in range(8):
        c[0] = c[0] + a[i]
""")
    error = refuse(func, lambda s: s.parallel("i"), "cannot be parallel")
    assert 'fastmath={"reassoc"}' in str(error)


def test_a_scan() -> None:
    refuse(SCAN, lambda s: s.parallel("i"), "a scan carries state")


def test_a_step_after_which_it_cannot_be_proved_is_refused() -> None:
    text = """
def f(b: float32["n", "m"], d: float32["m"]):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i - 1, j] = max(b[i - 1, j], d[j] + 3)
"""
    s = Schedule(hj.parse(text))
    outer, inner = s.split("i", nparts=4)
    s.parallel(outer)
    with pytest.raises(hj.ScheduleError, match="fuse: after this step it cannot be proved"):
        s.fuse(inner, "j")
    hj.build(s)  # as it was before the step
