"""The meaning of operators, casts and intrinsics, against NumPy's arrays and against C99."""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hybridjit.interp.scalars import (
    FUNCTIONS,
    OPERATORS,
    apply_intrinsic,
    as_scalar,
    cast,
    make_cast,
)
from hybridjit.ir import expr as ir
from hybridjit.ir.dtype import (
    BFLOAT16,
    BOOL,
    COMPLEX64,
    COMPLEX128,
    DTYPES,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT64,
    DType,
    Kind,
)
from hybridjit.ir.intrinsics import INTRINSICS

Array = Any  # of whatever element type: NumPy's annotations do not follow

INTEGERS = [dtype for dtype in DTYPES.values() if dtype.is_integer]
FLOATS = [dtype for dtype in DTYPES.values() if dtype.is_float]
COMPLEXES = [COMPLEX64, COMPLEX128]
NUMBERS = [*INTEGERS, *FLOATS, *COMPLEXES]
INF, NAN = math.inf, math.nan

Ufunc = Callable[..., Array]
SAMPLES: dict[Kind, list[Any]] = {
    Kind.BOOL: [False, True],
    Kind.INT: [0, 1, -1, 5, 127, -128],
    Kind.UINT: [0, 1, 5, 255],
    Kind.FLOAT: [0.0, -0.0, 1.5, -2.5, 60000.0, -1e-7, INF, -INF, NAN],
    Kind.COMPLEX: [0j, 1 + 2j, -3.5j, complex(INF, 1), complex(0, NAN), complex(-INF, INF)],
}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Warnings are off around a run; here, around a test."""
    with np.errstate(all="ignore"):
        yield


def samples(dtype: DType) -> list[Any]:
    return [cast(value, dtype) for value in SAMPLES[dtype.kind]]


def assert_same(actual: Any, expected: Any, what: object = None) -> None:
    """Same type and same bits, any NaN for a NaN."""
    assert type(actual) is type(expected), (what, type(actual), type(expected))
    if actual != actual and expected != expected:
        return
    assert actual.tobytes() == expected.tobytes(), (what, actual, expected)


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


def integer_edges(dtype: DType, count: int) -> Array:
    """The values near the bounds, near zero and near powers of two, and random ones."""
    low, high = dtype.bounds
    powers = [1 << shift for shift in range(0, dtype.bits, 5)]
    near = {c + d for c in (low, 0, high, *powers, *(-p for p in powers)) for d in (-1, 0, 1)}
    edges = sorted(value for value in near if low <= value <= high)
    rng = np.random.default_rng(7)
    random = rng.integers(low, high, count, dtype=dtype.numpy, endpoint=True)
    return np.unique(np.concatenate([np.array(edges, dtype.numpy), random]))


def pairs(xs: Array, ys: Array) -> tuple[Array, Array]:
    return np.repeat(xs, len(ys)), np.tile(ys, len(xs))


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
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
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


def from_bits(bits: Array, dtype: DType) -> Array:
    return np.frombuffer(np.asarray(bits, f"uint{dtype.bits}").tobytes(), dtype.numpy)


def float_values(dtype: DType, count: int) -> Array:
    """Special values, the limits of the type, and random bit patterns."""
    special = [0.0, -0.0, 1.0, -1.0, 2.5, -3.0, INF, -INF, NAN]
    infinity = int(dtype.numpy.type(INF).view(f"uint{dtype.bits}"))
    smallest_and_largest = from_bits([1, 2, infinity - 1], dtype)
    random = np.random.default_rng(3).bytes(count * dtype.bits // 8)
    fixed = np.array([dtype.numpy.type(value) for value in special], dtype.numpy)
    return np.concatenate([fixed, smallest_and_largest, np.frombuffer(random, dtype.numpy)])


FLOAT_OPERATORS: list[tuple[type[ir.Expr], Ufunc]] = [
    (ir.Add, np.add),
    (ir.Sub, np.subtract),
    (ir.Mul, np.multiply),
    (ir.Div, np.true_divide),
    (ir.FloorDiv, np.floor_divide),
    (ir.Mod, np.remainder),
]


@pytest.mark.parametrize(("cls", "ufunc"), FLOAT_OPERATORS + COMPARISONS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
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


def test_equal_zeros_give_the_second() -> None:
    for name in ("minimum", "maximum"):
        assert_same(FUNCTIONS[name](np.float32(0.0), np.float32(-0.0)), np.float32(-0.0))
        assert_same(FUNCTIONS[name](np.float32(-0.0), np.float32(0.0)), np.float32(0.0))


# Types of results


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
@pytest.mark.parametrize("name", INTRINSICS)
def test_intrinsic_results_have_the_type_that_the_node_claims(name: str, dtype: DType) -> None:
    intrinsic = INTRINSICS[name]
    no_such_complex = name == "complex" and dtype.bits == 16
    if not intrinsic.domain.accepts(dtype) or no_such_complex:
        with pytest.raises(TypeError, match=f"{name} takes"):
            apply_intrinsic(name, *samples(dtype)[: intrinsic.arity])
        return
    for args in itertools.product(samples(dtype), repeat=intrinsic.arity):
        if name == "fmod" and dtype.is_integer and not args[1]:
            continue
        assert type(FUNCTIONS[name](*args)) is intrinsic.result_dtype(dtype).numpy.type


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


# Intrinsics

UFUNCS: dict[str, Ufunc] = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "abs": np.abs,
    "sign": np.sign,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
}
EXACT = ("floor", "ceil", "trunc", "rint", "abs", "sign", "isnan", "isinf", "isfinite", "sqrt")


def assert_close(actual: Array, expected: Array, ulps: int) -> None:
    """Equal where special, and within so many units in the last place elsewhere."""
    exact = expected.astype(np.float64)
    found = actual.astype(np.float64)
    unit = np.abs(np.spacing(np.abs(expected)).astype(np.float64))
    near = np.abs(exact - found) <= ulps * unit
    same = (exact == found) | (np.isnan(exact) & np.isnan(found))
    assert np.all(near | same), (found[~(near | same)], exact[~(near | same)])


@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.parametrize("dtype", [FLOAT16, FLOAT32, FLOAT64], ids=str)
def test_unary_functions_against_numpy(dtype: DType, name: str) -> None:
    values = float_values(dtype, count=500)
    actual = np.array([FUNCTIONS[name](value) for value in values])
    assert_close(actual, UFUNCS[name](values), ulps=0 if name in EXACT else 4)


@pytest.mark.parametrize("name", [*UFUNCS, "sigmoid", "rsqrt", "erf", "erfc", "gamma", "lgamma"])
@pytest.mark.parametrize("dtype", [FLOAT16, BFLOAT16], ids=str)
def test_half_functions_round_the_float64_result(dtype: DType, name: str) -> None:
    """At most one unit off: they are computed at least in float32, which has bits to spare."""
    values = from_bits(range(0, 1 << 16, 13), dtype)
    kind = dtype.numpy.type
    for value in values:
        actual, exact = FUNCTIONS[name](value), kind(FUNCTIONS[name](np.float64(value)))
        if actual != exact and not (actual != actual and exact != exact):
            steps = int(actual.view(np.int16)) - int(exact.view(np.int16))
            assert abs(steps) <= 1, (name, value, actual, exact)


@pytest.mark.parametrize("dtype", COMPLEXES, ids=str)
@pytest.mark.parametrize("name", [n for n in UFUNCS if INTRINSICS[n].domain.accepts(COMPLEX64)])
def test_complex_functions_are_numpys(dtype: DType, name: str) -> None:
    for value in samples(dtype):
        np.testing.assert_equal(FUNCTIONS[name](value), UFUNCS[name](value))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    ("name", "ufunc"),
    [
        ("atan2", np.arctan2),
        ("hypot", np.hypot),
        ("copysign", np.copysign),
        ("fmod", np.fmod),
    ],
)
def test_binary_functions_against_numpy(dtype: DType, name: str, ufunc: Ufunc) -> None:
    kind = dtype.numpy.type
    for x, y in itertools.product(float_values(dtype, count=15), repeat=2):
        if dtype.bits == 16:
            expected = kind(ufunc(np.float32(x), np.float32(y)))
        else:
            expected = kind(ufunc(x, y))
        assert_same(FUNCTIONS[name](x, y), expected, (name, x, y))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integer_fmod_truncates(dtype: DType) -> None:
    edges = integer_edges(dtype, count=2)[::3]
    for x, y in itertools.product(edges, edges[edges != 0]):
        remainder = abs(int(x)) % abs(int(y))
        expected = dtype.numpy.type(remainder if x >= 0 else -remainder)
        assert_same(FUNCTIONS["fmod"](x, y), expected, (x, y))
    with pytest.raises(ZeroDivisionError, match="integer modulo by zero"):
        FUNCTIONS["fmod"](edges[0], dtype.numpy.type(0))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_popcount_and_clz_count_bits_of_the_pattern(dtype: DType) -> None:
    for value in integer_edges(dtype, count=10):
        digits = np.binary_repr(int(value), dtype.bits)
        assert_same(FUNCTIONS["popcount"](value), dtype.numpy.type(digits.count("1")))
        leading = len(digits) - len(digits.lstrip("0"))
        assert_same(FUNCTIONS["clz"](value), dtype.numpy.type(leading))


def test_complex_keeps_its_parts() -> None:
    for real, imag in itertools.product((0.0, -0.0, 1.5, INF, NAN), repeat=2):
        value = FUNCTIONS["complex"](np.float32(real), np.float32(imag))
        assert_same(value.real, np.float32(real))
        assert_same(value.imag, np.float32(imag))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integer_sign_and_abs(dtype: DType) -> None:
    for value in integer_edges(dtype, count=3):
        assert_same(FUNCTIONS["sign"](value), np.sign(value))
        assert_same(FUNCTIONS["abs"](value), np.abs(value))


# C99 Annex F, and the poles of the gamma function
SPECIAL_VALUES = [
    ("sigmoid", 0.0, 0.5),
    ("sigmoid", INF, 1.0),
    ("sigmoid", -INF, 0.0),
    ("sigmoid", -800.0, 0.0),
    ("sigmoid", -740.0, math.exp(-740.0)),
    ("sigmoid", 800.0, 1.0),
    ("sigmoid", NAN, NAN),
    ("rsqrt", 4.0, 0.5),
    ("rsqrt", 0.0, INF),
    ("rsqrt", -0.0, -INF),
    ("rsqrt", -1.0, NAN),
    ("rsqrt", INF, 0.0),
    ("rsqrt", NAN, NAN),
    ("cbrt", -27.0, -3.0),
    ("cbrt", -0.0, -0.0),
    ("cbrt", -INF, -INF),
    ("erf", 0.0, 0.0),
    ("erf", -0.0, -0.0),
    ("erf", INF, 1.0),
    ("erf", -INF, -1.0),
    ("erf", NAN, NAN),
    ("erfc", INF, 0.0),
    ("erfc", -INF, 2.0),
    ("erfc", 0.0, 1.0),
    ("gamma", 5.0, 24.0),
    ("gamma", 0.0, INF),
    ("gamma", -0.0, -INF),
    ("gamma", -1.0, NAN),
    ("gamma", -INF, NAN),
    ("gamma", INF, INF),
    ("gamma", 172.0, INF),
    ("gamma", -1e-309, -INF),
    ("gamma", 1e-309, INF),
    ("gamma", NAN, NAN),
    ("lgamma", 1.0, 0.0),
    ("lgamma", 2.0, 0.0),
    ("lgamma", 0.0, INF),
    ("lgamma", -0.0, INF),
    ("lgamma", -3.0, INF),
    ("lgamma", INF, INF),
    ("lgamma", -INF, INF),
    ("lgamma", 1e306, INF),
    ("lgamma", NAN, NAN),
    ("log", 0.0, -INF),
    ("log", -1.0, NAN),
    ("log1p", -1.0, -INF),
    ("exp", -INF, 0.0),
    ("atanh", 1.0, INF),
    ("acosh", 0.5, NAN),
    ("sin", INF, NAN),
    ("rint", 2.5, 2.0),
    ("rint", -0.5, -0.0),
    ("ceil", -0.5, -0.0),
    ("sign", -0.0, 0.0),
    ("sign", NAN, NAN),
]


@pytest.mark.parametrize(("name", "x", "expected"), SPECIAL_VALUES)
def test_special_values(name: str, x: float, expected: float) -> None:
    assert_same(apply_intrinsic(name, x), np.float64(expected))


@pytest.mark.parametrize("dtype", [FLOAT16, BFLOAT16, FLOAT32], ids=str)
def test_special_functions_round_the_float64_result(dtype: DType) -> None:
    kind = dtype.numpy.type
    for name in ("erf", "erfc", "gamma", "lgamma", "sigmoid", "rsqrt", "cbrt"):
        for x in (0.3, -0.7, 1.9, 3.25, 9.5, -20.5, 100.0, 1e4):
            value = kind(x)
            expected = kind(FUNCTIONS[name](np.float64(value)))
            assert_same(FUNCTIONS[name](value), expected, (name, x))


# Casts


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


@pytest.mark.parametrize("to", DTYPES.values(), ids=str)
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


@pytest.mark.parametrize("to", INTEGERS, ids=str)
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


def test_apply_intrinsic_refuses_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="exp takes float or complex values, not int64"):
        apply_intrinsic("exp", 1)
    with pytest.raises(TypeError, match="hypot takes values of one type, not float64, float32"):
        apply_intrinsic("hypot", 1.0, np.float32(1))
    with pytest.raises(TypeError, match="exp takes 1 arguments, not 2"):
        apply_intrinsic("exp", 1.0, 2.0)
    with pytest.raises(TypeError, match="not supported"):
        apply_intrinsic("exp", np.longdouble(1))


def test_public_functions_let_no_warning_escape() -> None:
    with np.errstate(all="raise"):
        assert apply_intrinsic("log", 0.0) == -INF
        assert cast(1e300, FLOAT32) == INF
        assert cast(NAN, INT64) == 0
