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
from tests.support.oracle import (
    assert_same_outcome,
    run_native,
    run_once,
    run_plain,
    run_plain_and_interpreted,
)

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


def taken_from(q: Values, i: int) -> float:
    q[i, 0] += 1.0
    return q[i, 1]


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
def methods_of_results_are_called_once(q: Values, k: Values) -> float:
    total = 0.0
    for value in moved_row(q, k).clip(-9, 9 + move(k)):
        total = total * 2 + value
    for _ in range(int(moved_row(q, k).item(move(k))) % 3):
        total += 1
    for position, value in enumerate(moved_row(q, k).clip(0, move(k))):
        total += value * position
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


NAMES = {
    "np": np,
    **{f.__name__: f for f in (move, set_elements, changed_row, moved_row, taken_from)},
}


@pytest.mark.parametrize("function", _PROGRAMS, ids=lambda function: function.__name__)
def test_what_is_read_first_is_read_before(function: Callable[..., Any]) -> None:
    assert_agree(hybrid.script(function), _arguments())


def _arguments() -> list[Values]:
    return [np.arange(9.0).reshape(3, 3) + 1, np.array([1, 0])]


# what is called once
ONCE = [
    (
        "s = 0.0\n"
        "    for i, v in enumerate(moved_row(q, k).clip(0, move(k))):\n"
        "        s += v*i\n"
        "    return s, k"
    ),
    (
        "s = 0.0\n"
        "    for u, v in zip(moved_row(q, k).clip(0, move(k)), moved_row(q, k).clip(0, 3)):\n"
        "        s += v*u\n"
        "    return s, k"
    ),
    (
        "s = 0.0\n"
        "    for v in reversed(moved_row(q, k).clip(0, move(k))):\n"
        "        s = s*2+v\n"
        "    return s, k"
    ),
    "s = [v * 2 for v in moved_row(q, k).clip(0, move(k))]\n    return s[1], k",
    "s = sum(v * 2 for v in moved_row(q, k).clip(0, move(k)))\n    return s, k",
    "s = sum(moved_row(q, k).clip(0, move(k)))\n    return s, k",
    "s = max(moved_row(q, k).clip(0, move(k)))\n    return s, k",
    (
        "s = 0.0\n"
        "    for i in range(len(moved_row(q, k).clip(0, move(k)))):\n"
        "        s += i\n"
        "    return s, k"
    ),
    "s = 0.0\n    s += moved_row(q, k).sum() + moved_row(q, k).max()\n    return s, k",
    "a, b, c = moved_row(q, k).clip(0, move(k))\n    return a + c, k",
    "moved_row(q, k).sort()\n    return 1, k",
    "moved_row(q, k)[1] = move(k)\n    return 1, k",
    "moved_row(q, k)[1] += move(k)\n    return 1, k",
    "moved_row(q, k)[1:] += move(k)\n    return 1, k",
    "moved_row(q, k).fill(move(k))\n    return 1, k",
    "x = moved_row(q, k).T\n    return x, k",
    "x = moved_row(q, k).shape[0] + moved_row(q, k).size\n    return x, k",
    "x = moved_row(q, k).astype(np.int64).dtype == np.int64\n    return 1, k",
    "x = np.sum(moved_row(q, k), axis=0) + np.zeros_like(moved_row(q, k))\n    return x, k",
    "x = np.full_like(moved_row(q, k), move(k))\n    return x, k",
    "x = (moved_row(q, k) if move(k) > 0 else moved_row(q, k))\n    return x, k",
    "x = np.linalg.norm(moved_row(q, k)) + np.median(moved_row(q, k))\n    return x, k",
    (
        "x = abs(moved_row(q, k)).max() + min(moved_row(q, k)[0], moved_row(q, k)[1])\n"
        "    return x, k"
    ),
    "x = round(moved_row(q, k).sum() / 3, move(k))\n    return x, k",
    (
        "x = np.float32(moved_row(q, k)[0]) + int(moved_row(q, k)[1]) + bool(moved_row(q, k)[1])\n"
        "    return x, k"
    ),
    "x = [moved_row(q, k), moved_row(q, k)][1]\n    return x, k",
    "x = (moved_row(q, k), moved_row(q, k))\n    return x[0] + x[1], k",
    "x = -moved_row(q, k) ** 2 // move(k)\n    return x, k",
    "x = 1.0 if moved_row(q, k).any() and moved_row(q, k).all() else 2.0\n    return x, k",
    "x = 0\n    while moved_row(q, k)[0] > 0 and x < 3:\n        x += move(k)\n    return x, k",
    "assert moved_row(q, k).sum() > -100\n    return 1.0, k",
    "x = moved_row(q, k).real + moved_row(q, k).imag\n    return x, k",
    "x = moved_row(q, k).reshape(-1, 1)[move(k)]\n    return x, k",
    "x = np.asarray(moved_row(q, k))\n    x[0] = 9\n    return x, k",
    "x = np.array(moved_row(q, k))\n    x[0] = 9\n    return x, k",
    "x = len(moved_row(q, k)) + moved_row(q, k).ndim + len(moved_row(q, k)[1:])\n    return x, k",
    "x = isinstance(moved_row(q, k)[0], float)\n    return 1, k",
    "del_ = moved_row(q, k)[::-1]\n    del_[0] = 4\n    return 1, k",
    "x = taken_from(q, move(k)) in (taken_from(q, move(k)), 3)\n    return x, k",
    "x = taken_from(q, move(k)) not in moved_row(q, k)\n    return x, k",
    "x = taken_from(q, move(k)) in moved_row(q, k)\n    return x, k",
    "print(taken_from(q, 0), move(k), taken_from(q, 1))\n    return 1, k",
    (
        "match move(k):\n"
        "        case 1: x = 1\n"
        "        case 2: x = 2\n"
        "        case _: x = 3\n"
        "    return x, k"
    ),
    "x = move(k) ** move(k) + divmod(taken_from(q,0), taken_from(q,0))[1]\n    return x, k",
    "x = np.where(moved_row(q, k) > 1, moved_row(q, k), moved_row(q, k))\n    return x, k",
    "q[:, moved_row(q, k) > 1] += move(k) \n    return 1, k",
    "q[[move(k), move(k)]] = moved_row(q, k)\n    return 1, k",
    "q[0, move(k)], q[1, move(k)] = q[1, move(k)], q[0, move(k)]\n    return 1, k",
    "x = y = moved_row(q, k)\n    x[0] = 5\n    return y, k",
    "x, *y = moved_row(q, k)\n    return x, k",
    "x = (lambda a, b=move(k): a + b)(move(k))\n    return x, k",
    (
        "x = np.sum([taken_from(q, 0), taken_from(q, 1)]) + np.max((move(k), move(k)))\n"
        "    return x, k"
    ),
    "x = np.arange(move(k), 3 + move(k))\n    return x, k",
    "x = np.zeros((move(k), 1 + move(k)))\n    return x, k",
    "x = np.linspace(taken_from(q,0), taken_from(q,1), 2 + move(k))\n    return x, k",
    "x = np.eye(2 + move(k), k=move(k) - 1)\n    return x, k",
    ("x = all([taken_from(q, 0) > 0, move(k) > 5, taken_from(q, 1) > 0])\n    return x, k"),
]


