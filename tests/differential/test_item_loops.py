"""Loops over arrays, their rows, and several of them at once, against plain Python."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from hybridjit.errors import ParseError
from tests.support.array_results import assert_agree

np: Any = numpy
RNG = np.random.default_rng(11)
Array = Any
MATRIX, VECTOR, LONGER = RNG.random((4, 3)), RNG.random(5), RNG.random(7)


def elements(v: Array):
    total = 0.0
    for x in v:
        total += x * x
    return total


def rows(a: Array):
    total = np.zeros(a.shape[1])
    for row in a:
        total += row
    return total


def rows_are_views(a: Array):
    for row in a[::-1, 1:]:
        row *= 2
        row[0] = 7.0


def columns(a: Array):
    total = 0.0
    for column in a.T:
        total += column.max() * column[0]
    return total


def unpacked_rows(a: Array):
    total = 0.0
    for x, y, z in a:
        total += x * y - z
    return total


def counted(v: Array):
    total = 0.0
    for i, x in enumerate(v, 2):
        total += i * x
    return total


def together(v: Array, w: Array):
    total = 0.0
    for x, y in zip(v, w, strict=False):
        total += x * y
    return total


def of_one_length(v: Array, w: Array):
    total = 0.0
    for x, y in zip(v, w, strict=True):
        total += x * y
    return total


def counted_together(v: Array, w: Array):
    total = 0.0
    for i, (x, y) in enumerate(zip(v, w[::-1], strict=False)):
        total += i * x - y
    return total


def with_a_tuple(v: Array):
    total = 0.0
    for factor, x in zip((1, 2.5, 3), v, strict=False):
        total += factor * x
    return total


def with_a_range(v: Array):
    total = 0.0
    for i, x in zip(range(10, 0, -2), v, strict=False):
        total += i * x
    return total


def backwards(v: Array):
    total = 0.0
    for i in reversed(range(1, len(v))):
        total = total * 2 + v[i]
    for x in reversed(v):
        total = total / 3 + x
    return total


def last_element(v: Array):
    for x in v:
        if x > 0.9:
            break
    return x  # pyright: ignore[reportPossiblyUnboundVariable]


def computed(v: Array):
    total = 0.0
    for x in v * 2 - v[::-1]:
        total += x**2
    return total


def numbers(n: int):
    total = 0
    for k in np.arange(3, n):
        total += k * k
    return total


def changed_meanwhile(v: Array):
    for x in v:
        v[1:] += x


def renamed_meanwhile(v: Array):
    a = v * 2
    total = 0.0
    for x in a:
        a = a * 0.5
        total += x + a[0]
    return total


def deeper(c: Array):
    total = 0.0
    for matrix in c:
        for row in matrix:
            for x in row:
                total = total * 0.5 + x
    return total


CUBE = RNG.random((2, 3, 4))
CASES: list[tuple[Any, ...]] = [
    (elements, VECTOR),
    (elements, VECTOR[::-2]),
    (elements, np.zeros(0)),
    (rows, MATRIX),
    (rows, MATRIX.T),
    (rows_are_views, MATRIX),
    (columns, MATRIX),
    (unpacked_rows, MATRIX),
    (counted, VECTOR),
    (together, VECTOR, LONGER),
    (together, LONGER, VECTOR),
    (of_one_length, VECTOR, LONGER[:5]),
    (of_one_length, VECTOR, LONGER),
    (counted_together, VECTOR, LONGER),
    (with_a_tuple, VECTOR),
    (with_a_range, VECTOR),
    (backwards, VECTOR),
    (last_element, VECTOR),
    (last_element, np.zeros(0)),
    (computed, VECTOR),
    (numbers, 9),
    (numbers, 0),
    (changed_meanwhile, VECTOR),
    (renamed_meanwhile, VECTOR),
    (deeper, CUBE),
    (deeper, CUBE.transpose(2, 0, 1)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_agrees_with_python(case: tuple[Any, ...]):
    function, *args = case
    kernel: Any = hybrid.script(function)
    assert_agree(kernel, args)


# what a loop over a tuple counts with, after a break


@hybrid.script
def left_at_a_number(a: Any, n: Any) -> Any:
    for k in (1, 2, 3):
        if k == n:
            break
    return a * k


@hybrid.script
def left_at_a_pair(a: Any, n: Any) -> Any:
    for (i, j), k in (((0, 1), 2), ((3, 4), 5), ((6, 7), 8)):
        if k > n + j - i:
            break
    return a * k + i - j


@hybrid.script
def left_twice(a: Any, n: Any) -> Any:
    total, k = 0, 7
    for i in range(len(a)):
        for k in (-1, 1, 5):
            if k * i == n:
                break
            total += k
        total += 100 * k
    return total, k


@hybrid.script
def left_from_inside(a: Any, n: Any) -> Any:
    for i in (1, 2, 3):
        for k in [4, 5.5, 6]:
            if i + k >= n + 5:
                break
        else:
            continue
        break
    return a * i + k  # pyright: ignore[reportPossiblyUnboundVariable]


@hybrid.script
def left_by_an_error(a: Any, n: Any) -> Any:
    found = a[:1] * 0
    for k in (1, 2, 3):

        def scaled(x: Any) -> Any:
            return x * k  # noqa: B023

        try:
            found = found + 1 // (k - n)
        except ZeroDivisionError:
            break
    return found, scaled(a)


LEFT = (left_at_a_number, left_at_a_pair, left_twice, left_from_inside, left_by_an_error)


@pytest.mark.parametrize("kernel", LEFT, ids=lambda kernel: kernel.__name__)
def test_after_a_break_the_item_is_that_of_the_last_round(kernel: Any) -> None:
    for size, n in ((3, 1), (3, 2), (4, 3), (1, 0), (5, 9)):
        assert_agree(kernel, [np.arange(size) * 0.5, n])


def test_functions_and_arrays_of_the_last_round() -> None:
    def function(a: Any, n: Any) -> Any:
        for f in (np.sin, np.cos, np.tan):
            if f(n) < 0:
                break
        return f(a)

    def array(a: Any, n: Any) -> Any:
        for x in (a, a + 1):
            if x.sum() > n:
                break
        return x

    for script in (function, array):
        with pytest.raises(ParseError, match=r"stands for .* and cannot become"):
            hybrid.script(script)(np.arange(3.0), 2.0)


# the items of a tuple are computed before the first round


@hybrid.script
def counts_with_what_it_reads(a: Any, n: Any) -> Any:
    total, k = 0, n + 1
    for k in (4, k, k * 10, 2):  # noqa: B020
        total = total * 3 + k
    return total, k


@hybrid.script
def changes_what_items_are_read_from(a: Any, n: Any) -> Any:
    total = 0.0
    for x, (y, z) in ((a[0], (n, a[-1])), (a[0] + n, (a[-1], n * 2)), (n, (n, n))):
        n += 1
        a[0] += y
        a[-1] -= z
        total = total * 2 + x
    return total


@hybrid.script
def changes_arrays_of_items(a: Any, n: Any) -> Any:
    b = a * 2
    for x in [a + n, b[::-1] - 1, b]:
        b[:] = x
        a += 1
    return a, b


@hybrid.script
def changes_items_beside_others(a: Any, n: Any) -> Any:
    total, k = 0.0, n
    for i, (x, k) in enumerate(zip((1, k, k + 1), (k + 5, n, k), strict=True)):  # noqa: B020
        n += x
        total = total * 2 + i * n + k
    return total


@hybrid.script
def exchanges_arrays(a: Any, n: Any) -> Any:
    b = a + n
    for x in (a, b, a):
        a, b = b, a
        b += x
    return a, b


COMPUTED = (
    *(counts_with_what_it_reads, changes_what_items_are_read_from, changes_arrays_of_items),
    *(changes_items_beside_others, exchanges_arrays),
)


@pytest.mark.parametrize("kernel", COMPUTED, ids=lambda kernel: kernel.__name__)
def test_items_are_computed_before_the_first_round(kernel: Any) -> None:
    for size, n in ((1, 1), (3, 2), (17, 0), (70, 5)):
        assert_agree(kernel, [np.arange(size) * 0.5, n])


def adds_to_raveled(a: Any) -> Any:
    total = 0.0
    for x in a.ravel():
        a[0, 0] += 1
        total = total * 2 + x
    return total


def adds_to_broadcast(a: Any) -> Any:
    total = 0.0
    for row in np.broadcast_to(a[0], (3, a.shape[1])):
        a[0, 0] += 1
        total = total * 2 + row[0]
    return total


def adds_to_one_of_two(a: Any) -> Any:
    total = 0.0
    for x in a[1] + 1 if a[0, 0] > 2 else a[0]:
        a[0, 1] += x
        total = total * 2 + x
    return total


@pytest.mark.parametrize("function", [adds_to_raveled, adds_to_broadcast, adds_to_one_of_two])
def test_what_may_be_a_view_is_not_written_to_in_a_loop_over_it(function: Any) -> None:
    with pytest.raises(ParseError, match="which may be a view of"):
        hybrid.script(function)(MATRIX.copy())


def adds_elsewhere(a: Any) -> Any:
    total = 0.0
    for x, y in zip(a.ravel(), a.ravel().copy(), strict=True):
        total = total * 2 + x * y
    for x in a.ravel().copy():
        a[0, 0] += x
    for row in np.broadcast_to(a[0], (3, a.shape[1])):
        total += row[0]
    return total


def test_loops_over_copies_write_to_what_is_copied() -> None:
    assert_agree(hybrid.script(adds_elsewhere), [MATRIX])
