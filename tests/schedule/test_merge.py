"""merge: two loops side by side become one."""

import pytest

import hybridjit as hj
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import NEIGHBOURS, NEST, check, numbers, refuse
from tests.support.before_after import assert_unchanged

PAIR = """
def f(a: int64[9], b: int64[9], m: int64[1], n: int, k: int):
    for i in range({0}):
        {1}
    for j in range({2}):
        {3}
"""


def pair(first: str, body: str, second: str, other: str) -> hj.PrimFunc:
    return hj.parse(PAIR.format(first, body, second, other))


def test_two_loops(golden: Golden) -> None:
    s = Schedule(NEIGHBOURS.func(None))
    assert s.merge("i", "j").name == "i"
    golden.check(s.show(), "ir")


def test_results_stay() -> None:
    check(NEIGHBOURS, lambda s: s.merge("i", "j"))


@pytest.mark.parametrize(
    ("first", "second"),
    [("7", "2, 9"), ("7, -1, -1", "7, -1, -1"), ("0, n, 2", "0, n, 2"), ("n", "1, n + 1")],
)
def test_loops_of_the_same_length(first: str, second: str) -> None:
    s = Schedule(pair(first, "a[i] = i + 1", second, "b[j] = j * 2"))
    s.merge("i", "j")
    for n in (0, 1, 2, 8):
        args = [numbers(9), numbers(9), numbers(1), n, 2]
        assert_unchanged(s.original, s.func, args, native=n == 2)


def test_a_later_iteration_is_needed(golden: Golden) -> None:
    func = pair("8", "a[i] = i + 100", "8", "b[j] = a[j + 1]")
    error = refuse(func, lambda s: s.merge("i", "j"), "`a.1.` written .* is read")
    golden.check(str(error), "txt")


def test_an_earlier_iteration_is_needed() -> None:
    s = Schedule(pair("1, 9", "a[i] = i + 100", "1, 9", "b[j] = a[j - 1]"))
    s.merge("i", "j")
    assert_unchanged(s.original, s.func, [numbers(9), numbers(9), numbers(1), 0, 0], native=True)


@pytest.mark.parametrize(
    ("parts", "match"),
    [
        (("8", "a[i] = 1", "7", "b[j] = 1"), "loop 'i' runs 8 iterations, loop 'j' 7"),
        (("0, 8, 2", "a[i] = 1", "0, 8, 1", "b[j] = 1"), "different steps"),
        (("0, 8, 2", "a[i] = 1", "1, 9, 2", "b[j] = 1"), "start at the same value"),
        (("m[0]", "a[i] = 1", "m[0]", "b[j] = 1"), "read memory or may fail"),
        (("8", "print(i)", "8", "print(j)"), "the effect .* comes before"),
    ],
)
def test_loops_that_do_not_fit(parts: tuple[str, str, str, str], match: str) -> None:
    refuse(pair(*parts), lambda s: s.merge("i", "j"), match)


def test_starts_that_are_not_comparable() -> None:
    body = "if j >= 0 and j < 9:\n            b[j] = a[j]"
    func = pair("6", "a[i] = 1", "1 if n > k else 2, (1 if n > k else 2) + 6", body)
    refuse(func, lambda s: s.merge("i", "j"), "where the loops start is not known")


def test_starts_that_are_products() -> None:
    body = "if j >= 0 and j < 9:\n            b[j] = a[j]"
    func = pair("6", "a[i] = 1", "n * k, n * k + 6", body)
    refuse(func, lambda s: s.merge("i", "j"), "would run a step before one that it depends on")


@pytest.mark.parametrize(
    ("jump", "match"),
    [
        ("break", "may leave loop 'i' early"),
        ("continue", "would skip the body of the other"),
        ("return", "may leave loop 'i' early"),
    ],
)
def test_jumps_in_the_first_loop(jump: str, match: str) -> None:
    body = f"if a[i] > 3:\n            {jump}\n        a[i] = 0"
    refuse(pair("8", body, "8", "b[j] = 1"), lambda s: s.merge("i", "j"), match)


def test_continue_in_the_second_loop() -> None:
    body = "if a[j] > 3:\n            continue\n        b[j] = 0"
    s = Schedule(pair("8", "a[i] = a[i] + 1", "8", body))
    s.merge("i", "j")
    assert_unchanged(s.original, s.func, [numbers(9), numbers(9), numbers(1), 0, 0], native=True)


def test_names_and_registers_of_both() -> None:
    first = "x = a[i] * 2\n        a[i] = x"
    second = "y: int64 = a[j]\n        y = y + 1\n        b[j] = y"
    s = Schedule(pair("8", first, "8", second))
    s.merge("i", "j")
    assert_unchanged(s.original, s.func, [numbers(9), numbers(9), numbers(1), 0, 0], native=True)


def test_loops_that_are_no_neighbours() -> None:
    refuse(NEIGHBOURS, lambda s: s.merge("j", "i"), "does not come right after")
    refuse(NEST, lambda s: s.merge("i", "j"), "does not come right after")


NESTS = """
def f(a: float32[6, 8], b: float32[6, 8], n: int):
    c = allocate((6, 8), "float32")
    for i in range(6):
        for j in range({0}):
            c[i, j] = a[i, j] * 2.0
    d = allocate((6, 8), "float32")
    for p in range(6):
        for q in range({0}):
            d[p, q] = {1}
    for u in range(6):
        for v in range(8):
            b[u, v] = d[u, v] + 1.0
"""


def nests(size: str, value: str) -> hj.PrimFunc:
    return hj.parse(NESTS.format(size, value))


@pytest.mark.parametrize(
    ("size", "value"), [("8", "c[p, q]"), ("n", "c[p, q] + c[p, max(q - 1, 0)]")]
)
def test_loops_around_are_merged_first(size: str, value: str) -> None:
    s = Schedule(nests(size, value))
    assert s.merge("j", "q").name == "j"
    assert [loop.name for loop in s.loops("d")] == ["i", "j"]
    for n in (0, 1, 8):
        args = [numbers(6, 8).astype("float32"), numbers(6, 8).astype("float32"), n]
        assert_unchanged(s.original, s.func, args, native=n == 8)


def test_a_refused_merge_of_inner_loops_changes_nothing() -> None:
    func = nests("8", "c[p, 7 - q]")
    s = Schedule(func)
    with pytest.raises(hj.ScheduleError, match="merge would run a step before"):
        s.merge("j", "q")
    assert s.func is func
    s.merge("i", "p")  # alone they can be


def test_loops_at_different_depths_are_no_neighbours() -> None:
    refuse(nests("8", "c[p, q]"), lambda s: s.merge("i", "q"), "does not come right after")
