"""Loops over math functions are run two vectors at a time; some are not worth vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.codegen.kernel import emit_kernel
from hybridjit.codegen.layout import ArrayLayout, Layout
from hybridjit.codegen.loop_labels import MAY_VECTORIZE
from hybridjit.codegen.target import current_target
from hybridjit.hybrid import unroll
from hybridjit.lower.pipeline import lower
from tests.corpus.case import Array


def logarithms(a: Array) -> None:
    for i in range(a.shape[0]):
        a[i] = np.log(a[i])


def powers(a: Array) -> None:
    for i in range(a.shape[0]):
        a[i] = a[i] ** 0.3


def rows(a: Array) -> None:
    for i in range(a.shape[0]):
        a[i] = np.exp(a[i])
        for j in range(i):
            a[j] *= 0.5


def roots(a: Array) -> None:
    for i in range(a.shape[0]):
        a[i] = np.sqrt(a[i])


def total(a: Array) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * a[i]
    return total


def columns(a: Array) -> None:
    for i in range(a.shape[0] // 8):
        a[8 * i] = 2 * a[8 * i]


def copies(a: Array) -> None:
    for i in unroll(20):
        a[i] = 2 * a[i] + a[i + 1]


def llvm_text(function: Callable[..., Any]) -> str:
    target = current_target()
    func = lower(hybrid.script(function).prim_func(np.ones(64, np.float32)), target)
    return emit_kernel(func, Layout((ArrayLayout(),), True), target).text


@pytest.mark.parametrize("function", [logarithms, powers])
def test_loops_over_math_functions_are_interleaved(function: Callable[..., Any]) -> None:
    assert "llvm.loop.interleave.count" in llvm_text(function)


@pytest.mark.parametrize("function", [roots, rows])
def test_other_loops_are_not(function: Callable[..., Any]) -> None:
    """A root is one instruction; a loop around another one is not vectorised."""
    assert "llvm.loop.interleave.count" not in llvm_text(function)


def test_elements_that_lie_apart_are_stored_one_by_one() -> None:
    assert MAY_VECTORIZE not in llvm_text(columns)


def test_unrolled_loops_are_unrolled() -> None:
    assert "llvm.loop.unroll.full" in llvm_text(copies)


def test_plain_sums_in_order_stay_scalar() -> None:
    assert MAY_VECTORIZE not in llvm_text(total)


def test_sums_in_any_order_do_not() -> None:
    assert MAY_VECTORIZE in llvm_text(hybrid.script(total, fastmath={"reassoc"}))


def test_the_metadata_of_a_loop_refers_to_itself() -> None:
    """LLVM takes no notice of any other."""
    (line,) = (line for line in llvm_text(logarithms).splitlines() if "distinct" in line)
    name = line.partition(" ")[0]
    assert line.startswith(f"{name} = distinct !{{ {name}, ")
