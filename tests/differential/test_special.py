"""Functions of scipy.special that have a counterpart here: scipy's types, and nearly its values."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from tests.frontend.from_text import script_from_text

np: Any = numpy
special: Any = pytest.importorskip("scipy.special")
NAMES = {"np": np, "special": special, "erf": special.erf, "gammaln": special.gammaln}
FLOATS = (0.0, 0.25, 0.5, 0.875, 1.0, 2.5, 7.0, 30.0, -0.75, -3.5, np.inf, np.nan)
CHANCES = (0.0, 0.125, 0.5, 0.75, 1.0)
CALLS = {
    "special.erf(x), special.erfc(x), erf(x)": FLOATS,
    "special.gamma(x)": FLOATS[1:],
    "gammaln(x), special.gammaln(x) * 2": FLOATS[1:],
    "special.expit(x), special.ndtr(x)": FLOATS,
    "special.logit(x)": CHANCES,
    "special.xlogy(x, x[::-1])": CHANCES,
    "special.log1p(x), special.expm1(x), special.exp2(x), special.cbrt(x)": CHANCES,
}


@pytest.mark.parametrize("call", CALLS)
def test_as_scipy(call: str) -> None:
    kernel: Any = script_from_text(f"def f(x):\n    return {call}\n", NAMES)
    for dtype in ("float64", "float32", "float16", "int8", "int32", "int64"):
        numbers = np.array(CALLS[call])
        is_integer = dtype.startswith("int")
        x = numbers[np.isfinite(numbers)].astype(dtype) if is_integer else numbers.astype(dtype)
        with np.errstate(all="ignore"):
            wanted = kernel.py_func(x)
        for run in (kernel, kernel.interpret):
            for got, want in zip(np.atleast_2d(run(x)), np.atleast_2d(wanted), strict=True):
                assert got.dtype == want.dtype
                tolerance = 1e-13 if want.dtype == np.float64 else 2e-6
                np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance / 100)


def test_of_numbers() -> None:
    kernel: Any = script_from_text("def f(x):\n    return erf(x) + gammaln(x + 1)\n", NAMES)
    for x in (0.5, 2, np.float32(0.5)):
        found, wanted = kernel(x), kernel.py_func(x)
        assert type(found) is type(wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