@pytest.mark.parametrize("text", ONCE)
def test_what_is_called_once_is_called_once(text: str) -> None:
    kernel = script_from_text(f"def f(q, k):\n    {text}\n", NAMES)
    run_plain_and_interpreted(kernel, _arguments(), joined=True)


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


def calling_target(q: Values, k: Values) -> None:
    q[move(k)][0] += sum([q[0][k[0]] for _ in range(2)])


def row_that_memory_names(q: Values, k: Values) -> None:
    q[k[0]] -= (s := move(k))
    q[0, 0] = s


def row_that_the_value_names(q: Values, k: Values) -> None:
    i = k[0]
    q[i] -= (i := move(k))
    q[0, 0] = i


@pytest.mark.parametrize(
    "function", [calling_target, row_that_memory_names, row_that_the_value_names]
)
def test_what_takes_statements_is_not_taken_before_a_target_that_it_changes(
    function: Callable[..., Any],
) -> None:
    with pytest.raises(ParseError, match=r"cannot stand behind a call|is not supported"):
        hybrid.script(function)(*_arguments())


def part_of_one_of_two(q: Values, k: Values) -> float:
    return (q[k[0]] if k[0] > 0 else q[1])[set_elements(q)]


def test_one_of_two_rows_is_not_changed_before_it_is_read() -> None:
    with pytest.raises(ParseError, match="one of two arrays is used"):
        hybrid.script(part_of_one_of_two)(*_arguments())


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
