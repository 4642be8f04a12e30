"""Functions of NumPy at their edges: no elements, one element, odd types, absurd sizes.

Where NumPy gives a value, so does a kernel, of the same type; where it raises, a kernel does.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import Kernel, hybrid
from hybridjit.errors import InternalError
from tests.frontend.from_text import script_from_text
from tests.support.array_results import assert_close, run_ways
from tests.support.oracle import fresh, run_once, run_plain

np: Any = numpy
_RNG = np.random.default_rng(11)
_INF, _NAN = np.inf, np.nan
ARRAYS: dict[str, Any] = {
    "none": np.zeros(0),
    "rowless": np.zeros((0, 3)),
    "columnless": np.zeros((3, 0)),
    "one": np.array([1.0]),
    "number": np.array(3.0),
    "vector": _RNG.random(5),
    "matrix": _RNG.random((5, 5)),
    "halves": _RNG.random(5).astype(np.float16),
    "singles": (_RNG.random(50) * 9).astype(np.float32),
    "whole": _RNG.integers(-5, 6, 5),
    "bools": _RNG.random(5) > 0.5,
    "mask": np.array([True, False, True, True, False]),
    "complexes": _RNG.random(5) + 1j * _RNG.random(5),
    "infinite": np.array([[1, _INF, _NAN, 2], [3, 4, 5, _NAN], [_NAN] * 4]),
    "nans": np.array([_NAN, 0.5, 2.0]),
    "stack": _RNG.random((3, 4, 4)) + 2 * np.eye(4),
    "stacks": _RNG.random((2, 1, 4, 4)) + 2 * np.eye(4),
    "emptystack": np.zeros((0, 4, 4)),
    "signed": np.array([1, 127, 3], np.int8),
    "unsigned": np.array([255, 0], np.uint8),
    "sides": _RNG.random((3, 4, 2)),
    "quad": _RNG.random(4),
    "minus": -2,
    "huge": 2**62 + 1,
}
CALLS = """
    np.triu(vector)
    np.tril(vector, -1)
    np.triu(none, 1)
    np.extract(mask[:3], vector)
    np.extract(none, vector)
    np.extract(mask, one)
    np.polyval(mask, bools)
    np.polyval(bools, vector)
    np.polyval(none, -vector)
    np.polyval(whole.astype(np.uint8), bools)
    np.polyval(whole.astype(np.uint8), mask[0])
    np.polyval(whole.astype(np.uint8), True), np.polyval(whole.astype(np.uint8), 2)
    np.polyval(halves, minus), np.polyval(halves, 0.5), np.polyval(mask, 0.5)
    np.dot(halves, 2), np.dot(0.5, singles), np.dot(mask, 2), np.dot(mask, True)
    np.outer(halves, 2), np.outer(2, mask), np.inner(halves, 2), np.kron(halves, 2)
    np.asarray(2) * halves, np.asarray(0.5) * singles, np.array(1) + mask
    np.ascontiguousarray(2), np.ascontiguousarray(number), np.ascontiguousarray(number, int)
    np.block(2), np.block([2]), np.block(number), np.block([[number]]), np.block(vector)
    np.quantile(singles, 1), np.quantile(singles, whole[0] * 0), np.quantile(singles, mask[0])
    np.quantile(singles, mask), np.quantile(singles, halves), np.quantile(whole, mask)
    np.quantile(halves, singles[:0] + 1), np.quantile(whole, singles[:0])
    np.percentile(singles, 50), np.percentile(singles, quad), np.percentile(whole, halves)
    np.nanquantile(singles, 0), np.nanquantile(singles, quad), np.nanquantile(whole, mask)
    np.hanning(7.0), np.blackman(mask[0])
    np.column_stack((number, number))
    np.column_stack((number, one, rowless[:, :1].T))
    np.kron(number, vector)
    np.kron(number, number)
    np.kron(matrix, number)
    np.cross(quad, quad)
    np.maximum(rowless, rowless[0])
    rowless @ rowless[0]
    np.broadcast_to(rowless[0], (2, 3)) * 1
    np.meshgrid(rowless[0], rowless[0])[0]
    rowless - rowless[-1]
    rowless.shape[0] + len(rowless[0])
    columnless[7] + none
    matrix[::-1] @ vector
    matrix[:, ::-1] @ vector
    vector @ matrix[::-1]
    np.pad(none, 2, "reflect")
    np.pad(none, 0, "reflect")
    np.pad(none, 2, "symmetric")
    np.pad(none, 2, "wrap")
    np.pad(none, 2, "edge")
    np.pad(rowless, ((0, 0), (1, 1)), "wrap")
    np.pad(rowless, ((1, 1), (0, 0)), "wrap")
    np.pad(vector, minus)
    bools ** 2
    bools ** 3
    np.power(bools, 2)
    np.sum(halves, where=mask)
    np.prod(halves, where=mask)
    np.sum(halves, initial=0.5)
    np.max(bools, where=mask, initial=0)
    np.max(whole, where=mask, initial=2.5)
    np.any(whole, where=mask)
    np.vdot(bools, mask)
    np.vecdot(bools, mask)
    np.vecdot(whole.astype(np.int8), whole.astype(np.int8))
    np.round(bools)
    np.gcd(vector, vector)
    np.lcm(bools, bools)
    np.quantile(complexes, 0.5)
    np.percentile(complexes, 50)
    np.nanquantile(complexes, 0.5)
    np.average(rowless, axis=0)
    np.average(rowless, axis=1)
    np.average(columnless, axis=0)
    np.average(none)
    np.linalg.norm(rowless, np.inf)
    np.linalg.norm(rowless, 1)
    np.linalg.norm(columnless, 1)
    np.linalg.norm(none, np.inf)
    np.linalg.norm(none, -np.inf)
    np.linalg.norm(matrix, 3)
    np.linalg.norm(stack, 1), np.linalg.norm(number, np.inf)
    np.linalg.norm(stack, "fro")
    np.linalg.norm(rowless, 2), np.linalg.norm(columnless, "nuc")
    np.linalg.norm(vector, "fro")
    np.nanvar(infinite)
    np.nanvar(infinite, axis=0)
    np.nanstd(infinite, axis=1)
    np.histogram(singles)
    np.histogram(singles, 7, (0, 1))
    np.histogram(singles, 3, density=True)
    np.histogram(halves, 3)
    np.histogram(none)
    np.histogram(vector, 0)
    np.histogram(vector, 3, (2, 1))
    np.histogram(infinite)
    np.histogram(vector, vector[::-1] * vector)
    np.linspace(singles[0], singles[1], 5)
    np.linspace(singles[0], 2.0, 5)
    np.geomspace(singles[0], singles[1], 4)
    np.interp(nans, one, one)
    np.interp(nans, one, one, left=-1.0, right=9.0)
    np.interp(nans, nans[1:], nans[1:])
    np.interp(nans, none, none)
    np.nanmedian(none, axis=0)
    np.nanmedian(rowless, axis=0)
    np.nanmedian(rowless, axis=1)
    np.nanmedian(columnless, axis=1)
    np.sort(columnless, axis=1)
    np.take_along_axis(columnless, np.argsort(columnless, axis=1), axis=1)
    np.partition(vector, 7)
    np.percentile(vector, 50, axis=0, keepdims=True)
    np.percentile(matrix, (25, 50), axis=1, keepdims=True)
    np.quantile(matrix, (0.25, 0.5), keepdims=True)
    np.percentile(none, 50)
    np.percentile(rowless, (25, 50), axis=0)
    np.nanquantile(none, 0.5)
    np.nanquantile(rowless, 0.5, axis=0)
    np.nanquantile(rowless, 0.5, axis=1)
    np.nanquantile(columnless, 0.5, axis=1, keepdims=True)
    np.nanquantile(infinite, 0.4)
    np.nanquantile(infinite, 0.4, axis=0)
    np.nanquantile(infinite, (0.4, 1), axis=1)
    np.nanpercentile(nans, (0, 50), keepdims=True)
    np.nanquantile(none, 1.5)
    np.nanquantile(rowless, -0.5, axis=1)
    np.nanquantile(nans, np.nan)
    np.nanpercentile(nans, 101)
    np.quantile(vector, np.nan)
    np.max(rowless, axis=0)
    np.max(rowless, axis=1)
    np.argmin(np.zeros((0, 0)), axis=0)
    np.linalg.det(stack)
    np.linalg.det(stacks)
    np.linalg.det(emptystack)
    np.linalg.inv(stack)
    np.linalg.solve(stack, quad)
    np.linalg.solve(stack, sides)
    np.linalg.solve(stacks, sides)
    np.linalg.solve(stack[0], sides)
    np.linalg.solve(stack, sides[0])
    np.linalg.det(vector)
    np.linalg.det(matrix[:1])
    np.linalg.det(matrix[:, :1])
    np.linalg.inv(matrix[:1])
    np.linalg.cholesky(matrix[:1])
    np.linalg.matrix_power(stack, 0)
    np.linalg.matrix_power(stack, 3)
    np.linalg.matrix_power(stack, -2)
    np.linalg.matrix_power(stacks, 2)
    np.linalg.matrix_power(stack[:, :3], 0)
    np.linalg.matrix_power(matrix[:1], 1)
    np.bincount(signed)
    np.bincount(unsigned)
    np.bincount(signed, minlength=200)
    np.unwrap(whole, period=4)
    np.unwrap(whole, period=5)
    np.unwrap(whole.astype(np.int16), discont=3, period=5)
    np.unwrap(vector, period=4)
    np.nanmean(whole, dtype=np.float32)
    np.nanvar(whole, dtype=np.float32)
    np.nanstd(whole, axis=0, dtype=np.float32)
    np.nanmedian(infinite, keepdims=True)
    np.nanmedian(infinite, axis=1, keepdims=True)
    np.gradient(complexes)
    np.gradient(complexes.astype(np.complex64), 0.5)
    np.gradient(complexes, np.arange(5) ** 2)
    matrix.reshape(minus, -2) * 1
    columnless.reshape(-1, 0) * 1
    np.tile(vector, huge)
    np.tile(vector, 2**62 + 1)
    np.tile(vector, minus)
    np.repeat(vector, minus)
    np.zeros(minus)
    np.zeros(minus).sum()
    np.zeros((huge, huge))
    np.full(minus, 1.0)
    np.ones(huge)
    np.arange(huge)
    np.arange(huge, huge + 3)
    np.linspace(0, 1, minus)
    np.broadcast_to(1.0, (minus, 2)).sum()
    np.eye(minus)
    np.concatenate((np.zeros(minus), vector))
    np.squeeze(matrix[:1]) * 1
    np.squeeze(matrix, axis=0) * 1
    np.cov(matrix[:1])
    np.corrcoef(matrix[:1])
    np.setxor1d(nans, infinite), np.intersect1d(nans, infinite)
    np.setxor1d(none, nans), np.intersect1d(nans, none)
    np.setxor1d(nans, whole), np.intersect1d(whole, bools)
