"""Rows of matrix products: sizes, odd shapes, batches, transposed operands, and a chain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import hybridjit as hj
from benchmarks.peers.row import Array, Function, Row, random
from benchmarks.peers.ways import numpy_way, onnx_way, xla_way
from hybridjit import hybrid, te
from hybridjit import stdlib as hs

SIZES = (8, 16, 32, 64, 128, 256, 512, 1000, 1024, 2048)
SHAPES = {
    "odd": (777, 1301, 911),
    "tall": (8192, 64, 64),
    "flat": (64, 64, 8192),
    "deep": (64, 8192, 64),
    "a row": (1, 1024, 1024),
}


def product(a: Array, b: Array) -> Array:
    return a @ b


def of_transposed(a: Array, b: Array) -> Array:
    return a.T @ b


def by_transposed(a: Array, b: Array) -> Array:
    return a @ b.T


def chain(a: Array, b: Array, e: Array) -> Array:
    return np.exp(a @ b) @ e


def rows() -> Iterator[Row]:
    """All of them."""
    for dtype in (np.float32, np.float64):
        for size in SIZES:
            yield _product(f"{size}", (size, size, size), dtype)
        for name, shape in SHAPES.items():
            yield _product(f"{name} {'x'.join(map(str, shape))}", shape, dtype)
    yield from _transposed(512)
    yield _batched(32, 64)
    yield _chain(1024, 2048, 1024, 3072)


def script(function: Function) -> Any:
    """`function` as a kernel that uses as many threads as there are."""
    return lambda: hybrid.script(function, parallel=True)


def _product(name: str, shape: tuple[int, int, int], dtype: Any) -> Row:
    rows, depth, columns = shape
    args = random(rows, depth, dtype=dtype), random(depth, columns, dtype=dtype)
    return Row(
        "products",
        f"matmul {name} {np.dtype(dtype).name}",
        args,
        {
            "numpy": numpy_way(product),
            "xla": xla_way(lambda jax: jax.numpy.matmul),
            "onnx": onnx_way(lambda h, names: [h.make_node("MatMul", names, ["y"])], args),
            "script": script(product),
            "stdlib": lambda: hs.matmul,
            "te": lambda: _tensors(*shape, dtype),
        },
        flops=2.0 * rows * depth * columns,
        tolerance=1e-3 if dtype is np.float32 else 1e-10,
    )


def _tensors(rows: int, depth: int, columns: int, dtype: Any) -> Function:
    """A tensor expression without steps, into an array that is made for each call."""
    name = np.dtype(dtype).name
    a, b = te.placeholder((rows, depth), name), te.placeholder((depth, columns), name)
    k = te.reduce_axis((0, depth), "k")
    c = te.compute((rows, columns), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")
    run: Any = hj.build(te.create_schedule(c.op), [a, b, c])

    def call(x: Array, y: Array) -> Array:
        result = np.empty((rows, columns), dtype)
        run(x, y, result)
        return result

    return call


def _transposed(size: int) -> Iterator[Row]:
    args = random(size, size), random(size, size)
    for name, function in (("a.T @ b", of_transposed), ("a @ b.T", by_transposed)):
        yield Row(
            "products",
            f"{name} {size} float32",
            args,
            {
                "numpy": numpy_way(function),
                "xla": xla_way(lambda _, function=function: function),
                "script": script(function),
            },
            flops=2.0 * size**3,
            tolerance=1e-3,
        )


def _batched(count: int, size: int) -> Row:
    args = random(count, size, size), random(count, size, size)
    return Row(
        "products",
        f"batched {count} x {size} float32",
        args,
        {
            "numpy": numpy_way(product),
            "xla": xla_way(lambda jax: jax.numpy.matmul),
            "onnx": onnx_way(lambda h, names: [h.make_node("MatMul", names, ["y"])], args),
            "script": script(product),
            "stdlib": lambda: hs.matmul,
        },
        flops=2.0 * count * size**3,
        tolerance=1e-3,
    )


def _chain(m: int, k: int, n: int, p: int) -> Row:
    # Small elements: their powers stay near one.
    args = random(m, k) / np.float32(k), random(k, n), random(n, p)

    def nodes(h: Any, names: list[str]) -> list[Any]:
        return [
            h.make_node("MatMul", names[:2], ["c"]),
            h.make_node("Exp", ["c"], ["d"]),
            h.make_node("MatMul", ["d", names[2]], ["f"]),
        ]

    def write(jax: Any) -> Function:
        return lambda a, b, e: jax.numpy.exp(a @ b) @ e

    return Row(
        "products",
        "exp(a @ b) @ e float32",
        args,
        {
            "numpy": numpy_way(chain),
            "xla": xla_way(write),
            "onnx": onnx_way(nodes, args),
            "script": script(chain),
        },
        flops=2.0 * m * n * (k + p),
        tolerance=1e-2,
    )
