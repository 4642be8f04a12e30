"""Packed arrays that are only folded need no memory; what would differ stays packed."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import config, hybrid
from hybridjit.optimize.optimize import optimize
from hybridjit.processor import current_target
from tests.support.array_results import assert_agree
from tests.support.rows import thinned

np: Any = numpy
Array = Any
SIZES = [33, *thinned(8, [0, 1, 3, 1_003])]


def arguments(size: int, dtype: Any = numpy.float64) -> list[Array]:
    """Quarters, with zeros of both signs where there are such."""
    rng = numpy.random.default_rng(size)
    low = 0 if numpy.dtype(dtype).kind == "u" else -8
    a = (rng.integers(low, 9, size) / 4).astype(dtype)
    b = (rng.integers(low, 9, size) / 4).astype(dtype)
    if a.dtype.kind == "f":
        b[b == 0.25] = -0.0
    return [a, b]


def is_unpacked(function: Any, args: list[Array]) -> bool:
    """Whether nothing is packed; what is computed stays the same."""
    kernel: Any = hybrid.script(function)
    with config.scope(cache_enabled=False):
        assert_agree(kernel, args)
    decisions = optimize(kernel.prim_func(*args), current_target()).decisions.taken
    places = (getattr(place, "buffer", None) for each in decisions for place in each.places)
    return any(buffer is not None and buffer.name == "selected" for buffer in places)


def mean(a: Array, b: Array) -> Any:
    values = b[a > 0.5]
    return values.mean()


def deviation(a: Array, b: Array) -> Any:
    values = b[a < 1]
    return values.std()


def of_a_name(a: Array, b: Array) -> Any:
    mask = a > 0.5
    values = b[mask]
    return np.abs(values * 2 + 1).sum(), values.size


def largest(a: Array, b: Array) -> Any:
    values = b[a >= 0]
    return values.max()


def smallest(a: Array, b: Array) -> Any:
    values = b[a >= 0] - 1
    return np.min(values)


def product(a: Array, b: Array) -> Any:
    values = b[a > 1]
    return values.prod()


def in_a_loop(a: Array, b: Array) -> Any:
    out = np.zeros(4)
    for k in range(4):
        values = b[np.logical_and(a >= k / 4, a < (k + 1) / 4)]
        out[k] = values.sum() / max(values.size, 1)
    return out


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "function", [mean, deviation, of_a_name, largest, smallest, product, in_a_loop]
)
def test_folds(function: Any, size: int) -> None:
    assert is_unpacked(function, arguments(size)) or size == 1  # one iteration is no loop


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["float32", "int16", "uint8", "int64"])
@pytest.mark.parametrize("function", [of_a_name, largest, product])
def test_types(function: Any, dtype: str) -> None:
    assert is_unpacked(function, arguments(101, dtype))


def signed_zeros(a: Array, b: Array) -> Any:
    values = b[a > 100]
    values_2 = b[b == 0]
    return values.sum(), values_2.max()


def test_zeros_keep_their_sign() -> None:
    a = numpy.zeros(37)
    assert is_unpacked(signed_zeros, [a, numpy.full(37, -0.0)])


def test_what_is_left_out_may_be_anything() -> None:
    a = numpy.linspace(0, 1, 67)
    b = numpy.where(a > 0.5, a, numpy.nan)
    b[3] = numpy.inf
    for function in (mean, deviation, largest, product):
        assert is_unpacked(function, [a, b])


# -- what stays ------------------------------------------------------------------------------------


def source_changes(a: Array, b: Array) -> Any:
    values = b[a > 0.5]
    b[:] = 1
    return values.sum()


def mask_changes(a: Array, b: Array) -> Any:
    mask = a > 0.5
    values = b[mask]
    mask[:] = False
    return values.sum(), mask.sum()


def is_returned(a: Array, b: Array) -> Any:
    values = b[a > 0.5]
    return values, values.sum()


def one_of_them(a: Array, b: Array) -> Any:
    values = b[a > 0.5]
    return values[0] + values.sum() if values.size > 0 else 0.0


def by_its_place(a: Array, b: Array) -> Any:
    values = b[a > 0.5]
    return (values * np.arange(values.size)).sum()


def dear(a: Array, b: Array) -> Any:
    values = b[a > 0.5]
    return np.exp(values).sum()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("function", [source_changes, is_returned, one_of_them, by_its_place, dear])
def test_what_stays(function: Any, size: int) -> None:
    assert not is_unpacked(function, arguments(size))


@pytest.mark.parametrize("size", SIZES)
def test_a_mask_that_changes(size: int) -> None:
    """What is packed is known before: whether the array stays is up to the mask's own copy."""
    is_unpacked(mask_changes, arguments(size))


def fill(values: Array, mask: Array, b: Array) -> None:
    """What a mask lets through, one after the other: scripts call it."""
    at = 0
    for i in range(mask.shape[0]):
        if mask[i]:
            values[at] = b[i]
            at += 1


def packed_by_hand(a: Array, b: Array) -> Any:
    mask = a > 0.5
    values = np.empty(np.sum(mask))
    fill(values, mask, b)
    return values.sum()


def packed_backwards(a: Array, b: Array) -> Any:
    mask = a > 0.5
    count = np.sum(mask)
    values = np.empty(count)
    at = count - 1
    for i in range(mask.shape[0]):
        if mask[i]:
            values[at] = b[i]
            at -= 1
    return values.sum()


def packed_from_elsewhere(a: Array, b: Array) -> Any:
    """What is let through is not what was counted, though just as many."""
    mask = a > 0.5
    values = np.zeros(np.sum(mask))
    mask[:] = mask[::-1].copy()
    fill(values, mask, b)
    return values.sum()


def fewer_than_counted(a: Array, b: Array) -> Any:
    """Fewer elements are packed than were counted; the others are zero."""
    values = np.zeros(np.sum(a > -3))
    fill(values, b > 0.5, b)
    return values.min()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "function", [packed_by_hand, packed_backwards, packed_from_elsewhere, fewer_than_counted]
)
def test_by_hand(function: Any, size: int) -> None:
    is_unpacked(function, arguments(size))


def test_elements_that_are_not_there() -> None:
    """An index that is out of bounds is an error, in the loop that packs."""
    a, b = arguments(40)
    kernel: Any = hybrid.script(packed_by_hand)
    a[-1] = 1
    with pytest.raises(IndexError, match="out of bounds"):
        kernel(a, b[:30])


def test_it_is_a_step_of_a_schedule() -> None:
    args = arguments(1_003)
    kernel: Any = hybrid.script(mean)
    schedule = kernel.auto_schedule(*args)
    assert "s.compute_inline('selected')" in str(schedule.trace)
    assert kernel.with_schedule(schedule.trace)(*args) == kernel(*args)
