"""The meaning of operators on scalars, against NumPy's arrays."""

import itertools
from typing import Any

import numpy as np
import pytest

from hybridjit.interp.scalars import FUNCTIONS, OPERATORS, cast
from hybridjit.ir import expr as ir
from hybridjit.ir.dtype import (
    BFLOAT16,
    BOOL,
    DTYPES,
    FLOAT16,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    DType,
)
from tests.interp.scalar_values import (
    COMPLEXES,
    FLOATS,
    INF,
    INTEGERS,
    NAN,
    NUMBERS,
    Array,
    Ufunc,
    assert_same,
    float_values,
    integer_edges,
    pairs,
    samples,
)
from tests.support.rows import in_each

pytestmark = pytest.mark.usefixtures("quiet")


def check_pairs(cls: type[ir.Expr], ufunc: Ufunc, xs: Array, ys: Array) -> None:
    """The scalar operator on each pair gives what the ufunc gives for the arrays."""
    function, expected = OPERATORS[cls], ufunc(xs, ys)
    for x, y, value in zip(xs, ys, expected, strict=True):
        assert_same(function(x, y), value, (cls.__name__, x, y))


# Integer operators

INTEGER_OPERATORS: list[tuple[type[ir.Expr], Ufunc]] = [
    (ir.Add, np.add),
    (ir.Sub, np.subtract),
    (ir.Mul, np.multiply),
    (ir.FloorDiv, np.floor_divide),
    (ir.Mod, np.remainder),
    (ir.Min, np.minimum),
    (ir.Max, np.maximum),
    (ir.BitAnd, np.bitwise_and),
    (ir.BitOr, np.bitwise_or),
    (ir.BitXor, np.bitwise_xor),
    (ir.ShiftLeft, np.left_shift),
    (ir.ShiftRight, np.right_shift),
]
COMPARISONS: list[tuple[type[ir.Expr], Ufunc]] = [
    (ir.Eq, np.equal),
    (ir.Ne, np.not_equal),
    (ir.Lt, np.less),
    (ir.Le, np.less_equal),
    (ir.Gt, np.greater),
    (ir.Ge, np.greater_equal),
]


@pytest.mark.parametrize(("cls", "ufunc"), INTEGER_OPERATORS + COMPARISONS)
@pytest.mark.parametrize("dtype", [INT8, UINT8], ids=str)
def test_all_bytes_against_the_edges(dtype: DType, cls: type[ir.Expr], ufunc: Ufunc) -> None:
    low, high = dtype.bounds
    every = np.arange(low, high + 1).astype(dtype.numpy)
    xs, ys = pairs(every, integer_edges(dtype, count=4))
    if cls in (ir.FloorDiv, ir.Mod):
        xs, ys = xs[ys != 0], ys[ys != 0]
    check_pairs(cls, ufunc, xs, ys)


@pytest.mark.parametrize(("cls", "ufunc"), INTEGER_OPERATORS + COMPARISONS)
@in_each("dtype", INTEGERS)
def test_integer_edges(dtype: DType, cls: type[ir.Expr], ufunc: Ufunc) -> None:
    edges = integer_edges(dtype, count=3)[::2]
    xs, ys = pairs(edges, edges)
    if cls in (ir.FloorDiv, ir.Mod):
        xs, ys = xs[ys != 0], ys[ys != 0]
    check_pairs(cls, ufunc, xs, ys)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize(
    ("cls", "message"),
    [(ir.FloorDiv, "integer division or modulo by zero"), (ir.Mod, "integer modulo by zero")],
)
def test_integer_division_by_zero(dtype: DType, cls: type[ir.Expr], message: str) -> None:
    for x in samples(dtype):
        with pytest.raises(ZeroDivisionError, match=message):
            OPERATORS[cls](x, dtype.numpy.type(0))


