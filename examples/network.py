"""A small convolutional network out of operators, on arrays and as one function of tensors."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import hybridjit as hj
from hybridjit import stdlib as hs
from hybridjit import te

CLASSES = 10


def make_weights() -> dict[str, Any]:
    """Random weights of a network for images of 28 by 28 pixels."""
    rng = np.random.default_rng(0)
    shapes = {"w1": (16, 1, 3, 3), "w2": (16, 1, 3, 3), "w3": (32, 16, 1, 1), "w4": (CLASSES, 32)}
    weights = {name: rng.normal(size=shape) * 0.3 for name, shape in shapes.items()}
    vectors = {"b1": 16, "b2": 16, "mean": 32, "variance": 32, "b4": CLASSES}
    weights |= {name: rng.random(size) for name, size in vectors.items()}
    return {name: value.astype(np.float32) for name, value in weights.items()}


def network(x: Any, w: dict[str, Any]) -> Any:
    """The chances of the classes for each image. On arrays they are numbers, on tensors a graph."""
    x = hs.conv2d(x, w["w1"], w["b1"], padding="same", activation="relu")
    x = hs.max_pool2d(x, 2)
    x = hs.depthwise_conv2d(x, w["w2"], w["b2"], padding=1, stride=2)
    x = hs.relu(hs.batch_norm(hs.conv2d(x, w["w3"]), w["mean"], w["variance"]))
    x = hs.mean(x, axis=(2, 3))
    return hs.softmax(hs.dense(x, w["w4"], w["b4"]))


def reference(x: Any, w: dict[str, Any]) -> Any:
    """The same in NumPy."""
    x = np.maximum(convolve(x, w["w1"], 1, 1) + w["b1"][:, None, None], 0)
    n, c, rows, columns = x.shape
    x = x.reshape(n, c, rows // 2, 2, columns // 2, 2).max(axis=(3, 5))
    windows = windows_of(x, 3, 1, 2)
    x = np.einsum("ncyxij,cij->ncyx", windows, w["w2"][:, 0]) + w["b2"][:, None, None]
    x = convolve(x, w["w3"], 0, 1)
    deviation = np.sqrt(w["variance"] + 1e-5)[:, None, None]
    x = np.maximum((x - w["mean"][:, None, None]) / deviation, 0)
    x = x.mean(axis=(2, 3)) @ w["w4"].T + w["b4"]
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def windows_of(x: Any, size: int, padding: int, stride: int) -> Any:
    padded = np.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    views = np.lib.stride_tricks.sliding_window_view(padded, (size, size), axis=(2, 3))
    return views[:, :, ::stride, ::stride]


def convolve(x: Any, w: Any, padding: int, stride: int) -> Any:
    return np.einsum("ncyxij,ocij->noyx", windows_of(x, w.shape[2], padding, stride), w)


def as_one_function(x: Any, weights: dict[str, Any]) -> Callable[[], Any]:
    """The whole network as one function of arrays like these, by the same lines."""
    tensors = {
        name: te.placeholder(value.shape, "float32", name) for name, value in weights.items()
    }
    image = te.placeholder(x.shape, "float32", "x")
    chances = network(image, tensors)
    s = te.create_schedule(chances.op)
    s.auto_inline("elementwise")
    module = hj.build(s, [image, *tensors.values(), chances], name="network")

    def run() -> Any:
        result = np.empty(chances.shape, np.float32)
        module(x, *weights.values(), result)
        return result

    return run


def milliseconds(run: Callable[[], Any]) -> float:
    """The best of several runs."""
    times: list[float] = []
    for _ in range(10):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def main() -> None:
    images = np.random.default_rng(1).random((8, 1, 28, 28)).astype(np.float32)
    weights = make_weights()
    runs: dict[str, Callable[[], Any]] = {
        "operators": lambda: network(images, weights),
        "one function": as_one_function(images, weights),
        "NumPy": lambda: reference(images, weights),
    }
    expected = reference(images, weights)
    for name, run in runs.items():
        np.testing.assert_allclose(run(), expected, rtol=1e-3, atol=1e-5)
        print(f"{name:14}{milliseconds(run):8.2f} ms")
    print("classes:", *network(images, weights).argmax(axis=1))


if __name__ == "__main__":
    main()
