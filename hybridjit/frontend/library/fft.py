"""Discrete Fourier transforms of NumPy, written in the language: a call of one is inlined.

What transforms rows are the functions of NumPy itself.
"""

from __future__ import annotations

from typing import Any

import numpy

from hybridjit.frontend.library.numpy_transforms import (
    fft_rows,
    ifft_rows,
    irfft_rows,
    rfft_even_rows,
    rfft_odd_rows,
)
from hybridjit.scalars.builtins import const_range

np: Any = numpy
Array = Any


def _transform_rows(rows: Array, n: int, scale: float, kind: str, result: Array) -> None:
    count, given, made = np.empty(rows.shape[:-1]).size, rows.shape[-1], result.shape[-1]
    if given == 0:
        result[:] = 0
    elif kind == "fft":
        fft_rows(rows, result, count, given, made, scale)
    elif kind == "ifft":
        ifft_rows(rows, result, count, given, made, scale)
    elif kind == "irfft":
        irfft_rows(rows, result, count, given, made, scale)
    elif n % 2 == 0:
        rfft_even_rows(rows, result, count, given, made, scale)
    else:
        rfft_odd_rows(rows, result, count, given, made, scale)


# -- along an axis -----------------------------------------------------------------------------


def _scale(size: Any, norm: str | None, is_inverse: bool) -> Any:
    """What results are multiplied by, in the type of the length."""
    if norm is None or norm == "backward":
        return 1 / size if is_inverse else 1.0
    if norm == "ortho":
        return 1 / np.sqrt(size)
    if norm != "forward":
        raise ValueError('norm should be "backward", "ortho" or "forward"')
    return 1.0 if is_inverse else 1 / size


def _is_single(a: Array) -> bool:
    return a.dtype == "float32" or a.dtype == "complex64" or a.dtype == "float16"


def _size(a: Array, n: int) -> Any:
    """A length as NumPy divides by it: a number of the elements' type."""
    if a.dtype == "float16":
        return np.float16(n)
    return np.float32(n) if _is_single(a) else np.float64(n)


def _transformed(a: Array, n: int, axis: int, norm: str | None, kind: str) -> Array:
    """An array transformed along an axis, to n numbers or of n numbers."""
    if n < 1:
        raise ValueError("Invalid number of FFT data points specified: n must be positive")
    is_last = axis == -1 or axis == a.ndim - 1
    moved = a if is_last else np.moveaxis(a, axis, -1)
    rows = moved.astype(np.float64 if kind == "rfft" else np.complex128)
    made = n // 2 + 1 if kind == "rfft" else n
    result = np.empty((*moved.shape[:-1], made), np.float64 if kind == "irfft" else np.complex128)
    scale = _scale(_size(a, n), norm, kind == "ifft" or kind == "irfft")
    _transform_rows(rows, n, scale, kind, result)
    typed = result
    if _is_single(a):  # NumPy, too, transforms in double precision, but for complex64 with a norm
        typed = result.astype(np.float32 if kind == "irfft" else np.complex64)
    return typed if is_last else np.moveaxis(typed, -1, axis)


def fft(a: Array, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The transform along an axis."""
    return _transformed(a, a.shape[axis] if n is None else n, axis, norm, "fft")


def ifft(a: Array, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse transform along an axis."""
    return _transformed(a, a.shape[axis] if n is None else n, axis, norm, "ifft")


def rfft(a: Array, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The first half of the transform of real numbers along an axis."""
    if a.dtype.kind == "c":
        raise TypeError("rfft takes real numbers")
    return _transformed(a, a.shape[axis] if n is None else n, axis, norm, "rfft")


def irfft(a: Array, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The real numbers whose transform begins with the elements along an axis."""
    return _transformed(a, 2 * (a.shape[axis] - 1) if n is None else n, axis, norm, "irfft")


# -- along several axes ------------------------------------------------------------------------


def fft2(a: Array, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Array:
    """The transform along two axes, the last one first."""
    if s is None:
        return fft(fft(a, None, axes[1], norm), None, axes[0], norm)
    return fft(fft(a, s[1], axes[1], norm), s[0], axes[0], norm)


def ifft2(a: Array, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Array:
    """The inverse transform along two axes, the last one first."""
    if s is None:
        return ifft(ifft(a, None, axes[1], norm), None, axes[0], norm)
    return ifft(ifft(a, s[1], axes[1], norm), s[0], axes[0], norm)


def _count(a: Array, s: Any, axes: Any) -> int:
    """Along how many axes: those that are named, as many as there are lengths, or all of them."""
    if axes is not None:
        return len(axes)
    return a.ndim if s is None else len(s)


def _along(a: Array, kind: Any, s: Any, axes: Any, norm: str | None, at: int, count: int) -> Array:
    """The transform of a kind along one of several axes, by default the last ones."""
    n = None if s is None else s[at]
    return kind(a, n, a.ndim - count + at if axes is None else axes[at], norm)


def fftn(a: Array, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """The transform along several axes, the last one first."""
    found, count = a, _count(a, s, axes)
    for k in const_range(count):
        found = _along(found, fft, s, axes, norm, count - 1 - k, count)
    return found


def ifftn(a: Array, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """The inverse transform along several axes, the last one first."""
    found, count = a, _count(a, s, axes)
    for k in const_range(count):
        found = _along(found, ifft, s, axes, norm, count - 1 - k, count)
    return found


def rfftn(a: Array, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """The transform of real numbers along several axes, half of it along the last one."""
    count = _count(a, s, axes)
    found = _along(a, rfft, s, axes, norm, count - 1, count)
    for k in const_range(count - 1):
        found = _along(found, fft, s, axes, norm, count - 2 - k, count)
    return found


def rfft2(a: Array, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Array:
    """The transform of real numbers along two axes, half of it along the last one."""
    return rfftn(a, s, axes, norm)


# -- frequencies -------------------------------------------------------------------------------


def fftfreq(n: int, d: float = 1.0) -> Array:
    """The frequencies that the elements of a transform belong to."""
    frequencies = np.empty(n, np.float64)
    step = 1.0 / (n * d)
    for k in range(n):
        frequencies[k] = (k if k < (n + 1) // 2 else k - n) * step
    return frequencies


def rfftfreq(n: int, d: float = 1.0) -> Array:
    """The frequencies that the elements of a transform of real numbers belong to."""
    return np.arange(0, n // 2 + 1) * (1.0 / (n * d))


def fftshift(x: Array, axes: Any = None) -> Array:
    """The frequency 0 put into the middle, along all axes or some."""
    if axes is not None and np.ndim(axes) == 0:
        return np.roll(x, x.shape[axes] // 2, axes)
    shifted = x
    for axis in const_range(x.ndim if axes is None else len(axes)):
        along = axis if axes is None else axes[axis]
        shifted = np.roll(shifted, x.shape[along] // 2, along)
    return shifted


def ifftshift(x: Array, axes: Any = None) -> Array:
    """What fftshift has put into the middle, put back to the front."""
    if axes is not None and np.ndim(axes) == 0:
        return np.roll(x, -(x.shape[axes] // 2), axes)
    shifted = x
    for axis in const_range(x.ndim if axes is None else len(axes)):
        along = axis if axes is None else axes[axis]
        shifted = np.roll(shifted, -(x.shape[along] // 2), along)
    return shifted
