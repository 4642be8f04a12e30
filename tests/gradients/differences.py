"""Derivatives as differences of values, each with a bound of how far off it may be.

Two steps of different lengths give a better value than each, and what they differ by says how good
it is: at a kink or a jump they differ by much, so that nothing is claimed of such a place.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

np: Any = numpy
Array = Any
Function = Callable[[Sequence[Array]], Array]
STEP = 1e-4
ROUNDING = 2.0**-50
# Of a slope: what is lost where values cancel each other inside of a function.
SLACK = 1e-7
# Where a slope is not known better than this, nothing is claimed.
WORST = 1e-3


@dataclass(frozen=True, slots=True)
class Slope:
    """How an output changes with one element of an input, or with all of them along a direction."""

    element: tuple[int, ...] | None
    direction: Array
    change: Array
    error: Array


def slopes(
    function: Function, arrays: Sequence[Array], place: int, choose: random.Random, most: int
) -> Iterator[Slope]:
    """How the function changes with some elements of one of its arrays, and along a direction."""
    source = arrays[place]
    elements: list[tuple[int, ...]] = list(np.ndindex(source.shape))
    if len(elements) > most:
        elements = choose.sample(elements, most)
    for element in elements:
        direction = np.zeros(source.shape)
        direction[element] = 1
        yield Slope(element, direction, *_slope(function, arrays, place, direction))
    if elements:
        generator = np.random.default_rng(choose.randrange(1 << 32))
        direction = generator.uniform(-1, 1, source.shape)
        yield Slope(None, direction, *_slope(function, arrays, place, direction))


def _slope(
    function: Function, arrays: Sequence[Array], place: int, direction: Array
) -> tuple[Array, Array]:
    """A slope, and how far off it may be."""

    def value(step: float) -> Array:
        moved = [*arrays]
        moved[place] = np.asarray(arrays[place] + step * direction)
        return function(moved)

    with np.errstate(all="ignore"):
        ahead, behind, nearer, before = (value(s * STEP) for s in (1, -1, 0.5, -0.5))
        long, short = (ahead - behind) / (2 * STEP), (nearer - before) / STEP
        largest = np.maximum(np.abs(nearer), np.abs(before))
        found = (4 * short - long) / 3
        error = np.abs(short - long) + largest * ROUNDING / STEP + np.abs(found) * SLACK
    return found, error


def compare(
    slope: Slope, head: Array, found: Array, tolerance: float, *, is_singular: bool
) -> bool:
    """Fail unless a gradient, weighted with heads, is that of the slope; False if it says nothing.

    `found` has the shape of the heads, each of which has that of the output, and then the input's.
    Where slopes may be infinite, what they are multiplied with may be 0: then, NaN is no failure.
    """
    with np.errstate(all="ignore"):
        expected = (head * slope.change).reshape(len(head), -1).sum(1)
        error = (np.abs(head) * slope.error).reshape(len(head), -1).sum(1)
        change = (found * slope.direction).reshape(len(head), -1).sum(1)
        reach = np.abs(expected) + np.abs(found * slope.direction).reshape(len(head), -1).sum(1)
    known = np.isfinite(expected) & np.isfinite(error) & (error <= WORST * (1 + np.abs(expected)))
    if is_singular:
        known &= np.isfinite(change)
    allowed = error + tolerance * reach + tolerance * 1e-3
    wrong = known & ~(np.abs(change - expected) <= allowed)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise AssertionError(
            f"the slope by {slope.element or 'all elements'} is {change[at]}, "
            f"by differences {expected[at]} +- {allowed[at]} (head {at})"
        )
    return bool(known.any())
