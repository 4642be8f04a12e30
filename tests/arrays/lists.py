"""Statements that change lists, and sizes of arrays, in a loop."""

from __future__ import annotations

import random

from tests.arrays.script import Script
from tests.arrays.stmts import Statement
from tests.arrays.style import Style
from tests.arrays.values import Arguments, Calls

_FIRST = ("s = [1, 2]", "t = [0]", "t.append(n)", "s.append(5)", "total = 0", "a = np.arange(3)")
# Keeps them short.
_SHORT = (
    *("if len(s) > 12:", "    s.clear()", "if len(t) > 12:", "    t.clear()"),
    *("if a.shape[0] > 9:", "    a = a[:4]"),
)
_LAST = ("number = a.shape[0]", "total += a.sum()")
_NUMBERS = (
    *("i", "n - i", "len(s)", "3 * i + 1", "total % 11", "(s[-1] if s else 0)"),
    *("(t[0] if len(t) > 0 else 1)", "sum(t) % 7", *map(str, range(-5, 9, 4))),
)
# Of two lists {p} and {q}, and two numbers {x} and {y}.
_STEPS = (
    *("{p}.append({x})", "{p}.insert({x}, {y})", "{p} += [{x}, {y}]", "{p} = {q}[:3]"),
    *(
        "{p}.extend({q}[1:])",
        "{p}.extend({q}[:2])",
        "{p}.extend({q}[-2:])",
        "{p}.extend({q}[1:-1])",
    ),
    *("{p}.extend({q}[:])", "total += len({p}) * 3 + sum({q}) % 5", "a = a[a != {x}]"),
    "if {p}:\n    total += {p}.pop()",
    *(f"if len({{p}}) > 2:\n    total += {{p}}.pop({place})" for place in (0, 1, -2)),
    *("if {p}:\n    {p}[({x}) % len({p})] = {y}", "if {p}:\n    {p}[-1] += {y}"),
    *("if ({x}) in {p}:\n    total += {y}", "if a.shape[0] > 2:\n    a = a[1:]"),
    "for k, v in enumerate({p}):\n    total = (total * 3 + k * v) % 1009",
    "for v in {p}:\n    if len({p}) < 9:\n        {p}.append(v + {y})",
    "u = [v * 2 for v in {p} if v > {y}]\ntotal += len(u)\n{q}.extend(u[:2])",
    "a = np.append(a, {x})\ntotal += a.shape[0]",
)


def counts(choose: random.Random, style: Style) -> Calls:
    """How often a loop runs."""
    del choose, style
    return [Arguments({}, {"n": count}) for count in (4, 0, 1, 7)]


def change_lists(script: Script) -> None:
    """All of the script: some lists, and a loop that changes them."""
    script.write(*_FIRST)
    script.loop("for i in range(n):", script.choose.randrange(2, 5), *_SHORT)
    script.write(*_LAST)
    script.results += ["s", "t", "total", "number"]


def step(script: Script) -> bool:
    """A few lines that change lists."""
    p, q = script.choose.sample("st", 2)
    x, y = (script.choose.choice(_NUMBERS) for _ in "xy")
    text = script.choose.choice(_STEPS).format(p=p, q=q, x=x, y=y)
    return script.write(*text.split("\n"))


def some_steps(script: Script) -> bool:
    """Steps that are taken now and then."""
    number = script.choose.choice(_NUMBERS)
    return script.depth < 3 and script.branch(f"({number}) % 2 == 0", 2, 0)


LISTS: tuple[Statement, ...] = (step, step, step, some_steps)
