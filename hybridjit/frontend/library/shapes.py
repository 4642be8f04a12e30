"""Other arrangements of arrays, and arrays made by a rule, written in the language.

A call of one is inlined.
"""

from __future__ import annotations

from typing import Any

import numpy

np: Any = numpy
Array = Any


def shape(a: Any) -> Any:
    """The sizes of an array."""
    return np.asarray(a).shape


def ndim(a: Any) -> int:
    """How many dimensions an array has."""
    return np.asarray(a).ndim


def size(a: Any, axis: int | None = None) -> int:
    """How many elements an array has, or how many along an axis."""
    array = np.asarray(a)
    return array.size if axis is None else array.shape[axis]


def iscomplexobj(x: Any) -> bool:
    """Whether the type of an array is one of complex numbers."""
    return np.asarray(x).dtype.kind == "c"


def isrealobj(x: Any) -> bool:
    """Whether the type of an array is not one of complex numbers."""
    return np.asarray(x).dtype.kind != "c"


def fliplr(m: Array) -> Array:
    """The columns in reverse order."""
    return m[:, ::-1]


def flipud(m: Array) -> Array:
    """The rows in reverse order."""
    return m[::-1]


def rot90(m: Array, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """The array turned by quarters of a full turn."""
    if axes[0] % m.ndim == axes[1] % m.ndim:
        raise ValueError("Axes must be different.")
    turns = k % 4
    if turns == 0:
        return m[:]
    if turns == 1:
        return np.swapaxes(np.flip(m, axes[1]), axes[0], axes[1])
    if turns == 2:
        return np.flip(np.flip(m, axes[0]), axes[1])
    return np.flip(np.swapaxes(m, axes[0], axes[1]), axes[1])


def rollaxis(a: Array, axis: int, start: int = 0) -> Array:
    """The array with an axis moved to before another one."""
    source = axis % a.ndim
    target = start + a.ndim if start < 0 else start
    return np.moveaxis(a, source, target - 1 if source < target else target)


def matrix_transpose(x: Array) -> Array:
    """The array with its last two axes exchanged."""
    return np.swapaxes(x, -1, -2)


def atleast_1d(ary: Any, /) -> Array:
    """An array of at least one dimension."""
    a = np.asarray(ary)
    return np.ravel(a) if a.ndim == 0 else a


def atleast_2d(ary: Any, /) -> Array:
    """An array of at least two dimensions: a row, if it has only one."""
    a = atleast_1d(ary)
    return a[None] if a.ndim == 1 else a


def atleast_3d(ary: Any, /) -> Array:
    """An array of at least three dimensions."""
    a = atleast_1d(ary)
    if a.ndim == 1:
        return a[None, :, None]
    return a[:, :, None] if a.ndim == 2 else a


def append(arr: Array, values: Any, axis: int | None = None) -> Array:
    """An array with others after it."""
    if axis is None:
        return np.concatenate((np.ravel(arr), np.ravel(np.asarray(values))))
    return np.concatenate((arr, np.asarray(values)), axis=axis)


def as_rows(a: Array) -> Array:
    """The array as a matrix whose rows go along the last axis."""
    return a.reshape(np.empty(a.shape[:-1]).size, a.shape[-1])


def take_along_axis(arr: Array, indices: Array, axis: int | None = -1) -> Array:
    """Elements by their indices along an axis, which differ from row to row."""
    if axis is None:
        return np.ravel(arr)[indices]
    values, places = np.moveaxis(arr, axis, -1), np.moveaxis(indices, axis, -1)
    if values.shape[:-1] != places.shape[:-1]:
        raise NotImplementedError(
            "the sizes along other axes must be equal", "use np.broadcast_to before"
        )
    rows, wanted = as_rows(values), as_rows(places)
    found = np.empty(wanted.shape, arr.dtype)
    for i in range(wanted.shape[0]):
        for j in range(wanted.shape[1]):
            found[i, j] = rows[i, wanted[i, j]]
    return np.moveaxis(found.reshape(places.shape), -1, axis)


# -- choosing ----------------------------------------------------------------------------------


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Array:
    """For each element, what belongs to the first condition that holds."""
    dtype = np.result_type(*choicelist, default)
    result = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        # Two Python numbers would be of 64 bits.
        result = np.where(condition, choice, result).astype(dtype)
    return result


def choose(a: Array, choices: Any, out: Any = None) -> Array:
    """For each element, the element of the array that it is the number of."""
    if np.any((a < 0) | (a >= len(choices))):
        raise ValueError("invalid entry in choice array")
    result = choices[0]
    for k, choice in enumerate(choices[1:]):
        result = np.where(a == k + 1, choice, result)
    return result


def _check_same_kind(dst: Array, src: Array) -> None:
    to, of = dst.dtype.kind, src.dtype.kind
    loses_fraction = of == "f" and (to == "i" or to == "u" or to == "b")
    loses_sign = of == "i" and (to == "u" or to == "b")
    if loses_fraction or loses_sign or (of == "u" and to == "b"):
        raise TypeError("the elements are of another kind: convert them with astype first")


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = None) -> None:
    """Store elements in an array, where a condition holds."""
    if np.ndim(src) > 0 and casting == "same_kind":
        _check_same_kind(dst, np.asarray(src))
    if where is None:
        dst[...] = src
    else:
        putmask(dst, np.broadcast_to(where, dst.shape), src)


