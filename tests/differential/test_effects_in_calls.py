"""What an expression reads before a function changes it is read before: rows that are named by
memory, elements, arguments of other calls, owners of methods.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, ParseError, hybrid
from tests.frontend.from_text import script_from_text
from tests.support.array_results import assert_agree
from tests.support.oracle import assert_same_outcome, run_native, run_once, run_plain

Values = Any

_PROGRAMS: list[Callable[..., Any]] = []


def program(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a matrix of three rows, and of an array whose items name rows."""
    _PROGRAMS.append(function)
    return function


def move(k: Values) -> int:
    k[0] = 2
    return 1


def set_elements(q: Values) -> int:
    q[1, 1] = 100.0
    q[2, 0] = -7.0
    return 1


def changed_row(q: Values) -> Values:
    q[1, 1] = 100.0
    q[2, 0] = -7.0
    return q[2]


def moved_row(q: Values, k: Values) -> Values:
    k[0] = 2
    q[1, 0] = 50.0
    return q[k[0]]


def second_after_moving(row: Values, k: Values) -> float:
    k[0] = 2
    return row[1]


@program
def element_of_a_row(q: Values, k: Values) -> float:
    return q[k[0]][move(k)]


@program
def part_of_a_row(q: Values, k: Values) -> float:
    return q[k[0]][move(k) :].sum()


@program
def stores(q: Values, k: Values) -> None:
    q[k[0]][move(k)] = 3
    k[0] = 1
    q[k[0]][move(k) :] = 4
    k[0] = 1
    q[k[0]][move(k)] += 5
    k[0] = 1
    q[k[0]][move(k) :] += 6


@program
def rows_in_a_tuple(q: Values, k: Values) -> float:
    x, y = q[k[0]], move(k)
    return x.sum() + y


@program
def rows_that_meet(q: Values, k: Values) -> Values:
    return q[k[0]] @ q[move(k)], q[1] < q[k[0]]


@program
def rows_as_arguments(q: Values, k: Values) -> float:
    return second_after_moving(q[k[0]], k)


@program
def rows_that_are_gone_through(q: Values, k: Values) -> float:
    total = 0.0
    for value in q[k[0]]:
        k[0] = 0
        total = total * 2 + value
    k[0] = 1
    for value, other in zip(q[k[0]], q[k[1]], strict=True):
        k[0] = 2
        k[1] = 2
        total = total * 2 + value * other
    return total


@program
def methods(q: Values, k: Values) -> Values:
    q[k[0]].fill(2.5 * move(k))
    k[0] = 1
    return q[1].copy().item(set_elements(q)), q[k[0]].astype(np.int64).take(move(k))


@program
def computed_before_its_index(q: Values, k: Values) -> float:
    return (q[1] + 1)[set_elements(q)]


@program
def bounds_and_indices(q: Values, k: Values) -> Values:
    first = q[k[0] :, move(k)].max(initial=k[0])
    q[k[0] - 1 : 3, [move(k), k[1]]] = k[0]
    return first


@program
def target_and_value(q: Values, k: Values) -> float:
    q[move(k)][0] += q[0][k[0]]
    return (lambda row: row[k[0]])(q[move(k)])


@program
def slices(q: Values, k: Values) -> float:
    taken = slice(k[0], k[0] + move(k))
    return q[0][taken].sum()


@pytest.mark.parametrize("function", _PROGRAMS, ids=lambda function: function.__name__)
def test_what_is_read_first_is_read_before(function: Callable[..., Any]) -> None:
    assert_agree(hybrid.script(function), _arguments())


def _arguments() -> list[Values]:
    return [np.arange(9.0).reshape(3, 3) + 1, np.array([1, 0])]


# rows that are outside


def row_then_element(q: Values, k: Values) -> float:
    return q[k[1]][move(k)]


def row_then_store(q: Values, k: Values) -> None:
    q[k[1]][move(k)] = 3


@pytest.mark.parametrize("function", [row_then_element, row_then_store])
def test_a_row_that_is_outside_fails_before_what_comes_after_it(
    function: Callable[..., Any],
) -> None:
    kernel = hybrid.script(function)
    args = [np.ones((3, 3)), np.array([1, 50])]

    found = run_once(run_native, kernel, args)

    assert isinstance(found.error, IndexError)
    assert_same_outcome(found, run_once(run_plain, kernel, args))


