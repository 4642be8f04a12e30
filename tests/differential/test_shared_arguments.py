"""Arguments that lie in each other's memory: statements on whole arrays see what NumPy sees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import hybrid

np: Any = numpy
Array = Any

_PROGRAMS: list[Callable[..., Any]] = []
# Where the second argument lies in the first.
PARTS: dict[str, Callable[[Array], Array]] = {
    "no axes": lambda a: a[5:6].reshape(()),
    "the last, no axes": lambda a: a[-1:].reshape(()),
    "one": lambda a: a[5:6],
    "backwards": lambda a: a[::-1],
    "all": lambda a: a,
}


def program(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of an array and of a part of it."""
    _PROGRAMS.append(function)
    return function


@program
def updated(a: Array, c: Array) -> None:
    a -= c


@program
def into_itself(a: Array, c: Array) -> None:
    np.subtract(a, c, out=a)


@program
def assigned(a: Array, c: Array) -> None:
    a[...] = a * 2 - c


@program
def in_reverse(a: Array, c: Array) -> None:
    a[::-1] -= c


@program
def shifted(a: Array, c: Array) -> None:
    a[1:] = a[:-1] - c[..., None][0]


@program
def chosen(a: Array, c: Array) -> None:
    a[:] = np.where(a > c, c, a + c)


@program
def some(a: Array, c: Array) -> None:
    a[a > 4] -= np.max(c)


@program
def after_a_fold(a: Array, c: Array) -> None:
    np.cumsum(a, out=a)
    a -= c + np.sum(c)


@program
def element_by_element(a: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        a[i] = a[i] + np.sum(c)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("function", _PROGRAMS, ids=lambda function: function.__name__)
def test_program(function: Callable[..., Any], part: Callable[[Array], Array]) -> None:
    kernel: Any = hybrid.script(function)
    for size in (6, 40):
        expected, native, interpreted = (np.arange(float(size)) % 7 + 3 for _ in range(3))
        function(expected, part(expected))
        kernel(native, part(native))
        kernel.interpret(interpreted, part(interpreted))
        np.testing.assert_array_equal(native, expected)
        np.testing.assert_array_equal(interpreted, expected)


@hybrid.script
def exchanged(a: Array, b: Array, d: Array) -> Array:
    """After the loop `a` and `d` are copies, which do not see what is written to `b`."""
    for _ in range(3):
        if b[0] % 2 == 0:
            a, d = d, a
    b[...] -= 1
    return a + d * 2


def test_copies_of_arrays_that_others_write_to_are_refused() -> None:
    apart = [np.arange(6.0) + start for start in (0, 2, 5)]
    expected = exchanged.py_func(*(array.copy() for array in apart))
    np.testing.assert_array_equal(exchanged(*apart), expected)
    memory = np.arange(12.0)
    with pytest.raises(hj.ParseError, match=r"'b' shares memory with other arguments, and '.' may"):
        exchanged(memory[:6], memory[2:8], memory[5:11])
