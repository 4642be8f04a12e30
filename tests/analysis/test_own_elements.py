"""The quick proof that iterations are independent: what it sees, and what it leaves to isl."""

from __future__ import annotations

from typing import Any

import pytest

import hybridjit as hj
from hybridjit.analysis.own_elements import prove_own_elements
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For
from hybridjit.ir.visit import walk
from tests.frontend.from_text import script_from_text

HEADER = "def f(a, b, n):\n"


def loop_of(body: str) -> tuple[PrimFunc, For]:
    """The loop over j of a function with the statements `body`."""
    lines = [f"    {line}\n" for line in body.split("\n")]
    script: Any = script_from_text(HEADER + "".join(lines), {})
    func = script.prim_func(hj.f64["m", 32], hj.f64[32], 3)
    loops = [node for node in walk(func.body) if isinstance(node, For) and node.var.name == "j"]
    return func, loops[0]


@pytest.mark.parametrize(
    "body",
    [
        "for j in range(32):\n    b[j] = 2 * b[j]",
        "for j in range(16):\n    b[2 * j + 1] = b[2 * j + 1] + a[0, j]",
        "for i in range(a.shape[0]):\n    for j in range(32):\n        if b[j] > 0:\n"
        "            a[i, j] += b[j]",
        "for j in range(4):\n    for i in range(8):\n        a[j, 8 + i] = 1",
        "for j in range(32):\n    x = b[j]\n    x += 1\n    b[j] = x",
    ],
)
def test_elements_of_their_own(body: str) -> None:
    func, loop = loop_of(body)
    assert prove_own_elements(func.body, loop)


@pytest.mark.parametrize(
    "body",
    [
        "for j in range(31):\n    b[j] = b[j + 1]",
        "for j in range(32):\n    b[0] += a[0, j]",
        "for j in range(32):\n    b[j - 5] = 1",  # b[-5] is b[27]
        "for j in range(n, 32):\n    b[j] = 1",  # n may be negative
        "for j in range(4):\n    for i in range(4):\n        b[i + j] = 1",
        "for j in range(31, -1, -1):\n    b[j] = 1",
        "for j in range(32):\n    k = 31 - j\n    b[j] = b[k]",
    ],
)
def test_not_seen(body: str) -> None:
    func, loop = loop_of(body)
    assert not prove_own_elements(func.body, loop)