def test_what_takes_statements_is_not_taken_before_a_target_that_calls() -> None:
    def update(q: Values, k: Values) -> None:
        q[move(k)][0] += sum([q[0][k[0]] for _ in range(2)])

    with pytest.raises(ParseError, match="cannot stand behind a call"):
        hybrid.script(update)(*_arguments())


# calls of every kind

READ = (
    *("q[k[0]]", "q[1] + 1", "q[k[0]] * 2", "q[k[0]:][0]", "q[:, k[0]]", "np.sin(q)[1]", "q[1]"),
    *("(q[1], q[k[0]])[1]", "q[1].copy()", "q[1][::-1]", "q[k][1]", "q[1].astype(np.int64)"),
    *("q[q > 100 * k[0]]", "np.where(q[1] > 3, q[1], k[0])"),
)
NUMBERS = ("move(k)", "1.5 * move(k)", "set_elements(q)", "set_elements(q) / 2")
PLACES = ("move(k)", "set_elements(q)")
ROWS = (
    *("changed_row(q)", "changed_row(q) * 2", "moved_row(q, k)"),
    *("q[move(k)]", "q[set_elements(q)]", "q[k[0]]"),
)
CALLS = (
    *("{a} + {n}", "{n} + {a}", "{a} * {b}", "{b} - {a}", "np.maximum({a}, {b})", "-{a} + {n}"),
    *("np.dot({a}, {b})", "{a} @ {b}", "{a}.dot({b})", "np.where({a} > 3, {b}, {n})"),
    *("np.concatenate(({a}, {b}))", "np.stack(({a}, {b}))", "np.outer({a}, {b})", "({a}, {b})"),
    *("{a}.sum() + {n}", "{n} + {a}.sum()", "np.sum({a}, where={b} > 2)", "{a} < {b}"),
    *("np.sum({a}, initial={n})", "np.clip({a}, {n}, 90)", "np.clip({a}, 0, {n})"),
    *("{a}.clip(0, {n})", "{a}.max(initial={n})", "np.append({a}, {n})", "np.roll({a}, {p})"),
    *("np.take({a}, {p})", "{a}.take({p})", "{a}.item({p})", "np.repeat({a}, {p})"),
    *("np.arange({a}[0], {a}[0] + 3, {n})", "max({a}[0], {n}, {a}[0])", "np.add.outer({a}, {b})"),
    *("np.power({a}, {n})", "divmod({a}[0], {n})", "np.hypot({a}, {b})", "np.cross({a}, {b})"),
    *("np.array([{a}[0], {n}, {a}[0]])", "np.array([{a}, {b}])", "abs({a}) - {b}"),
    *("np.tile({a}, {p} + 1)", "np.vstack(({a}, {b}))", "np.convolve({a}, {b})"),
    *("np.diff({a}, prepend={n})", "np.split({a}, 3)[{p}]", "np.einsum('i,i->', {a}, {b})"),
    *("np.select([{a} > 2, {b} > 2], [{b}, {a}], {n})", "np.polyval({a}, {n})"),
    *("np.any({a} > {n})", "np.bincount(np.array([0, 1, {p}]), weights={a})"),
)
STATEMENTS = (
    *("return {}", "x, y = k[0], {}; return x, y", "q[0] = np.sum({}); return 0"),
    *("q[k[0]] += np.sum({}); return 0", "q[k[0]][1] = np.max({}); return 0"),
)
NAMES = {
    "np": np,
    **{f.__name__: f for f in (move, set_elements, changed_row, moved_row)},
}


def _random_script(rng: random.Random) -> Kernel[..., Any]:
    call = rng.choice(CALLS).format(
        a=f"({rng.choice(READ)})",
        b=rng.choice(ROWS),
        n=rng.choice(NUMBERS),
        p=rng.choice(PLACES),
    )
    return script_from_text(f"def f(q, k):\n    {rng.choice(STATEMENTS).format(call)}\n", NAMES)


@pytest.mark.parametrize("seed", range(8))
def test_arguments_of_calls_are_read_from_left_to_right(seed: int) -> None:
    """A refusal is an answer, too: some parts cannot be set aside."""
    rng = random.Random(seed)
    compared = 0
    for _ in range(40):
        kernel = _random_script(rng)
        plain = run_once(run_plain, kernel, _arguments())
        if plain.error is not None:
            continue
        found = run_once(Kernel.interpret, kernel, _arguments())
        if isinstance(found.error, ParseError):
            continue
        assert_same_outcome(found, plain, ulp=4, joined=True)
        compared += 1
    assert compared > 20
