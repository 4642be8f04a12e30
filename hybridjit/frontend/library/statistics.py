"""Statistics of NumPy, written in the language: a call of one is inlined."""

from __future__ import annotations

from typing import Any

import numpy

np: Any = numpy
Array = Any


def cov(m: Array, rowvar: bool = True, bias: bool = False, ddof: int | None = None) -> Array:
    """The covariances of the rows of a matrix, or of its columns."""
    data = m if rowvar else m.T
    x = data.astype(np.result_type(m, np.float64))
    freedom = x.shape[-1] - (ddof if ddof is not None else (0 if bias else 1))
    if x.ndim == 1:
        d = x - np.mean(x)
        return np.sum(d * d.conj()) / freedom
    d = x - np.mean(x, axis=1, keepdims=True)
    return d @ d.T.conj() * (1.0 / freedom)


def corrcoef(x: Array, rowvar: bool = True) -> Array:
    """The correlations of the rows of a matrix, or of its columns."""
    c = cov(x, rowvar)
    deviations = np.sqrt(np.diagonal(c).real)
    return np.clip(c / deviations[:, None] / deviations, -1, 1)


def average(a: Array, axis: int | None = None, weights: Array | None = None) -> Array:
    """The mean, in which each element has a weight."""
    if weights is None:
        return np.mean(a, axis=axis)
    if weights.ndim == a.ndim:
        return np.sum(a * weights, axis=axis) / np.sum(weights, axis=axis)
    return np.moveaxis(a, axis, -1) @ weights / np.sum(weights)


def _bin_of(x: float, edges: Array, low: float, high: float, bins: int) -> int:
    """The bin that a number between the first and the last edge belongs to, as NumPy finds it."""
    found = int((x - low) / (high - low) * bins)
    found = min(found, bins - 1)
    if x < edges[found]:
        found -= 1
    if found != bins - 1 and x >= edges[found + 1]:
        found += 1
    return found


def _counts(a: Array, edges: Array, low: float, high: float, bins: int) -> Array:
    counts = np.zeros(bins, np.int64)
    for x in a:
        if x >= low and x <= high:
            counts[_bin_of(x, edges, low, high, bins)] += 1
    return counts


def _sums(a: Array, weights: Array, edges: Array, low: float, high: float, bins: int) -> Array:
    sums = np.zeros(bins, weights.dtype)
    for x, weight in zip(a, weights, strict=True):
        if x >= low and x <= high:
            sums[_bin_of(x, edges, low, high, bins)] += weight
    return sums


def histogram(
    a: Array,
    bins: int = 10,
    range: tuple[float, float] | None = None,
    weights: Array | None = None,
) -> tuple[Array, Array]:
    """How many elements fall in each of some bins of equal width, and the edges of the bins."""
    low = float(np.min(a)) if range is None else float(range[0])
    high = float(np.max(a)) if range is None else float(range[1])
    if low == high:
        low -= 0.5
        high += 0.5
    edges = np.linspace(low, high, bins + 1)
    if weights is None:
        return _counts(np.ravel(a), edges, low, high, bins), edges
    return _sums(np.ravel(a), np.ravel(weights), edges, low, high, bins), edges
