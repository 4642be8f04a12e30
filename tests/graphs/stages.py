"""Kinds of stages for random graphs: each makes a tensor of earlier ones, in te and in NumPy."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from hybridjit import te
from tests.graphs.made import Array, Made, changed, same_shape

Maker = Callable[[random.Random, Sequence[Made], str], list[Made]]


def recent(choose: random.Random, made: Sequence[Made], ndim: int = 1) -> Made | None:
    """One of the last tensors, if it has so many dimensions."""
    source = choose.choice(made[-2:])
    return source if len(source.sizes) >= ndim else None


def _numbers(count: int) -> Array:
    return np.arange(count)


# -- element by element ----------------------------------------------------------------------------


def elementwise(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    source = made[-1]
    other = choose.choice([item for item in made if same_shape(item, source)])
    a, b, factor = source.tensor, other.tensor, choose.randint(2, 4)

    def value(*i: Any) -> Any:
        return a[i] * factor + b[i]

    tensor = te.compute(source.dims, value, name=name)
    return [Made(tensor, source.sizes, (source, other), lambda x, y: x * factor + y)]


def chosen(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """One of two values, by a comparison."""
    source = made[-1]
    limit = choose.randint(0, 3)
    a = source.tensor

    def value(*i: Any) -> Any:
        return te.if_then_else(a[i] > limit, a[i], a[i] + a[i])

    tensor = te.compute(source.dims, value, name=name)

    def evaluate(x: Array) -> Array:
        return cast("Array", np.where(x > limit, x, x + x))

    return [Made(tensor, source.sizes, (source,), evaluate)]


def two_outputs(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """A compute that makes two tensors at once."""
    source = made[-1]
    a = source.tensor

    def value(*i: Any) -> Any:
        return a[i] + 1, a[i] * 2

    first, second = te.compute(source.dims, value, name=name)
    items = [
        Made(first, source.sizes, (source,), lambda x: x + 1),
        Made(second, source.sizes, (source,), lambda x: x * 2),
    ]
    choose.shuffle(items)
    return items


def broadcast(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """A tensor and one with fewer dimensions, or both of them in an outer product."""
    source = recent(choose, made)
    if source is None:
        return []
    rows = [item for item in made if _is_row_of(item, source)]
    if rows:
        row = choose.choice(rows)
        a, b = source.tensor, row.tensor
        tensor = te.compute(source.dims, lambda i, j: a[i, j] - b[j], name=name)
        return [Made(tensor, source.sizes, (source, row), lambda x, y: x - y)]
    if len(source.sizes) != 1:
        return []
    a, size = source.tensor, choose.choice([1, 2, 3, 5])
    outer = te.compute((size, source.dims[0]), lambda i, j: a[j] + i, name=name)

    def evaluate(x: Array) -> Array:
        return x[None, :] + np.arange(size, dtype=x.dtype)[:, None]

    return [Made(outer, (size, source.sizes[0]), (source,), evaluate)]


def _is_row_of(item: Made, source: Made) -> bool:
    sizes = item.tensor.buffer.shape
    return item.sizes == source.sizes[1:] and sizes == source.tensor.buffer.shape[1:] != ()


def transpose(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    source = recent(choose, made, 2)
    if source is None:
        return []
    a = source.tensor
    tensor = te.compute(source.dims[::-1], lambda i, j: a[j, i], name=name)
    return [Made(tensor, source.sizes[::-1], (source,), lambda x: x.T)]


def reverse(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    source = recent(choose, made)
    if source is None:
        return []
    a, last = source.tensor, source.dims[-1] - 1

    def value(*i: Any) -> Any:
        return a[(*i[:-1], last - i[-1])]

    tensor = te.compute(source.dims, value, name=name)
    return [Made(tensor, source.sizes, (source,), lambda x: x[..., ::-1])]


def gather(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """Elements by an index that is not affine."""
    source = recent(choose, made)
    if source is None:
        return []
    a, period = source.tensor, choose.randint(1, source.sizes[0])

    def value(*i: Any) -> Any:
        return a[((i[0] * i[0]) % period, *i[1:])] + a[i]

    def evaluate(x: Array) -> Array:
        rows = _numbers(x.shape[0])
        return x[rows * rows % period] + x

    return [Made(te.compute(source.dims, value, name=name), source.sizes, (source,), evaluate)]


# -- neighbours ------------------------------------------------------------------------------------


def stencil(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """The difference of an element and a later one on some axis: the tensor gets smaller."""
    source = recent(choose, made)
    if source is None:
        return []
    axis, reach = choose.randrange(len(source.sizes)), choose.choice([1, 2])
    if source.sizes[axis] <= reach:
        return []
    dims, sizes = changed(source, axis, lambda size: size - reach)

    def value(*i: Any) -> Any:
        later = tuple(index + reach if k == axis else index for k, index in enumerate(i))
        return source.tensor[i] - source.tensor[later]

    def evaluate(x: Array) -> Array:
        rows: Any = np.moveaxis(x, axis, 0)
        return np.moveaxis(rows[:-reach] - rows[reach:], 0, axis)

    return [Made(te.compute(dims, value, name=name), sizes, (source,), evaluate)]


def clamped_stencil(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """A neighbour on each side, at the edges the edge itself: the size stays."""
    source = recent(choose, made)
    if source is None:
        return []
    a, last = source.tensor, source.dims[0] - 1

    def value(*i: Any) -> Any:
        before = te.max(i[0] - 1, 0)
        after = te.min(i[0] + 1, last)
        return a[(before, *i[1:])] + a[(after, *i[1:])]

    def evaluate(x: Array) -> Array:
        rows = _numbers(x.shape[0])
        return x[np.maximum(rows - 1, 0)] + x[np.minimum(rows + 1, x.shape[0] - 1)]

    return [Made(te.compute(source.dims, value, name=name), source.sizes, (source,), evaluate)]


def padding(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    source = recent(choose, made)
    if source is None:
        return []
    pad = choose.choice([1, 2])
    dims, sizes = changed(source, 0, lambda size: size + 2 * pad)

    def value(*i: Any) -> Any:
        inside = te.all(i[0] >= pad, i[0] < source.dims[0] + pad)
        return te.if_then_else(inside, source.tensor[(i[0] - pad, *i[1:])], 0)

    def evaluate(x: Array) -> Array:
        return np.pad(x, [(pad, pad)] + [(0, 0)] * (x.ndim - 1))

    return [Made(te.compute(dims, value, name=name), sizes, (source,), evaluate)]


def stride(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    source = recent(choose, made)
    if source is None or source.sizes[-1] < 2:
        return []
    dims, sizes = changed(source, len(source.sizes) - 1, lambda size: size // 2)

    def value(*i: Any) -> Any:
        return source.tensor[(*i[:-1], i[-1] * 2 + 1)] + 1

    tensor = te.compute(dims, value, name=name)
    return [Made(tensor, sizes, (source,), lambda x: x[..., 1::2] + 1)]