@pytest.mark.parametrize("dtype", [INT8, INT16, INT32, INT64], ids=str)
def test_smallest_integer(dtype: DType) -> None:
    low, minus_one = dtype.numpy.type(dtype.bounds[0]), dtype.numpy.type(-1)
    zero = dtype.numpy.type(0)

    assert_same(OPERATORS[ir.FloorDiv](low, minus_one), low)
    assert_same(OPERATORS[ir.Mod](low, minus_one), zero)
    assert_same(FUNCTIONS["fmod"](low, minus_one), zero)
    assert_same(OPERATORS[ir.Neg](low), low)
    assert_same(FUNCTIONS["abs"](low), low)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integer_power_wraps(dtype: DType) -> None:
    for base, exponent in itertools.product(integer_edges(dtype, 2)[::3], (0, 1, 2, 5, 63, 100)):
        expected = cast(pow(int(base), exponent, 1 << dtype.bits), dtype)
        assert_same(OPERATORS[ir.Pow](base, dtype.numpy.type(exponent)), expected)


@pytest.mark.parametrize("dtype", [INT8, INT16, INT32, INT64], ids=str)
def test_negative_integer_power_is_an_error(dtype: DType) -> None:
    with pytest.raises(ValueError, match="negative integer powers"):
        OPERATORS[ir.Pow](dtype.numpy.type(2), dtype.numpy.type(-1))


@pytest.mark.parametrize("dtype", [BOOL, *INTEGERS], ids=str)
def test_bits(dtype: DType) -> None:
    for x, y in itertools.product(samples(dtype), repeat=2):
        assert_same(OPERATORS[ir.BitAnd](x, y), dtype.numpy.type(int(x) & int(y)))
        assert_same(OPERATORS[ir.BitOr](x, y), dtype.numpy.type(int(x) | int(y)))
        assert_same(OPERATORS[ir.BitXor](x, y), dtype.numpy.type(int(x) ^ int(y)))


def test_not() -> None:
    assert OPERATORS[ir.Not](np.True_) is np.False_
    assert OPERATORS[ir.Not](np.False_) is np.True_


# Float and complex operators


FLOAT_OPERATORS: list[tuple[type[ir.Expr], Ufunc]] = [
    (ir.Add, np.add),
    (ir.Sub, np.subtract),
    (ir.Mul, np.multiply),
    (ir.Div, np.true_divide),
    (ir.FloorDiv, np.floor_divide),
    (ir.Mod, np.remainder),
]


@pytest.mark.parametrize(("cls", "ufunc"), FLOAT_OPERATORS + COMPARISONS)
@in_each("dtype", FLOATS)
def test_float_operators(dtype: DType, cls: type[ir.Expr], ufunc: Ufunc) -> None:
    values = float_values(dtype, count=27)
    check_pairs(cls, ufunc, *pairs(values, values))


@pytest.mark.parametrize("dtype", [FLOAT16, BFLOAT16], ids=str)
@pytest.mark.parametrize("cls", [ir.Add, ir.Mul, ir.Div, ir.FloorDiv, ir.Mod, ir.Pow])
def test_half_operators_round_a_float32(dtype: DType, cls: type[ir.Expr]) -> None:
    function, values = OPERATORS[cls], float_values(dtype, count=27)
    for x, y in itertools.product(values, repeat=2):
        expected = dtype.numpy.type(function(np.float32(x), np.float32(y)))
        assert_same(function(x, y), expected, (x, y))


def multiply_complex(xs: Array, ys: Array) -> Array:
    """Each product rounded: NumPy's own loop over arrays contracts to fma where it can."""
    product = np.empty_like(xs)
    product.real = xs.real * ys.real - xs.imag * ys.imag
    product.imag = xs.real * ys.imag + xs.imag * ys.real
    return product


