"""Differences, integrals and filters of NumPy, written in the language: a call of one is inlined.

What goes along an axis is written for the last one: np.moveaxis makes a view.
"""

from __future__ import annotations

from typing import Any

import numpy

np: Any = numpy
Array = Any


def _differences(a: Array) -> Array:
    if a.dtype == "bool":
        return a[..., 1:] != a[..., :-1]
    return a[..., 1:] - a[..., :-1]


def _beside(x: Any, rows: Array, axis: int) -> Array:
    """What is put before or after rows: an array, or a number for each of them."""
    edge = np.asarray(x)
    if edge.ndim > 0:
        return np.moveaxis(edge, axis, -1)
    return np.full((*rows.shape[:-1], 1), x)


def diff(a: Array, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """Each element less the one before it, some times."""
    rows = np.moveaxis(a, axis, -1)
    if prepend is not None:
        rows = np.concatenate((_beside(prepend, rows, axis), rows), axis=-1)
    if append is not None:
        rows = np.concatenate((rows, _beside(append, rows, axis)), axis=-1)
    for _ in (None,) * n:
        rows = _differences(rows)
    return np.moveaxis(rows, -1, axis)


def ediff1d(ary: Array) -> Array:
    """Each element less the one before it, in the flat array."""
    flat = np.ravel(ary)
    return flat[1:] - flat[:-1]


# -- derivatives -------------------------------------------------------------------------------


def _steady_slopes(f: Array, h: Any, edge_order: int, slopes: Array) -> None:
    """Slopes of points at equal distances."""
    slopes[..., 1:-1] = (f[..., 2:] - f[..., :-2]) / (2.0 * h)
    if edge_order == 1:
        slopes[..., 0] = (f[..., 1] - f[..., 0]) / h
        slopes[..., -1] = (f[..., -1] - f[..., -2]) / h
    else:
        a, b, c = -1.5 / h, 2.0 / h, -0.5 / h
        slopes[..., 0] = a * f[..., 0] + b * f[..., 1] + c * f[..., 2]
        slopes[..., -1] = -c * f[..., -3] - b * f[..., -2] - a * f[..., -1]


def _slopes(f: Array, x: Array, edge_order: int, slopes: Array) -> None:
    """Slopes of points at the places x."""
    d = _differences(x if x.dtype.kind == "f" else x.astype(np.float64))
    p, q = d[:-1], d[1:]
    inner = (q - p) / (p * q) * f[..., 1:-1] + p / (q * (p + q)) * f[..., 2:]
    slopes[..., 1:-1] = -q / (p * (p + q)) * f[..., :-2] + inner
    if edge_order == 1:
        slopes[..., 0] = (f[..., 1] - f[..., 0]) / d[0]
        slopes[..., -1] = (f[..., -1] - f[..., -2]) / d[-1]
    else:
        p, q = d[0], d[1]
        start = -(2.0 * p + q) / (p * (p + q)) * f[..., 0] + (p + q) / (p * q) * f[..., 1]
        slopes[..., 0] = start - p / (q * (p + q)) * f[..., 2]
        r, s = d[-2], d[-1]
        end = s / (r * (r + s)) * f[..., -3] - (s + r) / (r * s) * f[..., -2]
        slopes[..., -1] = end + (2.0 * s + r) / (s * (r + s)) * f[..., -1]


def _gradient_along(f: Array, spacing: Any, axis: int, edge_order: int) -> Array:
    is_inexact = f.dtype.kind == "f" or f.dtype.kind == "c"
    rows = np.moveaxis(f if is_inexact else f.astype(np.float64), axis, -1)
    if rows.shape[-1] < edge_order + 1:
        raise ValueError("Shape of array too small to calculate a numerical gradient")
    slopes = np.empty(rows.shape, rows.dtype)
    if spacing is None:
        _steady_slopes(rows, 1.0, edge_order, slopes)
    elif np.asarray(spacing).ndim == 0:
        _steady_slopes(rows, spacing, edge_order, slopes)
    else:
        _slopes(rows, spacing, edge_order, slopes)
    return np.moveaxis(slopes, -1, axis)


def gradient(
    f: Array,
    first: Any = None,
    second: Any = None,
    /,
    *,
    axis: int | None = None,
    edge_order: int = 1,
) -> Any:
    """The derivatives along the axes of an array, from differences."""
    if f.ndim == 1:
        return _gradient_along(f, first, 0, edge_order)
    if axis is not None:
        return _gradient_along(f, first, axis, edge_order)
    if f.ndim > 2:
        raise NotImplementedError(
            "all axes at once are supported for at most two dimensions", "give axis=0, axis=1 ..."
        )
    other = first if second is None else second
    return _gradient_along(f, first, 0, edge_order), _gradient_along(f, other, 1, edge_order)


# -- integrals and filters ---------------------------------------------------------------------


def trapezoid(y: Array, x: Array | None = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """The integral of a function known at some points, by straight lines between them."""
    rows = np.moveaxis(y, axis, -1)
    pairs = rows[..., 1:] + rows[..., :-1]
    if x is None:
        return np.sum(dx * pairs / 2.0, axis=-1)
    places = x if x.ndim == 1 else np.moveaxis(x, axis, -1)
    return np.sum(_differences(places) * pairs / 2.0, axis=-1)


trapz = trapezoid


def unwrap(p: Array, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> Array:
    """Angles without jumps of more than half a period."""
    angles = np.moveaxis(p, axis, -1)
    steps = _differences(angles)
    is_whole = np.result_type(steps, period).kind in "iu"
    half = period // 2 if is_whole else period / 2
    wrapped = (steps + half) % period - half
    if not is_whole or period % 2 == 0:
        wrapped = np.where((wrapped == -half) & (steps > 0), half, wrapped)
    limit = period / 2 if discont is None else discont
    corrections = np.where(np.absolute(steps) < limit, 0, wrapped - steps)
    result = angles.astype(corrections.dtype)
    result[..., 1:] += np.cumsum(corrections, axis=-1)
    return np.moveaxis(result, -1, axis)


def _slide(a: Array, v: Array) -> Array:
    """The sums of the products of two sequences, for every place at which they meet."""
    if len(a) == 0 or len(v) == 0:
        raise ValueError("a and v cannot be empty")
    full = np.zeros(len(a) + len(v) - 1, np.result_type(a, v))
    if len(v) <= len(a):
        _slide_along(full, a, v[::-1])
    else:
        _slide_along(full[::-1], v[::-1], a)
    return full


def _slide_along(full: Array, row: Array, window: Array) -> None:
    """The sums for a window that is moved along a row, which is as long as it at least.

    Where only a part of it meets the row, sums are of many lengths: term by term they have lanes.
    """
    before = len(window) - 1
    for k in range(1, len(window)):
        for n in range(before - k, before):
            full[n] += row[n - before + k] * window[k]
    for n in range(before, len(row)):
        for k in range(len(window)):
            full[n] += row[n - before + k] * window[k]
    for k in range(before):
        for n in range(len(row), len(full) - k):
            full[n] += row[n - before + k] * window[k]


def convolve(a: Array, v: Array, mode: str = "full") -> Array:
    """The sums of the products of two sequences that slide along each other."""
    full = _slide(a, v)
    shorter, longer = min(len(a), len(v)), max(len(a), len(v))
    if mode == "same":
        return full[(shorter - 1) // 2 : (shorter - 1) // 2 + longer]
    if mode == "valid":
        return full[shorter - 1 : longer]
    return full


def correlate(a: Array, v: Array, mode: str = "valid") -> Array:
    """The sums of the products of two sequences, the second of them conjugated."""
    full = _slide(a, v.conj()[::-1])
    shorter, longer = min(len(a), len(v)), max(len(a), len(v))
    if mode == "same":
        first = (shorter - 1) // 2 if len(a) >= len(v) else shorter // 2
        return full[first : first + longer]
    if mode == "valid":
        return full[shorter - 1 : longer]
    return full
