"""Discrete Fourier transforms of NumPy, written in the language: a call of one is inlined.

A row is transformed by Stockham's passes, one for each factor of its length, from an array to
another and back; real and imaginary parts stand apart, so that passes are loops of plain numbers. A
length with a large prime factor is transformed by Bluestein's convolution, of a power of two. All
transforms of a call go through one loop: the passes are inlined, and would be there several times.
"""

from __future__ import annotations

from typing import Any

import numpy

from hybridjit.frontend.library.shapes import as_rows
from hybridjit.scalars.builtins import const_range

np: Any = numpy
Array = Any
# Lengths with a prime factor beyond 31 are transformed by convolution. This is the product of the
# others; a divisor of its 64th power has no others.
RADICES = 2 * 3 * 5 * 7 * 11 * 13 * 17 * 19 * 23 * 29 * 31
# The steps of transforms.
PLAIN, CHIRP, THERE, BACK = 0, 1, 2, 3


# -- roots of unity ----------------------------------------------------------------------------


def _root(k: int, n: int) -> tuple[float, float]:
    """Cosine and sine of k of n parts of a circle, from an angle of at most an eighth of it."""
    eighth = 8 * k // n
    rest = 8 * k - eighth * n
    angle = (n - rest if eighth % 2 == 1 else rest) / n * (np.pi / 4)
    c, s = np.cos(angle), np.sin(angle)
    is_steep = (eighth + 1) // 2 % 2 == 1
    x, y = s if is_steep else c, c if is_steep else s
    return -x if 2 <= eighth < 6 else x, -y if eighth >= 4 else y


