"""Powers of complex arrays, for some of which NumPy has short cuts: to the sign of zeros."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from tests.frontend.from_text import script_from_text

np: Any = numpy

PARTS = (0.0, -0.0, 1.0, -1.0, 2.5, float("inf"), float("-inf"), float("nan"))
VALUES = [complex(real, imag) for real in PARTS for imag in PARTS]
# What takes no logarithm, and is exact.
POWERS = ("z ** 0", "z ** 1", "z ** 1.0", "z ** -1", "z ** -1.0", "z ** 3", "z ** 4", "z ** -2")
# Older versions of NumPy copy, or take the reciprocal, where newer ones compute powers.
SHORT_CUTS = ("z ** 1", "z ** 1.0", "z ** -1.0")
FUNCTIONS = ("np.power(z, 1)", "np.power(z, 2)", "np.power(z, -1)", "np.reciprocal(z)")


def _bits(values: Any) -> Any:
    """Real and imaginary parts with the signs of zeros; all NaNs are one."""
    parts = np.stack([values.real, values.imag])
    return np.where(np.isnan(parts), 7.0, parts), np.signbit(parts) & ~np.isnan(parts)


def _has_short_cuts() -> bool:
    return bool(np.signbit((np.array([complex(-0.0, 0.0)]) ** 1).real[0]))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("text", [*POWERS, *FUNCTIONS])
def test_zeros_and_infinities_are_as_in_numpy(text: str, dtype: str) -> None:
    if text in SHORT_CUTS and _has_short_cuts():
        pytest.skip("this NumPy gives zeros other signs")
    kernel = script_from_text(f"def f(z):\n    return {text}\n", {"np": np})
    z = np.array(VALUES, dtype)
    with np.errstate(all="ignore"):
        expected = kernel.py_func(z)
    for found in (kernel(z), kernel.interpret(z)):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(_bits(found), _bits(expected))
