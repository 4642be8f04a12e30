"""`python -m hybridjit demo`: a few kernels, checked against NumPy, with the time of both."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from hybridjit import Schedule, hybrid
from hybridjit.hybrid import output_tensor, scan, sqrt, tanh
from hybridjit.processor import current_target
from hybridjit.profiling.profile import format_time
from hybridjit.record import record
from hybridjit.tools.command import Command, declare_json
from hybridjit.tools.stopwatch import best_times
from hybridjit.tools.working import working

Run = Callable[..., Any]
SECONDS = 0.3  # for each row
TITLES = ("kernel", "first call", "later", "NumPy", "ratio")


@hybrid.script
def axpy(alpha: Any, x: Any, y: Any) -> Any:
    out = output_tensor(x.shape, x.dtype)
    for i in range(x.shape[0]):
        out[i] = alpha * x[i] + y[i]
    return out


@hybrid.script
def blur(image: Any) -> Any:
    out = output_tensor(image.shape, image.dtype)
    for i in range(1, image.shape[0] - 1):
        for j in range(1, image.shape[1] - 1):
            total = image[i, j]
            total += image[i - 1, j] + image[i + 1, j] + image[i, j - 1] + image[i, j + 1]
            out[i, j] = total * 0.2
    return out


@hybrid.script
def gelu(x: Any) -> Any:
    out = output_tensor(x.shape, x.dtype)
    for i in range(x.shape[0]):
        out[i] = 0.5 * x[i] * (1.0 + tanh(0.7978845608 * (x[i] + 0.044715 * x[i] ** 3)))
    return out


@hybrid.script
def running_max(x: Any) -> Any:
    out = output_tensor(x.shape, x.dtype)
    largest = x[0]
    for i in scan(0, x.shape[0]):
        largest = max(largest, x[i])
        out[i] = largest
    return out


@hybrid.script
def distances(points: Any) -> Any:
    n, dims = points.shape
    out = output_tensor((n, n), points.dtype)
    for i in range(n):
        for j in range(n):
            total = 0.0
            for d in range(dims):
                difference = points[i, d] - points[j, d]
                total += difference * difference
            out[i, j] = sqrt(total)
    return out


def tiles(s: Schedule) -> None:
    """Keep rows of two vectors of results in registers, and what they need of b in one place."""
    target = current_target()
    lanes = target.vector_bits // 32
    jo, ji = s.split("j", factor=2 * lanes)
    io, ii = s.split("i", factor=12 if target.vector_registers >= 32 else 6)
    jv, lane = s.split(ji, factor=lanes)
    s.reorder(jo, io, "k", ii, jv, lane)
    s.cache_read("c", "b", "local", at=jo)
    s.cache_write("c", "c", "local", at=io)
    s.unroll(ii)
    s.unroll(jv)
    s.vectorize(lane)
    s.parallel(jo)


@hybrid.script(fastmath={"contract"})
def matmul(a: Any, b: Any) -> Any:
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def numpy_axpy(alpha: Any, x: Any, y: Any) -> Any:
    return np.float32(alpha) * x + y


def numpy_blur(image: Any) -> Any:
    out = np.zeros_like(image)
    total = image[1:-1, 1:-1] + (
        image[:-2, 1:-1] + image[2:, 1:-1] + image[1:-1, :-2] + image[1:-1, 2:]
    )
    out[1:-1, 1:-1] = total * np.float32(0.2)
    return out


def numpy_gelu(x: Any) -> Any:
    return 0.5 * x * (1.0 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def numpy_distances(points: Any) -> Any:
    return np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))


@record
class Row:
    name: str
    kernel: Run
    reference: Run
    args: tuple[Any, ...]


def rows() -> list[Row]:
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(100_000).astype(np.float32) for _ in range(2))
    image = rng.random((512, 512)).astype(np.float32)
    points = rng.random((300, 3))
    a, b = rng.random((2, 256, 256), np.float32)
    return [
        Row("axpy", axpy, numpy_axpy, (2.5, x, y)),
        Row("blur", blur, numpy_blur, (image,)),
        Row("gelu", gelu, numpy_gelu, (x,)),
        Row("running maximum", running_max, np.maximum.accumulate, (x,)),
        Row("pairwise distances", distances, numpy_distances, (points,)),
        Row("matrix product", matmul, np.matmul, (a, b)),
        Row("  in tiles, parallel", matmul.with_schedule(tiles), np.matmul, (a, b)),
    ]


def declare(parser: argparse.ArgumentParser) -> None:
    """Nothing but the form of the answer."""
    declare_json(parser)


def run(options: argparse.Namespace) -> int:
    """Check and time every row; print a table."""
    with working("measuring"):
        measured = [measure(row) for row in rows()]
    if options.json:
        print(json.dumps([dict(zip(TITLES, line, strict=True)) for line in measured], indent=2))
        return 0
    print(format_line(TITLES))
    for name, *times, ratio in measured:
        print(format_line((name, *map(format_time, times), f"{ratio:.1f}x")))
    print("every result was checked against NumPy")
    return 0


def measure(row: Row) -> tuple[str, float, float, float, float]:
    """A line of the table, in seconds."""
    start = time.perf_counter()
    result = row.kernel(*row.args)
    first = time.perf_counter() - start
    np.testing.assert_allclose(result, row.reference(*row.args), rtol=1e-5, atol=1e-6)
    calls = (lambda: row.kernel(*row.args), lambda: row.reference(*row.args))
    kernel, reference = best_times(calls, SECONDS)
    return row.name.strip(), first, kernel, reference, reference / kernel


def format_line(cells: tuple[str, ...]) -> str:
    """Names to the left, numbers to the right."""
    name, *numbers = cells
    return f"{name:22}" + "".join(f"{number:>12}" for number in numbers)


COMMAND = Command("run a few kernels, check them against NumPy, print a table", declare, run)
