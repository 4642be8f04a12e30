"""Convolutions and poolings over any number of axes, in plain NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy

np: Any = numpy  # whose types say nothing of arrays that may be any
Pairs = Sequence[tuple[int, int]]


def windows_of(
    x: Any, sizes: Sequence[int], strides: Sequence[int], dilations: Sequence[int], sides: Pairs
) -> Any:
    """All windows: batch, channels, places, elements of a window."""
    count = len(sizes)
    padded = np.pad(x, [(0, 0), (0, 0), *sides])
    reach = tuple((k - 1) * d + 1 for k, d in zip(sizes, dilations, strict=True))
    axes = tuple(range(2, 2 + count))
    views = np.lib.stride_tricks.sliding_window_view(padded, reach, axis=axes)
    steps = [slice(None, None, step) for step in (*strides, *dilations)]
    return views[(slice(None), slice(None), *steps)]


def convolve(
    x: Any,
    w: Any,
    strides: Sequence[int],
    sides: Pairs,
    dilations: Sequence[int],
    groups: int = 1,
) -> Any:
    """Images of channels in the second axis, with filters (outputs, channels / groups, ...)."""
    count = w.ndim - 2
    views = windows_of(x, w.shape[2:], strides, dilations, sides)
    axes = [1, *range(2 + count, 2 + 2 * count)]
    parts = [
        np.moveaxis(np.tensordot(v, f, (axes, list(range(1, f.ndim)))), -1, 1)
        for v, f in zip(np.split(views, groups, 1), np.split(w, groups, 0), strict=True)
    ]
    return np.concatenate(parts, 1)


def spread(
    x: Any,
    w: Any,
    strides: Sequence[int],
    sides: Pairs,
    dilations: Sequence[int],
    more: Sequence[int],
    groups: int = 1,
) -> Any:
    """A transposed convolution, with filters (channels, outputs / groups, ...)."""
    sizes = w.shape[2:]
    whole = [
        (n - 1) * s + (k - 1) * d + 1 + extra
        for n, s, k, d, extra in zip(x.shape[2:], strides, sizes, dilations, more, strict=True)
    ]
    parts: list[Any] = []
    for own, filters in zip(np.split(x, groups, 1), np.split(w, groups, 0), strict=True):
        found = np.zeros((x.shape[0], w.shape[1], *whole), np.result_type(x, w))
        for at in itertools.product(*map(range, sizes)):
            places = [
                slice(k * d, k * d + (n - 1) * s + 1, s)
                for k, d, n, s in zip(at, dilations, x.shape[2:], strides, strict=True)
            ]
            value = np.tensordot(own, filters[(slice(None), slice(None), *at)], ([1], [0]))
            found[(slice(None), slice(None), *places)] += np.moveaxis(value, -1, 1)
        parts.append(found)
    inner = [slice(a, size - b) for size, (a, b) in zip(whole, sides, strict=True)]
    return np.concatenate(parts, 1)[(slice(None), slice(None), *inner)]


def pooled(
    kind: str, x: Any, sizes: Sequence[int], strides: Sequence[int], sides: Pairs, counts: bool
) -> Any:
    """The largest elements or averages of windows; padding counts in averages if it is said."""
    ones = [1] * len(sizes)
    axes = tuple(range(2 + len(sizes), 2 + 2 * len(sizes)))
    if kind == "max":
        lowest = np.where(windows_of(np.ones_like(x), sizes, strides, ones, sides) > 0, 0, -np.inf)
        return (windows_of(x, sizes, strides, ones, sides) + lowest).max(axes)
    total = windows_of(x, sizes, strides, ones, sides).sum(axes)
    inside = windows_of(np.ones_like(x), sizes, strides, ones, sides)
    return total / (np.prod(sizes) if counts else inside.sum(axes))


def shared(kind: str, x: Any, sizes: Sequence[int]) -> Any:
    """Adaptive pooling: part i of an axis goes from floor(i n / s) to ceil((i + 1) n / s)."""
    found = np.zeros((*x.shape[:2], *sizes), x.dtype)
    for at in itertools.product(*map(range, sizes)):
        parts = [
            slice(i * n // s, -(-(i + 1) * n // s))
            for i, n, s in zip(at, x.shape[2:], sizes, strict=True)
        ]
        own = x[(slice(None), slice(None), *parts)].reshape(*x.shape[:2], -1)
        found[(slice(None), slice(None), *at)] = own.max(-1) if kind == "max" else own.mean(-1)
    return found
