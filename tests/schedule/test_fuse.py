"""fuse: nested loops become one."""

import pytest

import hybridjit as hj
from hybridjit.ir.stmt import For
from hybridjit.ir.visit import walk_stmts
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import (
    IMPERFECT,
    INIT,
    NEIGHBOURS,
    NEST,
    PROGRAMS,
    TRIANGLE,
    check,
    numbers,
    refuse,
    sort,
)
from tests.support.before_after import assert_unchanged


def test_two_loops(golden: Golden) -> None:
    s = Schedule(NEST.func(None))
    assert s.fuse("i", "j").name == "i_j"
    golden.check(s.show(), "ir")


def test_results_stay() -> None:
    check(NEST, lambda s: s.fuse("i", "j"))


def test_a_reduction_with_an_init() -> None:
    check(INIT, lambda s: s.fuse("i", "k"))


def test_fuse_then_split() -> None:
    check(NEST, lambda s: s.split(s.fuse("i", "j"), factor=5))


def test_one_loop() -> None:
    check(NEST, lambda s: s.fuse("i"))


def test_a_name_that_becomes_the_loop() -> None:
    """Blocks see the loop by their iters, where a name for it was outside of them."""
    func = hj.parse("""
def f(a: int64[20]):
    for i, j in grid(4, 1):
        x = i + j
        for k in range(3):
            y = x * k
            a[x] = a[y + 1] + x
            a[k] = a[x] + i
""")
    s = Schedule(func)
    s.fuse("i", "j")
    assert "x =" not in s.show()
    assert_unchanged(func, s.func, [numbers(20)], native=True)


def test_loops_that_count_down_and_in_steps() -> None:
    func = hj.parse("""
def f(a: int64[13, 13], n: int):
    for i in range(12, 1, -3):
        for j in range(n, 13, 2):
            for k in range(2):
                a[i, j] = a[i, j] * 2 + k * i
""")
    s = Schedule(func)
    s.fuse("i", "j", "k")
    for n in (0, 1, 12, 13, 20):
        assert_unchanged(func, s.func, [numbers(13, 13), n], native=n == 1)


def test_a_guard_between_the_loops() -> None:
    func = hj.parse("""
def f(a: int64[7, 5], n: int):
    for i in range(7):
        if i < n:
            for j in range(5):
                a[i, j] = i * 10 + j
""")
    s = Schedule(func)
    s.fuse("i", "j")
    for n in (0, 3, 9):
        assert_unchanged(func, s.func, [numbers(7, 5), n], native=n == 3)


def test_which_programs_take_it() -> None:
    found = sort([p for p in PROGRAMS if "for j" in p.body], lambda s: s.fuse("i", "j"))
    assert found["taken"] == ["nest"]


@pytest.mark.parametrize(
    ("loops", "match"),
    [
        ((), "needs at least one loop"),
        (("j", "i"), "outermost first"),
        (("i", "i"), "named twice"),
    ],
)
def test_wrong_loops(loops: tuple[str, ...], match: str) -> None:
    refuse(NEST, lambda s: s.fuse(*loops), match)


def test_bounds_that_depend_on_a_loop(golden: Golden) -> None:
    error = refuse(TRIANGLE, lambda s: s.fuse("i", "j"), "bounds of loop 'j' depend on loop 'i'")
    golden.check(str(error), "txt")


def test_a_statement_between() -> None:
    refuse(IMPERFECT, lambda s: s.fuse("i", "j"), "not the only statement")


def test_loops_side_by_side() -> None:
    refuse(NEIGHBOURS, lambda s: s.fuse("i", "j"), "are not one inside the other")


def test_an_early_end_of_an_inner_loop() -> None:
    func = hj.parse("""
def f(a: int64[4, 4]):
    for i in range(4):
        for j in range(4):
            if a[i, j] > 3:
                break
            a[i, j] = 0
""")
    refuse(func, lambda s: s.fuse("i", "j"), "may leave loop 'j' early")


def test_bounds_that_read_memory() -> None:
    func = hj.parse("""
def f(a: int64[4, 4], m: int64[1]):
    for i in range(4):
        for j in range(m[0]):
            a[i, j] = 0
""")
    refuse(func, lambda s: s.fuse("i", "j"), "read memory or may fail")


def test_a_parallel_sum_inside_whose_place_is_not_known_before() -> None:
    """What was accepted must compile: the index divides by a size that may be 0."""
    func = hj.parse("""
def largest(a: int64["n", "m"], d: int64["m"]):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[0]):
                d[j // 2] = max(d[j // 2], a[k, j])
""")
    s = Schedule(func)
    s.parallel("k")
    with pytest.raises(hj.ScheduleError, match="fuse would make iterations of the parallel loop"):
        s.fuse("i", "j")


def test_hints_of_all_loops_stay() -> None:
    s = Schedule(NEST.func(7))
    s.on_threads("i", if_possible=True)
    s.in_lanes("j", 8)
    s.fuse("i", "j")
    (loop,) = (stmt for stmt in walk_stmts(s.func.body) if isinstance(stmt, For))
    assert dict(loop.hints) == {"on_threads": True, "on_threads_if_possible": True, "in_lanes": 8}
