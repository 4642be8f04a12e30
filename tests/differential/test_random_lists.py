"""Random scripts that change lists, and sizes of arrays: as plain Python in every engine."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.frontend.from_text import script_from_text
from tests.support.array_results import assert_agree

LISTS = ("s", "t")


def _number(draw: random.Random) -> str:
    return draw.choice(
        [
            *("i", "n - i", "len(s)", "3 * i + 1", "total % 11", str(draw.randrange(-5, 9))),
            *("(s[-1] if s else 0)", "(t[0] if len(t) > 0 else 1)", "sum(t) % 7"),
        ]
    )


def _step(draw: random.Random, depth: int) -> list[str]:
    """A few lines that change lists."""
    name, other = draw.sample(LISTS, 2)
    x, y = _number(draw), _number(draw)
    simple = [
        [f"{name}.append({x})"],
        [f"if {name}:", f"    total += {name}.pop()"],
        [f"if len({name}) > 2:", f"    total += {name}.pop({draw.choice([0, 1, -2])})"],
        [f"{name}.insert({x}, {y})"],
        [f"if {name}:", f"    {name}[({x}) % len({name})] = {y}"],
        [f"if {name}:", f"    {name}[-1] += {y}"],
        [f"{name}.extend({other}[{draw.choice(['1:', ':2', '-2:', '1:-1', ':'])}])"],
        [f"if ({x}) in {name}:", f"    total += {y}"],
        [f"total += len({name}) * 3 + sum({other}) % 5"],
        [f"{name} += [{x}, {y}]"],
        [f"for k, v in enumerate({name}):", "    total = (total * 3 + k * v) % 1009"],
        [f"for v in {name}:", f"    if len({name}) < 9:", f"        {name}.append(v + {y})"],
        [f"u = [v * 2 for v in {name} if v > {y}]", "total += len(u)", f"{other}.extend(u[:2])"],
        [f"{name} = {other}[:3]"],
        [f"a = np.append(a, {x})", "total += a.shape[0]"],
        ["if a.shape[0] > 2:", "    a = a[1:]"],
        [f"a = a[a != {x}]"],
    ]
    if depth and draw.random() < 0.3:
        inner = [line for _ in range(2) for line in _step(draw, depth - 1)]
        return [f"if ({x}) % 2 == 0:", *(f"    {line}" for line in inner)]
    return draw.choice(simple)


def make_script(seed: int) -> str:
    """The text of a script with some lists and a loop."""
    draw = random.Random(seed)
    lines = ["s = [1, 2]", "t = [0]", "t.append(n)", "s.append(5)", "total = 0"]
    lines += ["a = np.arange(3)"]
    body = [line for _ in range(draw.randrange(2, 5)) for line in _step(draw, 1)]
    body += [f"if len({name}) > 12:\n            {name}.clear()" for name in LISTS]
    body += ["if a.shape[0] > 9:\n            a = a[:4]"]
    lines += ["for i in range(n):", *(f"    {line}" for line in body)]
    lines += ["return s, t, total, a.sum(), a.shape[0]"]
    return "\n".join(["def f(n):", *(f"    {line}" for line in lines)]) + "\n"


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(24))
def test_as_plain_python(seed: int) -> None:
    kernel = script_from_text(make_script(seed), {"np": np})
    for n in (0, 1, 7):
        assert_agree(kernel, [n])
