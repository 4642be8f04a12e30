"""How a scalar becomes another type: casts, checks, and constants converted now."""

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.errors import TypeMismatch
from hybridjit.hybrid import (
    bfloat16,
    complex64,
    float16,
    float32,
    int8,
    int16,
    int64,
    uint8,
    uint64,
)
from hybridjit.ir.dtype import (
    BFLOAT16,
    BOOL,
    COMPLEX64,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT32,
    INT64,
    UINT8,
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    DType,
    ScalarType,
)
from hybridjit.ir.expr import Cast, Const, Expr, Ne, Var
from hybridjit.scalars.conversion import as_number, convert, join_types, store_value, truth
from hybridjit.scalars.scalar import Scalar
from tests.support.oracle import run_plain_and_interpreted

Array = Any
Number = Any


def variable(type: ScalarType) -> Scalar:
    return Scalar(Var("x", type.dtype), type)


def constant(value: complex, type: ScalarType) -> Scalar:
    return Scalar(Const(value, type.dtype), type)


def converted(value: Scalar, dtype: DType) -> Expr:
    return convert(value, dtype, None)


# Values that are not known


def test_a_value_of_the_type_is_left_alone() -> None:
    x = variable(ScalarType(INT32))
    assert converted(x, INT32) is x.expr


@pytest.mark.parametrize(
    ("source", "dtype", "checked"),
    [
        (WEAK_INT, INT8, True),
        (WEAK_INT, FLOAT32, False),
        (WEAK_FLOAT, INT8, False),
        (ScalarType(INT64), INT8, False),
        (WEAK_BOOL, INT8, False),
    ],
    ids=str,
)
def test_only_a_python_int_is_checked_when_it_is_narrowed(
    source: ScalarType, dtype: DType, checked: bool
) -> None:
    cast = converted(variable(source), dtype)
    assert isinstance(cast, Cast)
    assert cast.checked is checked


# Constants


@pytest.mark.parametrize(
    ("value", "type", "dtype", "expected"),
    [
        (3, WEAK_INT, FLOAT32, 3.0),
        (True, WEAK_BOOL, INT8, 1),
        (2, WEAK_INT, BOOL, True),
        (0.1, WEAK_FLOAT, FLOAT32, float(np.float32(0.1))),
        (300, ScalarType(INT32), INT8, 44),
        (-1, ScalarType(INT32), UINT8, 255),
        (1e10, WEAK_FLOAT, INT32, 2**31 - 1),
        (float("nan"), WEAK_FLOAT, INT32, 0),
        (-1.9, WEAK_FLOAT, INT32, -1),
        (-1.0, WEAK_FLOAT, UINT8, 0),
        (1 << 70, WEAK_INT, FLOAT64, float(1 << 70)),
        (100000, WEAK_INT, FLOAT16, float("inf")),
        (1.5, WEAK_FLOAT, COMPLEX64, 1.5 + 0j),
        (1.00390625, WEAK_FLOAT, BFLOAT16, 1.0),
    ],
    ids=str,
)
def test_a_constant_is_converted_now(
    value: complex, type: ScalarType, dtype: DType, expected: complex
) -> None:
    assert converted(constant(value, type), dtype) == Const(expected, dtype)


@pytest.mark.parametrize("value", [-129, 128, 1 << 70])
def test_a_python_int_that_does_not_fit_is_refused(value: int) -> None:
    with pytest.raises(TypeMismatch, match=rf"{value} does not fit in int8 \(-128 to 127\)"):
        converted(constant(value, WEAK_INT), INT8)


def test_a_python_int_too_large_for_a_float_is_refused() -> None:
    with pytest.raises(TypeMismatch, match="a Python integer of 2001 bits is too large for float"):
        converted(constant(1 << 2000, WEAK_INT), FLOAT64)


# Stores


@pytest.mark.parametrize("dtype", [FLOAT64, INT32], ids=str)
def test_storing_a_complex_value_in_a_real_element_is_refused(dtype: DType) -> None:
    with pytest.raises(TypeMismatch, match="it would lose its imaginary part"):
        store_value(variable(WEAK_COMPLEX), dtype, None)


def test_a_complex_value_has_a_truth() -> None:
    assert isinstance(store_value(variable(WEAK_COMPLEX), BOOL, None), Cast)


# Conditions and joins


def test_the_truth_of_a_number_is_that_it_is_not_zero() -> None:
    x = variable(ScalarType(FLOAT32))
    assert truth(x, None) == Ne(x.expr, Const(0.0, FLOAT32))


def test_the_truth_of_a_bool_is_itself() -> None:
    x = variable(ScalarType(BOOL))
    assert truth(x, None) is x.expr


@pytest.mark.parametrize(("value", "expected"), [(0, False), (-0.0, False), (float("nan"), True)])
def test_the_truth_of_a_constant_is_known(value: float, expected: bool) -> None:
    type = WEAK_INT if isinstance(value, int) else WEAK_FLOAT
    assert truth(constant(value, type), None) == Const(expected, BOOL)


def test_types_without_a_common_one_are_refused() -> None:
    with pytest.raises(TypeMismatch, match="bfloat16 and int32 have no common type in NumPy"):
        join_types(ScalarType(BFLOAT16), ScalarType(INT32), None)


def test_a_python_bool_is_an_int_in_arithmetic() -> None:
    assert as_number(constant(True, WEAK_BOOL)) == constant(1, WEAK_INT)


def test_a_numpy_bool_stays_a_bool() -> None:
    x = variable(ScalarType(BOOL))
    assert as_number(x) is x


# Scripts


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint64", "float64", "float16", "bool"])
def test_casts_agree_with_plain_python(dtype: str) -> None:
    @hybrid.script
    def f(a: Array) -> Number:
        x = a[0]
        integers = int8(x), int16(x), int64(x), uint8(x), uint64(x)
        floats = float16(x), float32(x), bfloat16(x), complex64(x)
        python = int(x), float(x)
        return integers + floats + python

    run_plain_and_interpreted(f, [np.array([100]).astype(dtype)])


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float32", "bool", "complex64"])
def test_python_casts_agree_with_plain_python(dtype: str) -> None:
    @hybrid.script
    def f(a: Array) -> Number:
        return bool(a[0]), complex(a[0])

    run_plain_and_interpreted(f, [np.array([100]).astype(dtype)])


def test_a_python_int_is_checked_when_it_is_stored() -> None:
    @hybrid.script
    def f(a: Array, n: Number) -> None:
        a[0] = n

    run_plain_and_interpreted(f, [np.zeros(1, np.int8), 127])
    with pytest.raises(OverflowError, match="128 out of bounds for int8"):
        f.interpret(np.zeros(1, np.int8), 128)


def test_an_unsigned_index_that_is_no_int64_is_refused() -> None:
    @hybrid.script
    def f(a: Array, i: Number) -> Number:
        return a[i]

    with pytest.raises((OverflowError, IndexError), match="18446744073709551615"):
        f.interpret(np.zeros(4), np.uint64(2**64 - 1))
