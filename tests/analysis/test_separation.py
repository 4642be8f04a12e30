"""Iterations that meet in no element that one of them writes."""

from __future__ import annotations

import dataclasses

import pytest

from hybridjit.analysis.separation import Separation
from hybridjit.frontend.parse import parse_text
from hybridjit.ir.expr import Const, Load
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For
from hybridjit.ir.visit import walk
from hybridjit.lower.check_bounds import check_bounds
from hybridjit.lower.lower_blocks import lower_blocks

HEAD = "def f(a: int64[8, 8], b: int64[8]):\n    for i in range(8):\n        for j in range(8):\n"


def nest_of(store: str) -> tuple[PrimFunc, list[For]]:
    func = check_bounds(lower_blocks(parse_text(f"{HEAD}            {store}\n")))
    return func, [node for node in walk(func.body) if isinstance(node, For)]


@pytest.mark.parametrize(
    ("store", "is_independent"),
    [
        ("a[i, j] = a[i, j] + b[j]", True),
        ("a[j, i] = b[i]", True),
        ("a[i, 0] = b[j]", False),
        ("a[i, j] = a[j, i]", False),
        ("b[j] = a[i, j]", False),
    ],
)
def test_independent(store: str, is_independent: bool) -> None:
    func, loops = nest_of(store)
    assert Separation(func, ()).prove_independent(loops, loops[-1].body) is is_independent


def test_what_bounds_read_may_not_change() -> None:
    func, (outer, inner) = nest_of("a[i, j] = 1")
    buffer = func.buffers[0]
    moving = dataclasses.replace(inner, stop=Load(buffer, (Const(3), Const(3))))
    assert not Separation(func, ()).prove_independent([outer, moving], inner.body)


def test_only_of_functions_with_checked_indices() -> None:
    func, _ = nest_of("a[i, j] = 1")
    with pytest.raises(AssertionError, match="a negative index"):
        Separation(dataclasses.replace(func, is_checked=False), ())
