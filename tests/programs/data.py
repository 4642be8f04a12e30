"""Random data: scalars with edge values, arrays of every layout."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.programs.types import numpy_dtype
from tests.support.choices import Choices

_INTS = (0, 1, 2, 3, -1, -2, 5, 7, 100, -128, 127, 255)
_FLOATS = (
    *(0.0, 1.0, 0.5, -1.5, 2.75, 3.25, -7.6, 100.0, 1e-3, -0.0, 1e30, -1e30, 1e-40, 1e4),
    *(float("inf"), float("-inf"), float("nan"), 0.1),
)
# How many arrays have values at the ends of their types. NaN spreads, and hides the rest.
SPECIAL_FLOATS = 0.15
SPECIAL_INTEGERS = 0.4
LAYOUTS = ("C", "F", "reversed", "strided", "offset")


def edge_values(dtype: np.dtype[Any]) -> list[Any]:
    """Values of the type worth trying, the plainest first."""
    if dtype.kind == "b":
        return [False, True]
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        low, high = int(info.min), int(info.max)
        return [*(v for v in _INTS if low <= v <= high), low, high, high - 1, low + 1]
    if dtype.kind == "c":
        return [*_FLOATS[:9], 1.5 - 2j, -0.5j, 1e3 + 1e-3j, complex("inf"), complex("nan")]
    return list(_FLOATS)


def random_scalar(choices: Choices, type: str, low: int, high: int) -> Any:
    """A value of a parameter: a Python number for Python's types, a NumPy scalar otherwise."""
    match type:
        case "int":
            return choices.between(low, high)
        case "float":
            return choices.pick(_FLOATS)
        case "bool":
            return bool(choices.below(2))
        case "complex":
            return complex(choices.pick(_FLOATS[:8]), 1.5)
        case _:
            return _elements(choices, (), numpy_dtype(type))[()]


def random_array(choices: Choices, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """An array of edge values, in some layout."""
    return with_layout(_elements(choices, shape, dtype), choices.pick(LAYOUTS))


def _elements(choices: Choices, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    every = edge_values(dtype)
    # Mostly tame values: NaN and overflow spread, and hide what comes after them.
    tame = every[: max(2, len(every) * 2 // 3)]
    size = int(np.prod(shape))
    numbers = [choices.pick(every if choices.chance(15) else tame) for _ in range(size)]
    with np.errstate(all="ignore"):
        values = np.array(numbers, np.complex128 if dtype.kind == "c" else object)
        return np.reshape(values.astype(dtype), shape)


def plain_values(
    generator: Any, type: str, shape: tuple[int, ...], *, has_special: bool = False
) -> Any:
    """Small integers, or floats whose every operation rounds; in some arrays, what is special."""
    dtype = numpy_dtype(type)
    is_integer = dtype.kind in "iub"
    values: Any = generator.integers(0 if dtype.kind in "ub" else -9, 10, shape).astype(dtype)
    if not is_integer and generator.random() < 0.5:
        values = generator.standard_normal(shape).astype(dtype)
    if has_special and generator.random() < (SPECIAL_INTEGERS if is_integer else SPECIAL_FLOATS):
        chosen: Any = generator.random(shape) < 0.2
        values[chosen] = generator.choice(_special(dtype), shape)[chosen]
    return values


def _special(dtype: np.dtype[Any]) -> Any:
    """Numbers at the ends of a type, or that are none."""
    if dtype.kind not in "iu":
        return np.array([np.nan, np.inf, -np.inf, -0.0, 0.0]).astype(dtype)
    limits = np.iinfo(dtype)
    return np.array([limits.min, limits.max, limits.max // 2 + 1, limits.max - 1], dtype)


def with_layout(array: NDArray[Any], layout: str) -> NDArray[Any]:
    """The same elements in other memory: F order, negative or wide strides, not at the start."""
    if not array.ndim:
        return array
    match layout:
        case "F":
            return np.asfortranarray(array)
        case "reversed":
            every = (slice(None, None, -1),) * array.ndim
            reversed_copy: NDArray[Any] = np.array(array[every], order="C")
            return reversed_copy[every]
        case "strided":
            wide = np.zeros([2 * n + 1 for n in array.shape], array.dtype)
            part = wide[(..., *(slice(1, 2 * n + 1, 2) for n in array.shape))]
            part[...] = array
            return part
        case "offset":
            memory = np.zeros(array.size + 3, array.dtype)
            block: NDArray[Any] = np.reshape(memory[3:], array.shape)
            block[...] = array
            return block
        case _:
            return array
