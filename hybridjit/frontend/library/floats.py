"""Functions of Python's module math on the parts of floats, and sums without rounding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Any exponent of a float64 is a sum of these.
_STEPS = (512, 256, 128, 64, 32, 16, 8, 4, 2, 1)
_LARGEST = 1.7976931348623157e308
_SMALLEST_NORMAL = 2.2250738585072014e-308


def frexp(x: float) -> Any:
    """The number from 1/2 to 1, and the power of two, of which x is the product."""
    value = float(x)
    size, exponent = abs(value), 0
    if value == 0.0 or math.isinf(value) or math.isnan(value):
        return value, 0
    if size < _SMALLEST_NORMAL:
        size, exponent = size * 2.0**54, -54
    for step in _STEPS:
        if size >= 2.0**step:
            size *= 2.0**-step
            exponent += step
        if size < 2.0**-step:
            size *= 2.0**step
            exponent -= step
    if size >= 1.0:
        size *= 0.5
        exponent += 1
    return math.copysign(size, value), exponent


def ldexp(x: float, i: int) -> float:
    """x * 2**i, rounded once."""
    value, exponent = float(x), int(i)
    for _ in range(2):
        if exponent > 1023:
            value *= 2.0**1023
            exponent -= 1023
        if exponent < -1022:  # the bits that are left are rounded by the last product
            value *= 2.0**-969
            exponent += 969
    exponent = min(max(exponent, -1022), 1023)
    scale, left = 1.0, abs(exponent)
    for step in _STEPS:
        if left >= step:
            scale *= 2.0**step
            left -= step
    return value * scale if exponent >= 0 else value * (1.0 / scale)


def nextafter(x: float, y: float) -> float:
    """The next number after x in the direction of y."""
    return float(np.nextafter(float(x), float(y)))


def ulp(x: float) -> float:
    """The value of the last bit of x."""
    size = abs(float(x))
    if math.isnan(size) or math.isinf(size):
        return size
    if size == _LARGEST:
        return size - nextafter(size, 0.0)
    return nextafter(size, math.inf) - size


# Sums that do not overlap: each bit of a float64 stands in one of them.
_MOST_PARTS = 64


def fsum(seq: Array) -> float:
    """The sum, rounded once (Shewchuk 1997): what is lost by adding is added as well."""
    parts, count, special, is_special = np.zeros(_MOST_PARTS), 0, 0.0, False
    for item in seq:
        x, kept = float(item), 0
        if math.isinf(x) or math.isnan(x):
            if math.isinf(x) and math.isinf(special) and special != x:
                raise ValueError("-inf + inf in fsum")
            special += x
            is_special = True
            x = 0.0
        for k in range(count):
            y = float(parts[k])
            large, small = (x, y) if abs(x) >= abs(y) else (y, x)
            total = large + small
            lost = small - (total - large)
            if lost != 0.0:
                parts[kept] = lost
                kept += 1
            x = total
        if math.isinf(x):
            raise OverflowError("intermediate overflow in fsum")
        parts[kept] = x
        count = kept + 1
    return special if is_special else _rounded_once(parts, count)


def _rounded_once(parts: Array, count: int) -> float:
    """The sum of parts, of which the last one is the largest."""
    if count == 0:
        return 0.0
    k = count - 1
    high, low = float(parts[k]), 0.0
    while k > 0 and low == 0.0:
        k -= 1
        y, x = float(parts[k]), high
        high = x + y
        low = y - (high - x)
    # A half was rounded to even, which is wrong if something is left on its other side.
    if k > 0 and ((low < 0.0 and parts[k - 1] < 0.0) or (low > 0.0 and parts[k - 1] > 0.0)):
        y = low * 2.0
        x = high + y
        if y == x - high:
            high = x
    return high
