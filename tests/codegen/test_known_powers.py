"""Powers whose exponent is known: as exact as a result can be, and C's special cases."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy
import pytest

from hybridjit import hybrid
from hybridjit.codegen.math.known_powers import NAMES
from hybridjit.ir.dtype import dtype_named
from tests.codegen.native_math import compile_loop

np: Any = numpy
mp: Any = mpmath.mp
Array = Any
# Units in the last place: of float32 without the instruction that fuses, errors are not exact.
BOUND = {"float64": 0.51, "float32": 0.65}
SPECIAL = (0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, 1.0, -1.0, -2.0, 1e-30, 1e30)


def arguments(y: float, dtype: str, count: int) -> Array:
    """Of all sizes whose power is one, and near one; of either sign, if they have powers."""
    rng = numpy.random.default_rng(int(8 * y + 100))
    widest = (300 if dtype == "float64" else 37) / max(abs(y), 1)
    wide, near = 10 ** rng.uniform(-widest, widest, count), rng.uniform(0.5, 2, count)
    x = numpy.concatenate([wide, near]).astype(dtype)
    if y == int(y):
        x[::3] *= -1
    return x


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("fma", [True, False], ids=["fused", "not fused"])
def test_errors(dtype: str, fma: bool, request: pytest.FixtureRequest) -> None:
    count = request.config.getoption("--fuzz") or 30
    limits = np.finfo(dtype)
    with mp.workprec(300):
        for y, name in NAMES.items():
            x = arguments(y, dtype, count)
            found = compile_loop(name, dtype_named(dtype), 1, fma)(x)
            for argument, result in zip(x, found, strict=True):
                exact = mp.mpf(float(argument)) ** mp.mpf(y)
                if not limits.tiny <= abs(exact) <= limits.max:
                    continue
                unit = float(np.spacing(abs(x.dtype.type(float(exact)))))
                error = abs(mp.mpf(float(result)) - exact) / unit
                assert error <= BOUND[dtype], (y, argument)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("y", NAMES)
def test_special_values(y: float, dtype: str) -> None:
    x = numpy.array(SPECIAL, dtype)
    with numpy.errstate(all="ignore"):
        expected = numpy.power(x, x.dtype.type(y))
    found = compile_loop(NAMES[y], dtype_named(dtype), 1)(x)
    numpy.testing.assert_allclose(found, expected, rtol=4 * np.finfo(dtype).eps)
    numpy.testing.assert_array_equal(numpy.signbit(found[:4]), numpy.signbit(expected[:4]))


@hybrid.script
def powers(x: Array) -> Any:
    return x**4, x**-2, x**1.5, x**-0.5, x**-1.5, x**9


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex128"])
def test_in_scripts(dtype: str) -> None:
    x = (numpy.random.default_rng(0).random(37) + 0.5).astype(dtype)
    rtol = 8 * np.finfo(dtype).eps
    for found, expected in zip(powers(x), powers.py_func(x), strict=True):
        assert found.dtype == expected.dtype
        numpy.testing.assert_allclose(found, expected, rtol=rtol)
