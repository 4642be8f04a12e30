"""Sorting: rows are sorted by functions of NumPy, whatever calls them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.ir.dtype import DTYPES
from tests.frontend.from_text import script_from_text
from tests.support.array_results import assert_agree
from tests.support.own_process import run_program
from tests.support.parallel_programs import on_threads

np: Any = numpy
Array = Any


def sort(a: Array):
    return np.sort(a)


def argsort(a: Array):
    return np.argsort(a)


def median(a: Array):
    return np.median(a)


def percentile(a: Array):
    return np.percentile(a, 30)


def stable_argsort(a: Array):
    return np.argsort(a, kind="stable"), np.argsort(a, stable=True), np.argsort(a, kind="mergesort")


def rows_and_columns(a: Array):
    b = a[: len(a) // 4 * 4].reshape(4, -1)
    return (
        np.sort(b),
        np.sort(b, axis=0),
        np.argsort(b, axis=0, kind="stable"),
        np.sort(b[::-1, ::2]),
    )


def disordered(dtype: str, size: int) -> Any:
    """Numbers with equals; NaNs where there are any."""
    rng = np.random.default_rng(size)
    numbers = rng.integers(-50, 50, size).astype(DTYPES[dtype].numpy)
    if numbers.dtype.kind == "c":
        numbers = numbers + 1j * rng.integers(-2, 2, size)
    if numbers.dtype.kind in "fc":
        numbers[::13] = np.nan
    return numbers


FUNCTIONS = [sort, argsort, stable_argsort, rows_and_columns]


@pytest.mark.sampled(16)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_as_numpy_sorts(function: Any, dtype: str) -> None:
    if function is argsort and dtype == "bfloat16":
        pytest.skip("which of equals comes first is left open, and NumPy sorts them otherwise")
    kernel: Any = hybrid.script(function)
    for size in (0, 1, 7, 64, 1000):
        assert_agree(kernel, [disordered(dtype, size)])


WRONG = {
    "kind='quicksort', stable=True": "can't be provided at the same time",
    "kind='fast'": "sort kind must be",
    "order='x'": "Cannot specify order",
}


@pytest.mark.parametrize("options", WRONG)
@pytest.mark.parametrize("name", ["sort", "argsort"])
def test_options_that_numpy_refuses(name: str, options: str) -> None:
    text = f"def f(a):\n    return np.{name}(a, {options})\n"
    kernel = script_from_text(text, {"np": np})
    with pytest.raises(ValueError, match=WRONG[options]):
        kernel(np.ones(3))
    with pytest.raises(ValueError, match=WRONG[options]):
        kernel.py_func(np.ones(3))


@pytest.mark.parametrize("function", [sort, argsort, median, percentile])
def test_what_sorts_is_called(function: Any) -> None:
    """It is not a part of the code, so that a sort takes no longer to compile than a copy."""
    kernel: Any = hybrid.script(function)
    assert "numpy_" in str(kernel.prim_func(hj.f64["n"]))
    assert "while" not in str(kernel.prim_func(hj.f64["n"]))


PROGRAM = """
    import numpy as np
    from hybridjit import hybrid

    @hybrid.script
    def ordered(a):
        return np.sort(a), np.argsort(a)

    a = np.random.default_rng(0).random(1000)
    source = ordered.report(a).compiled.source
    values, places = ordered(a)
    assert (values == np.sort(a)).all() and (a[places] == values).all()
    print(source)
"""


def test_code_that_sorts_is_kept_for_later_processes(tmp_path: Path) -> None:
    """NumPy is elsewhere in memory then: each process finds its functions anew."""
    settings = {"HYBRIDJIT_CACHE": "1", "HYBRIDJIT_CACHE_DIR": str(tmp_path / "cache")}
    found = [run_program(tmp_path, PROGRAM, **settings).strip() for _ in range(2)]
    assert found == ["compiled now", "read from disk"]


@hybrid.script
def sorts_rows_in_parallel(a: Any, o: Any) -> None:
    for i in hybrid.parallel(a.shape[0]):
        o[i] = np.argsort(a[i])


def test_rows_are_sorted_on_threads() -> None:
    a = np.random.default_rng(0).integers(-9, 9, (5, 33)).astype(np.int16)
    o = np.zeros((5, 33), np.int64)
    with on_threads(2):
        sorts_rows_in_parallel(a, o)
    np.testing.assert_array_equal(np.take_along_axis(a, o, 1), np.sort(a, 1))
