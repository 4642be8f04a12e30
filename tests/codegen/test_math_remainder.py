"""fmod, % and // on floats, and integer powers: NumPy's results, bit for bit."""

import ctypes
from typing import Any

import numpy as np
import pytest
from llvmlite import ir

from hybridjit import hybrid
from hybridjit.codegen.math import emit_clz, emit_integer_power, emit_popcount
from hybridjit.ir.dtype import dtype_named
from tests.codegen.math_reference import random_patterns
from tests.codegen.native_math import Array, compile_loop, load_scalar

INF, NAN = np.inf, np.nan
SPECIAL = (0.0, 1.0, 3.0, 2.5, 0.1, 5e-324, 1e-310, 1e-40, 2.0**53, 1e38, 1e308, INF)
FUNCTIONS = {"fmod": np.fmod, "floor_mod": np.remainder, "floor_div": np.floor_divide}


def operands(dtype: str) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    special = np.array([*SPECIAL, *(-v for v in SPECIAL), NAN])
    patterns = [random_patterns(rng, dtype, 20000) for _ in range(3)]
    moderate = rng.uniform(-100, 100, 20000)
    whole = rng.integers(-50, 50, (2, 20000))
    x = (np.repeat(special, len(special)), patterns[0], moderate, whole[0], patterns[2])
    y = (np.tile(special, len(special)), patterns[1], rng.permutation(moderate), whole[1], moderate)
    with np.errstate(all="ignore"):
        first, second = (np.concatenate([p.astype(dtype) for p in parts]) for parts in (x, y))
    return first, second


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_remainders_are_numpys(name: str, dtype: str) -> None:
    x, y = operands(dtype)
    with np.errstate(all="ignore"):
        expected = FUNCTIONS[name](x, y)
    actual = compile_loop(name, dtype_named(dtype), 2)(x, y)
    np.testing.assert_array_equal(actual, expected)
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(actual)[number], np.signbit(expected)[number])


@hybrid.script
def fractions(x: Any) -> Any:
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        out[i] = x[i] % 1
    return out


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_remainder_of_one_is_numpys(dtype: str) -> None:
    x = operands(dtype)[0]
    with np.errstate(all="ignore"):
        expected = np.remainder(x, x.dtype.type(1))
    for actual in (fractions(x), fractions(x[:5])):
        wanted = expected[: actual.size]
        np.testing.assert_array_equal(actual, wanted)
        number = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(actual)[number], np.signbit(wanted)[number])


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_integer_power_wraps(bits: int) -> None:
    kind, ctype = ir.IntType(bits), getattr(ctypes, f"c_int{bits}")
    power: Any = load_scalar(emit_integer_power, [kind, kind], [ctype, ctype])
    scalar: Any = getattr(np, f"int{bits}")
    for base in (0, 1, -1, 2, 3, -7, 100):
        for exponent in (0, 1, 2, 3, 5, 13, 63, 100):
            with np.errstate(all="ignore"):
                expected = int(scalar(base) ** scalar(exponent))
            assert power(base, exponent) == expected, (base, exponent)


@pytest.mark.parametrize("value", [0, 1, 2, 255, -1, 2**31 - 1, -(2**31)])
def test_bit_counts(value: int) -> None:
    kind = ir.IntType(32)
    popcount: Any = load_scalar(emit_popcount, [kind], [ctypes.c_int32])
    clz: Any = load_scalar(emit_clz, [kind], [ctypes.c_int32])
    pattern = value & 0xFFFFFFFF
    assert popcount(value) == pattern.bit_count()
    assert clz(value) == 32 - pattern.bit_length()
