"""The meaning of casts, and of Python's numbers as scalars."""

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hybridjit.interp.scalars import apply_intrinsic, as_scalar, cast, make_cast
from hybridjit.ir.dtype import (
    BFLOAT16,
    BOOL,
    COMPLEX64,
    DTYPES,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT32,
    INT64,
    UINT64,
    DType,
)
from tests.interp.scalar_values import INF, INTEGERS, NAN, assert_same, integer_edges, samples
from tests.support.rows import in_each

pytestmark = pytest.mark.usefixtures("quiet")


def exact_cast(value: Any, to: DType) -> int:
    """What a number becomes in an integer type, by Python's unbounded integers."""
    low, high = to.bounds
    if not isinstance(value, np.inexact | ml_dtypes.bfloat16):
        return (int(value) - low) % (1 << to.bits) + low
    real = float(value.real)
    if math.isnan(real):
        return 0
    return low if real <= low else high if real >= high else int(real)


def edge_values(dtype: DType) -> list[Any]:
    """Values of a type at which some cast is delicate."""
    if dtype.is_bool:
        return samples(dtype)
    if dtype.is_integer:
        return list(integer_edges(dtype, count=5))
    reals = [0.0, -0.0, 0.5, -0.5, 0.99, -1.5, 127.5, 128.0, 255.9, -128.9, 65504.0, 65520.0]
    limits = [float(1 << bits) for bits in (8, 15, 16, 31, 32, 63, 64)]
    below = [math.nextafter(limit, 0) if dtype is FLOAT64 else limit / 2 for limit in limits]
    every = [*reals, *limits, *(-limit for limit in limits), *below, INF, -INF, NAN, 1e30]
    if dtype.is_complex:
        return [dtype.numpy.type(complex(real, imag)) for real in every for imag in (0.0, 1.0)]
    return [dtype.numpy.type(value) for value in every]


@in_each("to", DTYPES.values())
@pytest.mark.parametrize("source", DTYPES.values(), ids=str)
def test_casts(source: DType, to: DType) -> None:
    convert = make_cast(source, to)
    for value in edge_values(source):
        actual = convert(value)
        assert type(actual) is to.numpy.type
        if to.is_bool:
            assert bool(actual) == (complex(value) != 0)
        elif to.is_integer:
            assert int(actual) == exact_cast(value, to), value
        else:
            part = value.real if source.is_complex and not to.is_complex else value
            np.testing.assert_equal(complex(actual), complex(np.array(part).astype(to.numpy)[()]))


@in_each("to", INTEGERS)
@pytest.mark.parametrize("source", INTEGERS, ids=str)
def test_checked_casts(source: DType, to: DType) -> None:
    low, high = to.bounds
    convert = make_cast(source, to, checked=True)
    for value in edge_values(source):
        if low <= int(value) <= high:
            assert_same(convert(value), to.numpy.type(int(value)))
        elif source is not to:
            with pytest.raises(OverflowError, match=f"integer {value} out of bounds for {to}"):
                convert(value)


@pytest.mark.parametrize(
    ("value", "to", "expected"),
    [
        (300, INT8, np.int8(44)),
        (1 << 70, INT8, np.int8(0)),
        ((1 << 64) - 1, INT64, np.int64(-1)),
        (-1, UINT64, np.uint64((1 << 64) - 1)),
        (True, INT32, np.int32(1)),
        (2.9, INT32, np.int32(2)),
        (-1e300, INT64, np.int64(-(1 << 63))),
        (3 + 4j, FLOAT32, np.float32(3.0)),
        (3 + 4j, BFLOAT16, ml_dtypes.bfloat16(3.0)),
        (0.1, FLOAT16, np.float16(0.1)),
        (7, BOOL, np.True_),
        (1e39, FLOAT32, np.float32(INF)),
        # rounded once, from the integer: by way of float64 it would be a tie, and go down
        ((1 << 54) + (1 << 30) + 1, FLOAT32, np.float32((1 << 54) + (1 << 31))),
        (2, COMPLEX64, np.complex64(2)),
    ],
)
def test_cast_takes_python_numbers(value: complex, to: DType, expected: Any) -> None:
    assert_same(cast(value, to), expected)


def test_bfloat16_is_rounded_from_float32() -> None:
    """As ml_dtypes does, from float64 too: 1 + 2**-8 + 2**-40 is a tie once it is a float32."""
    assert_same(cast(1 + 2**-8 + 2**-40, BFLOAT16), ml_dtypes.bfloat16(1.0))


def test_checked_cast_of_a_python_int() -> None:
    assert_same(cast(127, INT8, checked=True), np.int8(127))
    with pytest.raises(OverflowError, match="Python integer 128 out of bounds for int8"):
        cast(128, INT8, checked=True)


# Python values


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, np.True_),
        (3, np.int64(3)),
        (1 << 63, np.uint64(1 << 63)),
        (0.5, np.float64(0.5)),
        (1j, np.complex128(1j)),
        (np.float32(0.5), np.float32(0.5)),
    ],
)
def test_as_scalar(value: object, expected: Any) -> None:
    assert_same(as_scalar(value), expected)


def test_as_scalar_refuses_the_rest() -> None:
    with pytest.raises(TypeError, match="expected a number, not str"):
        as_scalar("1")
    with pytest.raises(OverflowError, match="out of bounds for int64"):
        as_scalar(1 << 64)


def test_public_functions_let_no_warning_escape() -> None:
    with np.errstate(all="raise"):
        assert apply_intrinsic("log", 0.0) == -INF
        assert cast(1e300, FLOAT32) == INF
        assert cast(NAN, INT64) == 0
