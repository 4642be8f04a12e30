"""Kinds of stages for random graphs: hybrid scripts and externs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from hybridjit import hybrid, te, tir
from hybridjit.hybrid import allocate, output_tensor, scan
from tests.graphs.made import Array, Made
from tests.graphs.stages import recent


@hybrid.script
def _differences(a: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if x > 0:
                b[y, x] = a[y, x] - a[y, x - 1]
            else:
                b[y, x] = a[y, x]
    return b


def _differences_in_numpy(x: Array) -> Array:
    y = x.copy()
    y[:, 1:] -= x[:, :-1]
    return y


@hybrid.script
def _row_totals(a: Any) -> Any:
    c = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            c[i] += a[i, j]
    return c


@hybrid.script
def _running(a: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    for t in scan(0, a.shape[0]):
        for i in range(a.shape[1]):
            if t > 0:
                b[t, i] = b[t - 1, i] + a[t, i]
            else:
                b[t, i] = a[t, i]
    return b


@hybrid.script
def _two_results(a: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    c = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] + 1
            c[i, j] = b[i, j] * 2
    return b, c


@hybrid.script
def _smoothed(a: Any) -> Any:
    """A script with an array of its own, and two nests."""
    t = allocate(a.shape, a.dtype, "local")
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t[i, j] = a[i, j] * 2
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if i + 1 < a.shape[0]:
                b[i, j] = t[i, j] + t[i + 1, j]
            else:
                b[i, j] = t[i, j]
    return b


def _smoothed_in_numpy(x: Array) -> Array:
    y = x * 2
    y[:-1] += x[1:] * 2
    return y


def script(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """A script of one result."""
    source = recent(choose, made, 2)
    if source is None:
        return []
    kernel, evaluate = choose.choice(
        [
            (_differences, _differences_in_numpy),
            (_running, lambda x: x.cumsum(axis=0, dtype=x.dtype)),
            (_smoothed, _smoothed_in_numpy),
        ]
    )
    return [Made(kernel(source.tensor), source.sizes, (source,), evaluate)]


def script_total(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """A script that reduces."""
    source = recent(choose, made, 2)
    if source is None:
        return []
    tensor = _row_totals(source.tensor)
    return [Made(tensor, source.sizes[:1], (source,), lambda x: x.sum(axis=1, dtype=x.dtype))]


def script_pair(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """A script of two results."""
    source = recent(choose, made, 2)
    if source is None:
        return []
    first, second = _two_results(source.tensor)
    return [
        Made(first, source.sizes, (source,), lambda x: x + 1),
        Made(second, source.sizes, (source,), lambda x: (x + 1) * 2),
    ]


# -- externs ---------------------------------------------------------------------------------------


@hybrid.packed
def _negate(a: Array, b: Array) -> None:
    np.negative(a, out=b)


@hybrid.packed
def _sort(a: Array, b: Array) -> None:
    b[...] = np.sort(a, axis=-1)


@hybrid.script
def _double_into(a: Any, b: Any) -> Any:
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] * 2


def extern(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """A Python function on whole arrays."""
    source = recent(choose, made)
    if source is None:
        return []
    function, evaluate = choose.choice([(_negate, np.negative), (_sort, np.sort)])
    tensor = te.extern(source.dims, [source.tensor], function, name=name)
    return [Made(tensor, source.sizes, (source,), evaluate)]


def extern_script(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """A script that writes to its argument, as the body of an extern."""
    source = recent(choose, made, 2)
    if source is None:
        return []
    tensor = te.extern(source.dims, [source.tensor], _double_into, name=name)
    return [Made(tensor, source.sizes, (source,), lambda x: x * 2)]


def extern_by_hand(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """Loops of the IR that fill two tensors."""
    source = recent(choose, made)
    if source is None:
        return []
    dims = source.dims
    first, second = te.extern([dims, dims], [source.tensor], _twice_and_thrice, name=name)
    return [
        Made(first, source.sizes, (source,), lambda x: x + x),
        Made(second, source.sizes, (source,), lambda x: x + x + x),
    ]


def _twice_and_thrice(ins: Any, outs: Any) -> tir.Stmt:
    indices = tuple(tir.Var(f"i{axis}") for axis in range(ins[0].ndim))
    element = tir.Load(ins[0], indices)
    twice = tir.Store(outs[0], indices, element + element)
    body = tir.seq(twice, tir.Store(outs[1], indices, tir.Load(outs[0], indices) + element))
    for index, extent in reversed(list(zip(indices, ins[0].shape, strict=True))):
        body = tir.For(index, tir.Const(0), extent, tir.Const(1), body)
    return body


@hybrid.script
def _outer_difference(a: Any, b: Any) -> Any:
    c = output_tensor((a.shape[0], b.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            c[i, j] = a[i, 0] - b[j, 0]
    return c


def script_of_two(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """A script on two tensors, which may be the same."""
    tensors = [item for item in made if len(item.sizes) == 2 and item.dtype == made[-1].dtype]
    if not tensors:
        return []
    a, b = choose.choice(tensors), tensors[-1]
    sizes = a.sizes[0], b.sizes[0]
    tensor = _outer_difference(a.tensor, b.tensor)
    return [Made(tensor, sizes, (a, b), lambda x, y: x[:, :1] - y[:, :1].T)]
