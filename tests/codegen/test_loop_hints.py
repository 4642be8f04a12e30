"""LLVM unrolls the loops that it is told to, makes no vectors of any, and gets ours."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.codegen.engine import optimize
from hybridjit.codegen.kernel import emit_kernel
from hybridjit.codegen.layout import ArrayLayout, Layout
from hybridjit.hybrid import unroll
from hybridjit.lowering.pipeline import lower
from hybridjit.processor import current_target
from tests.corpus.case import Array


def copies(a: Array) -> None:
    for i in unroll(20):
        a[i] = 2 * a[i] + a[i + 1]


def updated(a: Array) -> None:
    for i in range(a.shape[0]):
        a[i] = 2 * a[i]


def far_sums(a: Array) -> None:
    for i in range(3):
        for j in range(17):
            for k in range(34):
                a[i] = a[(j + k) % 20] * 3
                a[9] = a[9] + 6


def window(a: Array, b: Array) -> None:
    for i in range(3):
        for j in range(3):
            b[0] += a[i, j]


def emitted(function: Callable[..., Any], *specs: Any, may_vectorize: bool = False) -> str:
    target = current_target()
    func = hybrid.script(function).prim_func(*specs)
    lowered = lower(func, target, may_vectorize=may_vectorize)
    layout = Layout(tuple(ArrayLayout() for _ in lowered.buffers), True)
    return emit_kernel(lowered, layout, target).text


def test_unrolled_loops_are_unrolled() -> None:
    assert "llvm.loop.unroll.full" in emitted(copies, np.ones(64, np.float32))


def test_loops_over_a_rest_are_not() -> None:
    text = emitted(updated, hj.f64["n"], may_vectorize=True)
    assert "llvm.loop.unroll.disable" in text


def test_nests_are_unrolled_if_they_are_small() -> None:
    """LLVM takes exponential time for sums in copies of loops in copies of loops."""
    assert emitted(far_sums, hj.u8[20]).count(", !llvm.loop ") == 2
    assert "llvm.loop" not in emitted(window, hj.f64[3, 3], hj.f64[1])


@pytest.mark.parametrize("dtype", [np.uint8, np.int64])
def test_sums_in_a_large_nest_compile(dtype: Any) -> None:
    a = np.arange(20, dtype=dtype)
    hybrid.script(far_sums)(a)
    assert a[9] == (9 + 6 * 3 * 17 * 34) % (256 if dtype is np.uint8 else 1 << 63)


def test_the_metadata_of_a_loop_refers_to_itself() -> None:
    """LLVM takes no notice of any other."""
    text = emitted(copies, np.ones(64, np.float32))
    (line,) = (line for line in text.splitlines() if "distinct" in line)
    name = line.partition(" ")[0]
    assert line.startswith(f"{name} = distinct !{{ {name}, ")


@pytest.mark.parametrize("spec", [hj.f64["n"], hj.f32[1000], hj.i8[100]])
def test_llvm_makes_no_vectors_of_loops(spec: Any) -> None:
    """One that has no lanes of ours has none at all."""
    text = str(optimize(emitted(updated, spec), current_target()))
    assert not re.search(r"vector\.body|load <\d+ x", text)
