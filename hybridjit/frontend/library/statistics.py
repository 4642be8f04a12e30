"""Statistics of NumPy, written in the language: a call of one is inlined."""

from __future__ import annotations

from typing import Any

import numpy

from hybridjit.frontend.library.elements import is_inexact
from hybridjit.frontend.library.searching import place_of

np: Any = numpy
Array = Any


# -- means and variances -----------------------------------------------------------------------


def _wide(a: Array, dtype: Any) -> Array:
    """An array in the type that means are computed in."""
    if dtype is not None:
        return a.astype(dtype)
    return a if is_inexact(a) else a.astype(np.float64)


def _chosen(a: Array, where: Array, axis: Any, keepdims: bool) -> Array:
    """How many elements a condition chooses."""
    return np.sum(np.broadcast_to(where, a.shape), axis=axis, keepdims=keepdims)


def mean_where(
    a: Array,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any,
) -> Array:
    """The mean of the elements where a condition holds."""
    x = _wide(a, dtype)
    total = np.sum(x, axis=axis, keepdims=keepdims, where=where)
    return (total / _chosen(a, where, axis, keepdims)).astype(x.dtype)


def var_where(
    a: Array,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    where: Any,
) -> Array:
    """The mean of the squared distances from the mean, where a condition holds."""
    x = _wide(a, dtype)
    number = _chosen(a, where, axis, True)
    centre = (np.sum(x, axis=axis, keepdims=True, where=where) / number).astype(x.dtype)
    distances = x - centre
    squares = (distances * distances.conj()).real
    total = np.sum(squares, axis=axis, keepdims=keepdims, where=where)
    freedom = np.maximum(_chosen(a, where, axis, keepdims) - ddof, 0)
    return (total / freedom).astype(squares.dtype)


def std_where(
    a: Array,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    where: Any,
) -> Array:
    """The root of the variance, where a condition holds."""
    return np.sqrt(var_where(a, axis, dtype, None, ddof, keepdims, where=where))


def average(
    a: Array,
    axis: Any = None,
    weights: Array | None = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Array:
    """The mean, in which each element has a weight."""
    if returned:
        raise NotImplementedError("returned is not supported", "write np.sum(weights) beside it")
    if weights is None:
        found = np.mean(a, axis=axis, keepdims=keepdims)
        if np.size(found) == 0:  # as NumPy, which counts how many elements go to each
            raise ZeroDivisionError("division by zero")
        return found
    shared = np.result_type(a, weights)
    x = a.astype(shared if is_inexact(a) else np.result_type(shared, np.float64))
    if weights.ndim != a.ndim:
        found = np.sum(np.moveaxis(x, axis, -1) * weights, axis=-1) / _total(weights, x, None)
        return np.expand_dims(found, axis) if keepdims else found
    return np.sum(x * weights, axis=axis, keepdims=keepdims) / _total(weights, x, axis, keepdims)


def _total(weights: Array, x: Array, axis: Any, keepdims: bool = False) -> Array:
    total = np.sum(weights.astype(x.dtype), axis=axis, keepdims=keepdims)
    if np.any(total == 0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    return total


# -- how rows go together ----------------------------------------------------------------------


def _rows(m: Array, rowvar: bool) -> Array:
    if m.ndim == 1:
        return m[None]
    return m if rowvar else m.T


def cov(
    m: Array,
    y: Array | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
) -> Array:
    """The covariances of the rows of a matrix, or of its columns."""
    rows = _rows(m, rowvar) if y is None else np.concatenate((_rows(m, rowvar), _rows(y, rowvar)))
    x = rows.astype(np.result_type(rows, np.float64))
    freedom = x.shape[-1] - (ddof if ddof is not None else (0 if bias else 1))
    d = x - np.mean(x, axis=1, keepdims=True)
    return np.squeeze(d @ d.T.conj() * (np.float64(1.0) / max(freedom, 0)))


def corrcoef(x: Array, y: Array | None = None, rowvar: bool = True) -> Array:
    """The correlations of the rows of a matrix, or of its columns."""
    c = cov(x, y, rowvar)
    if np.asarray(c).ndim == 0:
        return c / c
    deviations = np.sqrt(np.diagonal(c).real)
    return np.clip(c / deviations[:, None] / deviations, -1, 1)


# -- histograms --------------------------------------------------------------------------------


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


def _by_edges(a: Array, weights: Array | None, edges: Array) -> Array:
    """The counts, or the sums of the weights, between edges at any distances."""
    if np.any(edges[:-1] > edges[1:]):
        raise ValueError("`bins` must increase monotonically, when an array")
    bins = len(edges) - 1
    found = np.zeros(bins, np.int64 if weights is None else weights.dtype)
    for k in range(len(a)):
        if a[k] >= edges[0] and a[k] <= edges[bins]:
            place = min(place_of(edges, a[k], "right") - 1, bins - 1)
            found[place] += 1 if weights is None else weights[k]
    return found


def _ends(a: Array, range: Any) -> tuple[Any, Any]:
    """The first and the last edge: those that are given, or those of the elements as they are."""
    if range is not None:
        return float(range[0]), float(range[1])
    x = _wide(a, None)
    ends = np.array([0.0, 1.0]).astype(x.dtype)
    if len(x) > 0:
        ends[0], ends[1] = np.min(x), np.max(x)
    return ends[0], ends[1]


def _by_number(a: Array, weights: Array | None, bins: int, range: Any) -> tuple[Array, Array]:
    """The counts, or the sums of the weights, in bins of equal width, and their edges."""
    low, high = _ends(a, range)
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    if low > high:
        raise ValueError("max must be larger than min in range parameter.")
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError("the range of the bins is not finite")
    if low == high:
        low -= 0.5
        high += 0.5
    edges = np.linspace(low, high, bins + 1).astype(a.dtype if is_inexact(a) else np.float64)
    if weights is None:
        return _counts(a, edges, low, high, bins), edges
    return _sums(a, weights, edges, low, high, bins), edges


def histogram(
    a: Array,
    bins: Any = 10,
    range: tuple[float, float] | None = None,
    density: bool = False,
    weights: Array | None = None,
) -> tuple[Array, Array]:
    """How many elements fall in each of some bins, and the edges of the bins."""
    flat = np.ravel(a)
    weight = None if weights is None else np.ravel(weights)
    if np.asarray(bins).ndim == 1:
        edges = np.asarray(bins)
        found = _by_edges(flat, weight, edges)
    else:
        found, edges = _by_number(flat, weight, bins, range)
    if density:
        return found / (edges[1:] - edges[:-1]) / np.sum(found), edges
    return found, edges
