"""Tables of ziggurats: 256 strips of one area below a density, of which the first has the tail.

For each strip: its width for one step of a mantissa, how many steps lie below the density for all
of its height, and the density at its end. A stream of random numbers depends on every bit of them.
To compute them takes a while: as attributes of this module they are there once they are asked for.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

STRIPS = 256
NORMAL_TAIL = 3.6541528853610087963519472518
EXPONENTIAL_TAIL = 7.6971174701310497140446280481
# The area as doubles give it: with it, and in doubles from the tail to the top, every number is the
# one that NumPy has.
_NORMAL_AREA = 0.004928673233974652
_NORMAL_STEPS = 2.0**52
_EXPONENTIAL_STEPS = Decimal(2) ** 53
# Where the exponential function of the tables in NumPy was rounded upwards.
_ROUNDED_UP = 38

_Table = NDArray[np.float64]


def _empty() -> tuple[_Table, NDArray[np.uint64], _Table]:
    return np.zeros(STRIPS), np.zeros(STRIPS, np.uint64), np.zeros(STRIPS)


def _exp(x: float) -> float:
    """Rounded correctly, whatever C's library does."""
    with localcontext() as context:
        context.prec = 50
        return float(Decimal(x).exp())


def _log(x: float) -> float:
    with localcontext() as context:
        context.prec = 50
        return float(Decimal(x).ln())


def normal_tables() -> tuple[Any, Any, Any]:
    """Widths, steps and densities for exp(-x^2 / 2)."""
    widths, steps, densities = _empty()
    last = NORMAL_TAIL
    density = _exp(-0.5 * last * last)
    widths[0], densities[0] = _NORMAL_AREA / density / _NORMAL_STEPS, 1.0
    widths[-1], densities[-1] = last / _NORMAL_STEPS, density
    steps[0] = int(last * density / _NORMAL_AREA * _NORMAL_STEPS)
    for i in range(STRIPS - 2, 0, -1):
        x = math.sqrt(-2.0 * _log(_NORMAL_AREA / last + density))
        density = _exp(-0.5 * x * x)
        if i == _ROUNDED_UP:
            density = float.fromhex("0x1.5ad29acc85c89p-1")
        steps[i + 1] = round(Fraction(x) / Fraction(last) * 2**52)
        widths[i], densities[i] = x / _NORMAL_STEPS, density
        last = x
    return widths, steps, densities


def exponential_tables() -> tuple[Any, Any, Any]:
    """Widths, steps and densities for exp(-x)."""
    widths, steps, densities = _empty()
    with localcontext() as context:
        context.prec = 30
        last = Decimal("7.6971174701310497140446280481")
        area = (last + 1) * (-last).exp()
        ends = [area / (-last).exp(), last]
        while len(ends) < STRIPS:
            last = -(area / last + (-last).exp()).ln()
            ends.append(last)
        ends = [ends[0], *reversed(ends[1:])]
        for i, x in enumerate(ends):
            widths[i], densities[i] = float(x / _EXPONENTIAL_STEPS), float((-x).exp())
            below = ends[-1] if i == 0 else Decimal(0) if i == 1 else ends[i - 1]
            steps[i] = 2 * int(below / x * _EXPONENTIAL_STEPS / 2)
    densities[0] = 1.0
    return widths, steps, densities


_NAMES = {
    normal_tables: ("NORMAL_WIDTHS", "NORMAL_STEPS", "NORMAL_DENSITIES"),
    exponential_tables: ("WIDTHS", "STEPS", "DENSITIES"),
}


def __getattr__(name: str) -> Any:
    for compute, names in _NAMES.items():
        if name in names:
            globals().update(zip(names, compute(), strict=True))
            return globals()[name]
    raise AttributeError(name)
