"""Rows of layers of networks: convolutions, pooling, norms, activations, attention."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.peers.products import script
from benchmarks.peers.row import Array, Function, Row, random
from benchmarks.peers.ways import numpy_way, onnx_way, xla_way
from hybridjit import stdlib as hs

# Channels, pixels, filters, their size, stride, groups.
CONVOLUTIONS = {
    "1x1 64 to 256 @ 56": (64, 56, 256, 1, 1, 1),
    "1x1 256 to 64 @ 56": (256, 56, 64, 1, 1, 1),
    "3x3 64 @ 56": (64, 56, 64, 3, 1, 1),
    "3x3 128 @ 28": (128, 28, 128, 3, 1, 1),
    "3x3 256 @ 14": (256, 14, 256, 3, 1, 1),
    "3x3 512 @ 7": (512, 7, 512, 3, 1, 1),
    "7x7 3 to 64 @ 224, stride 2": (3, 224, 64, 7, 2, 1),
    "3x3 128 @ 28 in 4 groups": (128, 28, 128, 3, 1, 4),
    "3x3 depthwise 64 @ 56": (64, 56, 64, 3, 1, 64),
}
EPSILON = np.float32(1e-5)


def rows() -> Iterator[Row]:
    """All of them."""
    for name, shape in CONVOLUTIONS.items():
        yield _convolution(name, *shape)
    yield _max_pool()
    yield _average_pool()
    yield from _rows_of_matrices()
    yield _batch_norm()
    yield _attention()


def _convolution(
    name: str, channels: int, pixels: int, filters: int, size: int, stride: int, groups: int
) -> Row:
    args = random(1, channels, pixels, pixels), random(filters, channels // groups, size, size)
    pad = size // 2

    def in_numpy(x: Array, w: Array) -> Array:
        padded = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
        windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), axis=(2, 3))
        windows = windows[:, :, ::stride, ::stride]
        parts = [
            np.tensordot(part, filter, axes=((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)
            for part, filter in zip(
                np.split(windows, groups, axis=1), np.split(w, groups), strict=True
            )
        ]
        return np.concatenate(parts, axis=1)

    def write(jax: Any) -> Function:
        return lambda x, w: jax.lax.conv_general_dilated(
            x, w, (stride, stride), [(pad, pad)] * 2, feature_group_count=groups
        )

    def nodes(h: Any, names: list[str]) -> list[Any]:
        how = {"strides": [stride] * 2, "pads": [pad] * 4, "group": groups}
        return [h.make_node("Conv", names, ["y"], **how)]

    def ours() -> Function:
        if groups == channels:
            return lambda x, w: hs.depthwise_conv2d(x, w, stride=stride, padding=pad)
        return lambda x, w: hs.conv2d(x, w, stride=stride, padding=pad, groups=groups)

    out = (pixels + 2 * pad - size) // stride + 1
    return Row(
        "network",
        f"conv {name}",
        args,
        {
            "numpy": numpy_way(in_numpy),
            "xla": xla_way(write),
            "onnx": onnx_way(nodes, args),
            "stdlib": ours,
        },
        flops=2.0 * filters * (channels // groups) * size * size * out * out,
        tolerance=1e-3,
    )


def _windows(x: Array, size: int, stride: int) -> Array:
    views = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(2, 3))
    return views[:, :, ::stride, ::stride]


def _max_pool() -> Row:
    args = (random(1, 64, 112, 112),)

    def write(jax: Any) -> Function:
        return lambda x: jax.lax.reduce_window(
            x, -np.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"
        )

    how = {"kernel_shape": [2, 2], "strides": [2, 2]}
    return Row(
        "network",
        "max pool 2x2 64 @ 112",
        args,
        {
            "numpy": numpy_way(lambda x: _windows(x, 2, 2).max(axis=(4, 5))),
            "xla": xla_way(write),
            "onnx": onnx_way(lambda h, names: [h.make_node("MaxPool", names, ["y"], **how)], args),
            "stdlib": lambda: lambda x: hs.max_pool2d(x, 2),
        },
        flops=args[0].size,
    )


def _average_pool() -> Row:
    args = (random(1, 64, 56, 56),)

    def write(jax: Any) -> Function:
        def pool(x: Array) -> Array:
            summed = jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, 1, 3, 3), (1, 1, 2, 2), "VALID")
            return summed / np.float32(9)

        return pool

    how = {"kernel_shape": [3, 3], "strides": [2, 2]}
    return Row(
        "network",
        "average pool 3x3, stride 2, 64 @ 56",
        args,
        {
            "numpy": numpy_way(lambda x: _windows(x, 3, 2).mean(axis=(4, 5))),
            "xla": xla_way(write),
            "onnx": onnx_way(
                lambda h, names: [h.make_node("AveragePool", names, ["y"], **how)], args
            ),
            "stdlib": lambda: lambda x: hs.avg_pool2d(x, 3, stride=2),
        },
        flops=9.0 * 64 * 27 * 27,
    )


def softmax(x: Array) -> Array:
    powers = np.exp(x - np.max(x, axis=1, keepdims=True))
    return powers / np.sum(powers, axis=1, keepdims=True)


def layer_norm(x: Array) -> Array:
    center = x - np.mean(x, axis=1, keepdims=True)
    return center / np.sqrt(np.mean(center * center, axis=1, keepdims=True) + np.float32(1e-5))


def gelu(x: Array) -> Array:
    inner = np.float32(0.7978845608) * (x + np.float32(0.044715) * x * x * x)
    return np.float32(0.5) * x * (np.float32(1) + np.tanh(inner))


def _rows_of_matrices() -> Iterator[Row]:
    square, wide = (random(1024, 1024),), (random(1024, 768),)
    cases: list[tuple[str, Any, Function, Any, Any, float]] = [
        ("softmax 1024x1024", square, softmax, hs.softmax, _xla_softmax, 8),
        ("layer norm 1024x768", wide, layer_norm, hs.layer_norm, None, 8),
        ("gelu 1024x1024", square, gelu, None, None, 20),
    ]
    nodes = {
        "softmax 1024x1024": lambda h, n: [h.make_node("Softmax", n, ["y"], axis=1)],
        "gelu 1024x1024": lambda h, n: [h.make_node("Gelu", n, ["y"], approximate="tanh")],
    }
    for name, args, function, ours, xla, work in cases:
        ways = {
            "numpy": numpy_way(function),
            "xla": xla_way(xla or (lambda jax, f=function: in_xla(jax, f))),
            "script": script(function),
        }
        if ours is not None:
            ways["stdlib"] = lambda ours=ours: ours
        if name in nodes:
            ways["onnx"] = onnx_way(nodes[name], args)
        yield Row("network", name, args, ways, flops=work * args[0].size)


def _xla_softmax(jax: Any) -> Function:
    return lambda x: jax.nn.softmax(x, axis=1)


def in_xla(jax: Any, function: Function) -> Function:
    """A function of NumPy's names, by those of XLA."""
    names = {**function.__globals__, "np": jax.numpy}
    return type(function)(function.__code__, names)  # type: ignore[call-arg,arg-type]


