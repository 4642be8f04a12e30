"""A quick look at the public API: does it stand up at all? Under ten seconds."""

import numpy as np
import pytest

from hybridjit import ParseError, f32, hybrid, parse, structural_equal
from hybridjit.hybrid import exp, grid, output_tensor, packed, parallel, scan
from tests.corpus.case import Array, Number
from tests.support.oracle import assert_same, run_plain_and_interpreted


@hybrid.script
def matmul(a: Array, b: Array) -> Array:
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)
    for i, j in grid(a.shape[0], b.shape[1]):
        for k in range(a.shape[1]):
            c[i, j] += a[i, k] * b[k, j]
    return c


@hybrid.script
def softmax(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    for i in parallel(a.shape[0]):
        total = 0.0
        for j in range(a.shape[1]):
            b[i, j] = exp(a[i, j])
            total += b[i, j]
        for j in range(a.shape[1]):
            b[i, j] /= total
    return b


@hybrid.script
def running_maximum(a: Array) -> None:
    for t in scan(1, a.shape[0]):
        a[t] = max(a[t], a[t - 1])


@hybrid.script
def first_negative(a: Array) -> Number:
    for i in range(len(a)):
        if a[i] < 0:
            return i
    raise ValueError("no element is negative")


def numbers(*shape: int) -> Array:
    return np.random.default_rng(7).normal(size=shape)


def test_kernel_gives_what_numpy_gives() -> None:
    a, b = numbers(5, 3), numbers(3, 4)

    np.testing.assert_allclose(matmul(a, b), a @ b)


def test_every_way_to_run_agrees() -> None:
    run_plain_and_interpreted(matmul, [numbers(5, 3), numbers(3, 4)])
    run_plain_and_interpreted(softmax, [numbers(4, 5).astype(np.float32)], ulp=64)
    run_plain_and_interpreted(running_maximum, [numbers(9)[::-2]])
    run_plain_and_interpreted(first_negative, [numbers(9)])
    run_plain_and_interpreted(first_negative, [np.ones(3)])


def test_arguments_are_written_in_place() -> None:
    a = np.array([1, 3, 2], np.int32)

    running_maximum(a)

    assert_same(a, np.array([1, 3, 3], np.int32))


def test_out_receives_the_result() -> None:
    a, out = numbers(3, 3), np.zeros((3, 3))

    result = softmax(a, out=out)

    assert result is out
    np.testing.assert_allclose(out.sum(axis=1), 1)


def test_printed_ir_parses_back() -> None:
    func = matmul.prim_func(f32[8, "n"], f32["n", 4])

    assert structural_equal(func, parse(str(func)))


def test_errors_say_where() -> None:
    @hybrid.script
    def broken(a: Array) -> Array:
        return {a}

    with pytest.raises(ParseError, match=r"test_smoke\.py:\d+:\d+: error"):
        broken(numbers(2))


def test_index_outside_an_array_is_an_error() -> None:
    @hybrid.script
    def outside(a: Array, n: Number) -> None:
        for i in range(n):
            a[i] = 0

    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 of 'a' with size 2"):
        outside(numbers(2), 3)


def test_callback_gets_the_memory_itself() -> None:
    def fill(a: Array) -> None:
        a[:] = 5

    fill_with_five = packed(fill)

    @hybrid.script
    def filled(n: Number) -> Array:
        b = output_tensor((4,), "int16")
        fill_with_five(b)
        b[n] = 1
        return b

    assert_same(filled(2), np.array([5, 5, 1, 5], np.int16))