"""


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _names_in(call: str) -> list[str]:
    words = set("".join(c if c.isalnum() else " " for c in call).split())
    return [name for name in ARRAYS if name in words]


def _kernel(body: str) -> Kernel[..., Any]:
    return script_from_text(f"def f({', '.join(_names_in(body))}):\n    {body}\n", {"np": np})


def _assert_as_numpy(body: str) -> None:
    kernel, args = _kernel(body), [ARRAYS[name] for name in _names_in(body)]
    expected = run_once(run_plain, kernel, args)
    for name, found in run_ways(kernel, args, fresh(kernel)).items():
        assert not isinstance(found.error, InternalError), f"{name}: {found.error!r}"
        if expected.error is not None:
            assert found.error is not None, f"{name} gave {found.result!r}, not {expected.error!r}"
            continue
        assert found.error is None, f"{name} raised {found.error!r}"
        assert_close(found.result, expected.result)
        assert_close(tuple(found.arguments), tuple(expected.arguments))


@pytest.mark.sampled(18)
@pytest.mark.parametrize("call", _lines(CALLS))
def test_is_as_numpy(call: str) -> None:
    _assert_as_numpy(f"return {call}")


STATEMENTS = """
    number += 1
    number *= 2; number -= one[0]
    rowless += rowless[0]
    rowless[:] = 1.5
    columnless[7] = 1.0
    columnless[-4] += 1
    columnless[7, :] = none
    for i in range(4): columnless[i] = 1.0
    for i in range(3): columnless[i] = 1.0
