"""Borders, layouts and blocks of space, against NumPy's functions."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import stdlib as hs
from tests.support.operator_rows import Row, row

np: Any = numpy  # whose types say nothing of arrays that may be any
X: Any = np.reshape(np.arange(24, dtype=np.float32), (2, 3, 4))
SMALL: Any = X.astype(np.int8)
IMAGES: Any = np.reshape(np.arange(2 * 8 * 4 * 6), (2, 8, 4, 6))
MODES = ("edge", "reflect", "symmetric", "wrap")
STATISTICS = ("maximum", "minimum", "mean")
WIDTHS: tuple[Any, ...] = (1, (2, 1), ((0, 0), (1, 2), (0, 3)), ((7, 5), (0, 0), (9, 13)), 0)


def deep_to_space(x: Any, block: int, mode: str) -> Any:
    """ONNX's DepthToSpace, by its formula."""
    n, c, h, w = x.shape
    depth = c // block**2
    if mode == "DCR":
        parts = x.reshape(n, block, block, depth, h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        parts = x.reshape(n, depth, block, block, h, w).transpose(0, 1, 4, 2, 5, 3)
    return parts.reshape(n, depth, h * block, w * block)


def spread_out(x: Any, strides: Any, value: float) -> Any:
    steps = np.broadcast_to(strides, x.ndim).tolist()
    found = np.full([(size - 1) * k + 1 for size, k in zip(x.shape, steps, strict=True)], value)
    found[tuple(slice(None, None, k) for k in steps)] = x
    return found.astype(x.dtype)


def space_to_deep(x: Any, block: int) -> Any:
    n, c, h, w = x.shape
    parts = x.reshape(n, c, h // block, block, w // block, block).transpose(0, 3, 5, 1, 2, 4)
    return parts.reshape(n, c * block**2, h // block, w // block)


def space_to_batch(x: Any, blocks: Any, pads: Any) -> Any:
    """TensorFlow's SpaceToBatchND, by its formula."""
    count = len(blocks)
    padded = np.pad(x, [(0, 0), *pads, *[(0, 0)] * (x.ndim - 1 - count)])
    split = [padded.shape[0]]
    for size, block in zip(padded.shape[1:], blocks, strict=False):
        split += [size // block, block]
    parts = padded.reshape(*split, *padded.shape[1 + count :])
    inner = [2 + 2 * k for k in range(count)]
    outer = [1 + 2 * k for k in range(count)]
    order = [*inner, 0, *outer, *range(1 + 2 * count, parts.ndim)]
    sizes = [split[k] for k in outer]
    return parts.transpose(order).reshape(-1, *sizes, *padded.shape[1 + count :])


BATCHES: Any = space_to_batch(X, [3, 2], [(0, 0), (1, 1)])


def pushed(new: Any, buffer: Any, axis: int) -> Any:
    size = new.shape[axis]
    return np.split(np.concatenate([buffer, new], axis), [size], axis)[1]


ROWS = (
    *(row("pad", X, w, m, wanted=np.pad(X, w, m)) for m in MODES for w in WIDTHS),
    *(row("pad", X, w, wanted=np.pad(X, w)) for w in WIDTHS),
    *(row("dilate", X, s, v, wanted=spread_out(X, s, v))
      for s, v in ((1, 0), (2, 0), ((1, 3, 2), 2.5), ((4, 1, 1), -1))),
    *(row("fifo_buffer", new, -X, axis, wanted=pushed(new, -X, axis))
      for new, axis in ((X[:0], 0), (X[:1], 0), (X[:, 1:], 1), (X, -1), (X[:, :, ::2], 2))),
    row("dilate", X[:, :0], 2, wanted=np.zeros((3, 0, 7), np.float32)),
    row("pad", X, 1, constant_values=2.5, wanted=np.pad(X, 1, constant_values=2.5)),
    row("pad", SMALL, 1, "constant", 3, wanted=np.pad(SMALL, 1, constant_values=3)),
    row("pad", X[:0], ((1, 1), (0, 0), (0, 0)), wanted=np.zeros((2, 3, 4), np.float32)),
    row("pad", X[:0], ((0, 0), (1, 0), (0, 0)), "wrap", wanted=np.zeros((0, 4, 4), np.float32)),
    *(row("pad", x, w, m, wanted=np.pad(x, w, m), rtol=1e-6) for m in STATISTICS for w in WIDTHS
      for x in (X, SMALL)),
    *(row("pad", x, w, "linear_ramp", v, rtol=1e-6,
          wanted=np.pad(x, w, "linear_ramp", end_values=v))
      for x, v in ((X, -2.5), (SMALL, 3)) for w in WIDTHS),
    row("pad", X * 1j, 2, "linear_ramp", 3, rtol=1e-6,
        wanted=np.pad(X * 1j, 2, "linear_ramp", end_values=3)),
    *(row("pad", X[:1, :, :1], 2, m, wanted=np.pad(X[:1, :, :1], 2, m)) for m in MODES),
    row("mirror_pad", X, 1, wanted=np.pad(X, 1, "symmetric")),
    row("mirror_pad", X, ((0, 1), (2, 2), (3, 0)), "reflect",
        wanted=np.pad(X, ((0, 1), (2, 2), (3, 0)), "reflect")),
    row("layout_transform", IMAGES, "NCHW", "NHWC", wanted=IMAGES.transpose(0, 2, 3, 1)),
    row("layout_transform", IMAGES, "NCHW", "NCHW4c",
        wanted=IMAGES.reshape(2, 2, 4, 4, 6).transpose(0, 1, 3, 4, 2)),
    row("layout_transform", IMAGES.reshape(2, 2, 4, 4, 6), "NC4cHW", "HWNC",
        wanted=IMAGES.transpose(2, 3, 0, 1), dynamic=False),
    row("layout_transform", IMAGES.reshape(2, 2, 4, 4, 6), "NC4cHW", "NC2cHW",
        wanted=IMAGES.reshape(2, 4, 2, 4, 6), dynamic=False),
    *(row("depth_to_space", IMAGES, 2, mode=m, wanted=deep_to_space(IMAGES, 2, m))
      for m in ("DCR", "CRD")),
    row("depth_to_space", IMAGES.transpose(0, 2, 3, 1), 2, layout="NHWC",
        wanted=deep_to_space(IMAGES, 2, "DCR").transpose(0, 2, 3, 1)),
    row("space_to_depth", IMAGES, 2, wanted=space_to_deep(IMAGES, 2)),
    row("space_to_depth", IMAGES.transpose(0, 2, 3, 1), 2, layout="NHWC",
        wanted=space_to_deep(IMAGES, 2).transpose(0, 2, 3, 1)),
    row("space_to_batch_nd", X, [3, 2], [(0, 0), (1, 1)], wanted=BATCHES),
    row("space_to_batch_nd", IMAGES, [4], [[1, 3]], wanted=space_to_batch(IMAGES, [4], [(1, 3)])),
    row("space_to_batch_nd", X, [3, 4], wanted=space_to_batch(X, [3, 4], [(0, 0), (0, 0)])),
    row("batch_to_space_nd", BATCHES, [3, 2], [(0, 0), (1, 1)], wanted=X),
    row("batch_to_space_nd", space_to_batch(IMAGES, [4, 2], [(0, 0)] * 2), [4, 2], wanted=IMAGES),
)  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_arrays(row: Row) -> None:
    row.check_on_arrays()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_tensors(row: Row) -> None:
    row.check_on_tensors()


MISTAKES: dict[str, Any] = {
    "is no part of 'buffer'": lambda: hs.fifo_buffer(X, X[:, :1]),
    "'x' .* float32, is no part": lambda: hs.fifo_buffer(X, X.astype(float)),
    "2 elements do not fit into 1": lambda: hs.fifo_buffer(X, X[:1]),
    "pad: there is no mode": lambda: hs.pad(X, 1, "median"),  # pyright: ignore
    "got the widths": lambda: hs.pad(X, ((1, 1), (1, 1))),
    r"pad: pad_width must be at least 0, got -1": lambda: hs.pad(X, -1),
    "has nothing along axis 0": lambda: hs.pad(X[:0], 1, "edge"),
    "mirror_pad: there is no mode": lambda: hs.mirror_pad(X, 1, "wrap"),  # pyright: ignore
    "there is no layout 'NC-HW'": lambda: hs.layout_transform(X, "NC-HW", "NHWC"),
    "do not have the same axes": lambda: hs.layout_transform(IMAGES, "NCHW", "NHWD"),
    "are no blocks of 3": lambda: hs.layout_transform(IMAGES, "NCHW", "NCHW3c"),
    "is not made of blocks: 8 by 9": lambda: hs.depth_to_space(IMAGES, 3),
    "is not made of blocks: 4 by 3": lambda: hs.space_to_depth(IMAGES, 3),
    "has no blocks of shape": lambda: hs.batch_to_space_nd(X, [2, 2, 2]),
    "must be 1 pairs": lambda: hs.space_to_batch_nd(X, [3], [[1, 1], [0, 0]]),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        MISTAKES[message]()
