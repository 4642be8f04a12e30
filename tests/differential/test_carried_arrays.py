"""Names for other arrays from round to round of a loop: swaps, new arrays, late names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from tests.support import late_names
from tests.support.oracle import run_plain_and_interpreted

Values = Any

_PROGRAMS: list[Callable[..., Any]] = []


def program(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of an array and of how many rounds its loop makes."""
    _PROGRAMS.append(function)
    return function


# -- swaps -------------------------------------------------------------------------------------


@program
def swap(a: Values, n: int) -> Values:
    u = a.copy()
    v = a * 3
    for _ in range(n):
        v[1:] = u[1:] + u[:-1]
        u, v = v, u
    return u


@program
def swap_and_return_both(a: Values, n: int) -> Values:
    u = a.copy()
    v = a * 3
    for t in range(n):
        v[1:] = u[:-1] + t
        u, v = v, u
    return u, v


@program
def swap_and_store_in_the_argument(a: Values, n: int) -> None:
    u = a.copy()
    v = np.zeros_like(a)
    for _ in range(n):
        v[:] = u + u[::-1]
        u, v = v, u
    a[:] = u


@program
def swap_with_the_argument(a: Values, n: int) -> Values:
    b = np.zeros_like(a)
    for t in range(n):
        b[1:] = a[:-1] + t
        a, b = b, a
    return a.sum(), b.sum()


@program
def rotate(a: Values, n: int) -> Values:
    u, v, w = a.copy(), a * 2, a * 3
    for t in range(n):
        w[:] = u + v[::-1] + t
        u, v, w = v, w, u
    return u, v, w


@program
def rotate_in_a_while_loop(a: Values, n: int) -> Values:
    u, v, w = a.copy(), a * 2, a * 3
    t = 0
    while t < n and w[0] < 1000:
        w[:] = u + v[::-1] + t
        u, v, w = v, w, u
        t += 1
    return w


@program
def swap_in_the_condition_of_a_loop(a: Values, n: int) -> Values:
    u = a.copy()
    v = a * 2
    while u[0] + v[-1] < 20 * n:
        u[:] = u + v
        u, v = v, u + 1
    return u


@program
def swap_now_and_then(a: Values, n: int) -> Values:
    u = a.copy()
    v = a * 2
    for t in range(n):
        u += t
        if t % 3 != 1:
            u, v = v, u
        v[0] -= u[-1]
    return u - v


@program
def swap_and_go_on(a: Values, n: int) -> Values:
    u, v = a.copy(), a * 2
    for t in range(n):
        u, v = v, u
        if t == 2:
            continue
        u[:] = u * 2 + v
        if t == 4:
            break
        u, v = v, u
        v[0] = t
    return u - v


@program
def swap_in_inner_loops(a: Values, n: int) -> Values:
    u, v = a.copy(), a * 2
    for t in range(n):
        for _ in range(t):
            v[:] = u + 1
            u, v = v, u
        u[0] = v[-1]
    return u


@program
def swap_two_pairs(a: Values, n: int) -> Values:
    u, v = a.copy(), a * 2
    p, q = a + 1, a + 2
    for t in range(n):
        u, v = v, u
        if t > 1:
            p, q = q, p
        u += p
        v -= q[::-1]
    return u, v, p, q


@program
def swap_by_a_third_name(a: Values, n: int) -> Values:
    u, v = a.copy(), a * 2
    for t in range(n):
        v[:] = u[::-1] + t
        w = u
        u = v
        v = w
    return u


@program
def swap_rows_by_name(a: Values, n: int) -> Values:
    m = np.outer(a, a)
    x, y = m[0], m[-1]
    for t in range(n):
        x[:] = y + t
        x, y = y, x
    return m.sum()


# -- new arrays --------------------------------------------------------------------------------


@program
def the_old_one_has_a_name(a: Values, n: int) -> Values:
    u = a.copy()
    change = 0.0
    for _ in range(n):
        old = u
        u = old[::-1] * 0.5 + 1
        change = np.abs(u - old).sum()
    return u, change


@program
def the_new_one_has_a_name(a: Values, n: int) -> Values:
    u = a.copy()
    for t in range(n):
        new = np.zeros_like(u)
        new[1:] = u[:-1] + t
        u = new
    return u


@program
def the_new_one_is_a_copy(a: Values, n: int) -> Values:
    u = a
    for _ in range(n):
        new = u.copy()
        new[1:-1] = (u[2:] + u[:-2]) / 2
        u = new
    return u.sum()


@program
def both_at_once(a: Values, n: int) -> Values:
    u, v = a.copy(), a * 2
    for _ in range(n):
        u, v = v + 1, u - v
    return u, v


@program
def the_last_two(a: Values, n: int) -> Values:
    older, old = a.copy(), a + 1
    for t in range(n):
        new = old + older[::-1] * t
        older, old = old, new
    return old - older


