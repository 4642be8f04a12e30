"""Functions of the IR as operations: those that change their inputs."""

from typing import Any

import numpy as np

import hybridjit as hj
from hybridjit import hybrid, te
from hybridjit.frontend.parse import parse_text
from tests.support.tensor_programs import assert_computes

RNG = np.random.default_rng(5)


def integers(size: int) -> Any:
    return RNG.integers(1, 9, size).astype(np.float32)


IN_PLACE = """
def shift(a: float32["n"], b: float32["n"], total: float32[1]):
    total[0] = 0.0
    for i in range(a.shape[0]):
        a[i] = a[i] + b[i]
        total[0] = total[0] + a[i]
"""


def test_a_function_that_changes_an_input() -> None:
    """The tensor stays what it is: a copy of it changes, and is an output."""
    x, y = te.placeholder((5,), name="x"), te.placeholder((5,), name="y")
    changed, total = te.extern_primfunc([x, y], hj.parse(IN_PLACE))
    z = te.compute((5,), lambda i: changed[i] - x[i] + total[0], name="z")
    a, b = integers(5), integers(5)
    assert_computes([x, y, z], [a, b], b + (a + b).sum())
    assert_computes([x, y, changed, total], [a, b], [a + b, (a + b).sum(keepdims=True)])


def test_a_function_that_changes_its_only_input() -> None:
    x = te.placeholder((te.var("n"),), name="x")
    func = hj.parse("def f(a: float32['n']):\n    for i in range(a.shape[0]):\n        a[i] = 1\n")
    y = te.extern_primfunc([x], func)
    assert_computes([x, y], [integers(4), integers(4)], np.ones(4, np.float32))


def add_into(a: Any, b: Any) -> None:
    b[...] = a + 1


def test_foreign_functions_read_their_inputs() -> None:
    text = "def f(a: float32[4], b: float32[4]):\n    add_into(a, b)\n"
    x = te.placeholder((4,), name="x")
    y = te.extern_primfunc([x], parse_text(text, {"add_into": hybrid.packed(add_into)}))
    a = integers(4)
    assert_computes([x, y], [a], a + 1)
