"""The parts of floats and their neighbours: every bit as in NumPy and Python."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from tests.support.oracle import fresh

np: Any = numpy
NUMBERS = [0.0, -0.0, 1.0, -1.0, 2.5, -4.0, 1024.0, np.inf, -np.inf, np.nan]
KINDS = (("float16", "uint16"), ("float32", "uint32"), ("float64", "uint64"))
EXPONENTS = (0, 1, -1, 53, -60, 1074, -1030, -1074, 2000, -2100, 10**6, -(10**6))


def odd_numbers(dtype: str, bits: str, count: int = 300) -> Any:
    """Numbers of every size, those at the ends among them."""
    info = np.finfo(dtype)
    ends = [info.max, -info.max, info.tiny, -info.tiny, info.tiny / 2, info.tiny * 2, info.eps]
    ends += [info.smallest_subnormal, -info.smallest_subnormal, info.tiny * 1.5, info.tiny * 4]
    any_bits = np.random.default_rng(3).integers(0, np.iinfo(bits).max, count, bits, True)
    return np.concatenate((np.array(NUMBERS + ends, dtype), any_bits.view(dtype)))


def assert_same_bits(found: Any, wanted: Any) -> None:
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)
    numbers = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(wanted)[numbers])


@hybrid.script
def distance(x: Any) -> Any:
    return np.spacing(x)


@hybrid.script
def neighbour(x: Any, y: Any) -> Any:
    return np.nextafter(x, y)


@hybrid.script
def parts(x: float, y: float, i: int) -> Any:
    return math.frexp(x), math.ldexp(x, i), math.nextafter(x, y), math.ulp(x)


@hybrid.script
def total(x: Any) -> float:
    return math.fsum(x)


def ways(kernel: Any) -> Any:
    return fresh(kernel), fresh(kernel).interpret


@pytest.mark.parametrize(("dtype", "bits"), KINDS)
def test_neighbours(dtype: str, bits: str) -> None:
    x = odd_numbers(dtype, bits)
    others = x[::-1].copy(), np.zeros_like(x), np.full_like(x, np.inf), np.full_like(x, -np.inf)
    with np.errstate(all="ignore"):
        for way in ways(distance):
            assert_same_bits(way(x), np.spacing(x))
        for way in ways(neighbour):
            for y in others:
                assert_same_bits(way(x, y), np.nextafter(x, y))


def test_neighbours_of_integers_are_floats() -> None:
    for dtype in (np.int8, np.int64):
        x = np.arange(-2, 4).astype(dtype)
        assert_same_bits(distance(x), np.spacing(x))


def scaled(x: float, i: int) -> float:
    try:
        return math.ldexp(x, i)
    except OverflowError:
        return math.copysign(math.inf, x)


def test_parts() -> None:
    way, interpreted = ways(parts)
    for number, x in enumerate(map(float, odd_numbers("float64", "uint64", 40))):
        for i in EXPONENTS:
            wanted = math.frexp(x), scaled(x, i), math.nextafter(x, 1.0), math.ulp(x)
            assert repr(way(x, 1.0, i)) == repr(wanted)
        if number % 5 == 0:
            assert repr(interpreted(x, 1.0, 3)) == repr(
                (math.frexp(x), scaled(x, 3), math.nextafter(x, 1.0), math.ulp(x))
            )


def test_sums_are_rounded_once() -> None:
    rng = np.random.default_rng(5)
    way, interpreted = ways(total)
    for number in range(60):
        x = rng.standard_normal(40) * 10.0 ** rng.integers(-30, 30, 40)
        x = np.concatenate((x, -x[::-1], [1e-5])) if number % 2 else x
        assert way(x) == math.fsum(x)
        assert number % 20 or interpreted(x) == math.fsum(x)
    for few in ([], [1e16, 1.0, 1e-16], [0.1] * 10, [1.0, np.inf], [-0.0]):
        assert way(np.array(few)) == math.fsum(few)


@pytest.mark.parametrize(
    ("numbers", "error"), [([1e308, 1e308], OverflowError), ([np.inf, -np.inf], ValueError)]
)
def test_sums_that_are_no_number(numbers: Any, error: type[Exception]) -> None:
    for way in (*ways(total), total.py_func):
        with pytest.raises(error, match="in fsum"):
            way(np.array(numbers))
