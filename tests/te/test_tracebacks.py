"""Errors in graphs of tensors point at the caller's lines: no frame of ours is shown."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hybridjit
from hybridjit import te
from hybridjit.errors import HybridError

TE: Any = te  # as a caller without a type checker has it
A = te.placeholder((4,), name="A")
PACKAGE = str(Path(hybridjit.__file__).parent)


def keyword_index(*, i: Any) -> Any:
    return i


def truth(i: Any) -> Any:
    return 1 if A[i] > 0 else 2


def no_statement(ins: Any, outs: Any) -> Any:
    return 3


CALLS: dict[str, Callable[[], object]] = {
    "placeholder": lambda: te.placeholder((-1,)),
    "const": lambda: te.const(1, "float31"),
    "reduce_axis": lambda: te.reduce_axis(3),
    "thread_axis": lambda: te.thread_axis(),
    "compute": lambda: TE.compute((4,), keyword_index),
    "body": lambda: te.compute((4,), truth),
    "extern": lambda: te.extern((4,), [A], no_statement),
    "scan": lambda: te.scan(A, A, A),
    "create_prim_func": lambda: te.create_prim_func([3]),
    "create_schedule": lambda: te.create_schedule([]),
    "decl_buffer": lambda: te.decl_buffer((4,), strides=[1, 2]),
    "decl_tensor_intrin": lambda: TE.decl_tensor_intrin(A, None),
    "gradient": lambda: TE.gradient(A, [3]),
}


@pytest.mark.parametrize("case", CALLS)
def test_frames_of_ours_are_gone(case: str) -> None:
    with pytest.raises(HybridError, match=r"\w") as caught:
        CALLS[case]()
    files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    inside = [name for name in files if name.startswith(PACKAGE)]
    assert len(inside) <= 1  # Python 3.10 keeps the frame of the edge
