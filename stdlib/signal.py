"""Signals: Fourier transforms of whole signals, and of windows that move over them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from hybridjit import hybrid
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.dtype import COMPLEX128
from hybridjit.stdlib.padding import extend_by
from hybridjit.stdlib.parts.accumulation import float_type
from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.shapes import are_equal, fill, normalize_axis, read_integers, shown
from hybridjit.stdlib.parts.types import T
from hybridjit.stdlib.running.operator import operator
from hybridjit.te import if_then_else


@hybrid.script
def _fft(x: Any, axis: int) -> Any:
    return np.fft.fft(x, axis=axis)


@hybrid.script
def _ifft(x: Any, axis: int) -> Any:
    return np.fft.ifft(x, axis=axis)


@operator(differentiable=False)
def fft(x: T, axis: int = -1, *, inverse: bool = False) -> T:
    """The discrete Fourier transform along an axis, or its inverse, in complex128.

    >>> hs.fft(np.array([1.0, 0.0, 0.0, 0.0]))
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    place = normalize_axis("fft", x, axis)
    _check_points("fft", x, place)
    wide = fill("fft_input", x.shape, lambda at: _element(x, at).astype(COMPLEX128))
    return _ifft(wide, place) if inverse else _fft(wide, place)


def _check_points(name: str, x: Any, axis: int) -> None:
    if are_equal(x.shape[axis], 0):
        raise ArgumentValueError(
            f"{name}: {shown(x)} has no elements along axis {axis}, and nothing has no frequencies"
        )


def _element(x: Any, at: tuple[Any, ...]) -> Any:
    return x[at]


@operator(differentiable=False)
def dft(real: T, imag: T, inverse: bool = False) -> tuple[T, T]:
    """The discrete Fourier transform along the last axis, real and imaginary parts apart.

    >>> hs.dft(np.array([1.0, 0.0]), np.zeros(2))
    (array([1., 1.]), array([0., 0.]))
    """
    _check_parts(real, imag)
    _check_points("dft", real, real.ndim - 1)
    last = real.ndim - 1
    wide = fill("dft_input", real.shape, functools.partial(_joined, real, imag))
    found: Any = _ifft(wide, last) if inverse else _fft(wide, last)
    parts = [
        fill(f"dft_{name}", real.shape, functools.partial(_part, name, found, real))
        for name in ("real", "imag")
    ]
    return parts[0], parts[1]


def _joined(real: Any, imag: Any, at: tuple[Any, ...]) -> Any:
    return real[at].astype(COMPLEX128) + imag[at].astype(COMPLEX128) * 1j


def _part(name: str, x: Any, like: Any, at: tuple[Any, ...]) -> Any:
    return call(name, x[at]).astype(like.dtype)


def _check_parts(real: Any, imag: Any) -> None:
    if real.ndim == 0 or not (real.dtype.is_float and imag.dtype is real.dtype):
        raise ArgumentError("dft: both parts are arrays of the same float type")
    if real.ndim != imag.ndim or not all(map(are_equal, real.shape, imag.shape)):
        raise ArgumentValueError(f"dft: {shown(real)} and {shown(imag)} do not match")


@operator(differentiable=False)
def stft(
    x: T,
    n_fft: int,
    hop_length: int,
    window: T | None = None,
    *,
    center: bool = False,
    onesided: bool | None = None,
    normalized: bool = False,
    as_real: bool = False,
) -> T:
    """Fourier transforms of windows of n_fft elements, hop_length apart, along the last axis.

    Each is multiplied by a `window` first. The result has the frequencies in the axis before the
    last, and the places in the last. With center=True signals are reflected at both ends, so that
    window t has its middle at t * hop_length. Of real signals the upper half of the frequencies,
    which mirrors the lower one, is left out unless onesided=False. With normalized=True all is
    divided by the root of n_fft; with as_real=True real and imaginary parts are a last axis, in the
    type of x.

    >>> hs.stft(np.ones(8), 4, 2).shape
    (3, 3)
    """
    size, hop = (
        read_integers("stft", "n_fft and hop_length", n, 1)[0] for n in (n_fft, hop_length)
    )
    _check_frames(x, window, size, hop)
    is_half = _is_half(x, window, onesided)
    outer = x.ndim - 1
    widths = [(0, 0)] * outer + [(size // 2, size // 2)]
    signal: Any = extend_by("stft", x, widths, "reflect", 0) if center else x
    _check_length(signal, size)
    count = (signal.shape[-1] - size) // hop + 1

    def frame(at: tuple[Any, ...]) -> Any:
        value = signal[(*at[:outer], at[outer] * hop + at[outer + 1])].astype(COMPLEX128)
        return value if window is None else value * _element(window, at[-1:]).astype(COMPLEX128)

    frames = fill("stft_frames", (*signal.shape[:-1], count, size), frame)
    found: Any = _fft(frames, outer + 1)
    kept = size // 2 + 1 if is_half else size
    shape = (*signal.shape[:-1], kept, count)

    def element(at: tuple[Any, ...]) -> Any:
        value = found[(*at[:outer], at[outer + 1], at[outer])]
        return value / float(size) ** 0.5 if normalized else value

    if not as_real:
        return fill("stft", shape, element)
    dtype = float_type(x.dtype)
    if dtype.is_complex:
        raise ArgumentError(f"stft: parts of signals of type {dtype} have no type of x")

    def part(at: tuple[Any, ...]) -> Any:
        value = element(at[:-1])
        return if_then_else(at[-1] == 0, call("real", value), call("imag", value)).astype(dtype)

    return fill("stft_parts", (*shape, 2), part)


def _check_frames(x: Any, window: Any, size: int, hop: int) -> None:
    if x.ndim == 0 or size < 1 or hop < 1:
        raise ArgumentValueError(f"stft: {shown(x)} has no windows of {size} elements, {hop} apart")
    if window is not None and not (window.ndim == 1 and are_equal(window.shape[0], size)):
        raise ArgumentValueError(f"stft: {shown(window)} must have the shape ({size},)")


def _is_half(x: Any, window: Any, onesided: bool | None) -> bool:
    """Whether the lower half of the frequencies says all, as it does of real signals."""
    is_complex = x.dtype.is_complex or (window is not None and window.dtype.is_complex)
    if onesided and is_complex:
        raise ArgumentValueError(
            f"stft: '{x.name}' or its window is complex, and the frequencies of one side do not "
            "say all of it",
            help="leave onesided out, or pass onesided=False",
        )
    return not is_complex if onesided is None else onesided


def _check_length(signal: Any, size: int) -> None:
    length = signal.shape[-1]
    if isinstance(length, int) and length < size:
        raise ArgumentValueError(f"stft: {length} elements have no window of {size}")
