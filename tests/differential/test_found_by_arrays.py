"""Mistakes that random array scripts have found, each as a small script."""

from __future__ import annotations

from typing import Any

import pytest

from hybridjit import Kernel, hybrid
from tests.arrays.check import run_with_sizes
from tests.arrays.values import np
from tests.support.array_results import assert_close
from tests.support.optimized import run_optimized


def assert_agree(kernel: Kernel[..., Any], *args: Any) -> None:
    """Compare NumPy with the interpreter, native code, and code for run-time sizes."""
    expected = np.asarray(kernel.py_func(*args))
    sized = [run_with_sizes(kernel, *args, is_fast=is_fast) for is_fast in (False, True)]
    for found in (kernel.interpret(*args), run_optimized(kernel, *args), kernel(*args), *sized):
        assert_close(found, expected, 0)


@hybrid.script
def index_from_the_end_of_a_part(a: Any) -> Any:
    return a[1:, :-1][:-3:-2, -2] * 1


@hybrid.script
def index_of_a_computed_part(a: Any) -> Any:
    return np.abs(a[-2:, 1:])[0, 2] * 1


@pytest.mark.parametrize("kernel", [index_from_the_end_of_a_part, index_of_a_computed_part])
def test_constant_indices_into_parts_of_run_time_size(kernel: Kernel[..., Any]) -> None:
    """Whether -2 < 0 was left to be found out at run time."""
    assert_agree(kernel, np.arange(20.0).reshape(4, 5))


@hybrid.script
def dot_of_numbers(a: Any) -> Any:
    return np.dot(a[0, 0], a[1, 1]) + np.dot(a[0, 1], a[0])


def test_numbers_have_a_dot_product() -> None:
    """Where there is no array, the shape in which arrays meet was asked for."""
    assert_agree(dot_of_numbers, np.arange(6.0).reshape(2, 3))


@hybrid.script
def clipped_product(a: Any, b: Any) -> Any:
    return np.clip(np.matmul(a // 2, b), 0, 2)


def test_what_only_renames_a_product_is_no_name_of_its_own() -> None:
    """Stored in its place, an element of the product was given a second name."""
    a = np.arange(6).reshape(2, 3)
    assert_agree(clipped_product, a, a.T.copy())


@hybrid.script
def all_are_selected(a: Any) -> Any:
    return a[np.ones(a.shape, bool)].sum() + a[np.zeros(a.shape, bool)].sum()


def test_masks_that_are_constant() -> None:
    """An element was chosen by the constant True."""
    assert_agree(all_are_selected, np.arange(6).reshape(2, 3))
