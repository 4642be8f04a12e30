"""Shared by the tests of ufuncs: operands, and the comparison with what NumPy gives."""

from __future__ import annotations

from typing import Any

import numpy

# Arrays of unknown types have no static types worth the name.
np: Any = numpy


def numbers(shape: Any, dtype: str = "float64", seed: int = 0) -> Any:
    """Small positive numbers."""
    return np.random.default_rng(seed).integers(1, 9, shape).astype(dtype)


def assert_equal(found: Any, expected: Any) -> None:
    """Fail unless class, type, shape and every bit are equal."""
    assert type(found) is type(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert found.tobytes() == expected.tobytes(), f"{found} != {expected}"
