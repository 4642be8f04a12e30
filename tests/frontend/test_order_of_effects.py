"""Parts of an expression or a statement that change what other parts read, or that fail."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit.errors import ParseError
from tests.frontend.from_text import script_from_text
from tests.support.oracle import run_plain_and_interpreted
from tests.support.rows import in_each

np: Any = numpy
Array = Any
Number = Any


def bump(a: Array) -> Number:
    a[0] += 1
    a[1] = a[1] * 2 + 1
    return 1


def next_row(k: Array) -> Number:
    k[0] += 1
    return 1


def checked(a: Array, n: Number) -> Number:
    a[0] = 50
    if n > 2:
        raise ValueError("too many")
    return n


def two(x: Number, y: Number) -> Number:
    return x * 10 + y


NAMES = {"np": np, "bump": bump, "next_row": next_row, "checked": checked, "two": two}


def run(line: str, *args: Any) -> None:
    names = ", ".join(("a", "k", "n")[: len(args)])
    run_plain_and_interpreted(script_from_text(f"def f({names}):\n    {line}\n", NAMES), args)


def numbers() -> Array:
    return np.arange(1, 6)


ARGUMENTS = (
    "(a + 1).dot(a * bump(a))",
    "(a * 2).take(bump(a) - 1)",
    "np.take(a * 2, bump(a) - 1)",
    "np.roll(a * 2, bump(a)) * a",
    "np.repeat(a * 2, bump(a) + 1), np.tile(a * 2, bump(a) + 1)",
    "np.pad(a * 2, bump(a), constant_values=a[0])",
    "np.split(a * 2, [bump(a)])[0], np.meshgrid(a * 2, a * bump(a))[0]",
    "np.einsum('i,i->', a * 2, a * bump(a)), np.add.outer(a * 2, a * bump(a))",
    "np.broadcast_to(a * 2, (bump(a) + 1, 5)), np.expand_dims(a * 2, bump(a))",
    "np.swapaxes(np.outer(a * 2, a), bump(a), 0)",
    "np.arange(a[0], a[0] + bump(a) + 3), np.linspace(a[0], a[0] + bump(a), 3)",
    "np.sum(a, initial=bump(a)), np.max(a * 2, initial=bump(a))",
    "two(a[0], *(bump(a),))",
)


@in_each("call", ARGUMENTS)
def test_arguments_are_as_they_were_when_a_later_one_changes_memory(call: str) -> None:
    run(f"return {call}", numbers())


SUBSCRIPTS = (
    "(a * 2)[bump(a)]",
    "(a * 2)[bump(a):], (a * 2)[: bump(a) + 1]",
    "a[a[0] : bump(a) + 3 : a[0]]",
    "(a + 1)[a > bump(a)]",
    "a.copy()[bump(a)], a.astype(np.float64)[bump(a)]",
)


@in_each("part", SUBSCRIPTS)
def test_what_is_indexed_is_as_it_was_when_its_index_changes_memory(part: str) -> None:
    run(f"return {part}", numbers())


@in_each("part", ["a[k[0]][next_row(k)]", "two(a[k[0]], next_row(k))", "a[k[0]] @ a[next_row(k)]"])
def test_a_row_stays_the_same_when_a_later_part_changes_its_index(part: str) -> None:
    run(f"return {part}", np.arange(9).reshape(3, 3), np.array([0, 2]))


@in_each("line", ["a[k[0]][next_row(k)] = a[0, 0] + 10", "a[k[0]][next_row(k)] += 10"])
def test_the_row_of_a_target_stays_the_same_when_its_index_changes(line: str) -> None:
    run(line, np.arange(9).reshape(3, 3), np.array([0, 2]))


@in_each(
    "part", ["(a.T + next_row(a[0]))[1, 0]", "a.T[next_row(a[0])]", "a[::-1] * next_row(a[2])"]
)
def test_a_view_shows_what_a_later_part_changes(part: str) -> None:
    run(f"return {part}", np.arange(9).reshape(3, 3))


def test_what_may_be_a_view_or_a_copy_is_refused_if_a_later_part_changes_it() -> None:
    f = script_from_text("def f(a):\n    return np.ravel(a) + next_row(a[0])\n", NAMES)
    with pytest.raises(ParseError, match="'a' is written to while it is used in another shape"):
        f.interpret(np.zeros((3, 3)))


@in_each("chain", ["1 < a[0] < bump(a) < bump(a)", "0 < a[0] < 9 > bump(a) <= bump(a) < a[0]"])
def test_links_of_a_chain_are_evaluated_as_long_as_they_hold(chain: str) -> None:
    for first in (0, 1, 2, 9):
        run(f"return {chain}", np.array([first, 2]))


ONCE = (
    "round(bump(a) / 3, 1), a[0]",
    "max((bump(a), 2)), max([bump(a), 2]), max(a[bump(a) :]), a[0]",
    "np.random.default_rng(bump(a)).integers(9), a[0]",
)


@in_each("call", ONCE)
def test_an_argument_is_evaluated_once(call: str) -> None:
    run(f"return {call}", numbers())


UPDATES = (
    "a[a > 2] += bump(a)",
    "a[a > 2] += a[a > 2] * bump(a)",
    "a[a > 2] += a[:3] * bump(a)",
    "a[k] += bump(a)",
    "a[k] *= a[0] * bump(a)",
    "a[1:] += bump(a)",
    "a += bump(a)",
)


@in_each("line", UPDATES)
def test_what_is_updated_is_read_before_the_right_side_unless_it_is_a_view(line: str) -> None:
    run(line, numbers(), np.array([0, 1, 2, 0]))


HOISTED = (
    "y = np.sum(a) + (x := bump(a))",
    "y = (a + 1) @ (a * (x := bump(a)))",
    "y = (a * 2)[(x := bump(a))]",
    "y = -a * (x := bump(a))",
    "y = (a > 2) + (x := bump(a))",
    "y = len(k[k[0] :]) + (x := next_row(k))",
    "y = np.sum(a) + [bump(a) + a[0] for i in range(2)][1]",
    "y = (a + 1).sum() if a[0] > 9 else np.max(a) + (x := bump(a)) * a[0]",
)


@in_each("line", HOISTED)
def test_what_is_taken_out_of_an_expression_runs_after_what_is_read_before_it(line: str) -> None:
    run(f"{line}\n    return y, a[0]", numbers(), np.array([0, 1]))


@in_each(
    "line",
    [
        "a[bump(a)] += [a[1] for i in range(2)][0]",
        "a[a > bump(a)] -= (x := a[0] + bump(a))",
    ],
)
def test_what_cannot_be_taken_out_of_an_update_is_refused(line: str) -> None:
    f = script_from_text(f"def f(a):\n    {line}\n", NAMES)
    with pytest.raises(ParseError, match=r"':=' is not supported|cannot stand behind a call"):
        f.interpret(numbers())


FAILURES = (
    "10 // int(k[0]) + bump(a)",
    "10 // int(k[0]), bump(a)",
    "a[k[0] + 9] + bump(a)",
    "two(10 // int(k[0]), checked(a, n))",
    "a[k[0] + 9], checked(a, 3)",
    "a[n // (n - 3)] + checked(a, n)",
    "checked(a, n) + n // (n - 3)",
    "n // (n - 3) + checked(a, n)",
)


@in_each("parts", FAILURES)
def test_what_fails_first_is_what_is_raised_and_what_comes_later_has_no_effect(parts: str) -> None:
    run(f"return {parts}", numbers(), np.array([0, 1]), 3)
