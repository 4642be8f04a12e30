"""Functions of Python itself and of its module math, as they are in a script."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Sequence = Any  # an array or a list, as it is
# The same for what goes through the items once: an array of numbers of several types would give all
# of them one, in which the second of (np.uint8(200), 100) does not wrap around.
Terms = Any


def sum(iterable: Terms, start: Any = 0) -> Any:
    """Items added one after the other, to what it starts with."""
    total = start
    for item in iterable:
        total = total + item
    return total


def any(iterable: Array) -> bool:
    """Whether some item is true."""
    return bool(np.asarray(iterable).any())


def all(iterable: Array) -> bool:
    """Whether every item is true."""
    return bool(np.asarray(iterable).all())


def smallest(iterable: Sequence) -> Any:
    """The first of the smallest items."""
    if len(iterable) == 0:
        raise ValueError("min() iterable argument is empty")
    best = iterable[0]
    for k in range(1, len(iterable)):
        best = iterable[k] if iterable[k] < best else best
    return best


def largest(iterable: Sequence) -> Any:
    """The first of the largest items."""
    if len(iterable) == 0:
        raise ValueError("max() iterable argument is empty")
    best = iterable[0]
    for k in range(1, len(iterable)):
        best = iterable[k] if iterable[k] > best else best
    return best


def smallest_or(iterable: Sequence, default: Any) -> Any:
    """The first of the smallest items, or what is given for none."""
    best = default
    for k in range(len(iterable)):
        best = iterable[k] if k == 0 or iterable[k] < best else best
    return best


def largest_or(iterable: Sequence, default: Any) -> Any:
    """The first of the largest items, or what is given for none."""
    best = default
    for k in range(len(iterable)):
        best = iterable[k] if k == 0 or iterable[k] > best else best
    return best


def smallest_by(iterable: Sequence, key: Any) -> Any:
    """The first item for which a function gives the smallest value."""
    items = [item for item in iterable]
    if len(items) == 0:
        raise ValueError("min() iterable argument is empty")
    keys = [key(item) for item in items]
    best = 0
    for place in range(1, len(items)):
        best = place if keys[place] < keys[best] else best
    return items[best]


def largest_by(iterable: Sequence, key: Any) -> Any:
    """The first item for which a function gives the largest value."""
    items = [item for item in iterable]
    if len(items) == 0:
        raise ValueError("max() iterable argument is empty")
    keys = [key(item) for item in items]
    best = 0
    for place in range(1, len(items)):
        best = place if keys[place] > keys[best] else best
    return items[best]


def place_of(items: Sequence, item: Any) -> int:
    """Where the first item is that is equal to another; -1 if there is none."""
    found = -1
    for place, other in enumerate(items):
        if other == item:
            found = place
            break
    return found


def index(items: Sequence, item: Any) -> int:
    """Where the first item is that is equal to another."""
    found = place_of(items, item)
    if found < 0:
        raise ValueError(f"{item} is not in list")
    return found


def count(items: Sequence, item: Any) -> int:
    """How many items are equal to another."""
    found = 0
    for other in items:
        if other == item:
            found += 1
    return found


def removed(items: Sequence, item: Any) -> int:
    """Where the item is that is to be removed."""
    found = place_of(items, item)
    if found < 0:
        raise ValueError("list.remove(x): x not in list")
    return found


def contains(items: Sequence, item: Any) -> bool:
    """Whether some item is equal to another."""
    found = False
    for other in items:
        if other == item:
            found = True
            break
    return found


def in_range(item: Any, start: int, stop: int, step: int) -> bool:
    """Whether a number is one of `range(start, stop, step)`."""
    if step == 0:
        raise ValueError("range() arg 3 must not be zero")
    is_between = start <= item < stop if step > 0 else stop < item <= start
    return is_between and item % step == start % step


def _is_before(one: Any, other: Any, reverse: bool) -> bool:
    return other < one if reverse else one < other


def _order_of(keys: Any, reverse: bool) -> Array:
    """Where the items stand that come first, second and so on: runs are merged, equals stay."""
    size = len(keys)
    order, merged = np.arange(size), np.empty(size, np.int64)
    width = 1
    while width < size:
        for start in range(0, size, 2 * width):
            middle, stop = min(start + width, size), min(start + 2 * width, size)
            i, j = start, middle
            for k in range(start, stop):
                takes_right = i >= middle
                if i < middle and j < stop:
                    takes_right = _is_before(keys[order[j]], keys[order[i]], reverse)
                merged[k] = order[j] if takes_right else order[i]
                j += int(takes_right)
                i += 1 - int(takes_right)
        order[:] = merged
        width *= 2
    return order


def sorted(iterable: Any, key: Any = None, reverse: bool = False) -> Any:
    """The items in order, in a list."""
    items = [item for item in iterable]
    if key is None:
        order = _order_of(items, reverse)
    else:
        order = _order_of([key(item) for item in items], reverse)
    return [items[k] for k in order]


def backwards(items: Any) -> Any:
    """The items from the last to the first, in a list."""
    return [items[len(items) - 1 - k] for k in range(len(items))]


def stepped(items: Any, start: Any, stop: Any, step: int) -> Any:
    """`items[start:stop:step]` of a list; bounds may be None."""
    size = len(items)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    lowest, highest = (0, size) if step > 0 else (-1, size - 1)
    first = lowest if step > 0 else highest
    last = highest if step > 0 else lowest
    if start is not None:
        first = min(max(start + size if start < 0 else start, lowest), highest)
    if stop is not None:
        last = min(max(stop + size if stop < 0 else stop, lowest), highest)
    count = (last - first + (step - 1 if step > 0 else step + 1)) // step
    return [items[first + k * step] for k in range(count)]


def rounded(number: float, ndigits: int) -> float:
    """`number` to so many decimal digits after the point; a half, exactly, to the even digit."""
    x = number
    if ndigits < -22 or ndigits > 22:
        raise ValueError("round() in a script takes -22 to 22 digits")
    scale = 1.0  # a power of ten that float64 holds exactly
    for _ in range(abs(ndigits)):
        scale *= 10.0
    if math.isnan(x) or math.isinf(x):
        return x
    if ndigits < 0:
        return _to_multiple(x, scale)
    high = x * scale
    if abs(high) >= 9007199254740992.0:  # neighbours of x are further away than half a digit
        return x
    low = _lost(x, scale, high)
    whole = float(np.rint(high))
    rest = high - whole
    if (rest == 0.5 and low > 0.0) or (low == 0.5 and whole % 2.0 == 1.0):
        whole += 1.0
    elif (rest == -0.5 and low < 0.0) or (low == -0.5 and whole % 2.0 == 1.0):
        whole -= 1.0
    return whole / scale


def _to_multiple(x: float, scale: float) -> float:
    """The multiple of `scale` that is nearest to `x`; of two, the even one."""
    whole = float(np.rint(x / scale))
    if abs(whole) >= 9007199254740992.0:
        return x
    product = whole * scale
    rest = (x - product) - _lost(whole, scale, product)
    is_odd = whole % 2.0 == 1.0
    if rest > scale / 2.0 or (rest == scale / 2.0 and is_odd):
        whole += 1.0
    elif rest < -scale / 2.0 or (rest == -scale / 2.0 and is_odd):
        whole -= 1.0
    return whole * scale


def _lost(x: float, y: float, product: float) -> float:
    """What rounding has taken from `x * y`, exactly (Dekker 1971)."""
    far = x * 134217729.0
    x_high = far - (far - x)
    far = y * 134217729.0
    y_high = far - (far - y)
    x_low, y_low = x - x_high, y - y_high
    return ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low


def rounded_integer(number: int, ndigits: int) -> int:
    """An integer to a power of ten; of two that are equally near, the even multiple."""
    if ndigits >= 0:
        return number
    if ndigits < -18:
        raise ValueError("round() of an integer in a script takes -18 digits or more")
    scale = 10 ** (-ndigits)
    whole = number // scale
    rest = number - whole * scale
    if rest > scale - rest or (rest == scale - rest and whole % 2 == 1):
        whole += 1
    return whole * scale


def rounded_element(number: Any, ndigits: int) -> Any:
    """A number of NumPy's, as NumPy rounds it."""
    return np.round(number, ndigits)  # pyright: ignore[reportUnknownVariableType]


