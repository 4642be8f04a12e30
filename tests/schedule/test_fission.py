"""fission: the statements of a loop get loops of their own."""

import pytest

import hybridjit as hj
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import NAMED, PLAIN, check, numbers, refuse
from tests.support.before_after import assert_unchanged

BODY = """
def f(a: int64[9], b: int64[9], c: int64[9]):
    for i in range({bounds}):
        {before}
        with block("t"):
            {first}
        {second}
"""


def body(first: str, second: str, *, before: str = "pass", bounds: str = "1, 8") -> hj.PrimFunc:
    return hj.parse(BODY.format(first=first, second=second, before=before, bounds=bounds))


def test_names_are_computed_for_both(golden: Golden) -> None:
    s = Schedule(body("a[i] = y", "b[i] = a[i] + y", before="y = i * 2 + 1", bounds="9"))
    first, second = s.fission("i", after="t")
    assert first.var is not second.var
    golden.check(s.show(), "ir")
    assert_unchanged(s.original, s.func, [numbers(9), numbers(9), numbers(9)], native=True)


def test_results_stay() -> None:
    text = NAMED.body.replace("        x = b[i] * 3\n", "").replace("= x", "= b[i] * 3")
    check(type(NAMED)("named", text), lambda s: s.fission("i", after="t"))


@pytest.mark.parametrize("bounds", ["0", "9", "8, 0, -1", "0, 9, 2", "a[0] * 0 + 5, 9"])
def test_bounds(bounds: str) -> None:
    func = body("b[i] = c[i]", "c[i] = b[i] + 1", bounds=bounds)
    if "a[0]" in bounds:
        refuse(func, lambda s: s.fission("i", after="t"), "read memory or may fail")
        return
    s = Schedule(func)
    s.fission("i", after="t")
    assert_unchanged(func, s.func, [numbers(9), numbers(9), numbers(9)], native=True)


def test_a_scratch_buffer_of_the_second_part() -> None:
    second = 't = allocate((y,), "int64", "local")\n        t[i] = 7\n        c[i] = t[i] + t[0]'
    s = Schedule(body("b[i] = y", second, before="y = i + 1"))
    s.fission("i", after="t")
    assert_unchanged(s.original, s.func, [numbers(9), numbers(9), numbers(9)], native=True)


def test_the_second_part_feeds_the_next_iteration(golden: Golden) -> None:
    func = body("b[i] = c[i - 1]", "c[i] = a[i]")
    error = refuse(func, lambda s: s.fission("i", after="t"), "`c.1.` written .* is read")
    golden.check(str(error), "txt")


@pytest.mark.parametrize(
    ("before", "first", "second"),
    [
        ("x = a[i] * 3", "a[i] = 0", "b[i] = x"),
        ("x: int64 = 1", "x = a[i]", "b[i] = x"),
        ('x = allocate((2,), "int64", "local")', "x[0] = a[i]", "b[i] = x[0]"),
    ],
)
def test_what_belongs_to_an_iteration(before: str, first: str, second: str) -> None:
    func = body(first, second, before=before)
    refuse(func, lambda s: s.fission("i", after="t"), "'x' belongs to one iteration")


@pytest.mark.parametrize("jump", ["break", "continue", "return"])
def test_jumps(jump: str) -> None:
    func = body("b[i] = 1", f"if a[i] > 2:\n            {jump}\n        c[i] = 1")
    refuse(func, lambda s: s.fission("i", after="t"), "may leave the body of loop 'i'")


def test_a_continue_of_an_inner_loop() -> None:
    second = (
        "for j in range(9):\n            if a[j] > 2:\n                continue\n"
        "            c[i] = c[i] + j"
    )
    s = Schedule(body("b[i] = 1", second))
    s.fission("i", after="t")
    assert_unchanged(s.original, s.func, [numbers(9), numbers(9), numbers(9)], native=True)


def test_effects_of_both_parts() -> None:
    func = body("print(i)", "print(i + 1)")
    refuse(func, lambda s: s.fission("i", after="t"), "the effect .* comes before")


def test_where_there_is_nothing_to_cut() -> None:
    refuse(PLAIN, lambda s: s.fission("i", after="c"), "is the last in loop 'i'")
    func = body("b[i] = 1", "for j in range(3):\n            c[j] = 1")
    refuse(func, lambda s: s.fission("j", after="t"), "block 't' is not in loop 'j'")
