"""Elements at places that are known when the program runs.

Indices are integers; negative ones count from the end, and those out of bounds are an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from hybridjit import hybrid
from hybridjit.errors import ArgumentValueError
from hybridjit.ir.dtype import INT64, UINT64
from hybridjit.stdlib.parts.elements import as_index, stored
from hybridjit.stdlib.parts.scattering import scatter
from hybridjit.stdlib.parts.shapes import (
    are_equal,
    broadcast_shapes,
    broadcast_sizes,
    check_choice,
    check_integers,
    check_rank,
    element_of,
    fill,
    flatten,
    normalize_axis,
    read_integers,
    read_shape,
    replaced,
    show,
    shown,
)
from hybridjit.stdlib.parts.types import Number, T
from hybridjit.stdlib.running.operator import operator
from hybridjit.te import const, if_then_else
from hybridjit.te import max as greatest
from hybridjit.te import min as least

Bounds = Literal["raise", "clip", "wrap"]
Reduction = Literal["none", "add", "mul", "max", "min"]


@operator
def take(x: T, indices: T, axis: int | None = None, mode: Bounds = "raise") -> T:
    """The elements of x at indices along an axis, or along all of them flattened.

    An index out of bounds is an error, or with mode="clip" the nearest one, with "wrap" counted
    on from the other end.

    >>> hs.take(np.array([[1, 2], [3, 4]]), np.array([1, 0, 1]), axis=0)
    array([[3, 4],
           [1, 2],
           [3, 4]])
    """
    check_integers("take", indices)
    check_choice("take", "mode", mode, ("raise", "clip", "wrap"))
    source = flatten("take_flat", x) if axis is None else x
    place = 0 if axis is None else normalize_axis("take", x, axis)
    _check_takes("take", source, indices, place)

    def element(at: tuple[Any, ...]) -> Any:
        index: Any = indices[at[place : place + indices.ndim]]
        own = _bounded(index, source.shape[place], mode)
        return source[(*at[:place], own, *at[place + indices.ndim :])]

    shape = (*source.shape[:place], *indices.shape, *source.shape[place + 1 :])
    return fill("take", shape, element)


def _check_takes(name: str, x: Any, indices: Any, axis: int) -> None:
    if are_equal(x.shape[axis], 0) and not any(are_equal(size, 0) for size in indices.shape):
        raise ArgumentValueError(f"{name}: {shown(x)} has no elements along axis {axis} to take")


def _bounded(index: Any, size: Any, mode: str) -> Any:
    """An index that is inside; with mode "raise", as it is: accesses are checked."""
    if mode == "wrap" and index.dtype is UINT64:
        count = const(size, UINT64) if isinstance(size, int) else size.astype(UINT64)
        return (index % count).astype(INT64)
    wide = as_index(index)
    if mode == "clip":
        return least(greatest(wide, 0), size - 1)
    return wide % size if mode == "wrap" else wide


@operator
def take_along_axis(x: T, indices: T, axis: int = -1) -> T:
    """For each place the element of x at an index along an axis: what argsort and argmax find.

    The other axes of both are broadcast.

    >>> hs.take_along_axis(np.array([[30, 10], [20, 40]]), np.array([[1, 0], [0, 1]]), axis=1)
    array([[10, 30],
           [20, 40]])
    """
    check_integers("take_along_axis", indices)
    check_rank("take_along_axis", indices, x.ndim, "as many as those of what is taken from")
    place = normalize_axis("take_along_axis", x, axis)
    others = [replaced(tensor.shape, place, 1) for tensor in (x, indices)]
    shape = broadcast_sizes("take_along_axis", _untyped(x, indices), others)

    def element(at: tuple[Any, ...]) -> Any:
        index: Any = element_of(indices, at)
        own = [
            0 if are_equal(size, 1) and axis != place else i
            for axis, (size, i) in enumerate(
                zip(x.shape, replaced(at, place, as_index(index)), strict=True)
            )
        ]
        return x[tuple(own)]

    return fill("take_along_axis", replaced(shape, place, indices.shape[place]), element)


def _untyped(*tensors: Any) -> list[Any]:
    return list(tensors)


@operator
def gather(x: T, indices: T, axis: int = 0) -> T:
    """For each place of indices, the element of x at the same place but for the axis.

    >>> hs.gather(np.array([[1, 2], [3, 4]]), np.array([[1, 0]]))
    array([[3, 2]])
    """
    check_integers("gather", indices)
    check_rank("gather", indices, x.ndim, "as many as those of what is gathered")
    place = normalize_axis("gather", x, axis)

    def element(at: tuple[Any, ...]) -> Any:
        index: Any = indices[at]
        return x[replaced(at, place, as_index(index))]

    return fill("gather", indices.shape, element)


@operator
def gather_nd(x: T, indices: T, batch_dims: int = 0) -> T:
    """The parts of x at indices, which are the last axis of `indices`.

    The first `batch_dims` axes of both are the same.

    >>> hs.gather_nd(np.array([[1, 2], [3, 4]]), np.array([[0, 0], [1, 1]]))
    array([1, 4])
    """
    count = _read_depth("gather_nd", x, indices, batch_dims)
    outer = indices.ndim - 1
    _check_batch(x, indices, batch_dims)

    def element(at: tuple[Any, ...]) -> Any:
        own: list[Any] = [indices[(*at[:outer], place)] for place in range(count)]
        places = [as_index(index) for index in own]
        return x[(*at[:batch_dims], *places, *at[outer:])]

    return fill("gather_nd", (*indices.shape[:-1], *x.shape[batch_dims + count :]), element)


def _check_batch(x: Any, indices: Any, count: int) -> None:
    sizes, others = indices.shape[:-1][:count], x.shape[:count]
    if len(sizes) < count or not all(map(are_equal, sizes, others)):
        raise ArgumentValueError(
            f"gather_nd: {shown(indices)} and {shown(x)} do not have the same first {count} axes"
        )


def _read_depth(name: str, x: Any, indices: Any, batch_dims: int = 0) -> int:
    """How many axes each of `indices` is for."""
    check_integers(name, indices)
    depth = indices.shape[-1] if indices.ndim else None
    if not isinstance(depth, int) or batch_dims < 0 or depth + batch_dims > x.ndim:
        raise ArgumentValueError(
            f"{name}: {shown(indices)} has no indices of {shown(x)} along its last axis",
            help="its size is a number, at most that of the axes",
        )
    return depth


@operator(differentiable=False)
def scatter_elements(
    x: T, indices: T, updates: T, axis: int = 0, reduction: Reduction = "none"
) -> T:
    """x with updates at the places that indices say along an axis: the inverse of gather.

    Of several at one place the last one stays, or, with a reduction, all of them: "add", "mul",
    "max" or "min".

    >>> hs.scatter_elements(np.zeros(3), np.array([2, 0, 2]), np.array([1.0, 2, 3]))
    array([2., 0., 3.])
    """
    check_integers("scatter_elements", indices)
    place = normalize_axis("scatter_elements", x, axis)
    check_rank("scatter_elements", indices, x.ndim, "as many as those of what is updated")
    _check_same_shape("scatter_elements", indices, updates)

    def place_of(at: tuple[Any, ...]) -> Any:
        return replaced(at, place, indices[at])

    return scatter("scatter_elements", x, updates, place_of, reduction)


@operator(differentiable=False)
def scatter_nd(x: T, indices: T, updates: T, reduction: Reduction = "none") -> T:
    """x with updates of its parts at indices, the last axis of `indices`: the inverse of gather_nd.

    >>> hs.scatter_nd(np.zeros((2, 2)), np.array([[1], [1]]), np.ones((2, 2)), "add")
    array([[0., 0.],
           [2., 2.]])
    """
    count = _read_depth("scatter_nd", x, indices)
    outer = indices.ndim - 1
    _check_updates(x, indices, updates, (*indices.shape[:-1], *x.shape[count:]))

    def place_of(at: tuple[Any, ...]) -> Any:
        return (*(indices[(*at[:outer], place)] for place in range(count)), *at[outer:])

    return scatter("scatter_nd", x, updates, place_of, reduction)


def _check_same_shape(name: str, x: Any, y: Any) -> None:
    if x.ndim != y.ndim or not all(map(are_equal, x.shape, y.shape)):
        raise ArgumentValueError(f"{name}: {shown(x)} and {shown(y)} must have the same shape")


def _check_updates(x: Any, indices: Any, updates: Any, wanted: tuple[Any, ...]) -> None:
    if updates.ndim != len(wanted) or not all(map(are_equal, updates.shape, wanted)):
        raise ArgumentValueError(
            f"scatter_nd: {shown(updates)} must have the shape {show(wanted)}",
            help=f"for {shown(indices)} and {shown(x)}",
        )


@operator
def adv_index(x: T, indices: Sequence[T]) -> T:
    """x[indices[0], indices[1], ...], the indices broadcast against each other.

    >>> hs.adv_index(np.array([[1, 2], [3, 4]]), (np.array([0, 1]), np.array([1, 0])))
    array([2, 3])
    """
    check_integers("adv_index", *indices)
    if not 0 < len(indices) <= x.ndim:
        raise ArgumentValueError(f"adv_index: {len(indices)} indices of {shown(x)}")
    outer = broadcast_shapes("adv_index", _untyped(*indices))

    def element(at: tuple[Any, ...]) -> Any:
        own: list[Any] = [element_of(index, at[: len(outer)]) for index in indices]
        return x[(*map(as_index, own), *at[len(outer) :])]

    return fill("adv_index", (*outer, *x.shape[len(indices) :]), element)


@operator
def dynamic_slice(x: T, starts: T, sizes: int | Sequence[Any]) -> T:
    """So many elements of x along each axis, from places on that are known when it runs.

    A start that leaves too few elements is moved back.

    >>> hs.dynamic_slice(np.arange(5), np.array([3]), 3)
    array([2, 3, 4])
    """
    check_integers("dynamic_slice", starts)
    check_rank("dynamic_slice", starts, 1, "a start for each axis")
    counts = read_shape("dynamic_slice", sizes)
    _check_fit(x, starts, counts)

    def element(at: tuple[Any, ...]) -> Any:
        firsts: list[Any] = [starts[axis] for axis in range(x.ndim)]
        own = [
            least(greatest(as_index(first), 0), size - count) + index
            for first, size, count, index in zip(firsts, x.shape, counts, at, strict=True)
        ]
        return x[tuple(own)]

    return fill("dynamic_slice", counts, element)


@operator
def dynamic_strided_slice(x: T, starts: T, strides: T, sizes: int | Sequence[Any]) -> T:
    """So many elements of x along each axis, from places on, by steps: known when it runs.

    Starts are those of slices: counted from the end if negative, and the nearest place if there is
    none. A step that leads out of x is an error.

    >>> hs.dynamic_strided_slice(np.arange(7), np.array([-1]), np.array([-2]), 3)
    array([6, 4, 2])
    """
    name = "dynamic_strided_slice"
    check_integers(name, starts, strides)
    for part in (starts, strides):
        check_rank(name, part, 1, "one for each axis")
    counts = read_shape(name, sizes)
    fits = [(part.shape[0], x.ndim) for part in (starts, strides)]
    if len(counts) != x.ndim or not all(are_equal(*pair) for pair in fits):
        raise ArgumentValueError(f"{name}: {shown(x)} has {x.ndim} axes, and not {len(counts)}")

    def element(at: tuple[Any, ...]) -> Any:
        first, step = ([_wide(part, axis) for axis in range(x.ndim)] for part in (starts, strides))
        return x[tuple(_stepped(*parts) for parts in zip(first, step, at, x.shape, strict=True))]

    return fill(name, counts, element)


def _wide(x: Any, place: int) -> Any:
    return as_index(x[place])


def _stepped(first: Any, step: Any, index: Any, size: Any) -> Any:
    """A place of a slice; beyond the end, which is an error, what would be counted from there."""
    own = if_then_else(first < 0, first + size, first)
    start = if_then_else(step > 0, greatest(own, 0), least(own, size - 1))
    place = start + index * step
    return if_then_else(place < 0, size, place)


def _check_fit(x: Any, starts: Any, counts: tuple[Any, ...]) -> None:
    too_large = [
        count
        for count, size in zip(counts, x.shape, strict=False)
        if isinstance(count, int) and isinstance(size, int) and count > size
    ]
    if len(counts) != x.ndim or too_large or not are_equal(starts.shape[0], x.ndim):
        raise ArgumentValueError(
            f"dynamic_slice: {shown(x)} has no part of shape {show(counts)} at {shown(starts)}"
        )


@operator
def sequence_mask(x: T, lengths: T, value: T | Number = 0, *, axis: int = 0) -> T:
    """x with `value` in the place of all elements from a length on along an axis: 0 or 1.

    There is one length for each place along the other of the first two axes.

    >>> hs.sequence_mask(np.ones((3, 2)), np.array([1, 2]))
    array([[1., 1.],
           [0., 1.],
           [0., 0.]])
    """
    if axis not in (0, 1):
        raise ArgumentValueError(f"sequence_mask: the axis is 0 or 1, got {axis!r}")
    _check_lengths("sequence_mask", x, lengths, 1 - axis)
    beyond = stored(value, x.dtype)

    def element(at: tuple[Any, ...]) -> Any:
        own: Any = x[at]
        return if_then_else(at[axis] < lengths[at[1 - axis]], own, beyond)

    return fill("sequence_mask", x.shape, element)


@operator
def reverse_sequence(x: T, lengths: T, seq_axis: int = 1, batch_axis: int = 0) -> T:
    """x with the first elements along an axis in reverse, as many as a length says.

    There is one length for each place along the batch axis.

    >>> hs.reverse_sequence(np.array([[1, 2, 3], [4, 5, 6]]), np.array([2, 3]))
    array([[2, 1, 3],
           [6, 5, 4]])
    """
    along = normalize_axis("reverse_sequence", x, seq_axis)
    batch = normalize_axis("reverse_sequence", x, batch_axis)
    if along == batch:
        raise ArgumentValueError(f"reverse_sequence: both axes are {along}")
    _check_lengths("reverse_sequence", x, lengths, batch)

    def element(at: tuple[Any, ...]) -> Any:
        found: Any = lengths[at[batch]]
        length, place = as_index(found), at[along]
        return x[replaced(at, along, if_then_else(place < length, length - 1 - place, place))]

    return fill("reverse_sequence", x.shape, element)


def _check_lengths(name: str, x: Any, lengths: Any, axis: int) -> None:
    check_integers(name, lengths)
    if x.ndim < 2 or lengths.ndim != 1 or not are_equal(lengths.shape[0], x.shape[axis]):
        raise ArgumentValueError(
            f"{name}: {shown(lengths)} has no length for each place along axis {axis} of {shown(x)}"
        )


@hybrid.script
def _unravel(indices: Any, shape: Any) -> Any:
    return np.unravel_index(indices, shape)  # pyright: ignore[reportUnknownVariableType]


@operator(differentiable=False)
def unravel_index(indices: T, shape: int | Sequence[int]) -> tuple[T, ...]:
    """The indices of elements of a shape, of their places among all: one array for each axis.

    >>> hs.unravel_index(np.array([5, 2]), (2, 3))
    (array([1, 0]), array([2, 2]))
    """
    check_integers("unravel_index", indices)
    sizes = read_integers("unravel_index", "shape", shape)
    return _unravel(indices, tuple(sizes))
