"""float16 and bfloat16 to and from every type, for every kind of processor, against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.hybrid import vectorize
from tests.corpus.case import Array
from tests.support.processors import PROCESSORS, compiling_for

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool")
_EVERY_WORD: Any = np.arange(1 << 16, dtype=np.uint16)
EVERY_HALF: Any = _EVERY_WORD.view(np.float16)


def convert(a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        b[i] = a[i]


def convert_in_lanes(a: Array, b: Array) -> None:
    for i in vectorize(len(a)):
        b[i] = a[i]


def converted(values: Array, dtype: Any, cpu: str) -> Array:
    """`values` as NumPy has them, after each way of our own has given the same."""
    with np.errstate(all="ignore"):
        expected = values.astype(dtype)
    with compiling_for(cpu):
        for function in (convert, convert_in_lanes):
            found = np.zeros(values.shape, dtype)
            hybrid.script(function)(values, found)
            np.testing.assert_array_equal(*_comparable(found, expected))
    return expected


def _comparable(*arrays: Array) -> list[Array]:
    """Arrays as integers: all NaNs alike, the zeros not."""
    with np.errstate(all="ignore"):
        wide: list[Any] = [array.astype(np.float64) for array in arrays]
    alike: list[Any] = [np.where(np.isnan(x), np.array(np.nan), x) for x in wide]
    return [x.view(np.int64) for x in alike]


def narrowed(source: str, target: Any, bits: str) -> Array:
    """Every value of `target`, the middle between each two, their neighbours, and random bits."""
    with np.errstate(all="ignore"):
        return _narrowed(source, target, bits)


def _narrowed(source: str, target: Any, bits: str) -> Array:
    every: Any = _EVERY_WORD.view(target).astype(source)
    finite = np.sort(every[np.isfinite(every)])
    middles = (finite[1:].astype("float64") + finite[:-1]).astype(source) / 2
    sides = [
        np.nextafter(values, np.array(s, source))
        for values in (middles, finite)
        for s in (-np.inf, np.inf)
    ]
    numbers: Any = np.random.default_rng(3)
    most = int(np.iinfo(bits).max)
    noise = numbers.integers(0, most, 200_000, bits, endpoint=True).view(source)
    near = (numbers.standard_normal(200_000) * 2.0 ** numbers.integers(-28, 18, 200_000)).astype(
        source
    )
    edges = np.array([65504, 65519.996, 65520, 65520.004, 2.0**-25, 3 * 2.0**-26], source)
    return np.concatenate([every, middles, *sides, noise, near, edges, -edges])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("cpu", PROCESSORS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bool"])
def test_every_float16_is_converted(dtype: str, cpu: str) -> None:
    converted(EVERY_HALF, dtype, cpu)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("cpu", PROCESSORS)
@pytest.mark.parametrize(("source", "bits"), [("float32", "uint32"), ("float64", "uint64")])
def test_floats_are_rounded_once_to_float16(source: str, bits: str, cpu: str) -> None:
    converted(narrowed(source, np.float16, bits), np.float16, cpu)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("cpu", PROCESSORS)
@pytest.mark.parametrize(("source", "bits"), [("float32", "uint32"), ("float64", "uint64")])
def test_floats_are_rounded_to_bfloat16(source: str, bits: str, cpu: str) -> None:
    values = narrowed(source, ml_dtypes.bfloat16, bits)
    converted(values, ml_dtypes.bfloat16, cpu)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("cpu", PROCESSORS)
@pytest.mark.parametrize("source", INTEGERS)
def test_integers_become_float16(source: str, cpu: str) -> None:
    values = np.arange(-(1 << 16), 1 << 18, 7).astype(source)
    converted(values, np.float16, cpu)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("cpu", PROCESSORS)
@pytest.mark.parametrize("dtype", ["int16", "int64", "uint8", "uint64"])
def test_every_whole_float16_that_fits_becomes_an_integer(dtype: str, cpu: str) -> None:
    bounds: Any = np.iinfo(dtype)
    with np.errstate(all="ignore"):  # NumPy on ARM warns of NaN that signals
        wide = EVERY_HALF.astype(np.float64)
    fits = np.isfinite(wide) & (wide >= bounds.min) & (wide <= bounds.max)
    converted(EVERY_HALF[fits], dtype, cpu)
