"""Reductions over some or all axes, with the results and types of NumPy's.

`axis` is one axis, several, or None for all; with keepdims=True the axes stay, with size 1.
"""

from __future__ import annotations

from typing import Any

from hybridjit.stdlib.parts.accumulation import (
    add_up,
    average,
    convert,
    reduce_axes,
    spread_type,
    variance,
)
from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.extrema import (
    each_of,
    find_extremum,
    find_place,
    is_true,
    largest,
    one_of,
    smallest,
)
from hybridjit.stdlib.parts.shapes import broadcast, fill, read_shape, repeated_axes
from hybridjit.stdlib.parts.types import Axes, T
from hybridjit.stdlib.running.compiled import scheduled_by
from hybridjit.stdlib.running.operator import operator
from hybridjit.stdlib.running.schedules import along_rows
from hybridjit.te import prod as multiplied
from hybridjit.te import sum as added

# In any order, as in NumPy: sums may be rounded otherwise, and of 0.0 and -0.0, which are equal,
# either may be the extremum.
RECIPE = scheduled_by(along_rows, fastmath=("reassoc",))


@operator(recipe=RECIPE)
def sum(x: T, axis: Axes = None, *, dtype: Any = None, keepdims: bool = False) -> T:
    """The sum of the elements along axes. Small integers and bools are added up as int64.

    >>> hs.sum(np.array([[1.0, 2.0], [3.0, 4.0]]), axis=1)
    array([3., 7.])
    """
    return add_up("sum", added, x, axis, dtype=dtype, keepdims=keepdims)


@operator(recipe=RECIPE)
def collapse_sum(x: T, shape: Any) -> T:
    """x added up to a shape that broadcasts to its own, as gradients of broadcast operands are.

    Types are those of `sum`.

    >>> hs.collapse_sum(np.array([[1.0, 2.0], [3.0, 4.0]]), (2, 1))
    array([[3.],
           [7.]])
    """
    sizes = read_shape("collapse_sum", shape)
    axes = repeated_axes("collapse_sum", x, sizes)
    total = add_up("collapse_sum", added, x, axes, keepdims=True)
    extra = x.ndim - len(sizes)
    return fill("collapse_sum", sizes, lambda at: total[(*[0] * extra, *at)]) if extra else total


@operator(recipe=RECIPE)
def prod(x: T, axis: Axes = None, *, dtype: Any = None, keepdims: bool = False) -> T:
    """The product of the elements along axes. Small integers and bools are multiplied as int64.

    >>> hs.prod(np.array([[1.0, 2.0], [3.0, 4.0]]), axis=1)
    array([ 2., 12.])
    """
    return add_up("prod", multiplied, x, axis, dtype=dtype, keepdims=keepdims)


@operator(recipe=RECIPE)
def mean(x: T, axis: Axes = None, *, keepdims: bool = False) -> T:
    """The average of the elements along axes; a float64 of integers.

    >>> hs.mean(np.array([[1, 2], [3, 4]]), axis=0)
    array([2., 3.])
    """
    return average("mean", x, axis, keepdims=keepdims)


@operator(recipe=RECIPE)
def var(x: T, axis: Axes = None, *, ddof: float = 0, keepdims: bool = False) -> T:
    """The average of the squared distances from the mean, n - ddof in the place of n.

    >>> hs.var(np.array([1.0, 2.0, 3.0, 4.0]))
    array(1.25)
    """
    spread = variance("var", x, axis, ddof=ddof, keepdims=keepdims)
    return convert("var", spread, spread_type(x.dtype))


@operator(recipe=RECIPE)
def std(x: T, axis: Axes = None, *, ddof: float = 0, keepdims: bool = False) -> T:
    """The square root of the variance.

    >>> hs.std(np.array([1.0, 2.0, 3.0, 4.0]))
    array(1.11803399)
    """
    spread = variance("std", x, axis, ddof=ddof, keepdims=keepdims)
    dtype = spread_type(x.dtype)
    return broadcast(lambda v: call("sqrt", v).astype(dtype), spread, name="std")


@operator(recipe=RECIPE)
def max(x: T, axis: Axes = None, *, keepdims: bool = False) -> T:
    """The largest element along axes; NaN, if there is one.

    >>> hs.max(np.array([[1.0, 2.0], [3.0, 4.0]]), axis=0)
    array([3., 4.])
    """
    return find_extremum("max", largest, x, axis, keepdims=keepdims)


@operator(recipe=RECIPE)
def min(x: T, axis: Axes = None, *, keepdims: bool = False) -> T:
    """The smallest element along axes; NaN, if there is one.

    >>> hs.min(np.array([[1.0, 2.0], [3.0, 4.0]]), axis=0)
    array([1., 2.])
    """
    return find_extremum("min", smallest, x, axis, keepdims=keepdims)


@operator(recipe=RECIPE, differentiable=False)
def argmax(x: T, axis: int | None = None, *, keepdims: bool = False) -> T:
    """Where the largest element along an axis is; the first of equals, the first NaN.

    Without an axis, the place is counted over all elements.

    >>> hs.argmax(np.array([[1.0, 2.0], [4.0, 3.0]]), axis=1)
    array([1, 0])
    """
    return find_place("argmax", largest, x, axis, keepdims=keepdims)


@operator(recipe=RECIPE, differentiable=False)
def argmin(x: T, axis: int | None = None, *, keepdims: bool = False) -> T:
    """Where the smallest element along an axis is; the first of equals, the first NaN.

    Without an axis, the place is counted over all elements.

    >>> hs.argmin(np.array([[1.0, 2.0], [4.0, 3.0]]), axis=1)
    array([0, 1])
    """
    return find_place("argmin", smallest, x, axis, keepdims=keepdims)


@operator(recipe=RECIPE, differentiable=False)
def any(x: T, axis: Axes = None, *, keepdims: bool = False) -> T:
    """Whether an element along axes is true, which every number but 0 is.

    >>> hs.any(np.array([[0, 0], [0, 2]]), axis=1)
    array([False,  True])
    """
    return reduce_axes("any", one_of, x, axis, read=is_true, keepdims=keepdims)


@operator(recipe=RECIPE, differentiable=False)
def all(x: T, axis: Axes = None, *, keepdims: bool = False) -> T:
    """Whether all elements along axes are true, which every number but 0 is.

    >>> hs.all(np.array([[0, 1], [1, 2]]), axis=1)
    array([False,  True])
    """
    return reduce_axes("all", each_of, x, axis, read=is_true, keepdims=keepdims)