@pytest.mark.parametrize("dtype", COMPLEXES, ids=str)
@pytest.mark.parametrize(
    ("cls", "ufunc"),
    [
        (ir.Add, np.add),
        (ir.Sub, np.subtract),
        (ir.Mul, multiply_complex),
        (ir.Div, np.true_divide),
    ],
)
def test_complex_operators(dtype: DType, cls: type[ir.Expr], ufunc: Ufunc) -> None:
    parts = [0.0, -0.0, 1.0, -2.5, 1e30, 1e-30, INF, -INF, NAN]
    values = np.array([complex(*part) for part in itertools.product(parts, repeat=2)], dtype.numpy)
    xs, ys = pairs(values, values[::5])
    for x, y, expected in zip(xs, ys, ufunc(xs, ys), strict=True):
        actual = OPERATORS[cls](x, y)
        assert_same(actual.real, expected.real, (cls, x, y))
        assert_same(actual.imag, expected.imag, (cls, x, y))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_python_min_and_max_keep_the_first_of_equals(dtype: DType) -> None:
    zero, minus_zero, one, nan = (dtype.numpy.type(value) for value in (0.0, -0.0, 1.0, NAN))

    for cls in (ir.Min, ir.Max):
        assert_same(OPERATORS[cls](nan, one), nan)
        assert_same(OPERATORS[cls](one, nan), one)
        assert_same(OPERATORS[cls](zero, minus_zero), zero)
        assert_same(OPERATORS[cls](minus_zero, zero), minus_zero)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS], ids=str)
@pytest.mark.parametrize(("name", "ufunc"), [("minimum", np.minimum), ("maximum", np.maximum)])
def test_numpy_minimum_and_maximum(dtype: DType, name: str, ufunc: Ufunc) -> None:
    for x, y in itertools.product(samples(dtype), repeat=2):
        actual, expected = FUNCTIONS[name](x, y), ufunc(x, y)
        assert type(actual) is type(expected)
        assert actual == expected or (actual != actual and expected != expected)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", ["minimum", "maximum"])
def test_equal_zeros_give_what_they_give_in_numpy(name: str, dtype: Any) -> None:
    for x, y in itertools.product((dtype(0.0), dtype(-0.0)), repeat=2):
        assert_same(FUNCTIONS[name](x, y), getattr(np, name)(x, y))


# Types of results


def operands(cls: type[ir.Expr]) -> list[DType]:
    """The types that an operator takes, as the specification lists them."""
    if issubclass(cls, ir.Eq | ir.Ne):
        return list(DTYPES.values())
    if issubclass(cls, ir.Compare | ir.Min | ir.Max):
        return [BOOL, *INTEGERS, *FLOATS]
    special: dict[type[ir.Expr], list[DType]] = {
        ir.Not: [BOOL],
        ir.Invert: INTEGERS,
        ir.Div: [*FLOATS, *COMPLEXES],
        ir.FloorDiv: [*INTEGERS, *FLOATS],
        ir.Mod: [*INTEGERS, *FLOATS],
        ir.BitAnd: [BOOL, *INTEGERS],
        ir.BitOr: [BOOL, *INTEGERS],
        ir.BitXor: [BOOL, *INTEGERS],
        ir.ShiftLeft: INTEGERS,
        ir.ShiftRight: INTEGERS,
    }
    return special.get(cls, NUMBERS)


@pytest.mark.parametrize("cls", OPERATORS)
def test_operator_results_have_the_type_that_the_node_claims(cls: type[ir.Expr]) -> None:
    arity = 1 if issubclass(cls, ir.Unary) else 2
    for dtype in operands(cls):
        node = cls(*[ir.Const(1, dtype)] * arity)
        for args in itertools.product(samples(dtype)[1:], repeat=arity):
            if cls is ir.Pow and dtype.is_integer and args[1] < 0:
                continue
            if cls in (ir.FloorDiv, ir.Mod) and dtype.is_integer and not args[1]:
                continue
            assert type(OPERATORS[cls](*args)) is node.dtype.numpy.type, (dtype, args)
