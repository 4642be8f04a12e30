"""Items of tuples and lists of numbers that are chosen when the script runs, as in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import ParseError, TypeMismatch, hybrid
from tests.frontend.from_text import script_from_text
from tests.support.oracle import (
    assert_same_outcome,
    run_interpreted,
    run_native,
    run_once,
    run_plain,
)

HELPERS = """
def chosen(xs, i):
    return xs[i] + 1
"""
BODIES = {
    "item": "return xs[i]",
    "from_the_end": "return xs[-i]",
    "computed": "return xs[(i * 7 + 1) % len(xs)]",
    "in_a_loop": "s = 0.0\nfor k in range(len(xs)):\n    s += xs[k] * k\nreturn s",
    "backwards": "s = 0\nfor k in range(len(xs) - 1, -1, -1):\n    s = s * 3 + xs[k]\nreturn s",
    "in_a_helper": "return chosen(xs, i)",
    "of_a_local": "t = (xs[0], xs[1] * 2, 7)\nreturn t[i % 3]",
    "of_constants": "return (3, 1, 4, 1, 5)[i % 5] * xs[0]",
    "may_fail": "try:\n    return xs[i + 1]\nexcept IndexError:\n    return xs[0]",
    "by_items": "s = 0\nfor k in (0, i, 1):\n    s += xs[k]\nreturn s",
    "returned": "return xs",
    "returned_with_more": "return (xs, [xs, i], xs[1:])",
    "sums": "return sum(xs) / len(xs), sum(xs, 10), max(xs), min(xs)",
    "of_a_row": "a = np.zeros(3, 'float32')\na[i % 3] = xs[i % 2]\nreturn a * sum(xs)",
}
LISTS = ([1, 2, 3], [1.5, -2.0, 0.25, 8.0], (7, 9), [True, False, True])


@pytest.mark.parametrize("name", BODIES)
def test_as_in_python(name: str) -> None:
    body = BODIES[name].replace("\n", "\n    ")
    kernel = script_from_text(f"{HELPERS}\ndef f(xs, i):\n    {body}\n", {"np": np})
    for xs in LISTS:
        for i in (0, 1, len(xs) - 1):
            wanted = run_once(run_plain, kernel, [xs, i])
            found = run_once(run_interpreted, kernel, [xs, i])
            assert_same_outcome(found, wanted, joined=True)
            assert_same_outcome(run_once(run_native, kernel, [xs, i]), wanted, joined=True)


@hybrid.script
def item(xs: Any, i: Any) -> Any:
    return xs[i]


@hybrid.script
def computed_item(xs: Any, at: Any) -> Any:
    return xs[at[0]]


def test_an_index_outside_is_an_error() -> None:
    for i in (3, -4, 10**12):
        with pytest.raises(IndexError, match=f"index {i} is out of bounds"):
            item([1, 2, 3], i)


def test_types_of_items_stay() -> None:
    assert item([np.float32(1), np.float32(2)], 1).dtype == np.float32
    assert type(item([1, 2], 1)) is int
    assert type(item([1j, 2.0], 1)) is complex


def test_hundreds_of_items_are_stored_once() -> None:
    @hybrid.script
    def total(xs: Any) -> Any:
        s = 0.0
        for i in range(len(xs)):
            s += xs[i]
        return s

    numbers = [float(i) for i in range(400)]
    assert total(numbers) == sum(numbers)
    text = str(total.prim_func(numbers))
    assert text.index("xs[399] =") < text.index("for i in")


def test_items_that_are_arrays_need_an_index_that_is_known() -> None:
    arrays = [np.ones(2), np.zeros(3)]
    for index in (0, 1, -1, np.int64(0)):
        assert item(arrays, index).shape == arrays[index].shape
    with pytest.raises(TypeMismatch, match="the index of a tuple must be known"):
        computed_item(arrays, np.array([1]))


@hybrid.script
def same(xs: Any) -> Any:
    return xs


def test_lists_and_tuples_are_told_apart() -> None:
    for xs in ([1, 2], (1, 2), [[1.5], (2, 3)], ([1], [2, 3]), [np.float32(2)]):
        for _ in range(3):
            found = same(xs)
            assert found == xs
            assert type(found) is type(xs)
            assert [type(item) for item in found] == [type(item) for item in xs]


LEFT = {
    "break": "for x in xs:\n    if x > i:\n        break\n    s += x",
    "continue": "for k, x in enumerate(xs):\n    if k == i:\n        continue\n    s += x * k",
    "backwards": "for x in reversed(xs):\n    if x < 2:\n        break\n    s = s * 2 + x",
    "side by side": "for x, y in zip(xs, xs[1:]):\n    if x > y:\n        break\n    s += x * y",
    "of pairs": "for x, (k, y) in ((1, (2, xs[0])), (3, (i, 5))):\n    if k == 1:\n"
    "        continue\n    s += x * y",
    "named pairs": "ps = ((1, xs[0]), (i, 5))\nfor k, y in ps:\n    if k == 1:\n        break\n"
    "    s += k * y",
    "with an else": "for x in xs:\n    if x == i:\n        break\nelse:\n    s += 100",
}


@pytest.mark.parametrize("name", LEFT)
def test_loops_that_are_left_in_the_middle(name: str) -> None:
    body = LEFT[name].replace("\n", "\n    ")
    kernel = script_from_text(f"def f(xs, i):\n    s = 0\n    {body}\n    return s\n")
    for xs in ([1, 2, 3], [1.5, -2.0, 0.25, 8.0], (7, 9)):
        for i in (0, 1, 2):
            wanted = run_once(run_plain, kernel, [xs, i])
            for way in (run_interpreted, run_native, run_native):
                assert_same_outcome(run_once(way, kernel, [xs, i]), wanted, joined=True)


def test_tuples_of_items() -> None:
    kernel = script_from_text("def f(xs):\n    return tuple(xs), tuple([xs[0], 2])\n")
    for way in (run_plain, run_interpreted, run_native):
        assert way(kernel, [1.5, 2]) == ((1.5, 2), (1.5, 2))
    refused = script_from_text("def f(a):\n    return tuple(a)\n")
    with pytest.raises(ParseError, match="write the items in parentheses"):
        refused(np.ones(3))
