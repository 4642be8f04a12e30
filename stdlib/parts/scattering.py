"""Updates of single elements at places that are known when the program runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from hybridjit import hybrid
from hybridjit.stdlib.parts.elements import as_index
from hybridjit.stdlib.parts.shapes import (
    check_choice,
    count_elements,
    fill,
    flat_place,
    flatten,
    indices_at,
)
from hybridjit.te import all as are_all
from hybridjit.te import if_then_else

REDUCTIONS = ("none", "add", "mul", "max", "min")


@hybrid.script
def _scatter(x: Any, places: Any, updates: Any, reduction: str) -> Any:
    out = x.copy()
    for i in range(places.shape[0]):
        at = places[i]
        if at < 0:
            raise IndexError("an index is out of bounds")
        if reduction == "add":
            out[at] += updates[i]
        elif reduction == "mul":
            out[at] *= updates[i]
        elif reduction == "max":
            out[at] = np.maximum(out[at], updates[i])
        elif reduction == "min":
            out[at] = np.minimum(out[at], updates[i])
        else:
            out[at] = updates[i]
    return out


def scatter(name: str, x: Any, updates: Any, place_of: Any, reduction: str) -> Any:
    """`x` with every element of `updates`, in their order, put to `place_of` its indices.

    These are indices of `x`, counted from the end if negative; the reduction says what becomes of
    the element that is there.
    """
    check_choice(name, "reduction", reduction, REDUCTIONS)
    count = count_elements(updates.shape, range(updates.ndim))

    def place(at: tuple[Any, ...]) -> Any:
        return checked_place(x.shape, place_of(indices_at(updates.shape, at[0])))

    def update(at: tuple[Any, ...]) -> Any:
        return updates[indices_at(updates.shape, at[0])].astype(x.dtype)

    places = fill(f"{name}_places", [count], place)
    values = fill(f"{name}_updates", [count], update)
    made = _scatter(flatten(f"{name}_flat", x), places, values, reduction)
    return fill(name, x.shape, lambda at: made[flat_place(x.shape, at)])


def checked_place(shape: tuple[Any, ...], indices: Any) -> Any:
    """The place of indices among all elements, or -1 if one of them is out of bounds."""
    wide = [as_index(index) for index in indices]
    inside = [index >= -size for index, size in zip(wide, shape, strict=True)]
    inside += [index < size for index, size in zip(wide, shape, strict=True)]
    own = [
        if_then_else(index < 0, index + size, index)
        for index, size in zip(wide, shape, strict=True)
    ]
    place: Any = flat_place(shape, own)
    return if_then_else(are_all(*inside), place, place * 0 - 1)
