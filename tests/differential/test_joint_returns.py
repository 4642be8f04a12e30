"""Functions that return arrays in several places, and scripts that do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from hybridjit import hybrid
from tests.support.array_results import assert_agree
from tests.support.oracle import run_plain_and_interpreted

Values = Any

_PROGRAMS: list[Callable[..., Any]] = []


def program(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of an array and a number, which decides where it returns."""
    _PROGRAMS.append(function)
    return function


def _early(a: Values, n: int) -> Values:
    if n > 2:
        return a * 2
    return a[::-1] + 1


def _from_a_loop(a: Values, n: int) -> Values:
    for i in range(n):
        if a[i % len(a)] > 2:
            return a * i, i
    return a + 1, -1


def _reflector(x: Values, scale: float = 2.0) -> Values:
    v = x.copy()
    s = np.sqrt((x * x).sum())
    if s == 0.0:
        return v, 0.0
    v[0] += s if x[0] > 0 else -s
    return v, scale / (v * v).sum()


def _nested(a: Values, n: int) -> Values:
    if n % 2:
        return (a * 2, n), (a.sum(), (a + 1, 2.5))
    return (a + 2, -n), (a.max(), (a * a, 0.5))


def _its_argument_or_not(a: Values, n: int) -> Values:
    if n > 1:
        return a
    return a * 2


def _three_ways(a: Values, n: int) -> Values:
    while n > 0:
        if n == 3:
            return a
        if n == 2:
            b = a + n
            a = b
            return b * 2
        n -= 2
    return np.zeros_like(a)


@program
def early(a: Values, n: int) -> Values:
    return _early(a, n) - _early(a * 2, 1)


@program
def from_a_loop(a: Values, n: int) -> Values:
    found, where = _from_a_loop(a, n)
    return found, where


@program
def early_with_a_number(a: Values, n: int) -> Values:
    v, beta = _reflector(a * n)
    w, gamma = _reflector(x=v, scale=3.0)
    return v, beta, w, gamma


@program
def nested_tuples(a: Values, n: int) -> Values:
    (x, p), (s, (y, q)) = _nested(a, n)
    return x - y, p * s + q


@program
def its_argument_or_not(a: Values, n: int) -> Values:
    u = a + 1
    u[0] = 5
    v = _its_argument_or_not(u, n)
    return v.sum() - u.sum()


@program
def three_ways(a: Values, n: int) -> Values:
    return _three_ways(a + 1, n) + _three_ways(a, n + 1)


@program
def script_returns_early(a: Values, n: int) -> Values:
    if n > 2:
        return a * 2
    if n == 2:
        return np.zeros_like(a)
    return a[::-1] - 1


@program
def script_returns_from_a_loop(a: Values, n: int) -> Values:
    for i in range(n):
        b = a + i
        if b[0] > 2:
            return b, i
    return a * 0, -1


@program
def script_returns_what_a_branch_makes(a: Values, n: int) -> Values:
    if n > 1:
        a = a * n
    return a + 1


@program
def script_returns_swapped(a: Values, n: int) -> Values:
    u, v = a + 1, a * 2
    if n > 1:
        u, v = v, u
    return u, v


@program
def script_returns_carried(a: Values, n: int) -> Values:
    u = a + 1
    for t in range(n):
        new = u[::-1] + t
        if new[0] > 5:
            return new
        u = new
    return u


@program
def script_returns_elements_of_a_local(a: Values, n: int) -> Values:
    m = np.outer(a, a)
    if n > 1:
        return m[0]
    return m[:, -1]


@pytest.mark.parametrize("function", _PROGRAMS, ids=lambda f: f.__name__)
def test_program(function: Callable[..., Any]) -> None:
    kernel = hybrid.script(function)
    for number in range(5):
        for size in (1, 2, 5):
            run_plain_and_interpreted(kernel, (np.linspace(0.25, 4, size), number), joined=True)
        run_plain_and_interpreted(kernel, (np.arange(1.0, 11.0)[::-2], number), joined=True)


class Found(NamedTuple):
    values: Values
    place: int


class Search(NamedTuple):
    found: Found
    is_done: bool


def _scaled(a: Values, n: int) -> Found:
    if n > 1:
        return Found(a * n, n)
    return Found(a, 0)


def _searched(a: Values, n: int) -> Search:
    for k in range(3):
        scaled = a * k
        if k == n:
            return Search(Found(scaled, k), True)
    return Search(_scaled(a, n), False)


def _in_a_list(a: Values, n: int) -> list[Values]:
    if n > 1:
        return [a * n, a.sum()]
    return [a, a.max()]


def names_are_read(a: Values, n: int) -> Values:
    search = _searched(a, n)
    return search.found.values * search.found.place + search.is_done


def names_are_carried(a: Values, n: int) -> Values:
    found = Found(a, n)
    for k in range(3):
        found = _scaled(found.values, found.place + k)
    return found.values + found.place


@pytest.mark.parametrize("function", [names_are_read, names_are_carried], ids=lambda f: f.__name__)
def test_items_keep_their_names(function: Callable[..., Any]) -> None:
    kernel = hybrid.script(function)
    for number in range(5):
        for size in (0, 1, 5):
            assert_agree(kernel, (np.linspace(0.25, 4, size), number))


@pytest.mark.parametrize("function", [_scaled, _searched, _in_a_list], ids=lambda f: f.__name__)
def test_the_caller_is_given_what_was_returned(function: Callable[..., Any]) -> None:
    @hybrid.script
    def called(a: Values, n: int) -> Any:
        return function(a, n)

    for number in range(4):
        a = np.arange(3.0)
        expected = function(a, number)
        for result in (called.interpret(a, number), called(a, number)):
            assert type(result) is type(expected)
            assert repr(result) == repr(expected)
