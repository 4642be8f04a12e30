"""Other shapes of the same elements: NumPy's functions, by their names there. Results are new."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Sequence
from typing import Any, cast

from hybridjit.errors import ArgumentValueError
from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.requirements import Guard, as_it_is, multiple_of
from hybridjit.stdlib.parts.shapes import (
    are_equal,
    broadcast_shapes,
    count_elements,
    element_of,
    fill,
    flat_place,
    flatten,
    indices_at,
    normalize_axes,
    normalize_axis,
    read_integers,
    read_shape,
    replaced,
    show,
    shown,
)
from hybridjit.stdlib.parts.slices import read_slices
from hybridjit.stdlib.parts.types import Axes, T
from hybridjit.stdlib.running.operator import operator
from hybridjit.te import Expression, compute, if_then_else, placeholder

_SEQUENCE: tuple[type[Any], ...] = (tuple, list)
Sizes = int | Sequence[Any]


@operator
def reshape(x: T, shape: Sizes) -> T:
    """The elements of x in another shape; one size may be -1, and is what is left then.

    >>> hs.reshape(np.arange(6), (2, -1))
    array([[0, 1, 2],
           [3, 4, 5]])
    """
    sizes, guard = _read_shape("reshape", x, shape)
    return fill("reshape", sizes, lambda at: guard(x[indices_at(x.shape, flat_place(sizes, at))]))


def _read_shape(name: str, x: Any, shape: Any) -> tuple[tuple[Any, ...], Guard]:
    given = read_shape(name, shape, least=-1)
    count = count_elements(x.shape, range(x.ndim))
    open_axes = [axis for axis, size in enumerate(given) if are_equal(size, -1)]
    if len(open_axes) == 1:
        known = count_elements(given, [axis for axis in range(len(given)) if axis != open_axes[0]])
        is_known = isinstance(known, int) and isinstance(count, int)
        if not is_known or (known > 0 and count % known == 0):
            message = f"its elements do not fit into the shape {show(given)}"
            sizes = replaced(given, open_axes[0], count // known)
            return sizes, multiple_of(name, count, known, message)
    elif not open_axes and are_equal(count_elements(given, range(len(given))), count):
        return given, as_it_is
    raise ArgumentValueError(
        f"{name}: {shown(x)} does not fit into the shape {show(given)}",
        help="both must have the same number of elements; one size may be -1",
    )


@operator
def ravel(x: T) -> T:
    """All elements of x along one axis.

    >>> hs.ravel(np.array([[1, 2], [3, 4]]))
    array([1, 2, 3, 4])
    """
    return flatten("ravel", x)


@operator
def flatten_from(x: T, axis: int = 1) -> T:
    """A matrix of x: the axes before `axis` are its rows, the others its columns.

    >>> hs.flatten_from(np.ones((2, 3, 4))).shape
    (2, 12)
    """
    place = x.ndim if axis == x.ndim else normalize_axis("flatten_from", x, axis)
    rows, columns = x.shape[:place], x.shape[place:]

    def element(row: Any, column: Any) -> Any:
        return x[(*indices_at(rows, row), *indices_at(columns, column))]

    sizes = [count_elements(part, range(len(part))) for part in (rows, columns)]
    return compute((sizes[0], sizes[1]), element, "flatten_from")


@operator
def transpose(x: T, axes: Sequence[int] | None = None) -> T:
    """x with its axes in another order, which is the reverse one if none is given.

    >>> hs.transpose(np.array([[1, 2, 3], [4, 5, 6]]))
    array([[1, 4],
           [2, 5],
           [3, 6]])
    """
    given = range(x.ndim)[::-1] if axes is None else read_integers("transpose", "axes", axes)
    order = [normalize_axis("transpose", x, axis) for axis in given]
    if sorted(order) != list(range(x.ndim)):
        raise ArgumentValueError(
            f"transpose: {shown(x)} has {x.ndim} axes, each of which "
            f"stands once among the axes, got {tuple(given)}"
        )
    return _permuted("transpose", x, order)


@operator
def swapaxes(x: T, first: int, second: int) -> T:
    """x with two axes in each other's place.

    >>> hs.swapaxes(np.ones((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    order = list(range(x.ndim))
    a, b = (normalize_axis("swapaxes", x, axis) for axis in (first, second))
    order[a], order[b] = b, a
    return _permuted("swapaxes", x, order)


@operator
def moveaxis(x: T, source: int | Sequence[int], destination: int | Sequence[int]) -> T:
    """x with axes moved to other places; the others stay in their order.

    >>> hs.moveaxis(np.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    starts, ends = (
        [normalize_axis("moveaxis", x, axis) for axis in read_integers("moveaxis", "axes", axes)]
        for axes in (source, destination)
    )
    if len(starts) != len(ends) or len(set(starts)) < len(starts) or len(set(ends)) < len(ends):
        raise ArgumentValueError(
            f"moveaxis: each axis moves to a place of its own, got {source!r} and {destination!r}"
        )
    order = [axis for axis in range(x.ndim) if axis not in starts]
    for end, start in sorted(zip(ends, starts, strict=True)):
        order.insert(end, start)
    return _permuted("moveaxis", x, order)


def _permuted(name: str, x: Any, order: Sequence[int]) -> Any:
    """`x` with the axes `order[0]`, `order[1]` ..."""

    def element(*indices: Any) -> Any:
        return x[tuple(indices[order.index(axis)] for axis in range(x.ndim))]

    return compute(tuple(x.shape[axis] for axis in order), element, name)


@operator
def squeeze(x: T, axis: Axes = None) -> T:
    """x without axes of size 1: all of them, or those that are given.

    >>> hs.squeeze(np.ones((1, 3, 1))).shape
    (3,)
    """
    if axis is None:
        axes = tuple(place for place, size in enumerate(x.shape) if are_equal(size, 1))
    else:
        axes = normalize_axes("squeeze", x, axis)
    for place in axes:
        if not are_equal(x.shape[place], 1):
            raise ArgumentValueError(f"squeeze: axis {place} of {shown(x)} has not the size 1")
    kept = [place for place in range(x.ndim) if place not in axes]

    def element(*indices: Any) -> Any:
        own = dict(zip(kept, indices, strict=True))
        return x[tuple(own.get(place, 0) for place in range(x.ndim))]

    return compute(tuple(x.shape[place] for place in kept), element, "squeeze")


@operator
def expand_dims(x: T, axis: int | Sequence[int]) -> T:
    """x with more axes, of size 1, at these places of the result.

    >>> hs.expand_dims(np.ones((2, 3)), (0, -1)).shape
    (1, 2, 3, 1)
    """
    given = read_integers("expand_dims", "axes", axis)
    wider = _with_rank(x, x.ndim + len(given))
    axes = normalize_axes("expand_dims", wider, given)
    kept = [place for place in range(wider.ndim) if place not in axes]
    sizes = dict(zip(kept, x.shape, strict=True))
    shape = [sizes.get(place, 1) for place in range(wider.ndim)]
    return fill("expand_dims", shape, lambda at: x[tuple(at[place] for place in kept)])


def _with_rank(x: Any, rank: int) -> Any:
    """A stand-in for `x` with more axes, of which some are counted from the end."""
    return placeholder((1,) * rank, x.dtype, x.name)


@operator
def broadcast_to(x: T, shape: Sizes) -> T:
    """x repeated along axes of size 1, and along new ones in front, up to a shape.

    >>> hs.broadcast_to(np.array([1, 2]), (2, 2))
    array([[1, 2],
           [1, 2]])
    """
    sizes = read_shape("broadcast_to", shape)
    _check_broadcast(x, sizes)
    return fill("broadcast_to", sizes, lambda at: element_of(x, at))


def _check_broadcast(x: Any, sizes: tuple[Any, ...]) -> None:
    found = broadcast_shapes("broadcast_to", [x, placeholder(sizes, x.dtype, "shape")])
    if len(found) != len(sizes) or not all(map(are_equal, found, sizes)):
        raise ArgumentValueError(
            f"broadcast_to: {shown(x)} does not broadcast to {show(sizes)}",
            help="sizes must be equal, or that of the array 1; axes are compared from the last",
        )


# -- several ---------------------------------------------------------------------------------------


@operator
def concatenate(xs: Sequence[T], axis: int = 0) -> T:
    """All of xs one after the other along an axis.

    >>> hs.concatenate((np.array([1, 2]), np.array([3.5])))
    array([1. , 2. , 3.5])
    """
    place = _check_joined("concatenate", xs, axis)
    ends: list[Any] = [0]
    for x in xs:
        ends.append(ends[-1] + x.shape[place])

    def element(*indices: Any) -> Any:
        own = [
            x[replaced(indices, place, indices[place] - start)]
            for x, start in zip(xs, ends, strict=False)
        ]
        return _choose(indices[place], own, ends[1:])

    return compute(replaced(xs[0].shape, place, ends[-1]), element, "concatenate")


@operator
def stack(xs: Sequence[T], axis: int = 0) -> T:
    """All of xs, which have one shape, along a new axis.

    >>> hs.stack((np.array([1, 2]), np.array([3, 4])), axis=1)
    array([[1, 3],
           [2, 4]])
    """
    wider = _with_rank(xs[0], xs[0].ndim + 1)
    place = normalize_axis("stack", wider, axis)
    for x in xs[1:]:
        if x.ndim != xs[0].ndim or not all(map(are_equal, x.shape, xs[0].shape)):
            raise _other_shapes("stack", xs[0], x)

    def element(*indices: Any) -> Any:
        own = (*indices[:place], *indices[place + 1 :])
        return _choose(indices[place], [x[own] for x in xs], range(1, len(xs) + 1))

    shape = (*xs[0].shape[:place], len(xs), *xs[0].shape[place:])
    return compute(shape, element, "stack")


def _choose(index: Any, values: Sequence[Any], ends: Sequence[Any]) -> Any:
    """The value before whose end an index is, the values in a type that holds all of them."""
    dtype = values[0].dtype
    for value in values[1:]:
        dtype = call("select", index < 0, values[0].astype(dtype), value).dtype
    found = values[-1].astype(dtype)
    for value, end in reversed([*zip(values[:-1], ends, strict=False)]):
        found = if_then_else(index < end, value.astype(dtype), found)
    return found


def _check_joined(name: str, xs: Sequence[Any], axis: int) -> int:
    place = normalize_axis(name, xs[0], axis)
    for x in xs[1:]:
        others = [at for at in range(xs[0].ndim) if at != place]
        is_like = x.ndim == xs[0].ndim
        if not is_like or not all(are_equal(x.shape[at], xs[0].shape[at]) for at in others):
            raise _other_shapes(name, xs[0], x)
    return place


def _other_shapes(name: str, first: Any, other: Any) -> ArgumentValueError:
    return ArgumentValueError(f"{name}: {shown(first)} and {shown(other)} do not match")


@operator
def split(x: T, parts: int | Sequence[int], axis: int = 0) -> tuple[T, ...]:
    """x cut along an axis: into so many parts of one size, or at these places.

    >>> hs.split(np.array([1, 2, 3]), [1])
    (array([1]), array([2, 3]))
    """
    place = normalize_axis("split", x, axis)
    size = x.shape[place]
    bounds, guard = _read_parts(x, size, parts)

    def part(start: Any, stop: Any) -> Any:
        if isinstance(size, int):
            start, stop, _ = slice(start, stop).indices(size)
            stop = max(start, stop)
        sizes = replaced(x.shape, place, stop - start)
        return fill("split", sizes, lambda at: guard(x[replaced(at, place, at[place] + start)]))

    return tuple(part(*ends) for ends in itertools.pairwise(bounds))


def _read_parts(x: Any, size: Any, parts: Any) -> tuple[list[Any], Guard]:
    if not isinstance(parts, _SEQUENCE):
        return _equal_parts(x, size, *read_integers("split", "parts", parts))
    cuts = [
        place if isinstance(place, Expression) else read_integers("split", "parts", place, 1)[0]
        for place in cast("Sequence[Any]", parts)
    ]
    return [0, *cuts, size], as_it_is


def _equal_parts(x: Any, size: Any, parts: int) -> tuple[list[Any], Guard]:
    if parts < 1 or (isinstance(size, int) and size % parts):
        raise ArgumentValueError(
            f"split: the {size} elements of '{x.name}' along the axis are not {parts} equal parts",
            help="give the places to cut at, as in [2, 5]",
        )
    guard = multiple_of("split", size, parts, f"the elements are not {parts} equal parts")
    return [place * (size // parts) for place in range(parts + 1)], guard


# -- order -----------------------------------------------------------------------------------------


@operator
def flip(x: T, axis: Axes = None) -> T:
    """x with its elements in reverse along axes, all of them if none is given.

    >>> hs.flip(np.array([1, 2, 3]))
    array([3, 2, 1])
    """
    axes = normalize_axes("flip", x, axis)

    def element(*indices: Any) -> Any:
        return x[
            tuple(
                x.shape[place] - 1 - index if place in axes else index
                for place, index in enumerate(indices)
            )
        ]

    return compute(x.shape, element, "flip")


@operator
def roll(x: T, shift: int | Sequence[int], axis: Axes = None) -> T:
    """x moved along axes; what is pushed out comes in at the other end.

    >>> hs.roll(np.array([1, 2, 3]), 1)
    array([3, 1, 2])
    """
    if axis is None:
        return _rolled_flat(x, builtins.sum(read_integers("roll", "shift", shift)))
    axes = read_integers("roll", "axis", axis)
    shifts = read_integers("roll", "shift", shift, len(axes))
    by_axis: dict[int, int] = {}
    for at, step in zip(axes, shifts, strict=True):
        place = normalize_axis("roll", x, at)
        by_axis[place] = by_axis.get(place, 0) + step

    def element(*indices: Any) -> Any:
        return x[
            tuple(
                (index - by_axis[place]) % x.shape[place] if by_axis.get(place, 0) else index
                for place, index in enumerate(indices)
            )
        ]

    return compute(x.shape, element, "roll")


def _rolled_flat(x: Any, shift: int) -> Any:
    count = count_elements(x.shape, range(x.ndim))

    def element(*indices: Any) -> Any:
        return x[indices_at(x.shape, (flat_place(x.shape, indices) - shift) % count)]

    return compute(x.shape, element, "roll")


@operator
def tile(x: T, reps: int | Sequence[int]) -> T:
    """x repeated as a whole along each axis.

    >>> hs.tile(np.array([1, 2]), (2, 2))
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]])
    """
    counts = read_integers("tile", "reps", reps, least=0)
    rank = builtins.max(len(counts), x.ndim)
    counts = [1] * (rank - len(counts)) + counts
    sizes = (1,) * (rank - x.ndim) + x.shape

    def element(*indices: Any) -> Any:
        own = [
            index if count == 1 else index % size
            for index, count, size in zip(indices, counts, sizes, strict=True)
        ]
        return x[tuple(own[rank - x.ndim :])]

    shape = tuple(size * count for size, count in zip(sizes, counts, strict=True))
    return compute(shape, element, "tile")


@operator
def repeat(x: T, repeats: int, axis: int | None = None) -> T:
    """x with each element repeated, one after the other, along an axis or all of them flattened.

    >>> hs.repeat(np.array([1, 2]), 2)
    array([1, 1, 2, 2])
    """
    x = flatten("repeat_flat", x) if axis is None else x
    place = 0 if axis is None else normalize_axis("repeat", x, axis)
    (count,) = read_integers("repeat", "repeats", repeats, 1, least=0)
    sizes = replaced(x.shape, place, x.shape[place] * count)
    return fill("repeat", sizes, lambda at: x[replaced(at, place, at[place] // count)])


@operator
def strided_slice(
    x: T,
    begin: Sequence[Any],
    end: Sequence[Any],
    strides: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
) -> T:
    """x[begin:end:stride, ...] along the first axes, or those that are given, as in NumPy.

    None stands for a bound that is left out.

    >>> hs.strided_slice(np.arange(6), [4], [None], [-2])
    array([4, 2, 0])
    """
    found = read_slices("strided_slice", x, begin, end, strides, axes)

    def element(*indices: Any) -> Any:
        return x[
            tuple(
                index if place not in found else found[place].start + index * found[place].step
                for place, index in enumerate(indices)
            )
        ]

    shape = tuple(
        found[place].count if place in found else size for place, size in enumerate(x.shape)
    )
    return compute(shape, element, "strided_slice")


@operator
def sliding_window(
    x: T, axis: int, window_shape: Sequence[int], strides: Sequence[int] | int = 1
) -> T:
    """All windows over the axes from `axis` on: places first, then the elements of each window.

    >>> hs.sliding_window(np.arange(4), 0, [2])
    array([[0, 1],
           [1, 2],
           [2, 3]])
    """
    first = normalize_axis("sliding_window", x, axis)
    sizes = read_integers("sliding_window", "window_shape", window_shape, x.ndim - first)
    steps = read_integers("sliding_window", "strides", strides, len(sizes))
    extents = x.shape[first:]
    if builtins.min(steps) < 1 or builtins.any(
        isinstance(extent, int) and not 0 < size <= extent
        for extent, size in zip(extents, sizes, strict=True)
    ):
        raise ArgumentValueError(
            f"sliding_window: windows {tuple(sizes)} with strides {tuple(steps)} do not fit into "
            f"{shown(x)}"
        )
    counts = tuple(
        (extent - size) // step + 1
        for extent, size, step in zip(extents, sizes, steps, strict=True)
    )

    def element(*indices: Any) -> Any:
        outer, places = indices[:first], indices[first : first + len(sizes)]
        offsets = indices[first + len(sizes) :]
        inner = [p * step + o for p, step, o in zip(places, steps, offsets, strict=True)]
        return x[(*outer, *inner)]

    return compute((*x.shape[:first], *counts, *sizes), element, "sliding_window")
