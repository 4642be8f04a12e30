"""The program of a script is what is written: one plain nest for each statement on arrays."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.frontend.parse import parse_text
from hybridjit.ir.equal import structural_equal
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block, For, LoopKind
from hybridjit.ir.visit import walk_stmts
from tests.conftest import Golden

np: Any = numpy
Array = Any


def matrix_product(a: Array, b: Array) -> Array:
    return a @ b


def matrix_by_vector(a: Array, x: Array) -> Array:
    return a @ x + 1


def dot(x: Array, y: Array) -> Any:
    return x @ y


def row_sums(a: Array) -> Array:
    return a.sum(axis=1)


def softmax(x: Array) -> Array:
    exps = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return exps / np.sum(exps, axis=-1, keepdims=True)


def position(x: Array) -> Any:
    return np.argmax(x * 2)


def masked(a: Array) -> None:
    a[a > 0] = 0.0


def in_a_loop(a: Array, n: int) -> None:
    for _ in range(n):
        a[1:-1] = (a[:-2] + a[2:]) * 0.5


SCRIPTS: dict[str, tuple[Any, list[Any]]] = {
    "matrix_product": (matrix_product, [hj.f32[512, 256], hj.f32[256, 384]]),
    "matrix_by_vector": (matrix_by_vector, [hj.f64[30, 40], hj.f64[40]]),
    "dot": (dot, [hj.f64["n"], hj.f64["n"]]),
    "row_sums": (row_sums, [hj.f64[30, 40]]),
    "softmax": (softmax, [hj.f32["n", 64]]),
    "position": (position, [hj.f64[100]]),
    "masked": (masked, [hj.f64[30]]),
    "in_a_loop": (in_a_loop, [hj.f64[30], 3]),
}


def translated(name: str) -> PrimFunc:
    function, specs = SCRIPTS[name]
    kernel: Any = hybrid.script(function)
    return kernel.prim_func(*specs)


@pytest.mark.parametrize("name", SCRIPTS)
def test_golden(name: str, golden: Golden) -> None:
    golden.check(str(translated(name)), "ir")


@pytest.mark.parametrize("name", SCRIPTS)
def test_text_says_it_all(name: str) -> None:
    """What the blocks say of arrays and of open orders is printed, and read back."""
    func = translated(name)
    assert structural_equal(parse_text(str(func)), func)


@pytest.mark.parametrize("name", SCRIPTS)
def test_nothing_is_there_for_the_machine(name: str) -> None:
    stmts = list(walk_stmts(translated(name).body))
    assert {stmt.kind for stmt in stmts if isinstance(stmt, For)} == {LoopKind.SERIAL}
    names = {stmt.name for stmt in stmts if isinstance(stmt, Block)}
    assert not any(name.startswith(("partial", "left", "right", "totals")) for name in names)