def batch_norm(x: Array, mean: Array, variance: Array, gamma: Array, beta: Array) -> Array:
    scale = gamma / np.sqrt(variance + np.float32(1e-5))
    return x * scale[:, None, None] + (beta - mean * scale)[:, None, None]


def _batch_norm() -> Row:
    args = (random(1, 64, 112, 112), random(64), abs(random(64)) + EPSILON, random(64), random(64))

    def nodes(h: Any, names: list[str]) -> list[Any]:
        x, mean, variance, gamma, beta = names
        return [h.make_node("BatchNormalization", [x, gamma, beta, mean, variance], ["y"])]

    return Row(
        "network",
        "batch norm 64 @ 112",
        args,
        {
            "numpy": numpy_way(batch_norm),
            "xla": xla_way(lambda jax: in_xla(jax, batch_norm)),
            "onnx": onnx_way(nodes, args),
            "script": script(batch_norm),
            "stdlib": lambda: hs.batch_norm,
        },
        flops=2.0 * args[0].size,
    )


def attention(q: Array, k: Array, v: Array) -> Array:
    scores = q @ k.T * np.float32(0.125)
    powers = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    return (powers / np.sum(powers, axis=1, keepdims=True)) @ v


def _attention() -> Row:
    length, width = 1024, 64
    args = random(length, width), random(length, width), random(length, width)

    def nodes(h: Any, names: list[str]) -> list[Any]:
        q, k, v = names
        scale = h.make_node("Constant", [], ["s"], value_float=1 / math.sqrt(width))
        return [
            scale,
            h.make_node("Transpose", [k], ["kt"], perm=[1, 0]),
            h.make_node("MatMul", [q, "kt"], ["scores"]),
            h.make_node("Mul", ["scores", "s"], ["scaled"]),
            h.make_node("Softmax", ["scaled"], ["p"], axis=1),
            h.make_node("MatMul", ["p", v], ["y"]),
        ]

    return Row(
        "network",
        "attention 1024x64",
        args,
        {
            "numpy": numpy_way(attention),
            "xla": xla_way(lambda jax: in_xla(jax, attention)),
            "onnx": onnx_way(nodes, args),
            "script": script(attention),
        },
        flops=4.0 * length * length * width,
        tolerance=1e-3,
    )