def divmod(x: Any, y: Any) -> Any:
    """Quotient, rounded down, and remainder."""
    return x // y, x % y


def power_modulo(base: Any, exponent: Any, modulus: Any) -> int:
    """`base ** exponent % modulus` of integers, without large numbers in between."""
    if exponent < 0:
        raise ValueError("pow() in a script takes no negative exponent with a modulus")
    if modulus == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    size = abs(modulus)
    if size > 3037000499:
        raise ValueError("pow() in a script takes a modulus below 2**31.5")
    result = 1 % size
    factor = base % size
    left = exponent
    while left > 0:
        if left % 2 == 1:
            result = result * factor % size
        factor = factor * factor % size
        left = left // 2
    return result if modulus > 0 or result == 0 else result + modulus


# math


def comb(n: int, k: int) -> int:
    """In how many ways k of n things can be chosen."""
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    result = 1
    for i in range(min(k, n - k) if k <= n else 0):
        result = result * (n - i) // (i + 1)
    return result if k <= n else 0


def perm(n: int, k: int | None = None) -> int:
    """In how many ways k of n things can be put in a row."""
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    count = n if k is None else k
    if count < 0:
        raise ValueError("k must be a non-negative integer")
    result = 1
    for i in range(count):
        result = result * (n - i)
    return result


