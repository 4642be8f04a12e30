"""Functions that call themselves: as plain Python does, with a stack of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from hybridjit.errors import ParseError
from tests.support.array_results import assert_agree
from tests.support.oracle import fresh

np: Any = numpy


@hybrid.script
def fibonacci(n: Any) -> Any:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@hybrid.script
def ackermann(m: Any, n: Any) -> Any:
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@hybrid.script
def queens(columns: Any, n: Any, row: Any = 0) -> Any:
    """An array that is handed on, a loop around the call, `continue` and a default."""
    if row == n:
        return 1
    count = 0
    for column in range(n):
        for before in range(row):
            if abs(columns[before] - column) in (0, row - before):
                break
        else:
            columns[row] = column
            count += queens(columns, n, row=row + 1)
            continue
    return count


@hybrid.script
def flood(image: Any, i: Any, j: Any, color: Any) -> Any:
    """Called for its effect, in a loop over tuples."""
    if not (0 <= i < image.shape[0] and 0 <= j < image.shape[1]) or image[i, j] != 0:
        return
    image[i, j] = color
    for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        flood(image, i + down, j + right, color)


@hybrid.script
def permuted(items: Any, first: Any, found: Any) -> Any:
    """Writes before and after the call, counts down, and gives a pair."""
    if first == len(items):
        found[0] += items[0] * items[-1]
        return 1, found[0]
    count, last = 0, 0
    for k in range(len(items) - 1, first - 1, -1):
        items[first], items[k] = items[k], items[first]
        more, last = permuted(items, first + 1, found)
        count += more
        items[first], items[k] = items[k], items[first]
    return count, last


@hybrid.script
def in_order(a: Any, n: Any) -> Any:
    """What stands before a call is read before it."""
    if n == 0:
        return a[0]
    a[0] += 1
    a[n] += in_order(a, n - 1) * 2
    return a[0] * 10 + in_order(a, n - 1) + a[0]


@hybrid.script
def sums_to(a: Any, k: Any, target: Any) -> Any:
    """Behind `and` and `or`."""
    return target == 0 or (
        k < len(a) and (sums_to(a, k + 1, target - a[k]) or sums_to(a, k + 1, target))
    )


@hybrid.script
def depth_of(parents: Any, leaf: Any) -> Any:
    """A loop over an array, and one without an end."""
    deepest = 0
    for child in parents:
        while True:
            if child <= leaf:
                break
            child = child // 2
            deepest = max(deepest, 1 + depth_of(parents, child))
            break
    return deepest


@hybrid.script
def caller(a: Any) -> Any:
    def half(n: Any) -> Any:
        return 0 if n == 0 else 1 + half(n // 2)

    total = 0
    for k in range(len(a)):
        total += fibonacci(a[k]) + half(a[k])
    return total


@hybrid.script
def endless(n: Any) -> Any:
    return 0 if n < 0 else endless(n + 1) + 1


@hybrid.script
def collatz(n: Any) -> Any:
    """What follows a branch reads what a call on either side gave."""
    if n == 1:
        return 0
    if n % 2 == 0:
        n = n // 2
        steps = collatz(n)
    else:
        steps = collatz(3 * n + 1)
    return 1 + steps


@hybrid.script
def halved(n: Any) -> Any:
    return 0 if n == 0 else 1 + (halved(n // 2) if n % 2 else halved(n - 1))


@hybrid.script
def leaving(a: Any, b: Any) -> Any:
    """A tuple that one place makes and another returns, behind a loop."""
    for i in range(3):
        if i + a > 5:
            return leaving(a - 1, b + i)
    return a, b


CASES = {
    collatz: [(1,), (27,)],
    halved: [(0,), (13,)],
    leaving: [(2, 1), (9, 2)],
    fibonacci: [(0,), (9,)],
    ackermann: [(0, 3), (2, 3)],
    queens: [(np.zeros(6, np.int64), 5), (np.zeros(6, np.int64), 6)],
    flood: [(np.eye(4, dtype=np.int32), 0, 1, 7), (np.eye(4, dtype=np.int32), 5, 1, 7)],
    permuted: [(np.arange(4), 0, np.zeros(1, np.int64))],
    in_order: [(np.arange(4), 3)],
    sums_to: [(np.array([3, 5, 9, 11]), 0, 20), (np.array([3, 5, 9, 11]), 0, 21)],
    depth_of: [(np.array([9, 4, 7]), 2)],
    caller: [(np.array([3, 5, 9]),)],
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("kernel", "calls"), CASES.items(), ids=lambda case: str(case)[:9])
def test_as_plain_python(kernel: Any, calls: Sequence[tuple[Any, ...]]) -> None:
    kernel = fresh(kernel)
    for args in calls:
        assert_agree(kernel, args)


def test_recursion_without_end(unchecked: None) -> None:
    for run in (endless, endless.interpret):
        with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
            run(1)


def test_deeper_than_python(unchecked: None) -> None:
    @hybrid.script
    def down(n: Any) -> Any:
        return 0 if n == 0 else 1 + down(n - 1)

    assert down(50_000) == 50_000


def test_what_is_read_without_a_value_is_refused() -> None:
    @hybrid.script
    def maybe(n: Any) -> Any:
        if n > 2:
            x = n
        return 0 if n == 0 else maybe(n - 1) + (x if n > 2 else 0)  # pyright: ignore[reportPossiblyUnboundVariable]

    with pytest.raises(ParseError, match="'maybe' calls itself"):
        maybe(4)


def test_jumps_out_of_a_try_are_refused() -> None:
    @hybrid.script
    def jumps(a: Any, n: Any) -> None:
        for i in range(n):
            try:
                if i == 2:
                    break
                a[i] += 10 // (i - 1)
            except ZeroDivisionError:
                continue
            jumps(a, n - 1)

    with pytest.raises(ParseError, match="'jumps' calls itself"):
        jumps(np.ones(3), 3)


def test_parts_of_arrays_are_refused() -> None:
    @hybrid.script
    def total(a: Any) -> Any:
        return 0.0 if len(a) == 0 else a[0] + total(a[1:])

    with pytest.raises(ParseError, match="'total' calls itself"):
        total(np.ones(3))
