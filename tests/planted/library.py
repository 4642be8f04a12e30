"""Bugs planted in functions of NumPy that are written in the language, and in what they are lent.

Each must make a given call differ from NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from hybridjit.frontend.library import fft as library_fft
from hybridjit.frontend.library import random as library_random
from hybridjit.runtime import generators
from tests.frontend.from_text import script_from_text
from tests.planted.bugs import Bug, Check, always, replaced

np: Any = numpy


def transform(length: int, call: str) -> Check:
    """A transform of some length gives what NumPy gives."""

    def check() -> None:
        a = np.arange(length) ** 2 % 7 + 1j
        kernel = script_from_text(f"def f(a):\n    return {call}\n", {"np": np})
        np.testing.assert_allclose(kernel.interpret(a), kernel.__hybrid_function__(a), atol=1e-9)

    check.__name__ = call
    return check


def stream(call: str) -> Check:
    """Draws, and the one that follows them, are NumPy's."""

    def check() -> None:
        ours, numpys = np.random.default_rng(1), np.random.default_rng(1)
        kernel = script_from_text(f"def f(rng):\n    return {call}\n", {"np": np})
        wanted = kernel.__hybrid_function__(numpys)
        np.testing.assert_array_equal(kernel.interpret(ours), wanted)
        np.testing.assert_array_equal(ours.integers(1 << 30), numpys.integers(1 << 30))

    check.__name__ = call
    return check


def unscaled(size: Any, norm: str | None, is_inverse: bool) -> float:
    return 1.0


def whole_bits(state: Any) -> Any:
    return _bits(state) >> 32


_bits: Callable[[Any], Any] = library_random._bits  # pyright: ignore[reportPrivateUsage]
_below = library_random._below  # pyright: ignore[reportPrivateUsage]


BUGS: tuple[Bug, ...] = (
    Bug(
        "an inverse transform is not scaled",
        [replaced(library_fft, "_scale", unscaled)],
        transform(6, "np.fft.ifft(a)"),
    ),
    Bug(
        "an odd number of reals is transformed as an even one",
        [replaced(library_fft, "rfft_odd_rows", library_fft.rfft_even_rows)],
        transform(7, "np.fft.rfft(a.real)"),
    ),
    Bug(
        "elements are exchanged as samples are",
        [replaced(library_random, "_masked_below", _below)],
        stream("rng.permutation(20)"),
    ),
    Bug(
        "half of a draw is thrown away",
        [replaced(library_random, "_half_bits", whole_bits)],
        stream("rng.integers(10, size=3)"),
    ),
    Bug(
        "a generator stays as it was",
        [replaced(generators, "_write", always(None))],
        stream("rng.random(3)"),
    ),
)
