"""unroll: iterations written out."""

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid, te
from hybridjit.errors import ScheduleError
from hybridjit.hybrid import unroll
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import INIT, PROGRAMS, TRIANGLE, check, numbers, refuse, sort
from tests.support.before_after import assert_unchanged


def test_every_program_takes_it() -> None:
    assert sort(PROGRAMS, lambda s: s.unroll("i"))["refused"] == []


def test_results_stay() -> None:
    check(TRIANGLE, lambda s: s.unroll("j"))
    check(INIT, lambda s: (s.unroll("i"), s.unroll("k")))
    check(INIT, lambda s: s.unroll(s.split("k", factor=3)[1]))


def test_the_text(golden: Golden) -> None:
    s = Schedule(INIT.func(None))
    s.unroll(s.split("k", factor=3)[1])
    golden.check(s.show(), "ir")


@pytest.mark.parametrize("jump", ["break", "continue", "return"])
def test_jumps(jump: str) -> None:
    func = hj.parse(f"""
def f(a: int64[8], c: int64[8]):
    for i in range(8):
        if a[i] > 4:
            {jump}
        c[i] = i
""")
    s = Schedule(func)
    s.unroll("i")
    assert_unchanged(func, s.func, [numbers(8), numbers(8)], native=True)


def test_a_loop_that_is_not_there(golden: Golden) -> None:
    error = refuse(TRIANGLE, lambda s: s.unroll("ii"), "there is no loop 'ii'")
    golden.check(str(error), "txt")


LONG = """
def f(a: float64[5000], c: float64[5000]):
    for i in {kind}(5000):
        c[i] = a[i] + 1.0
"""


def test_a_loop_that_is_too_long(golden: Golden) -> None:
    s = Schedule(hj.parse(LONG.format(kind="range")))
    before = s.func
    with pytest.raises(ScheduleError, match="5000 copies of 1 statements are more than 4096") as e:
        s.unroll("i")
    golden.check(str(e.value), "txt")
    assert s.func is before


def test_loops_that_are_too_long_together() -> None:
    s = Schedule(hj.parse(LONG.format(kind="range")))
    outer, inner = s.split("i", factor=50)
    s.unroll(inner)
    with pytest.raises(ScheduleError, match="'i_0': 100 copies of 100 statements are more than"):
        s.unroll(outer)


def test_a_function_that_is_too_long_is_not_built() -> None:
    with pytest.raises(ScheduleError, match="5000 copies of 1 statements are more than 4096"):
        hj.build(hj.parse(LONG.format(kind="unroll")))


def test_a_classic_schedule_that_is_too_long_is_not_built() -> None:
    a = te.placeholder((5000,), "float64", "A")
    b = te.compute((5000,), lambda i: a[i] + 1, name="B")
    s = te.create_schedule(b.op)
    s[b].unroll(b.op.axis[0])
    with pytest.raises(ScheduleError, match="are more than 4096"):
        hj.build(s, [a, b])


def test_a_script_that_is_too_long() -> None:
    kernel = hybrid.script(too_long)
    with pytest.raises(ScheduleError, match="are more than 4096"):
        kernel(np.zeros(5000))


def too_long(a: Any) -> None:
    for i in unroll(5000):
        a[i] = a[i] + 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [4000, 4096])
def test_just_short_enough(size: int) -> None:
    """What lowering adds to it is no reason to refuse what was taken."""
    func = hj.parse(LONG.replace("5000", str(size)).format(kind="range"))
    s = Schedule(func)
    s.vectorize(s.split("i", factor=4)[1])
    s.unroll("i_0")
    a, c = np.arange(float(size)), np.zeros(size)
    hj.build(s)(a, c)
    np.testing.assert_array_equal(c, a + 1)
