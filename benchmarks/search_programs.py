"""Programs for a search, as one would write them, each with the best way that is known by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import hybridjit as hj
from hybridjit import hybrid
from hybridjit import stdlib as hs
from hybridjit.hybrid import allocate, output_tensor

Array = Any
RNG = np.random.default_rng(0)
TARGET = hj.host_target()
LANES = TARGET.vector_bits // 32


@dataclass(frozen=True, slots=True)
class Program:
    """A script without a schedule, its arguments, and the same by hand, if somebody wrote it."""

    name: str
    plain: hj.Kernel[..., Any]
    args: tuple[Array, ...]
    by_hand: Callable[..., Array] | None = None


def random(*shape: int) -> Array:
    return RNG.random(shape, np.float32)


@hybrid.script(fastmath={"contract"})
def matmul(a: Array, b: Array) -> Array:
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def tiled_and_packed(s: hj.Schedule) -> None:
    """Tiles of c in registers, from columns of b that were copied to one place."""
    rows = 12 if TARGET.vector_registers == 32 else 6
    jo, ji = s.split("j", factor=2 * LANES)
    io, ii = s.split("i", factor=rows)
    ko, ki = s.split("k", factor=256)
    vectors, lane = s.split(ji, factor=LANES)
    s.reorder(jo, ko, io, ki, ii, vectors, lane)
    s.cache_write("c", "c", "local", at=io)
    s.cache_read("c", "b", "local", at=ko)
    s.vectorize(lane)
    s.unroll(vectors)
    s.unroll(ii)


@hybrid.script(fastmath={"contract"})
def conv2d(x: Array, w: Array) -> Array:
    """`x` has its padding already, and a stride of one."""
    channels, size = w.shape[0], w.shape[2]
    rows, columns = x.shape[2] - size + 1, x.shape[3] - size + 1
    out = output_tensor((x.shape[0], channels, rows, columns), x.dtype)
    for n in range(x.shape[0]):
        for c in range(channels):
            for y in range(rows):
                for k in range(columns):
                    for d in range(w.shape[1]):
                        for i in range(size):
                            for j in range(size):
                                out[n, c, y, k] += x[n, d, y + i, k + j] * w[c, d, i, j]
    return out


@hybrid.script
def softmax(x: Array) -> Array:
    powers = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return powers / np.sum(powers, axis=-1, keepdims=True)


@hybrid.script
def layer_norm(x: Array) -> Array:
    center = np.mean(x, axis=-1, keepdims=True)
    spread = np.mean((x - center) ** 2, axis=-1, keepdims=True)
    return (x - center) / np.sqrt(spread + np.float32(1e-5))


@hybrid.script
def three_stages(image: Array) -> Array:
    """A blur across, a blur down, and what the picture has beyond it."""
    rows, columns = image.shape
    across = allocate((rows, columns - 2), image.dtype)
    down = allocate((rows - 2, columns - 2), image.dtype)
    out = output_tensor((rows - 2, columns - 2), image.dtype)
    for i in range(rows):
        for j in range(columns - 2):
            across[i, j] = (image[i, j] + image[i, j + 1] + image[i, j + 2]) / 3
    for y in range(rows - 2):
        for x in range(columns - 2):
            down[y, x] = (across[y, x] + across[y + 1, x] + across[y + 2, x]) / 3
    for v in range(rows - 2):
        for u in range(columns - 2):
            out[v, u] = 2 * image[v + 1, u + 1] - down[v, u]
    return out


def in_strips(s: hj.Schedule) -> None:
    """Strips of rows, whose earlier stages stay in the cache."""
    s.compute_inline("down")
    strip, _ = s.split("v", factor=16)
    s.compute_at("across", strip)
    s.vectorize("u")
    s.vectorize("j")


@hybrid.script
def batch_matmul(a: Array, b: Array) -> Array:
    return a @ b


@hybrid.script
def chain(a: Array, b: Array, e: Array) -> Array:
    return np.exp(a @ b) @ e


def programs() -> list[Program]:
    """All of them, small ones first."""
    packed = matmul.with_schedule(tiled_and_packed)
    shapes = ((64, 64, 58, 3), (128, 128, 30, 3), (256, 64, 56, 1))
    return [
        Program("softmax 512 x 1000", softmax, (random(512, 1000),), hs.softmax),
        Program("layer norm 512 x 768", layer_norm, (random(512, 768),), hs.layer_norm),
        Program(
            "stencil, three stages",
            three_stages,
            (random(1026, 1026),),
            three_stages.with_schedule(in_strips),
        ),
        Program("matmul 512", matmul, (random(512, 512), random(512, 512)), packed),
        Program("matmul 1024", matmul, (random(1024, 1024), random(1024, 1024)), packed),
        Program(
            "batch matmul 16 x 128",
            batch_matmul,
            (random(16, 128, 128), random(16, 128, 128)),
            hs.matmul,
        ),
        *(
            Program(
                f"conv2d {channels} x {depth} x {size} x {size}",
                conv2d,
                (random(1, depth, side, side), random(channels, depth, size, size) / 100),
                hs.conv2d,
            )
            for channels, depth, side, size in shapes
        ),
        Program(
            "matmul, exp, matmul",
            chain,
            (random(1024, 2048) / 256, random(2048, 1024), random(1024, 3072)),
            lambda a, b, e: hs.matmul(hs.exp(hs.matmul(a, b)), e),
        ),
    ]