def factorial(n: int) -> int:
    """1 * 2 * ... * n."""
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    if n > 20:
        raise OverflowError("factorial of more than 20 does not fit 64 bits")
    result = 1
    for i in range(2, n + 1):
        result = result * i
    return result


def isqrt(n: int) -> int:
    """The square root, rounded down."""
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = min(int(math.sqrt(float(n))), 3037000499)
    while root * root > n:
        root = root - 1
    while root < 3037000499 and (root + 1) * (root + 1) <= n:
        root = root + 1
    return root


def gcd(*integers: int) -> int:
    """The greatest common divisor."""
    x = 0
    for other in integers:
        y = abs(other)
        while y != 0:
            rest = x % y
            x = y
            y = rest
    return x


def lcm(*integers: int) -> int:
    """The least common multiple."""
    result = 1
    for other in integers:
        result = 0 if result == 0 or other == 0 else result // gcd(result, other) * abs(other)
    return result


def prod(iterable: Terms, start: Any = 1) -> Any:
    """Items multiplied one after the other."""
    result = start
    for item in iterable:
        result = result * item
    return result


def dist(p: Array, q: Array) -> float:
    """How far two points are from each other."""
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    largest = 0.0
    for k in range(len(p)):
        largest = max(largest, abs(float(p[k]) - float(q[k])))
    if largest == 0.0 or math.isinf(largest):
        return largest
    total = 0.0
    for k in range(len(p)):
        part = (float(p[k]) - float(q[k])) / largest
        total += part * part
    return largest * math.sqrt(total)


def degrees(x: float) -> float:
    """An angle in degrees."""
    return float(x) * (180.0 / math.pi)


def radians(x: float) -> float:
    """An angle in radians."""
    return float(x) * (math.pi / 180.0)


def isclose(a: float, b: float, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> bool:
    """Whether two numbers are nearly the same."""
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    return abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)


def modf(x: float) -> Any:
    """The fractional and the integral part."""
    whole = math.trunc(float(x)) if abs(float(x)) < 4503599627370496.0 else float(x)
    if math.isinf(x):
        return math.copysign(0.0, x), float(x)
    return math.copysign(float(x) - whole, x), math.copysign(float(whole), x)


def remainder(x: float, y: float) -> float:
    """What is left of x by the nearest multiple of y; of two, the even one."""
    if math.isnan(x) or math.isnan(y):
        return x + y
    if math.isinf(x) or y == 0.0:
        raise ValueError("math domain error")
    if math.isinf(y):
        return float(x)
    size, step = abs(float(x)), abs(float(y))
    rest = math.fmod(size, step)
    other = step - rest
    if rest < other:
        found = rest
    elif rest > other:
        found = -other
    else:
        found = rest - 2.0 * math.fmod(0.5 * (size - rest), step)
    return math.copysign(1.0, x) * found