"""


@pytest.mark.parametrize("body", _lines(STATEMENTS))
def test_statement_is_as_numpy(body: str) -> None:
    _assert_as_numpy(body)


@pytest.mark.parametrize("call", ["np.repeat(vector, huge)", "np.repeat(vector, 2**62 + 1)"])
def test_refuses_what_numpy_crashes_on(call: str) -> None:
    kernel = _kernel(f"return {call}")
    args = [ARRAYS[name] for name in _names_in(call)]
    for found in run_ways(kernel, args, fresh(kernel)).values():
        assert isinstance(found.error, ValueError)
        assert "too big" in str(found.error)


@pytest.mark.parametrize("call", ["np.nanquantile(none, [0.1, 0.5])"])
def test_refuses_what_has_no_axis_for_quantiles_in_numpy(call: str, unchecked: None) -> None:
    """NumPy gives one NaN where there are no elements, and two numbers where there are some."""
    kernel = _kernel(f"return {call}")
    for found in run_ways(kernel, [ARRAYS["none"]], fresh(kernel)).values():
        assert isinstance(found.error, ValueError)
        assert "at least one element" in str(found.error)


@hybrid.script
def rows_in_rows(a: Any, n: int) -> Any:
    a[n % 2][n % 3] = 7
    return a[n % 2][(n + 1) % 3] + a[0][n % 3]


def test_rows_that_are_sure_to_be_inside_raise_nothing() -> None:
    for n in (0, 5, -3):
        found, expected = np.arange(6).reshape(2, 3), np.arange(6).reshape(2, 3)
        assert rows_in_rows(found, n) == rows_in_rows.py_func(expected, n)
        np.testing.assert_array_equal(found, expected)
