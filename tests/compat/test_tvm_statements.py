"""Statements and `tir.Let`, written as calls of TVM's nodes; arguments that old code passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import hybridjit.compat.tvm as package
from hybridjit.errors import ArgumentError

np: Any = numpy  # whose types say nothing of arrays that may be any
tvm: Any = package
te: Any = tvm.te
tir: Any = tvm.tir
topi: Any = tvm.topi
N = 6
X: Any = np.arange(N, dtype="float32")
A = te.placeholder((N,), name="A")


def run(made: Any, *arrays: Any) -> Any:
    """The value of a tensor, given those of its placeholders as it reads them."""
    out = tvm.nd.empty(made.shape, str(made.dtype))
    tensors = made.op.input_tensors
    tvm.build(te.create_schedule(made.op), [*tensors, made])(*arrays, out)
    return out.numpy()


def filled(body: Callable[[Any, Any], Any]) -> Any:
    def call(ins: Any, outs: Any) -> Any:
        return body(ins[0], outs[0])

    return te.extern((N,), [A], call, name="B", dtype="float32")


def each(body: Callable[[Any], Any], kind: Any = tir.ForKind.SERIAL, begin: int = 0) -> Any:
    i = tir.Var("i", "int32")
    return tir.For(i, begin, N - begin, kind, body(i))


def copy(a: Any, b: Any, i: Any) -> Any:
    return tir.BufferStore(b, tir.BufferLoad(a, [i]) * 2.0, [i])


def halves(a: Any, b: Any) -> Any:
    def body(i: Any) -> Any:
        return tir.IfThenElse(i < 3, copy(a, b, i), tir.BufferStore(b, i, [i]))

    return each(body)


def named(a: Any, b: Any) -> Any:
    v = tir.Var("v", "float32")

    def body(i: Any) -> Any:
        return tir.LetStmt(v, tir.BufferLoad(a, [i]) + 1.0, tir.BufferStore(b, v * v, [i]))

    return each(body)


def as_long_as(a: Any, b: Any) -> Any:
    more = tir.BufferStore(b, tir.BufferLoad(b, [0]) + 1, [0])
    return tir.While(tir.BufferLoad(b, [0]) < tir.BufferLoad(a, [N - 1]), more)


def called(a: Any, b: Any) -> Any:
    tvm.register_func("tests.statements.twice", twice, override=True)
    return tir.Evaluate(tir.call_packed("tests.statements.twice", a, b))


def twice(x: Any, y: Any) -> None:
    y[...] = x * 2


FILLED: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "nothing": (lambda a, b: tir.Evaluate(0), X * 0),
    "an expression": (lambda a, b: tir.Evaluate(tir.BufferLoad(a, [0]) + 1), X * 0),
    "a call": (called, X * 2),
    "a loop": (lambda a, b: each(lambda i: copy(a, b, i)), X * 2),
    "one on threads": (lambda a, b: each(lambda i: copy(a, b, i), tir.ForKind.PARALLEL), X * 2),
    "one in lanes": (lambda a, b: each(lambda i: copy(a, b, i), 2), X * 2),
    "one from 2 on": (lambda a, b: each(lambda i: copy(a, b, i), begin=2), X * 2 * (X >= 2)),
    "branches": (halves, np.where(X < 3, X * 2, X)),
    "a name": (named, (X + 1) ** 2),
    "as long as": (as_long_as, X * 0 + (X == 0) * 5),
    "one by one": (lambda a, b: tir.SeqStmt([copy(a, b, i) for i in range(N)]), X * 2),
    "a sequence": (lambda a, b: tir.stmt_seq(*(copy(a, b, i) for i in range(N))), X * 2),
}


@pytest.mark.parametrize("name", FILLED)
def test_statements_are_written_as_calls(name: str) -> None:
    body, wanted = FILLED[name]
    made = filled(body)
    np.testing.assert_array_equal(run(made, *[X for _ in made.op.input_tensors]), wanted)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_a_value_for_a_variable(dtype: str) -> None:
    v = tir.Var("v", dtype)

    def element(i: Any) -> Any:
        return tir.Let(v, A[i] + 0.5, v * v + v)

    found = (X + 0.5).astype(dtype)
    np.testing.assert_array_equal(run(te.compute((N,), element), X), found * found + found)


def test_what_is_no_variable_and_no_kind() -> None:
    with pytest.raises(ArgumentError, match="expected a variable, got 3"):
        tir.Let(3, 1, 2)
    with pytest.raises(ArgumentError, match="there is no kind 9 of loop"):
        each(lambda i: tir.Evaluate(0), 9)


@pytest.mark.parametrize("name", ["Allocate", "Block", "Call", "Load", "Store"])
def test_nodes_that_are_written_otherwise(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"tir\.{name} is not here: .*hybridjit\.tir\.{name}"):
        getattr(tir, name)
