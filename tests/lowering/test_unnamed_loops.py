"""Errors speak of the iterations of loops that were written, not of the parts that threads get."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from hybridjit.errors import BoundsError

np: Any = numpy
Array = Any
PLACE = 700_000


@hybrid.script(parallel=True)
def total(a: Array, places: Array) -> Any:
    s = 0
    for i in range(places.shape[0]):
        s += a[places[i]]
    return s


@hybrid.script(parallel=True)
def counts(a: Array, places: Array) -> Array:
    h = np.zeros(10, np.int64)
    for i in range(places.shape[0]):
        h[places[i]] += 1
    return h


@hybrid.script(parallel=True)
def largest(a: Array, places: Array) -> Any:
    most, at = -1, 0
    for i in range(places.shape[0]):
        if a[places[i]] > most:
            most, at = a[places[i]], i
    return most, at


@hybrid.script(parallel=True)
def weighted(a: Array, places: Array) -> Array:
    h = np.zeros(a.shape[0], np.int64)
    for i in range(places.shape[0]):
        for j in range(2):
            h[j] += a[places[i]] * j
    return h


@hybrid.script(parallel=True)
def taken(a: Array, places: Array) -> Array:
    out = np.zeros(places.shape[0], np.int64)
    for i in range(places.shape[0]):
        out[i] = a[places[i]]
    return out


@pytest.mark.parametrize("size", [2_000_000, 104])
@pytest.mark.parametrize(
    "kernel", [total, counts, largest, weighted, taken], ids=lambda k: k.__name__
)
def test_no_parts(kernel: Any, size: int) -> None:
    places = np.arange(size) % 10
    place = min(PLACE, size - 4)
    places[place] = 12
    with pytest.raises(BoundsError, match="in iteration") as caught:
        kernel(np.arange(10) % 3, places)
    (note,) = caught.value.diagnostics[0].notes
    assert note.removesuffix(", j=0") == f"in iteration i={place}"


@hybrid.script(parallel=True)
def total_of_every_third(a: Array, places: Array) -> Any:
    s = 0
    for i in range(1, places.shape[0], 3):
        s += a[places[i]]
    return s


@hybrid.script(parallel=True)
def counts_backwards(a: Array, places: Array) -> Array:
    h = np.zeros(10, np.int64)
    for i in range(places.shape[0] - 1, -1, -2):
        h[places[i]] += 1
    return h


@hybrid.script(parallel=True)
def largest_of_every_fifth(a: Array, places: Array) -> Any:
    most, at = -1, 0
    for i in range(4, places.shape[0], 5):
        if a[places[i]] > most:
            most, at = a[places[i]], i
    return most, at


@pytest.mark.parametrize(
    ("kernel", "place"),
    [(total_of_every_third, 700_000), (counts_backwards, 99), (largest_of_every_fifth, 1_999_999)],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_steps(kernel: Any, place: int) -> None:
    """Threads get every third iteration as such: they do not count them from 0."""
    places = np.arange(2_000_000) % 10
    places[place] = 12
    with pytest.raises(BoundsError, match=f"in iteration i={place}\\n") as caught:
        kernel(np.arange(10) % 3, places)
    assert "count" not in str(caught.value)


@hybrid.script(parallel=True)
def numbered(start: int, stop: int) -> int:
    s = 0
    for i in range(start, stop, 5):
        s += (i - start) // 5
    return s


@pytest.mark.parametrize("stop", [2**63 - 1, 2**63 - 3, 20])
def test_last_values(stop: int) -> None:
    """Parts of a loop that ends at the largest number end there, and not beyond it."""
    count = 1_000_000
    assert numbered(stop - 5 * count + 4, stop) == count * (count - 1) // 2
