"""Kernels for another processor: the emulated code computes, fails and allocates as ours does."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.hybrid import output_tensor
from hybridjit.runtime import compiler
from hybridjit.target import Target
from tests.emulated.machine import emulated
from tests.emulated.process import NotEmulated
from tests.emulated.processors import MACHINES
from tests.loops import campaign

Array = Any


@pytest.fixture(params=[name for name in MACHINES if not MACHINES[name].missing])
def machine(request: pytest.FixtureRequest) -> Generator[Target]:
    """Every processor for which there are an emulator and a compiler."""
    with emulated(request.param):
        yield MACHINES[request.param].target


def make_kernels() -> Any:
    """Kernels that have no code yet."""

    @hybrid.script
    def product(a: Array, b: Array) -> Array:
        return a @ b + np.exp(a)

    @hybrid.script
    def chosen(a: Array, limit: float) -> Array:
        return a[a > limit], a.sum()

    @hybrid.script
    def shifted(a: Array, count: int) -> Array:
        b = output_tensor(a.shape, a.dtype)
        for i in range(count):
            b[i] = a[i + 1] * 2
        return b

    @hybrid.script
    def ordered(a: Array) -> Array:
        return np.sort(a)

    return product, chosen, shifted, ordered


def test_code_is_made_for_the_processor(machine: Target) -> None:
    product, *_ = make_kernels()
    grid: Array = np.linspace(-1, 1, 53 * 53)
    a = grid.reshape(53, 53)
    expected = a.T @ a + np.exp(a.T)
    np.testing.assert_allclose(product(a.T, a), expected, rtol=1e-12)
    assert ("adrp" in product.inspect("asm", a, a)) == machine.is_arm


def test_results_of_any_size_are_handed_over(machine: Target) -> None:
    _, chosen, *_ = make_kernels()
    a = np.arange(100.0)[::-1]
    for limit in (50.0, -1.0, 1000.0):
        found, total = chosen(a, limit)
        np.testing.assert_array_equal(found, a[a > limit])
        assert total == a.sum()


def test_errors_are_told(machine: Target) -> None:
    _, _, shifted, _ = make_kernels()
    np.testing.assert_array_equal(shifted(np.arange(9), 8)[:8], 2 * np.arange(1, 9))
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        shifted(np.arange(9), 9)


def test_functions_of_this_process_are_not_there(machine: Target) -> None:
    *_, ordered = make_kernels()
    with pytest.raises(NotEmulated, match="hj_numpy_sort"):
        ordered(np.arange(5))


def test_random_programs_see_wrong_code(machine: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    right: Any = compiler.optimize

    def wrong(text: str, target: Target) -> Any:
        assert target.is_arm == machine.is_arm
        return right(text.replace("= fmul ", "= fadd "), target)

    campaign.try_number(0, 1)
    monkeypatch.setattr(compiler, "optimize", wrong)
    with pytest.raises(AssertionError, match="differ"):
        deque(campaign.try_number(0, number) for number in range(20))
