"""Plain Python, the interpreter and native code on the same arguments."""

from __future__ import annotations

from typing import Any

from hybridjit import Kernel
from tests.support.oracle import (
    Outcome,
    assert_same_outcome,
    fresh,
    run_interpreted,
    run_native,
    run_once,
    run_plain_and_interpreted,
)


def assert_all_ways_agree(kernel: Kernel[..., Any], *args: Any) -> Outcome:
    """Run a kernel three ways, natively twice: compiled now, and as the dispatcher calls it."""
    plain = run_plain_and_interpreted(kernel, args)
    _assert_native_agrees(kernel, args, plain)
    return plain


def assert_native_agrees(kernel: Kernel[..., Any], *args: Any) -> Outcome:
    """The same without plain Python, whose integers do not wrap.

    Another kernel is interpreted: sizes that one has been interpreted with stay exact ones, and
    calls of several sizes are to lead to code for any size.
    """
    expected = run_once(run_interpreted, fresh(kernel), args)
    _assert_native_agrees(kernel, args, expected)
    return expected


def _assert_native_agrees(kernel: Kernel[..., Any], args: Any, expected: Outcome) -> None:
    for _ in range(2):
        assert_same_outcome(run_once(run_native, kernel, args), expected)
