"""Operators at the sizes of real networks, against NumPy in double precision."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import hybridjit.stdlib as hs

np: Any = numpy
Array = Any
RNG: Any = np.random.default_rng(7)

# Images, channels, height, filters, their size, stride: those of a residual network, and odd ones.
CONVOLUTIONS = [
    (1, 3, 56, 64, 7, 2), (1, 64, 28, 64, 1, 1), (1, 64, 28, 64, 3, 1), (1, 64, 28, 256, 1, 1),
    (1, 256, 28, 512, 1, 2), (2, 128, 14, 128, 3, 2), (1, 512, 14, 128, 1, 1),
    (1, 512, 14, 1024, 1, 2), (1, 256, 14, 256, 3, 1), (1, 1024, 14, 256, 1, 1),
    (1, 512, 7, 512, 3, 1), (2, 2048, 7, 512, 1, 1), (3, 600, 5, 33, 1, 1),
]  # fmt: skip
PRODUCTS = [(7, 1000, 2048), (64, 4096, 1024), (1, 1000, 2048), (513, 33, 1025), (3, 5, 5000)]
CONTRACTIONS = {
    "abk,kc->cab": ((5, 40, 700), (700, 30)),
    "kab,kc->abc": ((700, 5, 40), (700, 30)),
    "abk,ack->abc": ((4, 50, 600), (4, 70, 600)),
    "ak,bk->ab": ((300, 900), (200, 900)),
    "abkl,klc->cab": ((3, 20, 30, 40), (30, 40, 17)),
}


def random(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype("float32")


def check(found: Array, wanted: Array) -> None:
    assert found.shape == wanted.shape
    assert abs(found - wanted).max() <= 2e-5 * abs(wanted).max()


def convolved(x: Array, w: Array, stride: int, padding: int) -> Array:
    """A convolution as a sum of products of matrices, one for each place in a window."""
    padded = np.pad(x.astype("float64"), ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    size = w.shape[2]
    height = (padded.shape[2] - size) // stride + 1
    found: Array = 0.0
    for i in range(size):
        for j in range(size):
            rows, columns = (slice(at, at + stride * height, stride) for at in (i, j))
            part = padded[:, :, rows, columns]
            found = found + np.einsum("nchw,fc->nfhw", part, w[:, :, i, j], optimize=True)
    return found


@pytest.mark.sampled(8)
@pytest.mark.parametrize("sizes", CONVOLUTIONS, ids=str)
def test_convolutions(sizes: tuple[int, ...]) -> None:
    images, channels, height, filters, size, stride = sizes
    x, w = random(images, channels, height, height), random(filters, channels, size, size)
    wanted, padding = convolved(x, w, stride, size // 2), size // 2
    check(hs.conv2d(x, w, stride=stride, padding=padding), wanted)
    last, filters_last = x.transpose(0, 2, 3, 1).copy(), w.transpose(2, 3, 1, 0).copy()
    found: Array = hs.conv2d(last, filters_last, stride=stride, padding=padding, layout="NHWC")
    check(found, wanted.transpose(0, 2, 3, 1))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("sizes", PRODUCTS, ids=str)
def test_products(sizes: tuple[int, int, int]) -> None:
    n, m, k = sizes
    a, b = random(n, k), random(k, m)
    check(hs.matmul(a, b), a.astype("float64") @ b)
    check(hs.dense(a, b.T.copy()), a.astype("float64") @ b)
    x, y = random(2, n, k // 4), random(2, m, k // 4)
    check(hs.batch_matmul(x, y), x.astype("float64") @ y.swapaxes(1, 2))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", CONTRACTIONS)
def test_contractions(text: str) -> None:
    x, y = (random(*shape) for shape in CONTRACTIONS[text])
    check(hs.einsum(text, (x, y)), np.einsum(text, x.astype("float64"), y, optimize=True))
