"""Sorting and searching. NaN is larger than all numbers, and equal elements stay in their order."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from hybridjit import hybrid
from hybridjit.errors import ArgumentValueError
from hybridjit.stdlib.parts.shapes import (
    are_equal,
    check_choice,
    check_integers,
    check_rank,
    count_elements,
    fill,
    flat_place,
    indices_at,
    normalize_axis,
    read_integers,
    replaced,
    shown,
)
from hybridjit.stdlib.parts.types import T
from hybridjit.stdlib.running.definition import on_arrays
from hybridjit.stdlib.running.operator import operator

# Scripts are written for values of any type: what type checkers see are those of NumPy.


@hybrid.script
def _sort(x: Any, axis: int) -> Any:
    return np.sort(x, axis=axis)


@hybrid.script
def _argsort(x: Any, axis: int) -> Any:
    return np.argsort(x, axis=axis, kind="stable")


@hybrid.script
def _searchsorted(x: Any, values: Any, side: str) -> Any:
    return np.searchsorted(x, values, side=side)  # pyright: ignore


@hybrid.script
def _search_rows(x: Any, values: Any, side: str) -> Any:
    found = np.empty(values.shape, np.int64)
    for i in range(x.shape[0]):
        found[i] = np.searchsorted(x[i], values[i], side=side)  # pyright: ignore
    return found


@hybrid.script
def _unique(x: Any) -> Any:
    return np.unique(x, return_index=True, return_inverse=True, return_counts=True)


@hybrid.script
def _nonzero(x: Any) -> Any:
    return np.nonzero(x)


@hybrid.script
def _argwhere(x: Any) -> Any:
    return np.argwhere(x)


@operator(differentiable=False)
def sort(x: T, axis: int = -1, *, descending: bool = False) -> T:
    """The elements of x in ascending order along an axis, or in descending order.

    >>> hs.sort(np.array([3, 1, 2]))
    array([1, 2, 3])
    """
    place = normalize_axis("sort", x, axis)
    ordered: Any = _sort(x, place)
    return _reversed("sort", ordered, place) if descending else ordered


@operator(differentiable=False)
def argsort(x: T, axis: int = -1, *, descending: bool = False) -> T:
    """Where the elements of x are that stand at each place in order along an axis.

    >>> hs.argsort(np.array([30, 10, 20]))
    array([1, 2, 0])
    """
    place = normalize_axis("argsort", x, axis)
    return _order("argsort", x, place, descending=descending)


@operator
def topk(x: T, k: int, axis: int = -1, *, largest: bool = True) -> tuple[T, T]:
    """The k largest elements along an axis, or the smallest, in order, and where they are.

    >>> hs.topk(np.array([3, 9, 5]), 2)
    (array([9, 5]), array([1, 2]))
    """
    place = normalize_axis("topk", x, axis)
    (count,) = read_integers("topk", "k", k, 1)
    _check_count(x, place, count)
    order = _order("topk", x, place, descending=largest)
    sizes = replaced(x.shape, place, count)
    values = fill("topk_values", sizes, lambda at: x[replaced(at, place, order[at])])
    return values, fill("topk_indices", sizes, lambda at: order[at])


def _check_count(x: Any, axis: int, count: int) -> None:
    size = x.shape[axis]
    if count < 0 or (isinstance(size, int) and count > size):
        raise ArgumentValueError(f"topk: {shown(x)} has no {count} elements along axis {axis}")


def _order(name: str, x: Any, axis: int, *, descending: bool) -> Any:
    """Places in order. In descending order those of equals ascend, too: both ends are turned."""
    if not descending:
        return _argsort(x, axis)
    turned: Any = _argsort(_reversed(f"{name}_turned", x, axis), axis)
    last = x.shape[axis] - 1
    return fill(name, x.shape, lambda at: last - turned[replaced(at, axis, last - at[axis])])


def _reversed(name: str, x: Any, axis: int) -> Any:
    return fill(name, x.shape, lambda at: x[replaced(at, axis, x.shape[axis] - 1 - at[axis])])


@operator(differentiable=False)
def searchsorted(x: T, values: T, side: Literal["left", "right"] = "left") -> T:
    """Where values would stand in x, which is in order: before its equals, or behind them.

    Where x has more than one axis, values are looked for in the row of x that is theirs.

    >>> hs.searchsorted(np.array([1, 2, 2, 3]), np.array([2, 5]), "right")
    array([3, 4])
    """
    check_choice("searchsorted", "side", side, ("left", "right"))
    if x.ndim == 1:
        return _searchsorted(x, values, side)
    _check_rows(x, values)
    outer = x.shape[:-1]
    found: Any = _search_rows(_as_rows("x", x), _as_rows("values", values), side)
    return fill("searchsorted", values.shape, lambda at: found[flat_place(outer, at[:-1]), at[-1]])


def _check_rows(x: Any, values: Any) -> None:
    is_like = x.ndim == values.ndim and x.ndim > 0
    if not is_like or not all(map(are_equal, x.shape[:-1], values.shape[:-1])):
        raise ArgumentValueError(
            f"searchsorted: {shown(x)} has not a row in order for each row of {shown(values)}",
            help="what is in order has one axis, or all but the last axis of the values",
        )


def _as_rows(what: str, x: Any) -> Any:
    outer = x.shape[:-1]
    shape = (count_elements(outer, range(len(outer))), x.shape[-1])
    return fill(f"searchsorted_{what}", shape, lambda at: x[(*indices_at(outer, at[0]), at[1])])


@operator(differentiable=False)
def bincount(x: T, length: int) -> T:
    """How often each of the numbers from 0 to length - 1 is among x; others do not count.

    >>> hs.bincount(np.array([1, 3, 1]), 4)
    array([0, 2, 0, 1])
    """
    check_integers("bincount", x)
    check_rank("bincount", x, 1, "numbers")
    (size,) = read_integers("bincount", "length", length, 1, least=0)
    return _count(x, size)


@hybrid.script
def _count(x: Any, size: int) -> Any:
    counts = np.zeros(size, np.int64)
    for i in range(x.shape[0]):
        if 0 <= x[i] < size:
            counts[x[i]] += 1
    return counts


@on_arrays
def unique(
    x: T,
    *,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> Any:
    """The different elements of x in order; and where each is first, which each is, how often.

    >>> hs.unique(np.array([3, 1, 3]), return_counts=True)
    (array([1, 3]), array([1, 2]))
    """
    values, *more = _unique(x)
    wanted = (return_index, return_inverse, return_counts)
    chosen = [part for part, is_wanted in zip(more, wanted, strict=True) if is_wanted]
    return (values, *chosen) if chosen else values


@on_arrays
def nonzero(x: T) -> tuple[T, ...]:
    """The indices of all elements that are not 0, one array for each axis.

    >>> hs.nonzero(np.array([[0, 2], [3, 0]]))
    (array([0, 1]), array([1, 0]))
    """
    if x.ndim == 0:
        raise ArgumentValueError(
            "nonzero: an array without axes has no indices", help="pass np.atleast_1d(x)"
        )
    return _nonzero(x)


@on_arrays
def argwhere(x: T) -> T:
    """The indices of all elements that are not 0, a row for each.

    >>> hs.argwhere(np.array([[0, 2], [3, 0]]))
    array([[0, 1],
           [1, 0]])
    """
    return _argwhere(x)
