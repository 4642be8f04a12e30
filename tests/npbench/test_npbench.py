"""Kernels of numerical Python, decorated without an edit, and the same ones as loops.

35 of the 36 kernels in NumPy style are as they would be written without us. `mandelbrot2` is the
one that is not: it drops the points that have escaped, with `Z = Z[I]`, and the size of that
array is known only when the points have been counted; its edited form keeps a mask.

Tolerances are there for sums: NumPy adds in pairs and calls BLAS, a script adds in order.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from tests.npbench import data, kernels, loops
from tests.support.array_results import assert_agree, assert_close
from tests.support.oracle import fresh_copies

Array = Any
_ARRAY: type[Any] = np.ndarray
# Kernels whose arrays may be of another type; the others compute in a type of their own.
OTHER_TYPES = {
    **dict.fromkeys(
        ("atax", "cholesky", "correlation", "doitgen", "durbin", "fdtd_2d", "gemm", "gemver"),
        "float32",
    ),
    **dict.fromkeys(("gesummv", "go_fast", "gramschmidt", "jacobi_1d", "jacobi_2d"), "float32"),
    **dict.fromkeys(("k2mm", "lu", "mvt", "seidel_2d", "spmv", "symm", "syrk"), "float32"),
    **dict.fromkeys(("vadv", "cholesky2"), "float32"),
    **dict.fromkeys(("floyd_warshall", "nussinov"), "int64"),
    "softmax": "float64",
}


def strided(array: Array) -> Array:
    """A view of every second element, along every axis."""
    host = np.zeros([2 * n for n in array.shape], array.dtype)
    view = host[tuple([slice(None, None, 2)] * array.ndim)]
    view[...] = array
    return view


def backwards(array: Array) -> Array:
    """A view with negative steps, of memory with the strides of the array."""
    view = array[tuple([slice(None, None, -1)] * array.ndim)]
    view[...] = array.copy()
    return view


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "F": np.asfortranarray,
    "strided, backwards": lambda array: backwards(strided(array)),
}
# Each layout is compiled for, which takes half as long for this one as for all others together. Its
# loops are those of np.linalg: tests/differential/test_linear_algebra.py runs them on layouts.
IN_LAYOUTS = [name for name in data.KERNELS if name != "contour_integral"]


def in_layout(args: data.Arguments, layout: str) -> data.Arguments:
    """The arguments with their arrays laid out another way."""
    change = LAYOUTS[layout]
    return tuple(change(arg) if isinstance(arg, _ARRAY) else arg for arg in args)


def decorated(form: ModuleType, name: str) -> Any:
    """A kernel, made a script."""
    return hybrid.script(getattr(form, name))


def run_plainly(name: str, args: data.Arguments) -> tuple[Any, list[Any]]:
    """What NumPy gives, and the arguments afterwards."""
    copies = fresh_copies(args)
    with np.errstate(all="ignore"):
        return getattr(kernels, name)(*copies), copies


def arrays_in(result: Any) -> list[Any]:
    """The arrays among the results of a kernel."""
    results: list[Any] = [*result] if hasattr(result, "count") else [result]
    return [found for found in results if isinstance(found, _ARRAY)]


def assert_equal_to_numpy(name: str, args: data.Arguments) -> None:
    """The loop form gives what the NumPy form gives in plain Python."""
    wanted, arguments = run_plainly(name, args)
    found = fresh_copies(args)
    assert_close(decorated(loops, name)(*found), wanted)
    for got, want in zip(found, arguments, strict=True):
        assert_close(got, want)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", data.KERNELS)
def test_numpy_form(name: str):
    assert_agree(decorated(kernels, name), data.make(name))


@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", data.KERNELS)
def test_loop_form(name: str):
    assert_equal_to_numpy(name, data.make(name))


@pytest.mark.parametrize("name", data.KERNELS)
def test_data_is_not_a_fixed_point(name: str):
    """A kernel that does nothing would be found out: it returns or changes something."""
    args = data.make(name)
    result, changed = run_plainly(name, args)
    pairs = [pair for pair in zip(args, changed, strict=True) if isinstance(pair[0], _ARRAY)]
    assert result is not None or not all(np.array_equal(*pair) for pair in pairs)
    for found in arrays_in(result):
        assert np.isfinite(found).all()
        assert len(set(found.ravel().tolist())) > 1


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", sorted(OTHER_TYPES))
def test_other_types(name: str):
    args = data.make(name, dtype=OTHER_TYPES[name])
    assert_agree(decorated(kernels, name), args)
    assert_equal_to_numpy(name, args)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", data.KERNELS)
def test_layout_of_loops(name: str):
    assert_equal_to_numpy(name, in_layout(data.make(name), "strided, backwards"))


@pytest.mark.sampled(48)
@pytest.mark.parametrize("name", IN_LAYOUTS)
def test_layouts(name: str):
    """One translation, compiled for each layout."""
    kernel = decorated(kernels, name)
    for layout in LAYOUTS:
        args = in_layout(data.make(name), layout)
        wanted, arguments = run_plainly(name, args)
        found = fresh_copies(args)
        assert_close(kernel(*found), wanted)
        for got, want in zip(found, arguments, strict=True):
            assert_close(got, want)
