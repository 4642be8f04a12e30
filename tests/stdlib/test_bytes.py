"""Sums of products of bytes: the function of words, and the operators that are made of it."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import hybridjit.stdlib as hs
from hybridjit import hybrid
from hybridjit.hybrid import dot_bytes
from hybridjit.processor import host_target
from tests.support.oracle import fresh, run_interpreted, run_native, run_plain
from tests.support.processors import PROCESSORS, compiling_for

np: Any = numpy
Array = Any
RNG: Any = np.random.default_rng(5)
TYPES = ("int8", "uint8")


@hybrid.script
def dots(x: Array, y: Array) -> Array:
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        out[i] = dot_bytes(x[i], y[i])
    return out


def words(size: int) -> Array:
    chosen = np.array([-128, -128, 127, -1, 0, 1, 64], np.int8)
    parts = RNG.choice(chosen, 4 * size) if size % 2 else RNG.integers(-128, 128, 4 * size)
    return parts.astype(np.int8).view(np.int32)


def summed(x: Array, y: Array) -> Array:
    parts = [it.view(np.int8).reshape(it.size, 4).astype(np.int32) for it in (x, y)]
    return (parts[0] * parts[1]).sum(1)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 8, 31, 64, 1001])
def test_words(size: int) -> None:
    x, y = words(size), words(size)
    for run in (run_plain, run_interpreted, run_native):
        numpy.testing.assert_array_equal(run(dots, x, y), summed(x, y))


@pytest.mark.parametrize("cpu", PROCESSORS)
def test_words_on_other_processors(cpu: str) -> None:
    with compiling_for(cpu):
        kernel = fresh(dots)
        for size in (1, 2, 6, 70):
            x, y = words(size), words(size)
            numpy.testing.assert_array_equal(kernel(x, y), summed(x, y))


INSTRUCTIONS = {"dotprod": "sdot", "avx512vnni": "vpdpbusd", "avxvnni": "vpdpbusd"}


def test_the_instruction_is_used() -> None:
    found = {name for feature, name in INSTRUCTIONS.items() if host_target().has(feature)}
    if not found:
        pytest.skip("this processor has none")
    assert found.pop() in dots.inspect("asm", words(64), words(64))


@hybrid.script
def added(x: Array, y: Array, z: Array) -> Array:
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        out[i] = dot_bytes(x[i], y[i]) + z[i] + dot_bytes(y[i], x[i])
    return out


@pytest.mark.parametrize("cpu", PROCESSORS)
@pytest.mark.parametrize("size", [1, 4, 8, 37, 80])
def test_words_that_are_added_to_a_total(cpu: str, size: int) -> None:
    x, y, z = words(size), words(size), words(size)
    expected = (2 * summed(x, y) + z).astype(np.int32)
    with compiling_for(cpu):
        numpy.testing.assert_array_equal(fresh(added)(x, y, z), expected)


def small(shape: tuple[int, ...], dtype: str) -> Array:
    return RNG.integers(0, 256, shape).astype(np.uint8).view(dtype)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("zeros", [(0, 0), (3, 0), (0, 5), (128, 128), (7, 100)])
@pytest.mark.parametrize("inputs", [0, 1, 3, 4, 66])
@pytest.mark.parametrize("of_weights", TYPES)
@pytest.mark.parametrize("of_inputs", TYPES)
def test_dense(of_inputs: str, of_weights: str, inputs: int, zeros: tuple[int, int]) -> None:
    for rows, columns in ((1, 1), (5, 7), (33, 18)):
        x, w = small((rows, inputs), of_inputs), small((columns, inputs), of_weights)
        p, q = zeros
        expected = (x.astype(np.int32) - p) @ (w.astype(np.int32) - q).T
        numpy.testing.assert_array_equal(hs.dense_int8(x, w, p, q), expected)
        points = np.array(p, np.int32), np.array(q, np.uint8)
        numpy.testing.assert_array_equal(hs.dense_int8(x, w, *points), expected)


def convolved(x: Array, w: Array, stride: int, padding: int, dilation: int) -> Array:
    """Of images and filters of int64, the channels first."""
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    reach = dilation * (w.shape[2] - 1) + 1
    seen = np.lib.stride_tricks.sliding_window_view(x, (reach, reach), (2, 3))
    seen = seen[:, :, ::stride, ::stride, ::dilation, ::dilation]
    return np.einsum("nchwij,ocij->nohw", seen, w)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("how", [(1, 0, 1), (2, 1, 1), (1, 2, 2)])
@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("channels", [1, 4, 7])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("types", [("int8", "int8"), ("uint8", "int8"), ("uint8", "uint8")])
def test_convolution(
    types: tuple[str, str], layout: Any, channels: int, size: int, how: tuple[int, int, int]
) -> None:
    x, w = small((2, channels, 9, 8), types[0]), small((6, channels, size, size), types[1])
    stride, padding, dilation = how
    for p, q in ((0, 0), (9, 0), (5, 128)):
        wide = [it.astype(np.int64) - zero for it, zero in ((x, p), (w, q))]
        expected = convolved(*wide, *how)
        images, filters = x, w
        if layout == "NHWC":
            images, filters = x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0)
            expected = expected.transpose(0, 2, 3, 1)
        found = hs.conv2d_int8(
            *(images, filters, p, q), stride=stride, padding=padding, dilation=dilation,
            layout=layout,
        )  # fmt: skip
        assert found.dtype == np.int32
        numpy.testing.assert_array_equal(found, expected)


def test_sums_wrap() -> None:
    x = np.full((1, 200_000), -128, np.int8)
    found = hs.dense_int8(x, x)
    assert found.item() == (200_000 * 2**14 + 2**31) % 2**32 - 2**31
