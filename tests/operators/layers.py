"""Rows of products, windows, norms and losses; formulas of activations."""

from __future__ import annotations

import math
import random
from typing import Any

from tests.operators.rows import Call, Row, hs, np, special, weights


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


def softplus(x: Any) -> Any:
    """log(1 + exp(x))."""
    return np.logaddexp(x, 0)


def erf(x: Any) -> Any:
    """The error function."""
    return np.vectorize(math.erf, otypes=[x.dtype])(x)


def erfc(x: Any) -> Any:
    """1 - erf(x), where that is small, too."""
    return np.vectorize(math.erfc, otypes=[x.dtype])(x)


@special("matmul", 2, exact=False)
def matmul_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    if choose.random() < 0.5:
        return (
            lambda x: hs.matmul(x, x, transpose_y=True),
            lambda x: np.matmul(x, np.swapaxes(x, -1, -2)),
        )
    return (
        lambda x: hs.matmul(x, x, transpose_x=True),
        lambda x: np.matmul(np.swapaxes(x, -1, -2), x),
    )


@special("einsum", 2, exact=False)
def einsum_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    text = choose.choice(["...ij,...kj->...ik", "...ij,...ij->...i", "...ij,...ij->...ji"])
    return lambda x: hs.einsum(text, (x, x)), lambda x: np.einsum(text, x, x)


@special("outer", exact=False)
def outer_row(choose: random.Random, sizes: tuple[int, ...]) -> Call | None:
    if len(sizes) != 1:
        return None
    return lambda x: hs.outer(x, hs.flip(x)), lambda x: np.outer(x, np.flip(x))


@special("tensordot", 2, exact=False)
def tensordot_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    axis = choose.randrange(len(sizes))
    return lambda x: hs.tensordot(x, x, ([axis], [axis])), lambda x: np.tensordot(
        x, x, (axis, axis)
    )


@special("dense", 2, exact=False)
def dense_row(choose: random.Random, sizes: tuple[int, ...]) -> Call | None:
    if len(sizes) != 2:
        return None
    return lambda x: hs.dense(x, hs.flip(x, 0)), lambda x: x @ x[::-1].T


def _channels(x: Any) -> Any:
    """One channel for each vector along the last axis."""
    return x.reshape(-1, 1, x.shape[-1])


def pool1d(name: str, function: Any, fill: float) -> Row:
    def draw(choose: random.Random, sizes: tuple[int, ...]) -> Call:
        size, step = choose.randint(1, 3), choose.randint(1, 2)
        edge = choose.randint(0, size // 2)
        edge = max(edge, -(-(size - sizes[-1]) // 2))  # at least one window

        def wanted(x: Any) -> Any:
            padded = np.pad(x, [*[(0, 0)] * (x.ndim - 1), (edge, edge)], constant_values=fill)
            found = np.lib.stride_tricks.sliding_window_view(padded, size, -1)[..., ::step, :]
            return _channels(function(found, axis=-1))

        return (
            lambda x: getattr(hs, name)(_as_channels(x), size, stride=step, padding=edge),
            wanted,
        )

    return Row(name, draw, exact=False, floats=True)


def _as_channels(x: Any) -> Any:
    """Axes before the last one are one, and a channel comes after it."""
    flat = hs.reshape(x, (-1, x.shape[-1]))
    return hs.expand_dims(flat, 1)


@special("conv1d", exact=False, floats=True)
def conv1d_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    size, step, edge = choose.randint(1, 3), choose.randint(1, 2), choose.randint(1, 2)
    w, v = weights(choose.randint(1, 4), 1, size)

    def wanted(x: Any) -> Any:
        padded = np.pad(_channels(x), [(0, 0), (0, 0), (edge, edge)])
        found = np.lib.stride_tricks.sliding_window_view(padded, size, -1)[:, :, ::step]
        return np.einsum("ncws,ocs->now", found, v.astype(x.dtype))

    return (
        lambda x: hs.conv1d(_as_channels(x), _typed(w, x), stride=step, padding=edge),
        wanted,
    )


@special("conv2d", 2, exact=False, floats=True)
def conv2d_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    size, step, edge = choose.randint(1, 3), choose.randint(1, 2), choose.randint(1, 2)
    w, v = weights(choose.randint(1, 3), 1, size, size)

    def wanted(x: Any) -> Any:
        images = x.reshape(-1, 1, *x.shape[-2:])
        padded = np.pad(images, [(0, 0), (0, 0), (edge, edge), (edge, edge)])
        found = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (-2, -1))
        found = found[:, :, ::step, ::step]
        return np.einsum("nchwst,ocst->nohw", found, v.astype(x.dtype))

    def operator(x: Any) -> Any:
        images = hs.expand_dims(hs.reshape(x, (-1, *x.shape[-2:])), 1)
        return hs.conv2d(images, _typed(w, x), stride=step, padding=edge)

    return operator, wanted


def _typed(w: Any, x: Any) -> Any:
    return hs.cast(w, x.dtype.name)


def softmax(x: Any, axis: int = -1) -> Any:
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def layer_norm(x: Any, axis: int = -1) -> Any:
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + 1e-5)


def rms_norm(x: Any, axis: int = -1) -> Any:
    return x / np.sqrt((x * x).mean(axis, keepdims=True) + 1e-5)


def l2_normalize(x: Any, axis: int = -1) -> Any:
    return x / np.sqrt(np.maximum((x * x).sum(axis, keepdims=True), 1e-12))


def ceil_pad(x: Any, limit: float) -> Any:
    return np.where(np.abs(x) > limit, x, 0)


@special("mse_loss", exact=False, floats=True)
def mse_loss_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    how = choose.choice(["mean", "sum", "none"])

    def wanted(x: Any) -> Any:
        found = (x - np.flip(x)) ** 2
        return found if how == "none" else np.asarray(getattr(found, how)())

    return lambda x: hs.mse_loss(x, hs.flip(x), how), wanted


@special("l1_loss", exact=False, floats=True)
def l1_loss_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    how = choose.choice(["mean", "sum", "none"])

    def wanted(x: Any) -> Any:
        found = np.abs(x - np.flip(x))
        return found if how == "none" else np.asarray(getattr(found, how)())

    return lambda x: hs.l1_loss(x, hs.flip(x), how), wanted


@special("quantize", exact=False, floats=True)
def quantize_row(choose: random.Random, sizes: tuple[int, ...]) -> Call:
    scale = choose.choice([0.5, 0.25, 2.0])

    def wanted(x: Any) -> Any:
        return np.clip(np.rint(x / scale), -128, 127).astype("int8").astype(x.dtype) * scale

    return (
        lambda x: hs.cast(hs.dequantize(hs.quantize(x, scale), scale), x.dtype.name),
        wanted,
    )


ROWS: tuple[Row, ...] = (
    matmul_row,
    einsum_row,
    outer_row,
    tensordot_row,
    dense_row,
    conv1d_row,
    conv2d_row,
    mse_loss_row,
    l1_loss_row,
    quantize_row,
)
