"""Programs for the tests of memory primitives, each with arguments of awkward sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import hybridjit as hj
from hybridjit import Kernel, hybrid
from hybridjit.hybrid import allocate, block, output_tensor, scan
from hybridjit.ir.func import PrimFunc

Specs = Sequence[Any]
SIZES = (0, 1, 2, 7, 13)


@dataclass(frozen=True)
class Program:
    """A kernel, its arguments for a size, and types for it with sizes known at run time only."""

    kernel: Kernel[..., Any]
    make: Callable[[int], tuple[Any, ...]]
    symbolic: Specs

    def __str__(self) -> str:
        return self.kernel.__name__

    def func(self, size: int | None) -> PrimFunc:
        """The function for arguments of a size, or for those of any."""
        return self.kernel.prim_func(*(self.symbolic if size is None else self.make(size)))


def floats(*shape: int) -> Any:
    """Small numbers, some of them negative, of which sums are exact."""
    return _numbers(shape, lambda k: k % 11 - 4).astype(np.float32)


def integers(*shape: int) -> Any:
    """Small integers."""
    return _numbers(shape, lambda k: k * 7 % 13 - 3)


def _numbers(shape: tuple[int, ...], number: Callable[[int], int]) -> Any:
    count = math.prod(shape)
    numbers: Any = np.array([number(k) for k in range(count)], np.int64)
    return numbers.reshape(shape)


@hybrid.script
def matmul(a: Any, b: Any) -> Any:
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


@hybrid.script
def two_stages(a: Any) -> Any:
    t = allocate((a.shape[0], a.shape[1]), a.dtype, "global")
    b = output_tensor((a.shape[0], a.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t[i, j] = a[i, j] * 2
    for x in range(a.shape[0]):
        for y in range(a.shape[1]):
            b[x, y] = t[x, y] + 1
    return b


@hybrid.script
def stencil(a: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    for i in range(1, a.shape[0] - 1):
        b[i] = a[i - 1] + a[i] * 2 + a[i + 1]
    return b


@hybrid.script
def wrapping(a: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = a[i - 1] + a[i]
    return b


@hybrid.script
def out_of_bounds(a: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = a[i] + a[i + 1]
    return b


@hybrid.script
def in_place(a: Any) -> None:
    for i in range(a.shape[0]):
        a[i] = a[i] * 3 + 1


@hybrid.script
def shift_down(a: Any) -> None:
    for i in range(a.shape[0] - 1):
        a[i] = a[i + 1] + 1


@hybrid.script
def prefix_sum(a: Any) -> None:
    for t in scan(1, a.shape[0]):
        a[t] = a[t - 1] + a[t]


@hybrid.script
def every_third(a: Any, c: Any) -> None:
    for i in range(0, a.shape[0], 3):
        c[i] = a[i] + 5


@hybrid.script
def triangle(a: Any) -> Any:
    b = output_tensor((a.shape[0], a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(i + 1):
            b[i, j] = a[i, i - j] - 1
    return b


@hybrid.script
def guarded(a: Any, c: Any) -> None:
    for i in range(a.shape[0]):
        if a[i] > 0:
            c[i] = a[i] * 2


@hybrid.script
def gather(a: Any, p: Any) -> Any:
    b = output_tensor(p.shape, a.dtype)
    for i in range(p.shape[0]):
        b[i] = a[p[i]] + a[i]
    return b


@hybrid.script
def backwards(a: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    n = a.shape[0]
    for i in range(n - 1, -1, -1):
        b[n - 1 - i] = a[i] - 7
    return b


@hybrid.script
def row_sums(a: Any) -> Any:
    b = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        acc = a.dtype(0)
        for j in range(a.shape[1]):
            acc += a[i, j]
        b[i] = acc
    return b


@hybrid.script
def named(a: Any) -> Any:
    b = output_tensor((a.shape[0], a.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        with block("rows"):
            for j in range(a.shape[1]):
                b[i, j] = a[i, j] + a[i, 0]
    return b


@hybrid.script
def with_while(a: Any) -> None:
    for i in range(a.shape[0]):
        x = a[i]
        while x > 0:
            x -= 2
            a[i] = x


@hybrid.script
def steps(a: Any) -> None:
    for t in scan(0, 3):
        for i in range(1, a.shape[0] - 1):
            a[i] = (a[i - 1] + a[i] + a[i + 1]) // 2 + t


@hybrid.script
def deep_scratch(a: Any) -> Any:
    t = allocate((a.shape[0], a.shape[1], a.shape[2]), a.dtype, "global")
    b = output_tensor((a.shape[0], a.shape[1], a.shape[2]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                t[i, j, k] = a[i, j, k] * 2
    for x in range(a.shape[0]):
        for y in range(a.shape[1]):
            for z in range(a.shape[2]):
                b[x, y, z] = t[x, y, z] + t[0, y, 0]
    return b


@hybrid.script
def negative_scratch(a: Any) -> Any:
    t = allocate((a.shape[0], a.shape[1]), a.dtype, "global")
    b = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t[i, j] = a[i, j] * 2
    for x in range(a.shape[0]):
        b[x] = t[x - 1, x - 1]
    return b


@hybrid.script
def past_the_end(a: Any) -> Any:
    t = allocate((a.shape[0], a.shape[1]), a.dtype, "global")
    b = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t[i, j] = a[i, j] * 2
    for x in range(a.shape[0] + 1):
        b[x] = t[x, x + 2]
    return b


@hybrid.script
def sliding(a: Any) -> Any:
    t = allocate(a.shape, a.dtype, "global")
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        t[i] = a[i] * 2
        if i >= 2:
            b[i] = t[i] + t[i - 2]
    return b


@hybrid.script
def tiles(a: Any) -> Any:
    b = output_tensor((a.shape[0], a.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        t = allocate((a.shape[1],), a.dtype, "local")
        for j in range(a.shape[1]):
            t[j] = a[i, j] * 2
        for k in range(a.shape[1]):
            b[i, k] = t[a.shape[1] - 1 - k] + t[0]
    return b


PROGRAMS = (
    Program(
        matmul, lambda n: (floats(n, 5), floats(5, n + 1)), (hj.f32["n", "k"], hj.f32["k", "m"])
    ),
    Program(two_stages, lambda n: (floats(n, 5),), (hj.f32["n", "m"],)),
    Program(stencil, lambda n: (integers(n),), (hj.i64["n"],)),
    Program(wrapping, lambda n: (integers(n),), (hj.i64["n"],)),
    Program(out_of_bounds, lambda n: (integers(n),), (hj.i64["n"],)),
    Program(in_place, lambda n: (integers(n),), (hj.i64["n"],)),
    Program(shift_down, lambda n: (integers(n),), (hj.i64["n"],)),
    Program(prefix_sum, lambda n: (integers(n),), (hj.i64["n"],)),
    Program(every_third, lambda n: (integers(n), floats(n)), (hj.i64["n"], hj.f32["n"])),
    Program(triangle, lambda n: (integers(n, n),), (hj.i64["n", "n"],)),
    Program(guarded, lambda n: (integers(n), integers(n)), (hj.i64["n"], hj.i64["n"])),
    Program(
        gather,
        lambda n: (integers(n), _numbers((n,), lambda k: n - 1 - k)),
        (hj.i64["n"], hj.i64["n"]),
    ),
    Program(backwards, lambda n: (integers(n),), (hj.i64["n"],)),
    Program(row_sums, lambda n: (integers(n, 4),), (hj.i64["n", "m"],)),
    Program(named, lambda n: (integers(n, 3),), (hj.i64["n", "m"],)),
    Program(with_while, lambda n: (integers(n),), (hj.i64["n"],)),
    Program(sliding, lambda n: (integers(n),), (hj.i64["n"],)),
    Program(tiles, lambda n: (integers(n, 3),), (hj.i64["n", "m"],)),
    Program(steps, lambda n: (integers(n),), (hj.i64["n"],)),
)
