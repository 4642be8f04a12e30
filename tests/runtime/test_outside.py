"""What stays outside of scripts: its refusal names the way out."""

from __future__ import annotations

import collections
from typing import Any

import numpy
import pytest

from hybridjit.errors import HybridError
from tests.frontend.from_text import script_from_text

np: Any = numpy
NAMES = {"np": np, "collections": collections}

ARGUMENTS = {
    "a dict": ({"x": 1.0}, "pass an array of the keys and one of the values, or a dataclass"),
    "a set": ({1, 2}, r"pass a sorted array, np.array\(sorted\(x\)\)"),
    "bytes": (b"abc", r"pass its numbers, np.frombuffer\(x, np.uint8\)"),
    "strings": (
        np.array(["a", "b"]),
        r"encode strings as integers, as in np.unique\(x, ret",
    ),
    "an object": (
        object(),
        "pass the arrays and numbers that it holds, by themselves or in",
    ),
}

STATEMENTS = {
    "return {'x': x[0]}": "two arrays, of keys and of values; .* hybrid.packed",
    "return {v: 1 for v in x}": "two arrays, of keys and of values; .* hybrid.packed",
    "d = dict()": "two arrays, of keys and of values; .* hybrid.packed",
    "d = collections.defaultdict(int)": "two arrays, of keys and of values; .* hybrid.packed",
    "d = collections.Counter(x)": "two arrays, of keys and of values; .* hybrid.packed",
    "s = {1, 2}": "an array of flags, or a sorted one with np.searchsorted",
    "return len(set(x))": "an array of flags, or a sorted one with np.searchsorted",
    "for c in 'abc': x[0] += 1": "pass its numbers, np.frombuffer",
    "return str(x[0])": "texts are for print, assert and raise",
    "d = collections.deque(x)": "make it outside, and pass its numbers and arrays",
    "d = open('x')": "read the file outside the script and pass its data",
}


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_arguments(kind: str) -> None:
    value, help = ARGUMENTS[kind]
    with pytest.raises(HybridError, match=help):
        script_from_text("def f(x):\n    return x\n", NAMES)(value)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements(statement: str) -> None:
    text = f"def f(x):\n    {statement}\n    return x[0]\n"
    with pytest.raises(HybridError, match=STATEMENTS[statement]):
        script_from_text(text, NAMES)(np.ones(3))
