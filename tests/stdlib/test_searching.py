"""Sorting and searching, against NumPy's functions."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import stdlib as hs
from hybridjit import te
from tests.support.operator_rows import Row, compare, row

np: Any = numpy  # whose types say nothing of arrays that may be any
RNG = np.random.default_rng(0)
X: Any = RNG.integers(0, 5, (2, 3, 4))
F: Any = np.array([3.0, np.nan, -1.0, 3.0, np.inf, 0.0])
ORDERED: Any = np.array([-2, 0, 0, 3, 7])
VALUES: Any = np.array([[-9, 0, 4], [7, 8, 3]])


def descending(x: Any, axis: int) -> Any:
    """Where elements are in descending order, equals in theirs."""
    return np.argsort(-x, axis=axis, kind="stable")


def top(x: Any, k: int, axis: int, *, largest: bool = True) -> Any:
    order = descending(x, axis) if largest else np.argsort(x, axis=axis, kind="stable")
    kept = np.take(order, np.arange(k), axis)
    return np.take_along_axis(x, kept, axis), kept


LINES: Any = np.sort(np.random.default_rng(3).integers(0, 9, (2, 3, 5)), -1)
POINTS: Any = np.arange(24).reshape(2, 3, 4) % 10
ROWS = (
    *(row("sort", X, a, wanted=np.sort(X, a)) for a in (0, 1, -1)),
    row("sort", F, wanted=np.sort(F)),
    row("sort", X, 1, descending=True, wanted=np.flip(np.sort(X, 1), 1)),
    row("sort", X[:0], wanted=X[:0]),
    row("sort", F.astype(np.float32), wanted=np.sort(F.astype(np.float32))),
    *(row("argsort", X, a, wanted=np.argsort(X, a, kind="stable")) for a in (0, 1, -1)),
    *(row("argsort", X, a, descending=True, wanted=descending(X, a)) for a in (0, 2)),
    row("argsort", F, wanted=np.argsort(F, kind="stable")),
    *(row("topk", X, k, a, wanted=top(X, k, a)) for k, a in ((2, -1), (1, 0), (3, 1), (0, 1))),
    row("topk", X, 2, -1, largest=False, wanted=top(X, 2, -1, largest=False)),
    *(row("searchsorted", ORDERED, VALUES, s, wanted=np.searchsorted(ORDERED, VALUES, s))
      for s in ("left", "right")),
    *(row("searchsorted", LINES, POINTS, s, wanted=np.array(
        [[np.searchsorted(a, b, s) for a, b in zip(*pair, strict=True)]
         for pair in zip(LINES, POINTS, strict=True)])) for s in ("left", "right")),
    row("searchsorted", LINES[:0], POINTS[:0], wanted=np.zeros(POINTS[:0].shape, np.int64)),
    row("searchsorted", ORDERED.astype(float), np.array(2.5), wanted=np.array(3)),
    row("bincount", np.array([1, 4, 1, -1, 9], np.int32), 5, wanted=np.array([0, 2, 0, 0, 1])),
)  # fmt: skip


@pytest.mark.sampled(24)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_arrays(row: Row) -> None:
    row.check_on_arrays()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_tensors(row: Row) -> None:
    row.check_on_tensors()


def test_results_of_computed_size() -> None:
    for found, wanted in zip(
        hs.unique(X, return_index=True, return_inverse=True, return_counts=True),
        np.unique(X, return_index=True, return_inverse=True, return_counts=True),
        strict=True,
    ):
        compare(found, wanted)
    compare(hs.unique(F), np.unique(F))
    compare(hs.argwhere(X), np.argwhere(X))
    for found, wanted in zip(hs.nonzero(X), np.nonzero(X), strict=True):
        compare(found, wanted)


MISTAKES: dict[str, Any] = {
    "the size of its result depends on values": lambda: hs.unique(te.placeholder((3,))),
    "has no 5 elements": lambda: hs.topk(X, 5),
    "there is no side": lambda: hs.searchsorted(ORDERED, VALUES, "middle"),  # pyright: ignore
    "has not a row in order for each": lambda: hs.searchsorted(X, VALUES),
    "is out of bounds": lambda: hs.sort(X, 3),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        MISTAKES[message]()
