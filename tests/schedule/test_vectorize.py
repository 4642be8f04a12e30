"""vectorize: iterations as lanes of vectors."""

import hybridjit as hj
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import (
    GUARDED,
    INIT,
    NEST,
    PLAIN,
    PROGRAMS,
    STRIDED,
    TRIANGLE,
    WHILE,
    check,
    numbers,
    refuse,
    sort,
)
from tests.support.before_after import assert_unchanged


def test_which_programs_take_it() -> None:
    found = sort(PROGRAMS, lambda s: s.vectorize("i"))
    assert found["refused"] == ["scan", "break", "return"]


def test_results_stay() -> None:
    for program in (PLAIN, STRIDED, GUARDED, WHILE):
        check(program, lambda s: s.vectorize("i"))
    for program in (NEST, TRIANGLE):
        check(program, lambda s: s.vectorize("j"))


def test_a_guarded_tail() -> None:
    check(NEST, lambda s: s.vectorize(s.split("j", factor=4)[1]))


def test_an_outer_loop_of_a_reduction() -> None:
    check(INIT, lambda s: (s.reorder("k", "i"), s.vectorize("i")))


def test_scratch_memory_of_each_lane() -> None:
    func = hj.parse("""
def f(a: int64[13], c: int64[13]):
    for i in range(13):
        t = allocate((2,), "int64", "local")
        t[0] = a[i]
        t[1] = t[0] * 2
        c[i] = t[1] + 1
""")
    s = Schedule(func)
    s.vectorize("i")
    assert_unchanged(func, s.func, [numbers(13), numbers(13)], native=True)


def test_inside_of_threads_and_around_them() -> None:
    check(NEST, lambda s: (s.parallel("i"), s.vectorize("j")))
    check(NEST, lambda s: (s.vectorize("i"), s.parallel("j")))


def test_a_dependence(golden: Golden) -> None:
    func = hj.parse("""
def f(a: int64[8]):
    for i in range(7):
        a[i + 1] = a[i] * 2
""")
    error = refuse(func, lambda s: s.vectorize("i"), "cannot be vectorized")
    golden.check(str(error), "txt")
