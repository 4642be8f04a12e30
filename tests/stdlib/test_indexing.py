"""Elements at computed places, against NumPy's functions and plain loops."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import stdlib as hs
from hybridjit.errors import BoundsError
from tests.support.operator_rows import Row, compare, row

np: Any = numpy  # whose types say nothing of arrays that may be any
RNG = np.random.default_rng(0)
X: Any = np.reshape(np.arange(24, dtype=np.float32), (2, 3, 4))
I: Any = np.array([[0, 1, -1], [1, 0, 0]], np.int32)  # noqa: E741
WIDE: Any = np.array([0, 7, -9, 2])
ORDER: Any = np.argsort(RNG.random(X.shape), 1)
LENGTHS: Any = np.array([1, 0, 3])


def gathered(x: Any, indices: Any, axis: int) -> Any:
    found = np.zeros(indices.shape, x.dtype)
    for at in np.ndindex(*indices.shape):
        place = list(at)
        place[axis] = indices[at]
        found[at] = x[tuple(place)]
    return found


def gathered_nd(x: Any, indices: Any, batch: int = 0) -> Any:
    shape = indices.shape[:-1]
    found = np.zeros((*shape, *x.shape[batch + indices.shape[-1] :]), x.dtype)
    for at in np.ndindex(*shape):
        found[at] = x[(*at[:batch], *indices[at])]
    return found


def combined(old: Any, new: Any, how: str) -> Any:
    return {"none": new, "add": old + new, "mul": old * new, "max": np.maximum(old, new),
            "min": np.minimum(old, new)}[how]  # fmt: skip


def scattered(x: Any, indices: Any, updates: Any, axis: int, how: str) -> Any:
    found = x.copy()
    for at in np.ndindex(*indices.shape):
        place = list(at)
        place[axis] = indices[at]
        found[tuple(place)] = combined(found[tuple(place)], updates[at], how)
    return found


def scattered_nd(x: Any, indices: Any, updates: Any, how: str) -> Any:
    found = x.copy()
    for at in np.ndindex(*indices.shape[:-1]):
        place = tuple(indices[at])
        found[place] = combined(found[place], updates[at], how)
    return found


def masked(x: Any, lengths: Any, axis: int, value: Any = 0) -> Any:
    found = x.copy()
    for place, length in enumerate(lengths):
        found[(slice(length, None), place) if axis == 0 else (place, slice(length, None))] = value
    return found


def reversed_to(x: Any, lengths: Any, along: int, batch: int) -> Any:
    found = np.moveaxis(x, (batch, along), (0, 1)).copy()
    for place, length in enumerate(lengths):
        found[place, :length] = found[place, :length][::-1].copy()
    return np.moveaxis(found, (0, 1), (batch, along))


PLACES: Any = RNG.integers(-3, 3, (2, 2, 4))
UPDATES: Any = np.round(RNG.random((2, 2, 4)) * 9).astype(np.float32)
ND: Any = np.array([[0, 2], [1, 0], [-1, 2]])
HOW = ("none", "add", "mul", "max", "min")
ROWS = (
    *(row("take", X, I, a, wanted=np.take(X, I, a)) for a in (None, 0, 1, -1)),
    *(row("take", X, WIDE, a, m, wanted=np.take(X, WIDE, a, mode=m))
      for a in (None, 1) for m in ("clip", "wrap")),
    row("take", X, np.array(1, np.uint8), 2, wanted=X[:, :, 1]),
    row("take", X, np.zeros((0, 2), int), 1, wanted=np.zeros((2, 0, 2, 4), np.float32)),
    row("take_along_axis", X, ORDER, 1, wanted=np.take_along_axis(X, ORDER, 1)),
    row("take_along_axis", X, ORDER[:1, :2, :], 1, wanted=np.take_along_axis(X, ORDER[:1, :2], 1)),
    row("take_along_axis", X[:, :1], -ORDER, 2, wanted=np.take_along_axis(X[:, :1], -ORDER, 2)),
    *(row("gather", X, PLACES[:, :, :3] // 2, a, wanted=gathered(X, PLACES[:, :, :3] // 2, a))
      for a in (0, 1, 2)),
    row("gather_nd", X, ND % 2, wanted=gathered_nd(X, ND % 2), dynamic=False),
    row("gather_nd", X, ND[:2, None, :1], 1, wanted=gathered_nd(X, ND[:2, None, :1], 1)),
    row("gather_nd", X, np.zeros((3, 0), int), wanted=np.stack([X] * 3), dynamic=False),
    *(row("scatter_elements", X, PLACES, UPDATES, 1, h, wanted=scattered(X, PLACES, UPDATES, 1, h))
      for h in HOW),
    row("scatter_elements", X[0, 0], np.array([1, 1, -1], np.int32), np.array([5, 6, 7]),
        wanted=np.array([0, 6, 2, 7], np.float32)),
    *(row("scatter_nd", X, ND, UPDATES[0, :1].repeat(3, 0), h, dynamic=False,
          wanted=scattered_nd(X, ND, UPDATES[0, :1].repeat(3, 0), h)) for h in HOW),
    row("scatter_nd", X, ND[:, :1], X[[0, 1, 0]], "add", dynamic=False,
        wanted=scattered_nd(X, ND[:, :1], X[[0, 1, 0]], "add")),
    row("adv_index", X, (I, I[:1]), wanted=X[I, I[:1]]),
    row("adv_index", X, (np.array(1), WIDE[:1], I[0]), wanted=X[1, WIDE[:1], I[0]]),
    *(row("dynamic_slice", X, np.array(s), (1, 2, 3), wanted=w, dynamic=False)
      for s, w in (((0, 1, 1), X[:1, 1:, 1:]), ((9, -5, 0), X[1:, :2, :3]))),
    row("sequence_mask", X[0], np.array([1, 0, 3, 2]), wanted=masked(X[0], [1, 0, 3, 2], 0)),
    row("sequence_mask", X, LENGTHS, -1.5, wanted=masked(X, LENGTHS, 0, -1.5)),
    row("sequence_mask", X, np.array([2, 5]), axis=1, wanted=masked(X, [2, 5], 1)),
    row("reverse_sequence", X, np.array([2, 3]), wanted=reversed_to(X, [2, 3], 1, 0)),
    row("reverse_sequence", X, LENGTHS, -1, 1, wanted=reversed_to(X, LENGTHS, 2, 1)),
    row("unravel_index", np.array([[5, 23], [0, 11]]), (2, 3, 4),
        wanted=np.unravel_index(np.array([[5, 23], [0, 11]]), (2, 3, 4))),
)  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_arrays(row: Row) -> None:
    row.check_on_arrays()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_tensors(row: Row) -> None:
    row.check_on_tensors()


OUTSIDE: dict[str, Any] = {
    "take": lambda: hs.take(X, np.array([2]), 0),
    "take before": lambda: hs.take(X, np.array([-3]), 0),
    "gather": lambda: hs.gather(X, ORDER + 1, 1),
    "gather_nd": lambda: hs.gather_nd(X, np.array([[1, 3]])),
    "adv_index": lambda: hs.adv_index(X, (np.array([5]),)),
    "scatter_elements": lambda: hs.scatter_elements(X, PLACES + 9, UPDATES, 1),
    "scatter_nd": lambda: hs.scatter_nd(X, np.array([[2]]), X[:1]),
    "reverse_sequence": lambda: hs.reverse_sequence(X, np.array([4, 1])),
    "unravel_index": lambda: hs.unravel_index(np.array([24]), (2, 3, 4)),
}


@pytest.mark.parametrize("what", OUTSIDE)
def test_what_is_out_of_bounds_is_refused(what: str) -> None:
    with pytest.raises((BoundsError, IndexError, ValueError), match="out of bounds"):
        OUTSIDE[what]()


LARGEST: Any = np.array([2**64 - 1], np.uint64)
NO_PLACES: dict[str, Any] = {
    "take": lambda: hs.take(X, LARGEST),
    "take_along_axis": lambda: hs.take_along_axis(X[0, 0], LARGEST),
    "gather": lambda: hs.gather(X[0, 0], LARGEST),
    "gather_nd": lambda: hs.gather_nd(X, LARGEST),
    "adv_index": lambda: hs.adv_index(X, (LARGEST,)),
    "scatter_elements": lambda: hs.scatter_elements(X[0, 0], LARGEST, X[0, 0, :1]),
    "scatter_nd": lambda: hs.scatter_nd(X, LARGEST[None], X[:1]),
    "dynamic_strided_slice": lambda: hs.dynamic_strided_slice(X[0, 0], LARGEST, LARGEST, 1),
    "reverse_sequence": lambda: hs.reverse_sequence(X[:1, 0], LARGEST),
}


@pytest.mark.parametrize("name", NO_PLACES)
def test_large_indices_without_a_sign_are_not_negative(name: str) -> None:
    with pytest.raises(IndexError, match="out of bounds"):
        NO_PLACES[name]()


def test_large_indices_without_a_sign_that_are_brought_inside() -> None:
    line = X[0, 0]
    compare(hs.take(line, LARGEST, mode="clip"), line[-1:])
    compare(hs.take(line[:3], LARGEST, mode="wrap"), line[:1])
    compare(hs.dynamic_slice(line, LARGEST, 2), line[-2:])


MISTAKES: dict[str, Any] = {
    "take: 'indices' holds indices": lambda: hs.take(X, X),
    "there is no mode": lambda: hs.take(X, I, 0, "fast"),  # pyright: ignore
    "has no elements along axis 0": lambda: hs.take(X[:0], I, 0),
    "must have 3 axes": lambda: hs.gather(X, I),
    "do not have the same first 1 axes": lambda: hs.gather_nd(X, np.zeros((1, 1), int), 1),
    "do not have the same first 2 axes": lambda: hs.gather_nd(X, np.zeros((2, 1), int), 2),
    "has no indices of": lambda: hs.gather_nd(X[0], np.zeros((2, 3), int)),
    "must have the same shape": lambda: hs.scatter_elements(X, PLACES, UPDATES[:1]),
    "there is no reduction": lambda: hs.scatter_nd(X, ND, UPDATES[0, :1].repeat(3, 0), "and"),  # pyright: ignore
    r"must have the shape \(3, 4\)": lambda: hs.scatter_nd(X, ND, X[0, :2]),
    "3 indices of 'x'": lambda: hs.adv_index(X[0], (I, I, I)),
    "has no part of shape": lambda: hs.dynamic_slice(X, np.array([0, 0, 0]), (3, 1, 1)),
    "the axis is 0 or 1": lambda: hs.sequence_mask(X, LENGTHS, axis=2),
    "has no length for each": lambda: hs.reverse_sequence(X, LENGTHS),
}  # fmt: skip


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        MISTAKES[message]()
