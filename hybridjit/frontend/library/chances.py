"""Choices among elements that have chances of their own, whoever draws the random numbers."""

from __future__ import annotations

from typing import Any

import numpy

from hybridjit.frontend.library.searching import place_of

np: Any = numpy


def choice_by_chance(state: Any, a: Any, size: Any, replace: bool, p: Any, draw: Any) -> Any:
    """Elements of an array, or integers below a number; `draw` gives numbers from 0 to 1."""
    if not replace:
        raise NotImplementedError(
            "different elements have equal chances here", "draw from those that are left"
        )
    bounds = _bounds_of(p, a if np.ndim(a) == 0 else len(a))
    if size is None:
        place = place_of(bounds, draw(state), "right")
        return int(place) if np.ndim(a) == 0 else np.asarray(a)[place]
    places = _places_of(bounds, draw(state, size))
    return places if np.ndim(a) == 0 else np.asarray(a)[places]


def _bounds_of(p: Any, population: int) -> Any:
    """Up to where the numbers from 0 to 1 belong to each of some elements with chances `p`."""
    chances = np.asarray(p).astype(np.float64)
    if len(chances) != population:
        raise ValueError("a and p must have same size")
    if np.any(chances < 0):
        raise ValueError("Probabilities are not non-negative")
    if not abs(np.sum(chances) - 1) <= 1.4901161193847656e-08:  # NumPy's: the root of eps
        raise ValueError("Probabilities do not sum to 1")
    bounds = np.cumsum(chances)
    return bounds / bounds[-1]


def _places_of(bounds: Any, drawn: Any) -> Any:
    """To which element each of some numbers from 0 to 1 belongs."""
    found = np.empty(drawn.shape, np.int64)
    for at in np.ndindex(drawn.shape):
        found[at] = place_of(bounds, drawn[at], "right")
    return found
