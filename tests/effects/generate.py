"""Scripts whose expressions call functions that change what stands beside them.

A script is of a matrix `q`, whose numbers stay parts of two of small integers, so that sums are
exact, and of an array `k` that names rows and columns. Each kind of text has templates, whose
fields are kinds: `i` indices of rows, `c` of columns, `p` of `k`, `n` numbers, `r` rows, `b`
conditions.
"""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np

Values = Any


def move(k: Values) -> int:
    k[0] = (k[0] + 1) % 3
    return int(k[1])


def touch(q: Values) -> int:
    q[1, 1] += 0.5
    q[2, 0] = -q[2, 0]
    return 1


def taken(q: Values, i: int) -> float:
    q[i, 0] += 1.0
    return q[i, 1]


def is_large(q: Values, k: Values) -> bool:
    k[1] = (k[1] + 1) % 3
    return q[k[0], k[1]] > 4


def changed_row(q: Values) -> Values:
    q[1, 1] += 1.0
    q[2, 0] = -7.0
    return q[2]


def moved_row(q: Values, k: Values) -> Values:
    k[0] = (k[0] + 2) % 3
    q[1, 0] = 5.0
    return q[k[0]]


def lowered(row: Values, k: Values) -> Values:
    k[0] = (k[0] + 1) % 3
    return row - row[k[0]]


_FUNCTIONS = (move, touch, taken, is_large, changed_row, moved_row, lowered)
NAMES = {"np": np, **{function.__name__: function for function in _FUNCTIONS}}

LEAVES = {
    "i": ("0", "1", "2", "k[0]", "k[1]", "-1"),
    "c": ("0", "1", "2", "k[0]", "k[1]", "-1"),
    "p": ("0", "1", "k[1] % 2"),
    "n": ("q[k[0], k[1]]", "q[1, 1]", "q[0][k[0]]", "2.5", "q[k[0]][k[1]]", "s"),
    "r": ("q[k[0]]", "q[1]", "(q[1] + 1)", "q[k[0]:][0]", "q[1][::-1]", "row", "q[1].copy()"),
    "b": ("q[k[0], k[1]] > 3", "k[0] < k[1]", "s > 2", "is_large(q, k)"),
}
_INDICES = (
    *("move(k)", "touch(q)", "k[{p}]", "({i} + {i}) % 3", "min({i}, {i})", "max({i}, {i}, 0)"),
    *("({i} if {b} else {i})", "abs({i})", "int({n} > {n})", "divmod({i} + 4, 3)[{p}]"),
)
TEMPLATES = {
    "i": _INDICES,
    "c": _INDICES,
    "p": ("int({b})", "move(k) % 2", "touch(q)"),
    "n": (
        *("q[{i}, {c}]", "q[{i}][{c}]", "({n} + {n})", "({n} - {i})", "taken(q, {i})"),
        *("max({n}, {n})", "({n} if {b} else {n})", "abs({n})", "({n}, {n})[{p}]"),
        *("np.maximum({n}, {n})", "sum([{n}, {n}])", "float({i})", "{r}.sum()", "{r}[{c}]"),
        *("(lambda u, v: u - v + q[0, k[0]])({n}, {n})", "len(q[:{i}])", "{r}.item({p})"),
        *("q[{i}:, {c}].max(initial={n})", "np.sum({r}, where={r} > {n})", "{r}[{c}:].sum()"),
        *("round({n}, {p})", "{r}.max(initial={n})"),
    ),
    "r": (
        *("changed_row(q)", "moved_row(q, k)", "lowered({r}, k)", "q[{i}]", "({r} + {r})"),
        *("({r} - {n})", "np.maximum({r}, {n})", "np.where({r} > {n}, {r}, {n})", "abs({r})"),
        *("np.roll({r}, {c})", "{r}.clip(-9, 9 + {i})", "q[[{i}, {i}]][{p}]", "(-{r})"),
        *("np.stack(({r}, {r}))[{p}]", "np.array([{r}, {r}])[{p}]", "q[{i}:][0]"),
        *("({r}, {r})[1]", "({r} if {b} else {r})", "np.add.outer({r}, {r})[{c}]"),
        *("np.repeat({r}, 1 + abs({c}))[: q.shape[1]]",),
        *("np.select([{r} > {n}], [{r}], {n})", "np.concatenate(({r}, {r}))[: q.shape[1]]"),
    ),
    "b": (
        *("({n} < {n})", "({b} and {b})", "({b} or {b})", "(not {b})", "({n} < {n} < {n})"),
        *("({i} <= {i} != {i})", "({i} in (0, {i}, {i}))", "bool(({r} > {n}).any())"),
    ),
}
STATEMENTS = (
    *("s = {n}", "s -= {n}", "row = {r}", "q[{i}, {c}] = {n}", "q[{i}][{c}] = {n}"),
    *("q[{i}, {c}] += {n}", "q[{i}][{c}] -= {n}", "q[{i}] = {r}", "q[{i}] = {n}"),
    *("q[{i}] += {r} * 0.5", "q[{i}][{c}:] -= {n}", "k[{p}] = {i} % 3", "q[{i}], s = {r}, {n}"),
    *("s, q[{i}][{c}] = {n}, {n}", "k[{p}], q[k[0]][k[1]] = {i} % 3, {n}", "q[{i}].fill({n})"),
    *("q[{i}, {c}], q[{i}, {c}] = {n}, {n}", "q[q > {n}] -= {n}", "q[{i}] -= (s := {n})"),
)
NESTING = ("if {b}:", "for _ in range({i}, {i} + 2):", "for s in {r}:", "for s in q[k[{p}]]:")
_FIELD = re.compile(r"\{(\w)\}")
_DEPTHS = (1, 1, 2, 2, 3)
# Longer texts are drawn again: they are refused, or take long, and show no more.
_LONGEST = 1200


def make_text(rng: random.Random) -> str:
    """The source of a script `f(q, k)`."""
    while True:
        lines = [line for _ in range(rng.randint(1, 4)) for line in _statement(rng, 0)]
        body = ["s = 1.0", "row = q[2] * 1", *lines, f"return s, {_filled(rng, '{n}', 2)}, row"]
        text = "\n    ".join(["def f(q, k):", *body]) + "\n"
        if len(text) <= _LONGEST:
            return text


def _statement(rng: random.Random, depth: int) -> list[str]:
    how = rng.choice(_DEPTHS)
    if depth < 2 and rng.random() < 0.25:
        inner = _statement(rng, depth + 1)
        return [_filled(rng, rng.choice(NESTING), how), *("    " + line for line in inner)]
    return [_filled(rng, rng.choice(STATEMENTS), how)]


def _filled(rng: random.Random, template: str, depth: int) -> str:
    def drawn(field: re.Match[str]) -> str:
        kind = field[1]
        is_leaf = depth == 0 or rng.random() < 0.25
        return _filled(rng, rng.choice((LEAVES if is_leaf else TEMPLATES)[kind]), depth - 1)

    return _FIELD.sub(drawn, template)


def make_arguments(rng: random.Random) -> list[Values]:
    """A matrix of at least three rows and columns, and where to begin."""
    rows, columns = rng.choice(((3, 3), (4, 5), (3, 9), (5, 17), (3, 40)))
    q: Values = np.arange(rows * columns) * 7 % 11 * 0.5 - 1.0
    return [q.reshape(rows, columns), np.array([rng.randrange(3), rng.randrange(3)])]
