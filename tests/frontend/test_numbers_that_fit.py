"""Casts that need no check, by what variables were set to and tested for; and those that do."""

from __future__ import annotations

from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from hybridjit import config, hybrid
from hybridjit.frontend import parse
from hybridjit.ir.expr import Cast
from hybridjit.ir.visit import walk
from tests.corpus.case import Array
from tests.frontend.from_text import script_from_text
from tests.support.oracle import assert_same_outcome, run_interpreted, run_once

FLOATS = np.array(
    [0.0, 1.0, -1.0, 7.6, 15.9, 16.0, 31.2, -40.0, 300.0, 1e6, -1e6, 1e300, np.inf, -np.inf, np.nan]
)


def checks(body: str, dtype: str = "uint8") -> int:
    """How many casts of `f` are checked, whose body sets `o[i]` from `x[i]`."""
    kernel = script_of(body)
    func = kernel.prim_func(FLOATS, np.zeros(len(FLOATS), dtype))
    return sum(isinstance(node, Cast) and node.checked for node in walk(func.body))


def script_of(body: str) -> Any:
    lines = "".join(f"        {line}\n" for line in body.strip("\n").splitlines())
    return script_from_text(f"def f(x, o):\n    for i in range(x.shape[0]):\n{lines}", {"np": np})


FITTING = {
    "tests of an integer": """
v = int(x[i] * 16)
if v < 0:
    v = 0
if v > 255:
    v = 255
o[i] = v
""",
    "tests of a float": """
u = x[i] * 16
if u < 0:
    u = 0
elif u > 255:
    u = 255
o[i] = int(u)
""",
    "minima and maxima": "o[i] = min(max(int(round(x[i] * 16)), 0), 255)",
    "of floats": "o[i] = int(min(255.0, max(0.0, x[i])))",
    "choices": "v = int(x[i])\no[i] = 0 if v < 0 else 255 if v > 255 else v",
    "a remainder": "v = int(x[i])\no[i] = v % 256",
    "bits": "v = int(x[i])\no[i] = (v >> 3) & 255",
    "a branch that leaves": "v = int(x[i])\nif v < 0 or v > 255:\n    continue\no[i] = v",
    "what was computed with": "v = int(x[i]) % 16\nw = v * 15 + 30\no[i] = w",
}
NOT_FITTING = {
    "one test alone": "v = int(x[i])\nif v > 255:\n    v = 255\no[i] = v",
    "a test of another": "v = int(x[i])\nw = v + 1\nif w < 0 or w > 255:\n    continue\no[i] = v",
    "one too many": FITTING["tests of an integer"].replace("v > 255:", "v > 256:"),
    "what a loop changes": "v = 0\nfor k in range(300):\n    o[i] = v\n    v = v + 1",
    "what a loop has changed": "v = 0\nfor k in range(300):\n    v = v + 1\no[i] = v",
    "rounds of while": "v = 0\nwhile v < 300:\n    v = v + 1\no[i] = v",
    "two branches": "v = 0\nif x[i] > 3.0:\n    v = 300\no[i] = v",
    "minus": "v = int(x[i]) % 256\no[i] = -v",
}


@pytest.mark.parametrize("name", FITTING)
def test_what_fits(name: str) -> None:
    assert checks(FITTING[name]) == 0


@pytest.mark.parametrize("name", NOT_FITTING)
def test_what_may_not_fit(name: str) -> None:
    assert checks(NOT_FITTING[name]) == 1


def test_lanes_need_no_check() -> None:
    def kernel(x: Array, o: Array) -> None:
        for i in range(x.shape[0]):
            v = int(x[i] * 16)
            if v < 0:
                v = 0
            if v > 255:
                v = 255
            o[i] = v

    report = hybrid.script(kernel).report(np.zeros(1000), np.zeros(1000, np.uint8))
    assert report.loops[0].lanes > 1


# Random programs, of which none has another outcome without the checks that are left out


