"""Pooling to a size that is given: windows share an axis among so many results."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from hybridjit.errors import ArgumentValueError
from hybridjit.record import record
from hybridjit.stdlib.parts.accumulation import float_type
from hybridjit.stdlib.parts.extrema import largest
from hybridjit.stdlib.parts.images import (
    Layout,
    Layout1,
    Layout3,
    check_images,
    logical,
    physical,
)
from hybridjit.stdlib.parts.precision import working_type
from hybridjit.stdlib.parts.requirements import Guard, both, not_empty
from hybridjit.stdlib.parts.shapes import count_elements, fill, shown
from hybridjit.stdlib.parts.sliding import offsets_of
from hybridjit.stdlib.parts.types import Pair, T
from hybridjit.stdlib.parts.windows import read_sizes
from hybridjit.stdlib.running.compiled import scheduled_by
from hybridjit.stdlib.running.operator import operator
from hybridjit.stdlib.running.schedules import as_written
from hybridjit.te import all as are_all
from hybridjit.te import sum as added

RECIPE = scheduled_by(as_written)


@record
class _Share:
    """Elements of an axis, shared among `count` results: floor(i * n / count) and on."""

    extent: Any
    count: int
    guard: Guard

    @property
    def is_even(self) -> bool:
        return isinstance(self.extent, int) and self.extent % self.count == 0

    @property
    def most(self) -> Any:
        """The size of the largest part."""
        if self.is_even:
            return self.extent // self.count
        return (self.extent - 1) // self.count + 2 if self.count > 1 else self.extent

    def start(self, place: Any) -> Any:
        return place * self.extent // self.count

    def size(self, place: Any) -> Any:
        """ceil((i + 1) * n / count) - start."""
        stop = ((place + 1) * self.extent + self.count - 1) // self.count
        return stop - self.start(place)


def _shared(name: str, x: Any, size: Any, layout: str, spatial: int) -> list[_Share]:
    check_images(name, x, layout, spatial)
    extents = logical(x.shape, layout)[2:]
    if any(isinstance(extent, int) and extent == 0 for extent in extents):
        raise ArgumentValueError(f"{name}: {shown(x)} has no elements to share")
    counts = read_sizes(name, "size", size, spatial)
    return [
        _Share(extent, count, not_empty(name, extent, f"'{x.name}' has no elements to share"))
        for extent, count in zip(extents, counts, strict=True)
    ]


def _reduce(name: str, x: Any, shares: Sequence[_Share], layout: str, reducer: Any) -> Any:
    batch, channels, *_ = logical(x.shape, layout)
    offsets = offsets_of([share.most for share in shares])

    def element(at: tuple[Any, ...]) -> Any:
        n, channel, *places = logical(at, layout)
        parts = list(zip(shares, places, offsets, strict=True))
        inside = [o < share.size(place) for share, place, o in parts if not share.is_even]
        seen = [share.start(place) + o for share, place, o in parts]
        where = are_all(*inside) if inside else None
        value = guard(x[physical((n, channel, *seen), layout)])
        return reducer(value, axis=offsets, where=where)

    guard = functools.reduce(both, (share.guard for share in shares))
    counts = [share.count for share in shares]
    return fill(name, physical((batch, channels, *counts), layout), element)


def _largest(name: str, x: Any, size: Any, layout: str, spatial: int) -> Any:
    return _reduce(name, x, _shared(name, x, size, layout, spatial), layout, largest)


def _average(name: str, x: Any, size: Any, layout: str, spatial: int) -> Any:
    shares = _shared(name, x, size, layout, spatial)
    dtype = float_type(x.dtype)
    working = working_type(dtype)

    def add(value: Any, axis: Any, where: Any) -> Any:
        return added(value.astype(working), axis=axis, where=where)

    total = _reduce(f"{name}_sum", x, shares, layout, add)

    def element(at: tuple[Any, ...]) -> Any:
        places = logical(at, layout)[2:]
        sizes = tuple(share.size(place) for share, place in zip(shares, places, strict=True))
        return (total[at] / count_elements(sizes, range(len(sizes)))).astype(dtype)

    return fill(name, total.shape, element)


@operator(recipe=RECIPE)
def adaptive_max_pool1d(x: T, size: int, *, layout: Layout1 = "NCW") -> T:
    """The largest elements of parts of signals, as many of them as `size` says.

    >>> hs.adaptive_max_pool1d(np.arange(5.0).reshape(1, 1, 5), 2)
    array([[[2., 4.]]])
    """
    return _largest("adaptive_max_pool1d", x, size, layout, 1)


@operator(recipe=RECIPE)
def adaptive_avg_pool1d(x: T, size: int, *, layout: Layout1 = "NCW") -> T:
    """The averages of parts of signals, as many of them as `size` says.

    >>> hs.adaptive_avg_pool1d(np.arange(5.0).reshape(1, 1, 5), 2)
    array([[[1., 3.]]])
    """
    return _average("adaptive_avg_pool1d", x, size, layout, 1)


@operator(recipe=RECIPE)
def adaptive_max_pool2d(x: T, size: Pair, *, layout: Layout = "NCHW") -> T:
    """The largest elements of parts of images, as many of them as `size` says.

    >>> hs.adaptive_max_pool2d(np.arange(6.0).reshape(1, 1, 2, 3), (1, 2))
    array([[[[4., 5.]]]])
    """
    return _largest("adaptive_max_pool2d", x, size, layout, 2)


@operator(recipe=RECIPE)
def adaptive_avg_pool2d(x: T, size: Pair, *, layout: Layout = "NCHW") -> T:
    """The averages of parts of images, as many of them as `size` says.

    >>> hs.adaptive_avg_pool2d(np.arange(6.0).reshape(1, 1, 2, 3), (1, 2))
    array([[[[2., 3.]]]])
    """
    return _average("adaptive_avg_pool2d", x, size, layout, 2)


@operator(recipe=RECIPE)
def adaptive_max_pool3d(x: T, size: Pair, *, layout: Layout3 = "NCDHW") -> T:
    """The largest elements of parts of volumes, as many of them as `size` says.

    >>> hs.adaptive_max_pool3d(np.arange(8.0).reshape(1, 1, 2, 2, 2), 1)
    array([[[[[7.]]]]])
    """
    return _largest("adaptive_max_pool3d", x, size, layout, 3)


@operator(recipe=RECIPE)
def adaptive_avg_pool3d(x: T, size: Pair, *, layout: Layout3 = "NCDHW") -> T:
    """The averages of parts of volumes, as many of them as `size` says.

    >>> hs.adaptive_avg_pool3d(np.arange(8.0).reshape(1, 1, 2, 2, 2), 1)
    array([[[[[3.5]]]]])
    """
    return _average("adaptive_avg_pool3d", x, size, layout, 3)