def putmask(a: Any, mask: Array, values: Any) -> None:
    """Store elements in an array where a mask is true."""
    if np.ndim(values) == 0:
        a[mask] = values
    else:  # in the type of the array: all others stay as they are
        a[...] = np.where(mask, np.asarray(values).astype(a.dtype), a)


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Store a number, or one after the other, on the diagonal."""
    if a.ndim != 2 or wrap:
        raise NotImplementedError(
            "it takes a matrix, without wrap", "write a loop, as in a[i, i, i] = val"
        )
    values = np.ravel(np.asarray(val))
    for i in range(min(a.shape[0], a.shape[1])):
        a[i, i] = values[i % len(values)]


# -- made by a rule ----------------------------------------------------------------------------


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float) -> Array:
    """Ones on and below a diagonal."""
    columns = np.arange(N if M is None else M)
    return (columns - k <= np.arange(N)[:, None]).astype(dtype)


def triu(m: Array, k: int = 0) -> Array:
    """The elements on and above a diagonal, zero elsewhere; of a vector, in each row."""
    rows = np.arange(m.shape[max(m.ndim - 2, 0)])
    columns = np.arange(m.shape[-1])
    return np.where(columns - k >= rows[:, None], m, np.zeros(1, m.dtype))


def tril(m: Array, k: int = 0) -> Array:
    """The elements on and below a diagonal, zero elsewhere; of a vector, in each row."""
    rows = np.arange(m.shape[max(m.ndim - 2, 0)])
    columns = np.arange(m.shape[-1])
    return np.where(columns - k <= rows[:, None], m, np.zeros(1, m.dtype))


def diag(v: Array, k: int = 0) -> Array:
    """The diagonal of a matrix, or a matrix with that diagonal."""
    if v.ndim == 2:
        return np.diagonal(v, k)
    size = len(v) + abs(k)
    result = np.zeros((size, size), v.dtype)
    for i in range(len(v)):
        result[i + max(-k, 0), i + max(k, 0)] = v[i]
    return result


def diagflat(v: Array, k: int = 0) -> Array:
    """A matrix with all elements of an array on its diagonal."""
    return diag(np.ravel(v), k)


def vander(x: Array, N: int | None = None, increasing: bool = False) -> Array:
    """The powers of numbers, in the columns of a matrix."""
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    columns = len(x) if N is None else N
    powers = np.ones((len(x), columns), np.result_type(x, np.int64))
    if columns > 1:
        powers[:, 1] = x  # 1 * x is NaN for a complex infinity
    for k in range(2, columns):
        powers[:, k] = powers[:, k - 1] * x
    return powers if increasing else powers[:, ::-1]


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0
) -> Array:
    """Powers of a base, whose exponents are at equal distances."""
    return base ** np.linspace(start, stop, num, endpoint)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True) -> Array:
    """Numbers, of which each is the one before it times the same factor."""
    if start == 0 or stop == 0:
        raise ValueError("Geometric sequence cannot include zero")
    sign = np.sign(1.0 * start)
    low, high = np.float64(sign * start), np.float64(sign * stop)
    found = sign * 10.0 ** np.linspace(np.log10(low), np.log10(high), num, endpoint)
    if num > 0:
        found[0] = start
        if num > 1 and endpoint:
            found[-1] = stop
    return found


def _from_end_to_end(M: int) -> Array:
    """The numbers from -1 to 1 at which a window has its values."""
    if int(M) != M:
        raise ValueError("a window has a whole number of points")
    return np.arange(1 - int(M), int(M), 2) / max(int(M) - 1, 1)


def hanning(M: int) -> Array:
    """The window 0.5 + 0.5 cos."""
    return 0.5 + 0.5 * np.cos(np.pi * _from_end_to_end(M))


def hamming(M: int) -> Array:
    """The window 0.54 + 0.46 cos."""
    return 0.54 + 0.46 * np.cos(np.pi * _from_end_to_end(M))


def blackman(M: int) -> Array:
    """The window of three cosines."""
    x = _from_end_to_end(M)
    return 0.42 + 0.5 * np.cos(np.pi * x) + 0.08 * np.cos(2.0 * np.pi * x)


def bartlett(M: int) -> Array:
    """The window of a triangle."""
    return 1 - np.absolute(_from_end_to_end(M))


# -- several results ---------------------------------------------------------------------------


def unravel_index(indices: Array | int, shape: Any, order: str = "C") -> Any:
    """The indices along each axis of the elements at some places of a flattened array."""
    if order != "C":
        raise NotImplementedError("order is not supported", "reverse the shape and the results")
    if len(shape) > 3:
        raise NotImplementedError("at most 3 axes are supported", "compute them with // and %")
    if np.result_type(indices, np.int64) != np.int64:
        raise TypeError("unravel_index: the indices must be signed integers")
    places = indices + np.int64(0)
    if np.any(places < 0) or np.any(places >= np.prod(shape)):
        raise ValueError("unravel_index: an index is out of bounds for the shape")
    if len(shape) == 1:
        return (places,)
    row, last = places // shape[-1], places % shape[-1]
    if len(shape) == 2:
        return row, last
    return row // shape[-2], row % shape[-2], last


def divmod(x1: Any, x2: Any) -> tuple[Array, Array]:
    """The quotients, rounded down, and what is left."""
    return x1 // x2, x1 % x2


def modf(x: Array) -> tuple[Array, Array]:
    """The parts after the point, and those before it."""
    whole = np.copysign(np.trunc(x), x)  # of integers, floats
    return np.copysign(np.where(np.isinf(x), 0, x - whole), x), whole