def _fill_roots(roots: Array, n: int) -> None:
    """The powers of exp(-2 pi i / n): the second half mirrors the first."""
    for k in range(n // 2 + 1):
        c, s = _root(k, n)
        roots[0, k] = c
        roots[1, k] = -s
    for k in range(n // 2 + 1, n):
        roots[0, k] = roots[0, n - k]
        roots[1, k] = -roots[1, n - k]


def _fill_chirp(chirp: Array, n: int) -> None:
    """exp(-pi i k^2 / n) for all k; the square of k is followed modulo 2n."""
    square = 0
    for k in range(n):
        c, s = _root(square, 2 * n)
        chirp[0, k] = c
        chirp[1, k] = -s
        square += 2 * k + 1
        if square >= 2 * n:
            square -= 2 * n


# -- passes ------------------------------------------------------------------------------------
#
# A pass of radix r turns m * r transforms of length 1, s at a time, into m of length r.


def _pass_of_4(a: Array, b: Array, roots: Array, m: int, s: int) -> None:
    for p in range(m):
        c1, d1 = roots[0, p * s], roots[1, p * s]
        c2, d2 = roots[0, 2 * p * s], roots[1, 2 * p * s]
        c3, d3 = roots[0, 3 * p * s], roots[1, 3 * p * s]
        for q in range(s):
            x0, y0 = a[0, s * p + q], a[1, s * p + q]
            x1, y1 = a[0, s * (p + m) + q], a[1, s * (p + m) + q]
            x2, y2 = a[0, s * (p + 2 * m) + q], a[1, s * (p + 2 * m) + q]
            x3, y3 = a[0, s * (p + 3 * m) + q], a[1, s * (p + 3 * m) + q]
            b[0, s * (4 * p) + q] = (x0 + x2) + (x1 + x3)
            b[1, s * (4 * p) + q] = (y0 + y2) + (y1 + y3)
            u1, v1 = (x0 - x2) + (y1 - y3), (y0 - y2) - (x1 - x3)
            u2, v2 = (x0 + x2) - (x1 + x3), (y0 + y2) - (y1 + y3)
            u3, v3 = (x0 - x2) - (y1 - y3), (y0 - y2) + (x1 - x3)
            b[0, s * (4 * p + 1) + q] = u1 * c1 - v1 * d1
            b[1, s * (4 * p + 1) + q] = u1 * d1 + v1 * c1
            b[0, s * (4 * p + 2) + q] = u2 * c2 - v2 * d2
            b[1, s * (4 * p + 2) + q] = u2 * d2 + v2 * c2
            b[0, s * (4 * p + 3) + q] = u3 * c3 - v3 * d3
            b[1, s * (4 * p + 3) + q] = u3 * d3 + v3 * c3


def _pass_of_any(a: Array, b: Array, roots: Array, m: int, s: int, r: int) -> None:
    """A pass of any radix: each result is a sum over all inputs."""
    for p in range(m):
        for j in range(r):
            for q in range(s):
                b[0, s * (r * p + j) + q] = 0
                b[1, s * (r * p + j) + q] = 0
            for k in range(r):
                place = (j * (k * m + p) * s) % (m * r * s)
                c, d = roots[0, place], roots[1, place]
                for q in range(s):
                    x, y = a[0, s * (p + m * k) + q], a[1, s * (p + m * k) + q]
                    b[0, s * (r * p + j) + q] += x * c - y * d
                    b[1, s * (r * p + j) + q] += x * d + y * c


def _radix(n: int) -> int:
    """The factor of n whose pass comes next."""
    if n % 4 == 0:
        return 4
    r = 2
    while n % r != 0:
        r += 1
    return r


def _transform(a: Array, b: Array, roots: Array, n: int) -> None:
    """Transform n numbers in place; `b` is memory of the same size.

    Of a length that is known, passes that it does not take are left out.
    """
    has_fours = n % 4 == 0
    has_others = n & (n - 1) != 0 or n % 3 == 2  # it is no power of 4
    m, s = n, 1
    while m > 1:
        r = _radix(m)
        m //= r
        if has_fours and (not has_others or r == 4):
            _pass_of_4(a, b, roots, m, s)
        elif has_others:
            _pass_of_any(a, b, roots, m, s, r)
        for k in range(n):
            a[0, k] = b[0, k]
            a[1, k] = b[1, k]
        s *= r


# -- rows --------------------------------------------------------------------------------------


def _convolution_size(n: int) -> int:
    """0, or the power of two that a length with a large prime factor is convolved in.

    Without loops, so that it is a constant where the length is, and what is not needed is left out.
    Where squares wrap, beyond 3e9, either answer would do.
    """
    rest = RADICES % n
    rest = rest * rest % n
    rest = rest * rest % n
    rest = rest * rest % n
    rest = rest * rest % n
    rest = rest * rest % n
    rest = rest * rest % n
    if rest == 0:
        return 0
    size = 1
    while size < 2 * n - 1:
        size *= 2
    return size


def _load(row: Array, a: Array, n: int, kind: str) -> None:
    """A row as n numbers, cut or with zeros; half of a spectrum ("irfft") is mirrored.

    Parts change places for inverse transforms, which makes forward ones of them.
    """
    a[:, :] = 0
    if kind == "irfft":
        for k in range(min(len(row), n // 2 + 1)):
            a[1, k] = row[k].real
            a[0, k] = 0 if k == 0 or 2 * k == n else row[k].imag
        for k in range(1, min(len(row), (n + 1) // 2)):
            a[1, n - k] = row[k].real
            a[0, n - k] = -row[k].imag
    elif kind == "ifft":
        for k in range(min(len(row), n)):
            a[1, k] = row[k].real
            a[0, k] = row[k].imag
    else:
        for k in range(min(len(row), n)):
            a[0, k] = row[k].real
            a[1, k] = row[k].imag


def _store(a: Array, result: Array, scale: float, kind: str) -> None:
    for k in range(len(result)):
        if kind == "irfft":
            result[k] = a[1, k] * scale
        elif kind == "ifft":
            result[k] = complex(a[1, k] * scale, a[0, k] * scale)
        else:
            result[k] = complex(a[0, k] * scale, a[1, k] * scale)


def _multiply(a: Array, factors: Array, count: int, before: int, after: int) -> None:
    """Multiply numbers, and conjugate them before or after it if -1 is given."""
    for k in range(count):
        x, y = a[0, k], a[1, k] * before
        a[0, k] = x * factors[0, k] - y * factors[1, k]
        a[1, k] = (x * factors[1, k] + y * factors[0, k]) * after


def _load_chirp(chirp: Array, a: Array, n: int) -> None:
    """What a row is convolved with: the conjugate chirp, to both sides of 0."""
    a[:, :] = 0
    for k in range(n):
        a[0, k] = chirp[0, k]
        a[1, k] = -chirp[1, k]
    for k in range(1, n):
        a[0, a.shape[1] - k] = chirp[0, k]
        a[1, a.shape[1] - k] = -chirp[1, k]


def _plan(rows: int, is_convolved: bool) -> Array:
    """What each step transforms: rows; or of a convolution, the chirp, then rows there and back.

    It lies in memory, so that one loop takes steps of every kind.
    """
    plan = np.zeros(2 * rows + 1 if is_convolved else rows, np.int8)
    if is_convolved:
        for step in range(len(plan)):
            plan[step] = CHIRP if step == 0 else THERE if step % 2 == 1 else BACK
    return plan


def _transform_rows(rows: Array, n: int, scale: float, kind: str, result: Array) -> None:
    convolved = _convolution_size(n)
    size = max(convolved, n)
    real = np.result_type(result.real)
    roots, a, b = np.empty((2, size), real), np.empty((2, size), real), np.empty((2, size), real)
    factors = np.zeros((2, 2, convolved), real)  # the chirp, and the transform of its conjugate
    _fill_roots(roots, size)
    if convolved > 0:
        _fill_chirp(factors[0], n)
        scale /= size
    plan = _plan(rows.shape[0], convolved > 0)
    for place in range(len(plan)):
        step = PLAIN if convolved == 0 else plan[place]
        row = place if convolved == 0 else (place - 1) // 2
        if step == CHIRP:
            _load_chirp(factors[0], a, n)
        elif step != BACK:
            _load(rows[row], a, n, kind)
        is_there = step == THERE
        if is_there:
            _multiply(a, factors[0], n, 1, 1)
        _transform(a, b, roots, size)
        if step == CHIRP:
            factors[1] = a
        elif step != PLAIN:
            before = 1 if is_there else -1
            _multiply(a, factors[1 if is_there else 0], size, before, -before)
        if step != CHIRP and not is_there:
            _store(a, result[row], scale, kind)


# -- along an axis -----------------------------------------------------------------------------


def _scale(n: int, norm: str | None, is_inverse: bool) -> float:
    if norm is None or norm == "backward":
        return 1.0 / n if is_inverse else 1.0
    if norm == "ortho":
        return 1.0 / np.sqrt(float(n))
    if norm != "forward":
        raise ValueError('norm should be "backward", "ortho" or "forward"')
    return 1.0 if is_inverse else 1.0 / n


def _is_single(a: Array) -> bool:
    return a.dtype == "float32" or a.dtype == "complex64" or a.dtype == "float16"


def _transformed(a: Array, n: int, axis: int, norm: str | None, kind: str) -> Array:
    """An array transformed along an axis, to n numbers or of n numbers."""
    if n < 1:
        raise ValueError("Invalid number of FFT data points specified: n must be positive")
    moved = np.moveaxis(a, axis, -1)
    rows = moved[None] if a.ndim == 1 else as_rows(moved.copy())
    count = n // 2 + 1 if kind == "rfft" else n
    if kind == "irfft":
        result = np.empty((rows.shape[0], count), np.float32 if _is_single(a) else np.float64)
    else:
        result = np.empty((rows.shape[0], count), np.complex64 if _is_single(a) else np.complex128)
    _transform_rows(rows, n, _scale(n, norm, kind == "ifft" or kind == "irfft"), kind, result)
    if a.ndim == 1:
        return result[0]
    return np.moveaxis(result.reshape((*moved.shape[:-1], count)), -1, axis)


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
