"""What looks like a mistake and is none: shadowed names, captured values that change."""

from __future__ import annotations

import copy
from importlib import import_module
from typing import Any

import numpy as np
import pytest

MODULE: Any = import_module("tests.errors.cases.meanings")
KNOWN = [pytest.param(kernel, args, id=kernel.__name__) for kernel, args in MODULE.KNOWN]
A: Any = np.arange(4.0)


@pytest.mark.parametrize(("kernel", "args"), KNOWN)
def test_the_meaning_is_that_of_python(kernel: Any, args: Any) -> None:
    expected = kernel.py_func(*copy.deepcopy(args))
    assert kernel.interpret(*copy.deepcopy(args)) == expected
    assert kernel(*copy.deepcopy(args)) == expected


@pytest.mark.parametrize("run", ["__call__", "interpret"])
@pytest.mark.parametrize("name", ["WEIGHTS", "LIST", "SCALE"])
def test_a_captured_value_that_changes_is_noticed(name: str, run: str) -> None:
    kernel: Any = getattr(import_module("tests.errors.cases.capturing"), f"read_{name.lower()}")
    call = getattr(kernel, run)
    before = call(A)
    assert before == kernel.py_func(A)
    kernel.__hybrid_function__.__globals__["change"](name)
    assert call(A) == kernel.py_func(A) == before + 1.0


def test_an_unused_output_is_never_silent() -> None:
    kernel: Any = import_module("tests.errors.cases.capturing").unused_output
    with pytest.raises(SyntaxError, match="the output 'b' is never returned"):
        kernel(A)
