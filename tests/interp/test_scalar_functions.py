"""The meaning of intrinsics, against NumPy's arrays and against C99."""

import itertools
import math

import numpy as np
import pytest

from hybridjit.interp.scalars import FUNCTIONS, apply_intrinsic
from hybridjit.ir.dtype import BFLOAT16, COMPLEX64, DTYPES, FLOAT16, FLOAT32, FLOAT64, DType
from hybridjit.ir.intrinsics import INTRINSICS
from tests.interp.scalar_values import (
    COMPLEXES,
    FLOATS,
    INF,
    INTEGERS,
    NAN,
    Array,
    Ufunc,
    assert_same,
    float_values,
    from_bits,
    integer_edges,
    samples,
)
from tests.support.rows import in_each

pytestmark = pytest.mark.usefixtures("quiet")


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
@in_each("dtype", [FLOAT16, FLOAT32, FLOAT64])
def test_unary_functions_against_numpy(dtype: DType, name: str) -> None:
    values = float_values(dtype, count=500)
    actual = np.array([FUNCTIONS[name](value) for value in values])
    assert_close(actual, UFUNCS[name](values), ulps=0 if name in EXACT else 4)


@pytest.mark.parametrize("name", [*UFUNCS, "sigmoid", "rsqrt", "erf", "erfc", "gamma", "lgamma"])
@in_each("dtype", [FLOAT16, BFLOAT16])
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
    if name == "cbrt" and abs(x) == 27.0:  # C's may be an ulp off
        assert abs(apply_intrinsic(name, x) - expected) <= np.spacing(3.0)
    else:
        assert_same(apply_intrinsic(name, x), np.float64(expected))


@pytest.mark.parametrize("dtype", [FLOAT16, BFLOAT16, FLOAT32], ids=str)
def test_special_functions_round_the_float64_result(dtype: DType) -> None:
    kind = dtype.numpy.type
    for name in ("erf", "erfc", "gamma", "lgamma", "sigmoid", "rsqrt", "cbrt"):
        for x in (0.3, -0.7, 1.9, 3.25, 9.5, -20.5, 100.0, 1e4):
            value = kind(x)
            expected = kind(FUNCTIONS[name](np.float64(value)))
            assert_same(FUNCTIONS[name](value), expected, (name, x))


# Arguments and results


@in_each("dtype", DTYPES.values())
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


def test_apply_intrinsic_refuses_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="exp takes float or complex values, not int64"):
        apply_intrinsic("exp", 1)
    with pytest.raises(TypeError, match="hypot takes values of one type, not float64, float32"):
        apply_intrinsic("hypot", 1.0, np.float32(1))
    with pytest.raises(TypeError, match="exp takes 1 arguments, not 2"):
        apply_intrinsic("exp", 1.0, 2.0)
    with pytest.raises(TypeError, match="not supported"):
        apply_intrinsic("exp", np.longdouble(1))
