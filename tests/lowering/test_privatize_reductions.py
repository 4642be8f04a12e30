"""The pass that gives chunks of parallel loops private copies, run in the interpreter."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import pytest

from hybridjit import PrimFunc, parse
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.analysis.private_reduction import find_identity
from hybridjit.analysis.reduction import ReductionOp
from hybridjit.interp.run import compile_func
from hybridjit.ir.dtype import BOOL, COMPLEX128, FLOAT32, FLOAT64, INT8, UINT16
from hybridjit.ir.stmt import For, LoopKind
from hybridjit.ir.verify import Stage, verify
from hybridjit.ir.visit import walk
from hybridjit.lowering.check_bounds import check_bounds
from hybridjit.lowering.hoist_checks import hoist_checks
from hybridjit.lowering.privatize_reductions import privatize_reductions
from tests.support.oracle import assert_same, fresh
from tests.support.parallel_programs import REDUCTIONS, SIZES, Program, eager


@pytest.fixture(autouse=True)
def eagerly() -> Generator[None]:
    with eager():
        yield


def checked(source: str) -> PrimFunc:
    """The loops of a program as the pass gets them."""
    return hoist_checks(check_bounds(lower_blocks(parse(source))))


def privatized(source: str) -> PrimFunc:
    func = privatize_reductions(checked(source))
    verify(func, Stage.LOOPS, "privatize_reductions")
    return func


def parallel_loops(func: PrimFunc) -> list[For]:
    found = [node for node in walk(func.body) if isinstance(node, For)]
    return [loop for loop in found if loop.kind is LoopKind.PARALLEL]


@pytest.mark.parametrize("program", REDUCTIONS, ids=str)
def test_result_is_the_same(program: Program) -> None:
    for size in SIZES:
        args = program.make(size)
        kernel = fresh(program.kernel)
        func = checked(kernel.inspect("tir", *args))
        after = privatize_reductions(func)
        verify(after, Stage.LOOPS, "privatize_reductions")
        copies = [[np.copy(arg) for arg in args] for _ in range(2)]
        with np.errstate(all="ignore"):
            results = [
                compile_func(each)(copy) for each, copy in zip((func, after), copies, strict=True)
            ]
        assert_same(results[1], results[0])
        for one, other in zip(*copies, strict=True):
            assert_same(one, other)


def test_golden(golden: Any) -> None:
    func = privatized(
        """
def sums(a: int64["n"], out: int64[3], k: int) -> int64:
    total: int64
    total = 0
    for i in parallel(a.shape[0]):
        total = total + a[i]
        out[k] = max(out[k], a[i])
    return total
"""
    )
    golden.check(str(func), "ir")


def test_golden_constant(golden: Any) -> None:
    func = privatized(
        """
def sums(a: int64[1000], out: int64[3]):
    for i in parallel(999, 0, -3):
        out[1] = out[1] ^ a[i]
"""
    )
    golden.check(str(func), "ir")


def body(text: str, fastmath: str = "") -> str:
    decorator = f"@hybrid.script(fastmath={{{fastmath!r}}})\n" if fastmath else ""
    return (
        f"{decorator}def f(a: float64[100], m: int64[100], out: float64[9], n: int64[9]):\n"
        f"    for i in parallel(100):\n        {text}\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "out[0] = out[0] + a[i]",
        "out[0] = out[0] * a[i]",
        "n[m[i]] = n[m[i]] + 1",
        "n[i % 2] = n[i % 2] + 1",
        "for j in range(9):\n            n[j] = n[j] + m[i]",
    ],
)
def test_updates_without_private_copies_run_in_order(text: str) -> None:
    assert parallel_loops(privatized(body(text))) == []


@pytest.mark.parametrize(
    "text", ["a[i] = a[i] + 1.0", "for j in range(1):\n            m[i + j] = m[i + j] ^ 5"]
)
def test_updates_of_own_elements_stay_as_they_are(text: str) -> None:
    func = checked(body(text))
    assert privatize_reductions(func) is func


def test_reassociation() -> None:
    assert len(parallel_loops(privatized(body("out[0] = out[0] + a[i]", "reassoc")))) == 1


def test_small_loops_run_in_order() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hybridjit.lowering.privatize_reductions.MIN_PARALLEL_WORK", 1 << 12)
        assert parallel_loops(privatized(body("n[0] = n[0] + m[i]"))) == []


def test_functions_without_parallel_loops_are_untouched() -> None:
    func = checked(body("n[0] = n[0] + m[i]").replace("parallel", "range"))
    assert privatize_reductions(func) is func


@pytest.mark.parametrize(
    ("op", "dtype", "value"),
    [
        (ReductionOp.ADD, INT8, 0),
        (ReductionOp.ADD, FLOAT64, -0.0),
        (ReductionOp.ADD, COMPLEX128, complex(-0.0, -0.0)),
        (ReductionOp.MUL, COMPLEX128, 1 + 0j),
        (ReductionOp.MIN, UINT16, 65535),
        (ReductionOp.MAX, INT8, -128),
        (ReductionOp.MINIMUM, FLOAT32, np.inf),
        (ReductionOp.MAX, FLOAT32, -np.inf),
        (ReductionOp.MIN, BOOL, True),
        (ReductionOp.AND, BOOL, True),
        (ReductionOp.OR, BOOL, False),
        (ReductionOp.BIT_AND, INT8, -1),
        (ReductionOp.BIT_AND, UINT16, 65535),
        (ReductionOp.BIT_XOR, INT8, 0),
    ],
)
def test_identity(op: ReductionOp, dtype: Any, value: Any) -> None:
    found = find_identity(op, dtype)
    assert repr(found.value) == repr(value)
    assert found.dtype is dtype


def test_identity_without_infinities() -> None:
    found = find_identity(ReductionOp.MIN, FLOAT32, ("ninf",))
    assert found.value == np.finfo(np.float32).max
