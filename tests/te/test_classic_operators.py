"""Operators as users of te write them, with and without schedules, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import te
from tests.support.classic_runs import make_inputs, run_both

Array = Any


def test_vector_add() -> None:
    n = te.var("n")
    A, B = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")
    C = te.compute((n,), lambda i: A[i] + B[i], name="C")
    s = te.create_schedule(C.op)
    outer, inner = s[C].split(C.op.axis[0], factor=8)
    s[C].parallel(outer)
    s[C].vectorize(inner)
    for size in (0, 1, 7, 8, 9, 100):
        a, b, c = run_both(s, [A, B, C], make_inputs([A, B, C], {"n": size}))
        np.testing.assert_array_equal(c, a + b)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 7), (16, 33)])
def test_broadcast_add(rows: int, columns: int) -> None:
    A, B = te.placeholder((rows, 1), name="A"), te.placeholder((columns,), name="B")
    C = te.compute((rows, columns), lambda i, j: A[i, 0] + B[j], name="C")
    s = te.create_schedule(C)
    both = s[C].fuse(*C.op.axis)
    outer, inner = s[C].split(both, nparts=3)
    s[C].parallel(outer)
    s[C].vectorize(inner)
    a, b, c = run_both(s, [A, B, C], make_inputs([A, B, C]))
    np.testing.assert_array_equal(c, a + b)


def make_matmul(n: Any, m: Any, k: Any) -> Any:
    A, B = te.placeholder((n, k), name="A"), te.placeholder((k, m), name="B")
    r = te.reduce_axis((0, k), "r")
    C = te.compute((n, m), lambda i, j: te.sum(A[i, r] * B[r, j], axis=r), name="C")
    return A, B, C


MATMUL_SIZES = [(1, 1, 1), (7, 5, 3), (16, 16, 16), (33, 17, 20)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("n", "m", "k"), MATMUL_SIZES)
def test_matmul_with_blocking(n: int, m: int, k: int) -> None:
    A, B, C = make_matmul(n, m, k)
    s = te.create_schedule(C.op)
    xo, yo, xi, yi = s[C].tile(*C.op.axis, 4, 8)
    ko, ki = s[C].split(C.op.reduce_axis[0], factor=4)
    s[C].reorder(xo, yo, ko, ki, xi, yi)
    s[C].parallel(xo)
    s[C].unroll(ki)
    s[C].vectorize(yi)
    a, b, c = run_both(s, [A, B, C], make_inputs([A, B, C]))
    np.testing.assert_allclose(c, a @ b, rtol=1e-5, atol=1e-5)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("n", "m", "k"), [*MATMUL_SIZES, (0, 3, 2), (3, 2, 0)])
def test_matmul_of_any_size_with_a_write_cache(n: int, m: int, k: int) -> None:
    sizes = [te.var(name) for name in ("n", "m", "k")]
    A, B, C = make_matmul(*sizes)
    s = te.create_schedule(C.op)
    CL = s.cache_write(C, "local")
    _, yo, _, yi = s[C].tile(*C.op.axis, 4, 8)
    s[CL].compute_at(s[C], yo)
    ko, ki = s[CL].split(CL.op.reduce_axis[0], factor=4)
    s[CL].reorder(ko, *CL.op.axis, ki)
    s[C].vectorize(yi)
    args = [A, B, C]
    a, b, c = run_both(s, args, make_inputs(args, {"n": n, "m": m, "k": k}))
    np.testing.assert_allclose(c, a @ b, rtol=1e-5, atol=1e-5)


def test_matmul_with_read_caches() -> None:
    A, B, C = make_matmul(13, 11, 9)
    s = te.create_schedule(C.op)
    AL, BL = s.cache_read(A, "local", [C]), s.cache_read(B, "shared", C)
    xo, yo, _, _ = s[C].tile(*C.op.axis, 4, 4)
    s[AL].compute_at(s[C], xo)
    s[BL].compute_at(s[C], yo)
    s[BL].vectorize(BL.op.axis[1])
    a, b, c = run_both(s, [A, B, C], make_inputs([A, B, C]))
    np.testing.assert_allclose(c, a @ b, rtol=1e-5, atol=1e-5)


# -- convolutions ----------------------------------------------------------------------------------


def make_conv2d(size: int, channels: int, filters: int, stride: int, pad: int) -> Any:
    A = te.placeholder((channels, size, size), name="A")
    W = te.placeholder((filters, channels, 3, 3), name="W")
    padded = size + 2 * pad
    out = (padded - 3) // stride + 1

    def inside(c: Any, y: Any, x: Any) -> Any:
        ok = te.all(y >= pad, y < pad + size, x >= pad, x < pad + size)
        return te.if_then_else(ok, A[c, y - pad, x - pad], 0.0)

    P = te.compute((channels, padded, padded), inside, name="P")
    rc, ry, rx = (te.reduce_axis((0, extent), name) for extent, name in _reduced(channels))
    C = te.compute(
        (filters, out, out),
        lambda f, y, x: te.sum(
            P[rc, y * stride + ry, x * stride + rx] * W[f, rc, ry, rx], axis=[rc, ry, rx]
        ),
        name="C",
    )
    return A, W, P, C


def _reduced(channels: int) -> list[tuple[int, str]]:
    return [(channels, "rc"), (3, "ry"), (3, "rx")]


def conv2d_of_numpy(a: Array, w: Array, stride: int, pad: int) -> Array:
    padded = np.pad(a, ((0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
    return np.einsum("cyxij,fcij->fyx", windows[:, ::stride, ::stride], w)


CONVOLUTIONS = [(6, 2, 3, 1, 1), (7, 1, 2, 2, 1), (9, 3, 4, 2, 0), (8, 2, 2, 3, 2)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("size", "channels", "filters", "stride", "pad"), CONVOLUTIONS)
def test_conv2d_with_inlined_padding(
    size: int, channels: int, filters: int, stride: int, pad: int
) -> None:
    A, W, P, C = make_conv2d(size, channels, filters, stride, pad)
    s = te.create_schedule(C.op)
    s[P].compute_inline()
    f, y, x = C.op.axis
    xo, xi = s[C].split(x, factor=4)
    s[C].reorder(f, y, xo, *C.op.reduce_axis, xi)
    s[C].parallel(f)
    s[C].vectorize(xi)
    a, w, c = run_both(s, [A, W, C], make_inputs([A, W, C]))
    np.testing.assert_allclose(c, conv2d_of_numpy(a, w, stride, pad), rtol=1e-4, atol=1e-5)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("size", "channels", "filters", "stride", "pad"), CONVOLUTIONS)
def test_conv2d_with_padding_in_the_tile(
    size: int, channels: int, filters: int, stride: int, pad: int
) -> None:
    A, W, P, C = make_conv2d(size, channels, filters, stride, pad)
    s = te.create_schedule(C.op)
    f, y, x = C.op.axis
    yo, yi = s[C].split(y, factor=2)
    s[C].reorder(yo, f, yi, x)
    s[P].compute_at(s[C], yo)
    _, pi = s[P].split(P.op.axis[2], factor=4)
    s[P].vectorize(pi)
    a, w, c = run_both(s, [A, W, C], make_inputs([A, W, C]))
    np.testing.assert_allclose(c, conv2d_of_numpy(a, w, stride, pad), rtol=1e-4, atol=1e-5)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("size", [3, 5, 8])
def test_depthwise_conv2d_with_relu(size: int) -> None:
    A, W = te.placeholder((4, size, size), name="A"), te.placeholder((4, 3, 3), name="W")
    out = size - 2
    ry, rx = te.reduce_axis((0, 3), "ry"), te.reduce_axis((0, 3), "rx")
    D = te.compute(
        (4, out, out),
        lambda c, y, x: te.sum(A[c, y + ry, x + rx] * W[c, ry, rx], axis=[ry, rx]),
        name="D",
    )
    R = te.compute((4, out, out), lambda c, y, x: te.max(D[c, y, x], 0.0), name="R")
    s = te.create_schedule(R.op)
    c, y, _ = R.op.axis
    yo, _ = s[R].split(y, factor=2)
    s[D].compute_at(s[R], yo)
    s[R].parallel(s[R].fuse(c, yo))
    s[D].unroll(ry)
    s[D].unroll(rx)
    a, w, r = run_both(s, [A, W, R], make_inputs([A, W, R]))
    windows = np.lib.stride_tricks.sliding_window_view(a, (3, 3), axis=(1, 2))
    expected = np.maximum(np.einsum("cyxij,cij->cyx", windows, w), 0)
    np.testing.assert_allclose(r, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["max", "average"])
def test_pooling(kind: str) -> None:
    A = te.placeholder((3, 9, 9), name="A")
    ry, rx = te.reduce_axis((0, 3), "ry"), te.reduce_axis((0, 3), "rx")
    reduce = te.max if kind == "max" else te.sum
    P = te.compute(
        (3, 4, 4), lambda c, y, x: reduce(A[c, y * 2 + ry, x * 2 + rx], axis=[ry, rx]), name="P"
    )
    Y = te.compute((3, 4, 4), lambda c, y, x: P[c, y, x] / (1 if kind == "max" else 9), name="Y")
    s = te.create_schedule(Y.op)
    s[P].compute_at(s[Y], Y.op.axis[1])
    s[Y].parallel(Y.op.axis[0])
    s[Y].vectorize(Y.op.axis[2])
    a, o = run_both(s, [A, Y], make_inputs([A, Y]))
    windows = np.lib.stride_tricks.sliding_window_view(a, (3, 3), axis=(1, 2))[:, ::2, ::2]
    expected = windows.max((3, 4)) if kind == "max" else windows.mean((3, 4))
    np.testing.assert_allclose(o, expected, rtol=1e-5, atol=1e-6)


# -- normalisations --------------------------------------------------------------------------------


def test_batch_norm() -> None:
    shape = (5, 3, 7)
    A = te.placeholder(shape, name="A")
    mean, variance, gamma, beta = (
        te.placeholder((3,), name=name) for name in ("mean", "variance", "gamma", "beta")
    )
    scale = te.compute((3,), lambda c: gamma[c] / te.sqrt(variance[c] + 1e-5), name="scale")
    shift = te.compute((3,), lambda c: beta[c] - mean[c] * scale[c], name="shift")
    Y = te.compute(shape, lambda n, c, x: A[n, c, x] * scale[c] + shift[c], name="Y")
    s = te.create_schedule(Y.op)
    s[scale].compute_at(s[Y], Y.op.axis[1])
    s[shift].compute_at(s[Y], Y.op.axis[1])
    s[Y].vectorize(Y.op.axis[2])
    args = [A, mean, variance, gamma, beta, Y]
    inputs = make_inputs(args)
    inputs[2] = np.abs(inputs[2])
    a, m, v, g, b, o = run_both(s, args, inputs)
    expected = (a - m[:, None]) / np.sqrt(v[:, None] + 1e-5) * g[:, None] + b[:, None]
    np.testing.assert_allclose(o, expected, rtol=1e-4, atol=1e-4)


def make_softmax(n: Any, m: Any) -> Any:
    A = te.placeholder((n, m), name="A")
    k1, k2 = te.reduce_axis((0, m), "k1"), te.reduce_axis((0, m), "k2")
    largest = te.compute((n,), lambda i: te.max(A[i, k1], axis=k1), name="largest")
    raised = te.compute((n, m), lambda i, j: te.exp(A[i, j] - largest[i]), name="raised")
    total = te.compute((n,), lambda i: te.sum(raised[i, k2], axis=k2), name="total")
    Y = te.compute((n, m), lambda i, j: raised[i, j] / total[i], name="Y")
    return A, largest, raised, total, Y


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, 7), (9, 16)])
def test_softmax_in_three_stages(n: int, m: int) -> None:
    A, largest, raised, total, Y = make_softmax(te.var("n"), te.var("m"))
    s = te.create_schedule(Y.op)
    row = Y.op.axis[0]
    for stage in (total, raised, largest):  # in whatever order
        s[stage].compute_at(s[Y], row)
    s[Y].parallel(row)
    s[raised].vectorize(raised.op.axis[1])
    a, o = run_both(s, [A, Y], make_inputs([A, Y], {"n": n, "m": m}))
    raised_of_numpy = np.exp(a - a.max(1, keepdims=True))
    expected = raised_of_numpy / raised_of_numpy.sum(1, keepdims=True)
    np.testing.assert_allclose(o, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [1, 5, 16, 23])
def test_softmax_of_scores_whose_sum_is_made_for_each_element(size: int) -> None:
    """The sum reads a row of `raised` while elements of what is made of it are stored."""
    A = te.placeholder((2, size, size), name="A")
    k1, k2, k3 = (te.reduce_axis((0, size), name) for name in ("k1", "k2", "k3"))
    shape = (2, size, size)
    scores = te.compute(
        shape, lambda b, i, j: te.sum(A[b, i, k1] * A[b, j, k1], axis=k1), name="scores"
    )
    raised = te.compute(shape, lambda b, i, j: te.exp(scores[b, i, j]), name="raised")
    total = te.compute((2, size), lambda b, i: te.sum(raised[b, i, k2], axis=k2), name="total")
    P = te.compute(shape, lambda b, i, j: raised[b, i, j] / total[b, i], name="P")
    Y = te.compute(shape, lambda b, i, j: te.sum(P[b, i, k3] * A[b, k3, j], axis=k3), name="Y")
    s = te.create_schedule(Y.op)
    s[total].compute_at(s[P], P.op.axis[2])
    a, o = run_both(s, [A, Y], make_inputs([A, Y]))
    of_numpy = np.exp(a @ a.transpose(0, 2, 1))
    expected = of_numpy / of_numpy.sum(2, keepdims=True) @ a
    np.testing.assert_allclose(o, expected, rtol=1e-4, atol=1e-4)


# -- reductions ------------------------------------------------------------------------------------


def shuffled(n: int, m: int) -> Array:
    """Different numbers, so that there is one largest."""
    numbers: Array = np.random.default_rng(n).permutation(n * m)
    return numbers.reshape(n, m).astype("int32")


def _larger(x: Any, y: Any) -> Any:
    return tuple(te.if_then_else(x[1] >= y[1], x[k], y[k]) for k in range(2))


def _nothing(index: str, value: str) -> Any:
    return te.const(-1, index), te.min_value(value)


def make_argmax(n: int, m: int) -> Any:
    index, value = te.placeholder((m,), "int64", "index"), te.placeholder((n, m), "int32", "value")
    argmax = te.comm_reducer(_larger, _nothing, name="argmax")
    k = te.reduce_axis((0, m), "k")
    P, V = te.compute((n,), lambda i: argmax((index[k], value[i, k]), axis=k), name="T")
    return index, value, P, V


@pytest.mark.parametrize(("n", "m"), [(1, 1), (5, 9), (8, 16)])
def test_argmax(n: int, m: int) -> None:
    index, value, P, V = make_argmax(n, m)
    s = te.create_schedule(P.op)
    outer, _ = s[P].split(P.op.axis[0], factor=4)
    s[P].parallel(outer)
    args = [index, value, P, V]
    inputs = make_inputs(args)
    inputs[0] = np.arange(m)
    inputs[1] = shuffled(n, m)
    _, v, p, best = run_both(s, args, inputs)
    np.testing.assert_array_equal(p, v.argmax(1))
    np.testing.assert_array_equal(best, v.max(1))


@pytest.mark.parametrize("position", [0, 1, -1, -2])
def test_argmax_in_parts(position: int) -> None:
    index, value, P, V = make_argmax(4, 13)
    s = te.create_schedule(P.op)
    _, ki = s[P].split(P.op.reduce_axis[0], factor=4)
    parts = s.rfactor(P, ki, position)
    s[parts[0]].parallel(parts[0].op.axis[position])
    args = [index, value, P, V]
    inputs = make_inputs(args)
    inputs[0] = np.arange(13)
    inputs[1] = shuffled(4, 13)
    _, v, p, _ = run_both(s, args, inputs)
    np.testing.assert_array_equal(p, v.argmax(1))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [1, 4, 15, 32])
@pytest.mark.parametrize("is_attached", [False, True])
def test_sum_in_parts(size: int, is_attached: bool) -> None:
    A = te.placeholder((6, size), "int64", "A")
    k = te.reduce_axis((0, size), "k")
    B = te.compute((6,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    _, ki = s[B].split(k, factor=4)
    BF = s.rfactor(B, ki)
    if is_attached:
        s[BF].compute_at(s[B], B.op.axis[0])
    s[BF].vectorize(BF.op.axis[0])
    a, b = run_both(s, [A, B], make_inputs([A, B]))
    np.testing.assert_array_equal(b, a.sum(1))


def test_sum_of_floats_in_parts_needs_leave() -> None:
    A = te.placeholder((64,), name="A")
    k = te.reduce_axis((0, 64), "k")
    B = te.compute((), lambda: te.sum(A[k], axis=k), name="B")
    s = te.create_schedule(B.op, fastmath={"reassoc"})
    _, ki = s[B].split(k, factor=8)
    BF = s.rfactor(B, ki)
    s[BF].vectorize(BF.op.axis[0])
    a = np.arange(64, dtype="float32")
    b = np.zeros((), "float32")
    hj.build(s, [A, B])(a, b)
    assert b == a.sum()
    with pytest.raises(hj.ScheduleError, match="would be rounded otherwise"):
        te.create_schedule(B.op).rfactor(B, k)


def test_parts_start_with_what_changes_nothing() -> None:
    A = te.placeholder((10,), "int32", "A")
    k = te.reduce_axis((2, 9), "k")
    B = te.compute((), lambda: te.sum(A[k], axis=k, where=A[k] > 0, init=100), name="B")
    s = te.create_schedule(B.op)
    s.rfactor(B, k)
    a, b = run_both(s, [A, B], make_inputs([A, B], seed=5))
    assert b == 100 + a[2:9][a[2:9] > 0].sum()
