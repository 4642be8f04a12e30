"""`if e < x: x = e` is a minimum: where it is exactly that, its loop may be concurrent."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.interp.run import interpret
from hybridjit.runtime import compiler
from hybridjit.runtime.native import layout_of, load_native
from hybridjit.schedule.schedule import Schedule
from tests.nests.check import backwards
from tests.schedule.programs import refuse
from tests.support.before_after import assert_unchanged


def program(cond: str, dtype: str) -> Any:
    return hj.parse(f"""
def f(a: {dtype}["n"], m: {dtype}["k"]):
    for i in range(a.shape[0]):
        if {cond}:
            m[0] = a[i]
""")


MINIMA = ["a[i] < m[0]", "m[0] > a[i]"]
MAXIMA = ["a[i] > m[0]", "m[0] < a[i]"]
# The later of two equal numbers is kept, or a NaN: the same for integers only.
OTHERS = ["a[i] <= m[0]", "m[0] <= a[i]", "not (m[0] <= a[i])", "not m[0] >= a[i]"]
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", ["parallel", "vectorize"])
@pytest.mark.parametrize("cond", MINIMA + MAXIMA + OTHERS)
def test_integers(cond: str, kind: str) -> None:
    s = Schedule(program(cond, "int64"))
    getattr(s, kind)("i")
    for size in (0, 1, 7, 40):
        args = [np.arange(size) * 7 % 11 - 5, np.array([1, 2])]
        assert_unchanged(s.original, s.func, args, native=size == 40)
        assert_unchanged(s.original, backwards(s.func), args)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["parallel", "vectorize"])
@pytest.mark.parametrize("cond", MINIMA + MAXIMA)
def test_special_floats_in_every_place(cond: str, kind: str) -> None:
    s = Schedule(program(cond, "float32"))
    getattr(s, kind)("i")
    rows = [np.roll(np.array(SPECIAL * 3, np.float32), shift) for shift in range(len(SPECIAL))]
    layout = layout_of(s.func.header, [rows[0], rows[0][:1]], is_disjoint=True)
    run = load_native(s.func.header, layout, compiler.build(s.func, layout))
    for row, first in product(rows, SPECIAL):
        found, expected = np.array([first], np.float32), np.array([first], np.float32)
        interpret(s.original, [row, expected])
        run([row, found])
        assert found.tobytes() == expected.tobytes(), (row, first)


@pytest.mark.parametrize("value", [5.0, np.nan, -0.0])
def test_many_threads(value: float) -> None:
    @hybrid.script
    def least(a: Any, m: Any) -> None:
        for i in range(a.shape[0]):
            if a[i] < m[0]:
                m[0] = a[i]

    values: Any = np.random.default_rng(1).standard_normal(300_000)
    values[::1000] = value
    expected, found = np.array([0.0]), np.array([0.0])
    least(values, expected)
    least.with_schedule(lambda s: s.parallel("i"))(values, found)
    assert found.tobytes() == expected.tobytes()


def test_an_element_that_does_not_exist_is_not_touched() -> None:
    s = Schedule(program("a[i] < m[0]", "float64"))
    s.parallel("i")
    assert_unchanged(s.original, s.func, [np.ones(0), np.ones(0)], native=True)
    assert_unchanged(s.original, s.func, [np.ones(9), np.ones(0)], native=True)


@pytest.mark.parametrize("cond", ["a[i] <= m[0]", "m[0] <= a[i]"])
def test_what_is_no_minimum_of_floats(cond: str) -> None:
    """The last of 0.0 and -0.0 is kept: it matters in which order they come."""
    error = refuse(program(cond, "float64"), lambda s: s.parallel("i"), "cannot be parallel")
    assert "write `x = min(x, e)`" in str(error)


def test_another_condition_is_no_minimum() -> None:
    error = refuse(program("a[i] < m[1]", "float64"), lambda s: s.parallel("i"), "cannot be")
    assert "min(x, e)" not in str(error)
