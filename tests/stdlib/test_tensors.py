"""Operators on te tensors: stages of a graph, scheduled and fused like any other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import stdlib as hs
from hybridjit import te
from tests.support import operator_references as reference

Array = Any
RNG = np.random.default_rng(0)


def build(s: Any, args: list[Any]) -> Any:
    """A function that fills the last argument, of the schedule and without one."""
    modules = [hj.build(s, args), hj.build(args)]

    def run(*arrays: Array) -> Array:
        results = [np.zeros(args[-1].shape, args[-1].dtype.numpy) for _ in modules]
        for module, result in zip(modules, results, strict=True):
            module(*arrays, result)
        np.testing.assert_allclose(results[0], results[1], rtol=1e-6)
        return results[0]

    return run


def test_tensors_in_tensors_out() -> None:
    x = te.placeholder((3, 4), "float32", "x")
    y = hs.relu(hs.add(x, 1))
    assert type(y) is te.Tensor
    assert (y.name, y.shape, y.dtype.name) == ("relu", (3, 4), "float32")
    assert [op.name for op in (y.op, y.op.input_tensors[0].op)] == ["relu", "add"]


def test_elementwise_chain_is_inlined_and_vectorized() -> None:
    x = te.placeholder((7, 33), "float32", "x")
    y = te.placeholder((33,), "float32", "y")
    z: Any = hs.tanh(hs.multiply(hs.add(x, y), 0.5))
    s = te.create_schedule(z.op)
    s.auto_inline("elementwise")
    s.auto_inline("broadcast")
    _, inner = s[z].split(z.op.axis[1], factor=8)
    s[z].vectorize(inner)
    a, b = (RNG.random(shape).astype("float32") for shape in ((7, 33), (33,)))
    np.testing.assert_allclose(
        build(s, [x, y, z])(a, b), np.tanh((a + b) * np.float32(0.5)), rtol=1e-6
    )
    assert str(hj.lower(s, [x, y, z])).count("for ") == 3


def test_convolution_is_tiled_and_its_padding_and_relu_are_fused() -> None:
    x = te.placeholder((1, 3, 9, 11), "float32", "x")
    w = te.placeholder((4, 3, 3, 3), "float32", "w")
    y: Any = hs.relu(hs.conv2d(x, w, padding="same", stride=2))
    conv: Any = y.op.input_tensors[0]
    padded = conv.op.input_tensors[0]
    s = te.create_schedule(y.op)
    _, rows, columns = y.op.axis[1:]
    _, inner = s[y].split(columns, factor=4)
    s[y].vectorize(inner)
    s[conv].compute_at(s[y], rows)
    s[padded].compute_at(s[y], rows)
    a, b = (RNG.random(t.shape).astype("float32") - np.float32(0.5) for t in (x, w))
    wanted = np.maximum(reference.conv2d(a, b, padding="same", stride=2), 0)
    np.testing.assert_allclose(build(s, [x, w, y])(a, b), wanted, rtol=1e-5, atol=1e-6)


def test_padding_can_be_inlined() -> None:
    x = te.placeholder((1, 2, 6, 6), "float64", "x")
    y: Any = hs.max_pool2d(x, 3, stride=1, padding=1)
    s = te.create_schedule(y.op)
    s[y.op.input_tensors[0]].compute_inline()
    a = RNG.random((1, 2, 6, 6))
    wanted = reference.pool2d("max", a, 3, stride=1, padding=1)
    np.testing.assert_array_equal(build(s, [x, y])(a), wanted)


def test_softmax_has_three_stages_that_meet_in_a_row() -> None:
    x = te.placeholder((5, 17), "float32", "x")
    y: Any = hs.softmax(x)
    s = te.create_schedule(y.op)
    stages = [stage.op for stage in s.stages if stage.op not in (x.op, y.op)]
    assert [op.name for op in stages] == ["softmax_max", "softmax_exp", "softmax_sum"]
    for op in stages:
        s[op].compute_at(s[y], y.op.axis[0])
    a = RNG.random((5, 17)).astype("float32")
    powers = np.exp(a - a.max(1, keepdims=True))
    np.testing.assert_allclose(
        build(s, [x, y])(a), powers / powers.sum(1, keepdims=True), rtol=1e-5
    )


def test_matmul_is_blocked_and_its_bias_is_fused() -> None:
    x, w = (te.placeholder((24, 24), "float32", name) for name in "xw")
    bias = te.placeholder((24,), "float32", "bias")
    y: Any = hs.dense(x, w, bias, activation="relu")
    product: Any = y.op.input_tensors[0]
    s = te.create_schedule(y.op)
    _, column_block, _, inner = s[y].tile(*y.op.axis, 8, 8)
    s[y].vectorize(inner)
    s[product].compute_at(s[y], column_block)
    a, b = RNG.random((2, 24, 24)).astype("float32") - np.float32(0.5)
    c = RNG.random(24).astype("float32")
    wanted = np.maximum(a @ np.transpose(b) + c, 0)
    np.testing.assert_allclose(build(s, [x, w, bias, y])(a, b, c), wanted, rtol=1e-4, atol=1e-5)


def test_cumulative_sum_is_a_scan_among_other_stages() -> None:
    x = te.placeholder((4, 9), "float64", "x")
    y: Any = hs.multiply(hs.cumsum(hs.square(x), 1), 2)
    s = te.create_schedule(y.op)
    a = RNG.random((4, 9))
    np.testing.assert_allclose(build(s, [x, y])(a), np.cumsum(a**2, 1) * 2)


def test_network_as_one_function() -> None:
    x = te.placeholder((2, 3, 8, 8), "float32", "x")
    w = te.placeholder((4, 3, 3, 3), "float32", "w")
    mean, variance = (te.placeholder((4,), "float32", name) for name in ("mean", "variance"))
    layer = hs.relu(hs.batch_norm(hs.conv2d(x, w, padding=1), mean, variance))
    y: Any = hs.log_softmax(hs.mean(hs.max_pool2d(layer, 2), axis=(2, 3)))
    arrays = [RNG.random(tensor.shape).astype("float32") for tensor in (x, w, mean, variance)]
    s = te.create_schedule(y.op)
    s.auto_inline("elementwise")
    found = build(s, [x, w, mean, variance, y])(*arrays)
    layer = hs.relu(hs.batch_norm(hs.conv2d(*arrays[:2], padding=1), *arrays[2:]))
    wanted = hs.log_softmax(hs.mean(hs.max_pool2d(layer, 2), axis=(2, 3)))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_sizes_may_be_variables() -> None:
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n, m), "float64", "x")
    y: Any = hs.softmax(hs.add(x, te.placeholder((m,), "float64", "y")))
    assert "m" in repr(y)
    z: Any = hs.sum(hs.relu(x), axis=1)
    module = hj.build([x, z])
    for shape in ((1, 1), (3, 5), (4, 17)):
        a, result = RNG.normal(size=shape), np.empty(shape[0])
        module(a, result)
        np.testing.assert_allclose(result, np.maximum(a, 0).sum(1))


def test_numbers_may_be_variables() -> None:
    x, factor = te.placeholder((4,), "float32", "x"), te.var("factor", "float32")
    y: Any = hs.multiply(x, factor)
    result = np.empty(4, np.float32)
    hj.build([x, factor, y])(np.arange(4, dtype=np.float32), 2.5, result)
    assert result.tolist() == [0, 2.5, 5, 7.5]


def test_sizes_that_may_differ_are_refused() -> None:
    n, m = te.var("n"), te.var("m")
    x, y = te.placeholder((n,), "float32", "x"), te.placeholder((m,), "float32", "y")
    with pytest.raises(ValueError, match=r"'x' of shape \(n,\) and 'y' of shape \(m,\) do not"):
        hs.add(x, y)


def test_gradient_of_a_layer() -> None:
    x, w = te.placeholder((3, 4), "float64", "x"), te.placeholder((2, 4), "float64", "w")
    loss = hs.sum(hs.square(hs.dense(x, w)))
    (dw,) = te.gradient(loss, [w])
    a, b, result = RNG.random((3, 4)), RNG.random((2, 4)), np.empty((2, 4))
    hj.build([x, w, dw])(a, b, result)
    np.testing.assert_allclose(result, 2 * np.transpose(a @ np.transpose(b)) @ a)


IMAGES, FILTERS = te.placeholder((1, 2, 5, 5), "float32", "x"), te.placeholder((3, 2, 2, 2))
GRAPHS: dict[str, te.Tensor] = {
    "where": hs.where(hs.greater(IMAGES, 0), hs.exp(IMAGES), 1.0),
    "argmax": hs.argmax(IMAGES, 1),
    "std": hs.std(IMAGES, (2, 3)),
    "matmul": hs.matmul(IMAGES, IMAGES, transpose_y=True),
    "conv2d": hs.conv2d(IMAGES, FILTERS, padding="same", dilation=2, activation="tanh"),
    "avg_pool2d": hs.avg_pool2d(IMAGES, 3, stride=2, padding=1, count_include_pad=False),
    "log_softmax": hs.log_softmax(IMAGES, 1),
    "cumprod": hs.cumprod(IMAGES, 2, exclusive=True),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_what_is_printed_parses_back(name: str) -> None:
    inputs = [tensor for tensor in (IMAGES, FILTERS) if name == "conv2d" or tensor is IMAGES]
    func = te.create_prim_func([*inputs, GRAPHS[name]])
    assert hj.structural_equal(func, hj.parse(str(func)))