class _Texts:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def number(self) -> int:
        return self.random.choice([-300, -128, -2, -1, 0, 1, 2, 3, 7, 16, 127, 128, 255, 256, 300])

    def program(self, dtype: str) -> str:
        factor = self.random.choice(["1.0", "16.0", "-3.0"])
        lines = [f"u = x[i] * {factor}"]
        for _ in range(self.random.randint(0, 3)):
            lines += self.change("u")
        lines += self.clamped("u", dtype)
        rounding = self.random.choice(["u", "np.rint(u)", "np.floor(u)", "np.ceil(u)"])
        lines += [f"v = int({rounding})"]
        for _ in range(self.random.randint(0, 4)):
            lines += self.change("v")
        lines += self.clamped("v", dtype)
        return "\n".join([*lines, "o[i] = v"])

    def clamped(self, name: str, dtype: str) -> list[str]:
        """Most of the time, statements that bring a variable into a type, or nearly."""
        info = np.iinfo(dtype)
        low, high = (
            int(end) + self.random.choice([0, 0, 0, 0, -1, 1]) for end in (info.min, info.max)
        )
        least = self.random.choice(
            [[f"if {name} < {low}:", f"    {name} = {low}"], [f"{name} = max({low}, {name})"], []]
        )
        most = self.random.choice(
            [[f"if {name} >= {high}:", f"    {name} = {high}"], [f"{name} = min({name}, {high})"]]
        )
        return [*least, *most] if self.random.random() < 0.7 else []

    def change(self, name: str, depth: int = 2) -> list[str]:
        """Statements that change a variable, or leave the iteration."""
        a, b = self.number(), self.number()
        size = abs(a) + 1
        sign = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        simple = [
            f"{name} = min({name}, {a})",
            f"{name} = max({name}, {a})",
            f"{name} = min({a}, {name})",
            f"{name} = max({a}, {name})",
            f"{name} = {name} + {a}",
            f"{name} = {a} - {name}",
            f"{name} = {a} if {name} {sign} {b} else {name}",
            f"{name} = {name} if {b} {sign} {name} else {a}",
        ]
        if name == "v":
            simple += [f"v = v % {size}", f"v = v // {size}", f"v = v & {size}", "v = v >> 2"]
        kinds = ["simple", "simple", "if", "both", "leave", "for"] if depth else ["simple"]
        match self.random.choice(kinds):
            case "if":
                return [f"if {name} {sign} {b}:", *_indented(self.change(name, depth - 1))]
            case "both":
                sides = [_indented(self.change(name, depth - 1)) for _ in range(2)]
                return [f"if {name} {sign} {b}:", *sides[0], "else:", *sides[1]]
            case "leave":
                word = self.random.choice(["and", "or"])
                return [f"if {name} {sign} {a} {word} {name} > {b}:", "    continue"]
            case "for":
                return ["for k in range(2):", *_indented(self.change(name, 0))]
            case _:
                return [self.random.choice(simple)]


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(8))
def test_every_outcome_stays(seed: int) -> None:
    left_out = 0
    for number in range(20):
        dtype = ("uint8", "int8", "int16")[number % 3]
        body = _Texts(1000 * seed + number).program(dtype)
        kernel, args = script_of(body), (FLOATS, np.zeros(len(FLOATS), dtype))
        with patch.object(parse, "drop_checks", lambda func: func):
            whole: Any = script_of(body)
            expected = [run_once(run_interpreted, whole, one) for one in _single(args)]
        for one, outcome in zip(_single(args), expected, strict=True):
            assert_same_outcome(run_once(run_interpreted, kernel, one), outcome)
        with config.scope(cache_enabled=False):
            for one, outcome in zip(_single(args), expected, strict=True):
                assert_same_outcome(run_once(lambda k, *given: k(*given), kernel, one), outcome)
        left_out += checks(body, dtype) == 0
    assert left_out > 5


def _single(args: tuple[Array, Array]) -> list[tuple[Array, Array]]:
    """The arguments for one number at a time: an error says nothing of those behind it."""
    x, o = args
    return [(x[k : k + 1], o[k : k + 1].copy()) for k in range(len(x))]
