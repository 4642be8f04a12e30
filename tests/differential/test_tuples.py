"""Tuples of numbers that change, tuples in tuples, and named ones: all ways to run them agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy
import pytest

from hybridjit import hybrid, parse, structural_equal
from hybridjit.errors import ParseError, TypeMismatch
from tests.support.array_results import assert_agree
from tests.support.oracle import assert_same

np: Any = numpy


class Found(NamedTuple):
    place: Any
    value: Any
    others: Any = (0, 1)


@dataclass
class Body:
    position: Any
    mass: Any = 1.5


@hybrid.script
def best_so_far(a: Any) -> Any:
    best = (-1, a.dtype.type(0))
    for i in range(len(a)):
        if a[i] > best[1]:
            best = (i, a[i])
    return best


@hybrid.script
def exchanged(a: Any) -> Any:
    low = high = (0, 0)
    span = (0, (a.dtype.type(0), 1))
    for i, v in enumerate(a):
        if v > 0:
            span = (i, (v, i + span[1][1]))
            low, high = high, (i, low[1] + 1)
    return span, low, high


@hybrid.script
def fibonacci(a: Any) -> Any:
    pair = 0, 1
    for _ in range(len(a)):
        pair = pair[1], pair[0] + pair[1]
    return pair[0], np.zeros(pair).shape


@hybrid.script
def first_inside(a: Any) -> Any:
    for i in range(len(a)):
        if i == 0:
            found = (0, a[i])
        elif a[i] > found[1]:  # pyright: ignore[reportPossiblyUnboundVariable]
            found = (i, a[i])
    return found  # pyright: ignore[reportPossiblyUnboundVariable]


@hybrid.script
def chosen(a: Any) -> Any:
    best = (0, a[0])
    for i in range(len(a)):
        best = (i, a[i]) if a[i] > best[1] else best
    return best, (1, sum(x for x in a)) if len(a) > 3 else (2, a[0])


@hybrid.script
def none_or_a_number(a: Any) -> Any:
    gaps: Any = []
    begin = None
    for i in range(len(a)):
        if begin is None and a[i] > 1:
            begin = i
        elif begin is not None and a[i] < 1:
            gaps.append((begin, i))
            begin = None
    if begin is not None:
        gaps.append((begin, len(a)))
    total = 0.0
    for k in range(3):
        first = None
        for x in a:
            if x > k:
                first = x
                break
        total += 100 if first is None else first
    return gaps, total


@hybrid.script
def an_argument(a: Any, start: Any = (1, 2.5)) -> Any:
    while start[0] < len(a):
        start = (start[0] + 1, start[1] * 2)
    return start


@hybrid.script
def kept_as_they_were(a: Any) -> Any:
    pair = (a + 1, len(a))
    if len(a) > 3:
        pair = (a + 2, 3)
    a[0] = 100
    return pair[0], pair[1]


@hybrid.script
def nested(a: Any) -> Any:
    if len(a) > 4:
        return (a + 1, (len(a), (a[0],))), [2.5, True]
    return (a, (0, (a[-1],))), [1.5, False]


@hybrid.script
def named(a: Any) -> Any:
    return Found(len(a), a[0]), Found(1, others=(2, 3), value=Body(a * 2)).place


@hybrid.script
def named_itself(a: Any) -> Any:
    return Found(a * 2, value=a.sum(), others=np.arange(3))


@hybrid.script
def moved(a: Any) -> Any:
    body = Body(a.copy())
    for k in range(5):
        body = Body(body.position * 0.5 + k, body.mass + k)
    return body.position, body.mass


def _moved_once(body: Any, k: Any) -> Any:
    return Body(body.position + k, mass=body.mass * 2)


@hybrid.script
def moved_by_a_function(a: Any) -> Any:
    body = Body(a, 1.0)
    total = 0.0
    for k in range(4):
        body = _moved_once(body, k)
        total += body.position[0] * body.mass
    return total


KERNELS = (
    *(
        chosen,
        none_or_a_number,
        exchanged,
        fibonacci,
        an_argument,
        kept_as_they_were,
        nested,
        named,
        named_itself,
    ),
    *(moved, moved_by_a_function),
)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_as_plain_python(kernel: Any) -> None:
    for size in (1, 2, 5, 9):
        assert_agree(kernel, [np.random.default_rng(size).standard_normal(size) + 1])


@pytest.mark.parametrize("kernel", [best_so_far, first_inside], ids=["best", "first"])
def test_of_both_types(kernel: Any) -> None:
    for dtype in ("float64", "int32"):
        assert_agree(kernel, [np.array([3, 1, 7, 2, 7]).astype(dtype)])


def test_print_parses_back() -> None:
    func = nested.prim_func(np.ones(3))
    again = parse(str(func))
    assert "return (a, (0, (" in str(func) or "return (" in str(func)
    assert structural_equal(func, again)
    assert again.nesting == func.nesting


@hybrid.script
def lists(a: Any) -> Any:
    both = [len(a), a[0]]
    return both, [a + 1, (2, [])]


def test_a_list_is_returned_as_one() -> None:
    for _ in range(4):  # the last ones are native calls
        found = lists(np.ones(3))
        assert_same(found, lists.interpret(np.ones(3)))
        assert_same(found[0], [3, np.float64(1)])
        assert_same(found[1][1], (2, []))
    func = lists.prim_func(np.ones(3))
    assert parse(str(func)).nesting == func.nesting


def test_a_tuple_of_another_length() -> None:
    @hybrid.script
    def grows(a: Any) -> Any:
        pair: Any = (1, 2)
        for x in a:
            pair = (1, 2, 3) if x > 3 else (pair[1], pair[0])
        return pair

    @hybrid.script
    def grows_in_a_branch(a: Any) -> Any:
        pair: Any = (1, 2)
        for x in a:
            pair = (pair[1], pair[0])
            if x > 3:
                pair = (1, 2, 3)
        return pair

    with pytest.raises(TypeMismatch, match="cannot choose between a tuple of 3 and a tuple of 2"):
        grows(np.ones(3))
    with pytest.raises(ParseError, match="whose numbers change in a loop, and cannot become"):
        grows_in_a_branch(np.ones(3))


def test_an_argument_is_no_result() -> None:
    @hybrid.script
    def itself(body: Any) -> Any:
        return body

    with pytest.raises(TypeMismatch, match="that is an argument"):
        itself(Body(np.ones(3)))


def test_a_field_that_is_missing() -> None:
    @hybrid.script
    def incomplete(a: Any) -> Any:
        return Found(a)  # pyright: ignore[reportCallIssue]

    with pytest.raises(ParseError, match="needs an argument 'value'"):
        incomplete(np.ones(3))


@hybrid.script
def made_in_a_branch(n: Any) -> Any:
    if n > 5:
        pair = (n, n + 1)
    if n > 7:
        return pair  # pyright: ignore[reportPossiblyUnboundVariable]
    return 0, 0


@hybrid.script
def made_in_a_loop(n: Any) -> Any:
    for i in range(n):
        if i == 5:
            pair = (n, (i, 2.5))
    return pair  # pyright: ignore[reportPossiblyUnboundVariable]


@hybrid.script
def made_and_left(n: Any) -> Any:
    for i in range(n):
        if i > 5:
            pair = (n, i)
            break
    else:
        pair = (1, 2)
    return pair


@hybrid.script
def constants(n: Any) -> Any:
    if n > 5:
        pair = (1, 2)
    return pair  # pyright: ignore[reportPossiblyUnboundVariable]


@hybrid.script
def with_arrays(n: Any) -> Any:
    a = np.ones(3)
    for i in range(n):
        if i == 5:
            pair = (a, a + i, i)
    return pair[0] * pair[1] + pair[2]  # pyright: ignore


@hybrid.script
def kept_of_an_endless_loop(n: Any) -> Any:
    """The loop is left by a break: the tuple has a value after it."""
    a, k = np.arange(4.0), 0
    while True:
        k += 1
        found = (a * k, (k, a + k))
        if k >= n:
            break
    return found[0] * found[1][0] + found[1][1]


@hybrid.script
def written_after(n: Any) -> Any:
    """One array stands in the tuple twice, and a view of another."""
    a, k = np.arange(4.0), 0
    while True:
        b = a * k
        found = (b, b, a[::-1], k)
        k += 1
        if k >= n:
            break
    found[0][:1] = 5
    found[2][1:] = found[3]
    return found[1] + a


@hybrid.script
def last_of_a_loop(n: Any) -> Any:
    a = np.arange(4.0)
    for k in range(n):
        found = (a * k, k)
    return found  # pyright: ignore[reportPossiblyUnboundVariable]


@hybrid.script
def found_or_else(n: Any) -> Any:
    a = np.arange(4.0)
    for k in range(7):
        if k == n:
            found = (a * k, k)
            break
    else:
        found = (a, -1)
    return found


@hybrid.script
def list_of_a_loop(n: Any) -> Any:
    for i in range(n):
        items = [n, i]
    items[0] += 1  # pyright: ignore[reportPossiblyUnboundVariable]
    return items  # pyright: ignore[reportPossiblyUnboundVariable]


@hybrid.script
def list_of_an_endless_loop(n: Any) -> Any:
    k = 0
    while True:
        k += 1
        items = [0.5]
        for i in range(k):
            items.append(i * 2.0)
        if k >= n:
            break
    items.append(-1.0)
    return np.array(items)


MADE_INSIDE = (
    *(made_in_a_branch, made_in_a_loop, made_and_left, constants, with_arrays),
    *(kept_of_an_endless_loop, written_after, last_of_a_loop, found_or_else),
    *(list_of_a_loop, list_of_an_endless_loop),
)


@pytest.mark.parametrize("kernel", MADE_INSIDE, ids=lambda kernel: kernel.__name__)
def test_made_inside_and_used_after(kernel: Any) -> None:
    for n in (0, 3, 6, 10):
        assert_agree(kernel, [n])


def test_a_part_whose_size_a_round_computes() -> None:
    @hybrid.script
    def left(a: Any, n: Any) -> Any:
        k = 0
        while True:
            k += 1
            part = a[:k]
            if k >= n:
                break
        return part

    with pytest.raises(ParseError, match="'part' is a part of the array 'a', taken inside a loop"):
        left(np.arange(4.0), 3)


def test_a_tuple_of_an_expanded_loop() -> None:
    @hybrid.script
    def left(a: Any, n: Any) -> Any:
        while True:
            for k in (1, 2, 3):
                found = (a * k, a + k)
                if k == n:
                    break
            return found

    with pytest.raises(ParseError, match="made inside a loop or a branch, and is used after it"):
        left(np.arange(4.0), 3)
