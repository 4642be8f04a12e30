"""Kinds of stages for random graphs: reductions and scans."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from hybridjit import te
from tests.graphs.made import Array, Made, changed
from tests.graphs.stages import recent

_LAST = np.iinfo(np.int64).max


def _total(x: Array, axis: Any) -> Array:
    return x.sum(axis=axis, dtype=x.dtype)


def reduce(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """Sum, maximum or minimum over the last axis."""
    source = recent(choose, made)
    if source is None:
        return []
    k = te.reduce_axis((0, source.dims[-1]), f"k{name}")
    reducer, evaluate = choose.choice(
        [(te.sum, _total), (te.max, np.amax), (te.min, np.amin)],
    )

    def value(*i: Any) -> Any:
        return reducer(source.tensor[(*i, k)], axis=k)

    tensor = te.compute(source.dims[:-1], value, name=name)
    return [Made(tensor, source.sizes[:-1], (source,), lambda x: evaluate(x, axis=-1))]


def reduce_all(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """The sum over both axes, to a tensor without dimensions."""
    source = recent(choose, made, 2)
    if source is None:
        return []
    i, j = (
        te.reduce_axis((0, size), f"{k}{name}") for k, size in zip("ij", source.dims, strict=True)
    )
    a = source.tensor
    tensor = te.compute((), lambda: te.sum(a[i, j], axis=[i, j]), name=name)
    return [Made(tensor, (), (source,), lambda x: _total(x, (0, 1)))]


def reduce_some(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """A sum over part of a range, of the elements that pass a test, with a start of its own."""
    source = recent(choose, made)
    if source is None:
        return []
    first, limit, start = (
        choose.randrange(source.sizes[0]),
        choose.randint(0, 4),
        choose.randint(0, 5),
    )
    k = te.reduce_axis((first, source.dims[0]), f"k{name}")
    a = source.tensor

    def value(*i: Any) -> Any:
        return te.sum(a[(k, *i)], axis=k, where=a[(k, *i)] > limit, init=start)

    def evaluate(x: Array) -> Array:
        rest = x[first:]
        return (_total(np.where(rest > limit, rest, 0), 0) + start).astype(x.dtype)

    tensor = te.compute(source.dims[1:], value, name=name)
    return [Made(tensor, source.sizes[1:], (source,), evaluate)]


# Of equal values they take the first, so that any order gives the same.


def _larger(x: Any, y: Any) -> Any:
    keep = te.any(x[1] > y[1], te.all(x[1] == y[1], x[0] < y[0]))
    return te.if_then_else(keep, x[0], y[0]), te.if_then_else(keep, x[1], y[1])


def _smaller(x: Any, y: Any) -> Any:
    keep = te.any(x[0] < y[0], te.all(x[0] == y[0], x[1] < y[1]))
    return te.if_then_else(keep, x[0], y[0]), te.if_then_else(keep, x[1], y[1])


def _smallest(place: str, value: str) -> Any:
    return te.const(_LAST, place), te.min_value(value)


def _largest(value: str, place: str) -> Any:
    return te.max_value(value), te.const(_LAST, place)


argmax = te.comm_reducer(_larger, _smallest, name="argmax")
argmin = te.comm_reducer(_smaller, _largest, name="argmin")  # the value comes first


def reduce_to_pair(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """Where the extremum of the first axis is, and what it is."""
    source = recent(choose, made)
    if source is None:
        return []
    k = te.reduce_axis((0, source.dims[0]), f"k{name}")
    a, sizes, largest = source.tensor, source.sizes[1:], choose.random() < 0.5

    def value(*i: Any) -> Any:
        element = a[(k, *i)]
        return argmax((k, element), axis=k) if largest else argmin((element, k), axis=k)

    def find(x: Array) -> Array:
        return np.asarray(x.argmax(axis=0) if largest else x.argmin(axis=0), np.int64)

    first, second = te.compute(source.dims[1:], value, name=name)
    place, extremum = (first, second) if largest else (second, first)
    items = [
        Made(place, sizes, (source,), find),
        Made(extremum, sizes, (source,), lambda x: x.max(axis=0) if largest else x.min(axis=0)),
    ]
    choose.shuffle(items)
    return items


def windows(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """Sums of three neighbours."""
    source = recent(choose, made)
    if source is None or source.sizes[0] < 3:
        return []
    k = te.reduce_axis((0, 3), f"w{name}")
    dims, sizes = changed(source, 0, lambda size: size - 2)

    def value(*i: Any) -> Any:
        return te.sum(source.tensor[(i[0] + k, *i[1:])], axis=k)

    tensor = te.compute(dims, value, name=name)
    return [Made(tensor, sizes, (source,), lambda x: x[:-2] + x[1:-1] + x[2:])]


def matmul(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """A tensor times its own transpose."""
    source = recent(choose, made, 2)
    if source is None:
        return []
    k = te.reduce_axis((0, source.dims[1]), f"k{name}")
    a, rows = source.tensor, source.dims[0]

    def evaluate(x: Array) -> Array:
        return _total(x[:, None, :] * x[None, :, :], -1)

    small = te.compute(source.dims, lambda i, j: a[i, j] % 3, name=f"{name}_small")
    tensor = te.compute(
        (rows, rows), lambda i, j: te.sum(small[i, k] * small[j, k], axis=k), name=name
    )
    kept = Made(small, source.sizes, (source,), lambda x: x % 3)
    return [kept, Made(tensor, (source.sizes[0],) * 2, (kept,), evaluate)]


# -- scans -----------------------------------------------------------------------------------------


def scan(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """The running sum over an axis."""
    source = made[-1]
    if not source.sizes:
        return []
    tensor, axis = source.tensor, choose.randrange(len(source.sizes))
    state = te.placeholder(source.dims, tensor.dtype, f"{name}_state")

    def begin(*i: Any) -> Any:
        return tensor[tuple(0 if k == axis else index for k, index in enumerate(i))]

    def step(*i: Any) -> Any:
        before = tuple(index - 1 if k == axis else index for k, index in enumerate(i))
        return state[before] + tensor[i]

    first = tuple(1 if k == axis else size for k, size in enumerate(source.dims))
    init = te.compute(first, begin, name=f"{name}_first")
    update = te.compute(source.dims, step, name=f"{name}_update")
    result = te.scan(init, update, state, name=name, axis=axis)
    return [Made(result, source.sizes, (source,), lambda x: x.cumsum(axis=axis, dtype=x.dtype))]


def scan_in_stages(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """A scan that looks two steps back, with a stage of its own in every step."""
    source = made[-1]
    if len(source.sizes) != 2 or source.sizes[0] < 2:
        return []
    a = source.tensor
    state = te.placeholder(source.dims, a.dtype, f"{name}_state")
    init = te.compute((2, source.dims[1]), lambda t, i: a[t, i], name=f"{name}_first")
    middle = te.compute(source.dims, lambda t, i: state[t - 2, i] + 1, name=f"{name}_middle")
    update = te.compute(source.dims, lambda t, i: middle[t, i] - a[t, i], name=f"{name}_update")
    result = te.scan(init, update, state, name=name)

    def evaluate(x: Array) -> Array:
        y = x.copy()
        for t in range(2, len(y)):
            y[t] = (y[t - 2] + 1) - x[t]
        return y

    return [Made(result, source.sizes, (source,), evaluate)]


def scan_of_two(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """Two states that read each other."""
    source = made[-1]
    if len(source.sizes) != 2:
        return []
    a, dims = source.tensor, source.dims
    first, second = (te.placeholder(dims, a.dtype, f"{name}_state{k}") for k in "01")
    begin = [te.compute((1, dims[1]), lambda t, i: a[0, i], name=f"{name}_first{k}") for k in "01"]
    low = te.compute(dims, lambda t, i: te.min(second[t - 1, i], a[t, i]), name=f"{name}_low")
    high = te.compute(dims, lambda t, i: first[t - 1, i] + a[t, i], name=f"{name}_high")
    results = te.scan(begin, [low, high], [first, second], name=name)
    items = [
        Made(result, source.sizes, (source,), lambda x, place=place: _two_states(x)[place])
        for place, result in enumerate(results)
    ]
    choose.shuffle(items)
    return items


def _two_states(x: Array) -> tuple[Array, Array]:
    low, high = x.copy(), x.copy()
    for t in range(1, len(x)):
        low[t] = np.minimum(high[t - 1], x[t])
        high[t] = low[t - 1] + x[t]
    return low, high
