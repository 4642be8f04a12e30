"""Updates of one array that follow each other become one loop; what would differ stays apart."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import config, hybrid
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Store
from hybridjit.ir.visit import walk_stmts
from hybridjit.schedule.arrays import merge
from tests.planted.bugs import Bug, always, replaced
from tests.planted.trying import assert_noticed, needs_fork
from tests.support.array_results import assert_agree
from tests.support.optimized import optimized

np: Any = numpy
Array = Any
SIZES = {"a": (6, 5), "b": (6, 5), "c": (6, 5), "v": (5,), "n": (6, 5)}


def arguments(function: Any) -> list[Array]:
    rng = numpy.random.default_rng(7)
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    floats = {name: rng.integers(-8, 9, SIZES[name]) / 4 for name in names}
    return [value.astype("int64") if name == "n" else value for name, value in floats.items()]


def check(function: Any) -> PrimFunc:
    args = arguments(function)
    kernel: Any = hybrid.script(function)
    with config.scope(cache_enabled=False):
        assert_agree(kernel, args)
    return optimized(kernel, *args)


def count(func: PrimFunc, kind: type[Any]) -> int:
    return sum(isinstance(stmt, kind) for stmt in walk_stmts(func.body))


# What is merged


def updates(a: Array, b: Array, c: Array):
    c += a * b
    c *= 0.5
    c -= a


def first_set(a: Array, c: Array):
    c[:] = a
    c *= 2
    c[:] = c + a


def part(a: Array, c: Array):
    c[1:, 2] += a[1:, 2]
    c[1:, 2] *= 3


def of_a_copy(a: Array, v: Array):
    b = a.copy()
    b += v
    b *= b
    return b


def in_a_loop(a: Array, c: Array):
    for _ in range(3):
        c += a
        c *= 0.5


def two_arrays(a: Array, b: Array, c: Array):
    c += a
    c *= b
    b += c
    b *= 2


MERGED = {updates: 1, first_set: 1, part: 1, of_a_copy: 1, in_a_loop: 1, two_arrays: 2}


@pytest.mark.parametrize("function", MERGED)
def test_one_nest_and_one_store(function: Any) -> None:
    assert count(check(function), Store) == MERGED[function]


def test_sizes_that_are_known_at_run_time() -> None:
    kernel: Any = hybrid.script(updates)
    for rows in (3, 4, 0, 1):
        assert_agree(kernel, [array[:rows] for array in arguments(updates)])


# What is not


def mirrored(a: Array, c: Array):
    c += a
    c *= c[::-1]


def shifted(a: Array, c: Array):
    c[1:] += a[1:]
    c[:-1] *= 2


def other_parts(a: Array, c: Array):
    c[1:] += a[1:]
    c *= 2


def by_hand(a: Array, c: Array):
    for i in range(a.shape[0]):
        c[i, 0] += a[i, 0]
    for i in range(a.shape[0]):
        c[i, 0] *= 2


def totals(a: Array, v: Array):
    v[:] = a.sum(axis=0)
    v += 1
    s = 0.0
    for i in range(v.shape[0]):
        s += v[i]
    return s


APART = {mirrored: 2, shifted: 2, other_parts: 2, by_hand: 2}


@pytest.mark.parametrize("function", APART)
def test_two_nests(function: Any) -> None:
    assert count(check(function), Store) >= APART[function]


def test_sums_stay_right() -> None:
    check(totals)


def test_arrays_that_share_memory() -> None:
    def shared(a: Array, c: Array):
        c += a
        c *= 2

    memory = np.arange(20.0)
    expected = memory.copy()
    shared(expected[:-1], expected[1:])
    hybrid.script(shared)(memory[:-1], memory[1:])
    assert np.array_equal(memory, expected)


def may_fail(n: Array):
    n += 1
    n //= n


def test_an_error_leaves_the_same_behind() -> None:
    kernel: Any = hybrid.script(may_fail)
    for run in (kernel, kernel.interpret):
        array = np.full(8, -1)
        with pytest.raises(ZeroDivisionError, match="by zero"):
            run(array)
        assert (array == 0).all()


# Planted bugs


def _check_mirrored() -> None:
    check(mirrored)


BUGS = (
    Bug("any order will do", [replaced(merge, "_keeps_order", always(True))], _check_mirrored),
    Bug(
        "errors are of no account",
        [replaced(merge, "_fails_alike", always(True))],
        test_an_error_leaves_the_same_behind,
    ),
)


@needs_fork
@pytest.mark.parametrize("bug", BUGS, ids=str)
def test_bug_is_noticed(bug: Bug) -> None:
    assert_noticed(bug)