@program
def parameter_in_a_loop(a: Values, n: int) -> Values:
    for t in range(n):
        a = a + t
    return a * 2


@program
def parameter_is_written_before_it_is_replaced(a: Values, n: int) -> Values:
    for t in range(n):
        a[0] += t + 1
        a = a * 2
    return a.sum()


@program
def parameter_in_a_branch_of_a_loop(a: Values, n: int) -> Values:
    for t in range(n):
        if t % 2:
            a = a[::-1] + t
        else:
            a += 1
    return a.sum()


@program
def another_type_after_the_first_round(a: Values, n: int) -> Values:
    x = np.zeros(len(a), np.int32)
    total = 0.0
    for t in range(n):
        total += x.sum()
        x = x + a * t
    return total


@program
def a_number_becomes_an_array(a: Values, n: int) -> Values:
    s = 0
    for _ in range(3):
        s = s + a * n
    return s


@program
def none_before_the_first_round(a: Values, n: int) -> Values:
    best = None
    for x in a:
        if best is None or x * n > best:
            best = x * n
    return best


# -- other names -------------------------------------------------------------------------------


@program
def a_view_keeps_the_old_array(a: Values, n: int) -> Values:
    u = a.copy()
    first = u[:2]
    for _ in range(n):
        u = u + 1
        u[0] = 7
    return first.sum() + u.sum()


@program
def another_name_keeps_the_old_array(a: Values, n: int) -> Values:
    u = a + 1
    before = u
    for t in range(n):
        u = u * 2
        if t == 1:
            before = u
    return before + u


def _doubled_if_large(x: Values) -> Values:
    first = x[0]
    if first > 0.5:
        x = x * 2
    return x.sum()


@program
def a_helper_replaces_its_argument(a: Values, n: int) -> Values:
    u = a + 1
    for _ in range(n):
        u = u + 1
    return _doubled_if_large(u) + u.sum()


@program
def a_static_branch_around_a_branch(a: Values, n: int) -> Values:
    x = a
    if a.ndim == 1:
        if n > 2:
            x = a[::-1] + 1
        n += 1
    return x[0] + n


@program
def a_number_from_a_loop_inside(a: Values, n: int) -> Values:
    t = a + 1
    total = n * 0.5
    for _ in range(3):
        for k in range(2):
            total += np.sum(t)
            t = a[0] * (k + 2)
            for _ in range(2):
                t = t + 1
    return np.sum(t) + total


@program
def a_number_from_a_branch_inside(a: Values, n: int) -> Values:
    t = a + 1
    total = n * 0.5
    for k in range(3):
        total += np.sum(t)
        if k + n > 3:
            t = 3.0
        else:
            t = a[0]
            total += 1
    return np.sum(t) + total


@program
def strings(a: Values, n: int) -> None:
    word = "first"
    for t in range(n):
        print(word, t)
        word = "then"


def _arguments() -> Iterator[Any]:
    for count in (0, 1, 2, 3, 4, 7):
        for size in (1, 2, 5):
            values = np.linspace(0.25, 4, size)
            yield values, count
        yield np.arange(1.0, 11.0)[::-2], count
        yield np.arange(6, dtype=np.float32), count


_LATE: Values = late_names.PROGRAMS


@pytest.mark.sampled(4)
@pytest.mark.parametrize("function", [*_PROGRAMS, *_LATE], ids=lambda f: f.__name__)
def test_program(function: Callable[..., Any]) -> None:
    kernel = hybrid.script(function)
    for values, count in _arguments():
        run_plain_and_interpreted(kernel, (values, count), joined=True)


# -- sums of arrays ----------------------------------------------------------------------------


def taps(a: Values, w: Values) -> Values:
    return sum(w[k] * a[k : len(a) - 2 + k] for k in range(3))


def of_a_list(a: Values, w: Values) -> Values:
    y = sum([v * a for v in w]) + 1
    return y, sum(v * y for v in w)


def in_a_loop(a: Values, w: Values) -> Values:
    total = a * 0
    for _ in range(2):
        total += sum(v * a for v in w)
        a = a + sum(total * k for k in range(2))
    return total, a


def in_each_other(a: Values, w: Values) -> Values:
    return sum(sum(v * a * u for v in w) for u in range(3))


def in_a_condition(a: Values, w: Values) -> Values:
    if np.max(sum(v * a for v in w)) > 3:
        return sum(a if v > 1 else -a for v in w)
    return a[::-1] * 1


@pytest.mark.parametrize(
    "function",
    [taps, of_a_list, in_a_loop, in_each_other, in_a_condition],
    ids=lambda f: f.__name__,
)
def test_sums_of_arrays_that_a_generator_makes(function: Callable[..., Any]) -> None:
    """The sum stood for the number that it began with: it is read where its loop stands."""
    kernel = hybrid.script(function)
    for size in (6, 3):
        for weights in (np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.0, 0.25])):
            run_plain_and_interpreted(kernel, (np.arange(1.0, size + 1), weights), joined=True)
