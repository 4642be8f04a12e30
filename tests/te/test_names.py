"""What tensors, axes and functions are called is a text; anything else is refused at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import hybridjit.compat.tvm.te as package
from hybridjit import te as module
from hybridjit.errors import ArgumentError

te: Any = module  # as a caller without a type checker has it
compat: Any = package
A = te.placeholder((4,), name="A")


def whole(i: Any) -> Any:
    return A[i]


def nothing(ins: Any, outs: Any) -> Any:
    return []


def one(*args: Any) -> Any:
    return args[0]


def scanned() -> Any:
    first = te.placeholder((1, 4), name="first")
    state = te.placeholder((4, 4), name="state")

    def step(t: Any, i: Any) -> Any:
        return state[t - 1, i] + 1

    return te.scan(first, te.compute((4, 4), step), state, name=3)


NAMED: dict[str, Callable[[], Any]] = {
    "a variable": lambda: te.var(3),
    "a size": lambda: te.size_var(3),
    "a tensor": lambda: te.placeholder((4,), name=3),
    "a tensor that is computed": lambda: te.compute((4,), whole, name=3),
    "an axis": lambda: te.reduce_axis((0, 4), name=3),
    "a thread": lambda: te.thread_axis((0, 4), 3),
    "an extern": lambda: te.extern((4,), [A], nothing, name=3),
    "a scan": scanned,
    "a buffer": lambda: te.decl_buffer((4,), name=3),
    "a reducer": lambda: te.comm_reducer(one, one, name=3),
    "a reducer of TVM's": lambda: compat.comm_reducer(one, one, name=3),
    "a function": lambda: te.create_prim_func([A, te.compute((4,), whole)], name=3),
}


@pytest.mark.parametrize("what", NAMED)
def test_a_name_is_a_text(what: str) -> None:
    with pytest.raises(ArgumentError, match=r"the name of an? .* is a text, got 3"):
        NAMED[what]()
