"""What operators should give, in plain NumPy: windows of views, products of whole arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = Any


def eps(dtype: Any) -> float:
    """The distance from 1 to the next number."""
    return float(np.finfo(dtype).eps)


def read_padding(
    padding: Any, reach: Sequence[int], stride: Sequence[int], extents: Sequence[int]
) -> list[tuple[int, int]]:
    """(before, after) for rows and for columns."""
    if padding == "valid":
        return [(0, 0), (0, 0)]
    if padding == "same":
        totals = [
            max((-(-n // s) - 1) * s + r - n, 0)
            for n, s, r in zip(extents, stride, reach, strict=True)
        ]
        return [(total // 2, total - total // 2) for total in totals]
    if isinstance(padding, int):
        padding = (padding, padding)
    if len(padding) == 2:
        padding = (*padding, *padding)
    top, left, bottom, right = padding
    return [(top, bottom), (left, right)]


def windows_of(x: Array, size: Sequence[int], stride: Any, padding: Any, dilation: Any) -> Array:
    """All windows of padded NCHW images: (n, c, rows, columns, window rows, window columns)."""
    strides, dilations = as_pair(stride), as_pair(dilation)
    reach = [(k - 1) * d + 1 for k, d in zip(size, dilations, strict=True)]
    sides = read_padding(padding, reach, strides, x.shape[2:])
    padded = np.pad(x, [(0, 0), (0, 0), *sides])
    views = np.lib.stride_tricks.sliding_window_view(padded, tuple(reach), axis=(2, 3))
    return views[:, :, :: strides[0], :: strides[1], :: dilations[0], :: dilations[1]]


def as_pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else tuple(value)


def conv2d(
    x: Array, w: Array, *, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Array:
    """conv2d of NCHW images."""
    views = windows_of(x, w.shape[2:], stride, padding, dilation)
    parts = zip(np.split(views, groups, axis=1), np.split(w, groups, axis=0), strict=True)
    return np.concatenate([np.einsum("ncyxij,ocij->noyx", v, f) for v, f in parts], axis=1)


def depthwise_conv2d(
    x: Array, w: Array, *, stride: Any = 1, padding: Any = 0, dilation: Any = 1
) -> Array:
    """depthwise_conv2d of NCHW images."""
    views = windows_of(x, w.shape[2:], stride, padding, dilation)
    found = np.einsum("ncyxij,cmij->ncmyx", views, w)
    return found.reshape(found.shape[0], -1, *found.shape[3:])


def pool2d(
    kind: str,
    x: Array,
    size: Any,
    *,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Array:
    """max_pool2d or avg_pool2d of NCHW images, window by window."""
    sizes, strides = as_pair(size), as_pair(size if stride is None else stride)
    dilations = as_pair(dilation)
    reach = [(k - 1) * d + 1 for k, d in zip(sizes, dilations, strict=True)]
    sides = read_padding(padding, reach, strides, x.shape[2:])
    axes = [
        list(_windows(*axis, ceil_mode))
        for axis in zip(x.shape[2:], sizes, strides, dilations, sides, strict=True)
    ]
    rows = [[_pooled(kind, x, r, c, count_include_pad) for c in axes[1]] for r in axes[0]]
    return np.stack([np.stack(row, -1) for row in rows], -2)


def _windows(
    extent: int, size: int, stride: int, dilation: int, side: tuple[int, int], ceil_mode: bool
) -> Any:
    """The places of each window inside of the image, and how many it has with padding."""
    start = -side[0]
    reach = (size - 1) * dilation + 1
    end = extent + side[1]
    while start + reach <= end or (ceil_mode and start + reach - stride < end and start < extent):
        places = [start + k * dilation for k in range(size)]
        yield [p for p in places if 0 <= p < extent], sum(p < end for p in places)
        start += stride


def _pooled(kind: str, x: Array, rows: Any, columns: Any, count_include_pad: bool) -> Array:
    inside = x[:, :, rows[0]][:, :, :, columns[0]].reshape(*x.shape[:2], -1)
    if kind == "max":
        lowest = np.min_scalar_type(0).type(0)
        if x.dtype.kind == "f":
            lowest = -np.inf
        elif x.dtype.kind in "iu":
            lowest = np.iinfo(x.dtype).min
        empty = np.full(x.shape[:2], lowest, x.dtype)
        return inside.max(-1) if inside.size else empty
    count = rows[1] * columns[1] if count_include_pad else inside.shape[-1]
    return inside.sum(-1, dtype=np.float64) / count
