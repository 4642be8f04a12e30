"""keep_in_registers: elements in variables, unless someone could see the difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import Kernel, hybrid
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.hybrid import output_tensor
from hybridjit.ir.expr import Buffer
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.hints import drop_hints
from hybridjit.ir.stmt import Store
from hybridjit.ir.verify import Stage, verify
from hybridjit.ir.visit import walk
from hybridjit.lowering.keep_in_registers import keep_in_registers
from hybridjit.lowering.pipeline import lower
from hybridjit.processor import current_target
from tests.corpus.case import Array
from tests.lowering.ways import assert_all_ways_agree
from tests.support.optimized import optimized

AnyKernel = Kernel[..., Any]


@hybrid.script
def factor(a: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]


@hybrid.script
def meets_itself(a: Array) -> None:
    for i in range(a.shape[0]):
        for k in range(a.shape[0]):
            a[i] += 0.5 * a[k]


@hybrid.script
def gathers(a: Array, indices: Array, out: Array) -> None:
    for i in range(out.shape[0]):
        for k in range(indices.shape[0]):
            out[i] += a[indices[k]]


@hybrid.script
def gathers_into_result(a: Array, indices: Array) -> Any:
    out = output_tensor((2,), "float64")
    for i in range(2):
        for k in range(indices.shape[0]):
            out[i] += a[indices[k]]
    return out


@hybrid.script
def gathers_into_an_element(a: Array, indices: Array) -> Any:
    out = output_tensor((2,), "float64")
    for k in range(3):
        out[indices[0]] = a[indices[k]] + out[indices[0]]
    return out


@hybrid.script
def empty_rows(a: Array, first: Array, out: Array) -> None:
    for i in range(first.shape[0] - 1):
        for k in range(first[i], first[i + 1]):
            out[i + first[i] - first[i]] += a[k]


def line(size: int) -> Any:
    return np.arange(1.0, size + 1)


def square(size: int) -> Any:
    return np.random.default_rng(size).random((size, size)) + size * np.eye(size)


def places(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


CALLS: tuple[tuple[AnyKernel, Sequence[Sequence[Any]]], ...] = (
    (factor, [(square(n),) for n in (0, 1, 2, 3, 8, 17)]),
    (meets_itself, [(line(n),) for n in (0, 1, 2, 9)]),
    (gathers, [(line(5), places(*x), line(3)) for x in ((), (1,), (0, 4, -5), (1, 2, 5, 0))]),
    (gathers_into_result, [(line(5), places(*x)) for x in ((), (1, 4), (0, 1, 7))]),
    (gathers_into_an_element, [(line(5), places(*x)) for x in ((1, 4, -5), (0, 1, 7), (4, 0, 0))]),
    (empty_rows, [(line(5), places(*x), line(n)) for x in ((0, 2, 2, 5), (3, 3), (0, 1, 9))
                  for n in (1, 3)]),
)  # fmt: skip


@pytest.mark.parametrize(
    ("kernel", "calls"), [pytest.param(*call, id=call[0].__name__) for call in CALLS]
)
def test_all_ways_agree(kernel: AnyKernel, calls: Sequence[Sequence[Any]]) -> None:
    """The same results, errors, and arrays after an error."""
    for args in calls:
        assert_all_ways_agree(kernel, *args)


def test_what_was_added_before_a_failure_is_there() -> None:
    out = line(2)
    with pytest.raises(IndexError, match="out of bounds"):
        gathers(line(5), places(1, 2, 5), out)
    assert out.tolist() == [1.0 + 2.0 + 3.0, 2.0]


@pytest.mark.parametrize(
    ("first", "message"),
    [
        (9, "(?s)index 9 is out of bounds for axis 0 of 'a' .* in iteration k=0"),
        (4, "(?s)index 4 is out of bounds for axis 0 of 'out' .* in iteration k=0"),
    ],
    ids=["in a term", "in the element"],
)
def test_an_element_that_is_not_there_fails_in_its_turn(first: int, message: str) -> None:
    with pytest.raises(IndexError, match=message):
        gathers_into_an_element(line(5), places(first, 0, 0))


def test_arrays_that_overlap() -> None:
    memory = line(8)
    expected = memory.copy()
    gathers.py_func(expected, places(0, 1, 2), expected[1:4])
    gathers(memory, places(0, 1, 2), memory[1:4])
    assert memory.tolist() == expected.tolist()


def lowered(kernel: AnyKernel, *specs: Any) -> PrimFunc:
    return lower(optimized(kernel, *specs), current_target(), may_vectorize=True)


def variables(func: PrimFunc) -> list[str]:
    stores = [node.buffer for node in walk(func.body) if isinstance(node, Store)]
    return [buffer.name for buffer in dict.fromkeys(stores) if buffer.scope == Buffer.REGISTER]


@pytest.mark.parametrize(
    ("kernel", "specs", "kept"),
    [
        (factor, (hj.f64["n", "n"],), True),
        (meets_itself, (hj.f64["n"],), False),
        (gathers, (hj.f64["n"], hj.i64["m"], hj.f64["k"]), False),
        (gathers_into_result, (hj.f64["n"], hj.i64["m"]), True),
        (gathers_into_an_element, (hj.f64["n"], hj.i64[3]), False),
    ],
)
def test_what_is_kept_in_a_variable(kernel: AnyKernel, specs: Any, kept: bool) -> None:
    func = lowered(kernel, *specs)
    assert any(name.endswith("_value") for name in variables(func)) == kept


def test_the_pass_alone() -> None:
    func = lower_blocks(optimized(factor, hj.f64[9, 9]))
    made = keep_in_registers(func)
    verify(made, Stage.LOOPS, "keep_in_registers")
    assert variables(made) == ["a_value"]
    assert keep_in_registers(made) is made
    bare = drop_hints(func)
    assert keep_in_registers(bare) is bare
