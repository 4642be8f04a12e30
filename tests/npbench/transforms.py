"""Kernels in NumPy style: checksums, Fourier transforms, fractals, statistics and networks."""

from __future__ import annotations

from typing import Any

import numpy

np: Any = numpy
Array = Any


def crc16(data: Array, poly: int = 0x8408):
    crc = 0xFFFF
    for b in data:
        cur_byte = 0xFF & b
        for _ in range(0, 8):
            if (crc & 0x0001) ^ (cur_byte & 0x0001):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            cur_byte >>= 1
    crc = ~crc & 0xFFFF
    crc = (crc << 8) | ((crc >> 8) & 0xFF)
    return crc & 0xFFFF


def covariance2(M: int, float_n: float, data: Array):
    return np.cov(np.transpose(data))


def cholesky2(A: Array):
    A[:] = np.linalg.cholesky(A) + np.triu(A, k=1)


def stockham_fft(N: int, R: int, K: int, x: Array, y: Array):
    # the matrix of a transform of R points
    i_coord, j_coord = np.mgrid[0:R, 0:R]
    dft_mat = np.empty((R, R), dtype=np.complex128)
    dft_mat = np.exp(-2.0j * np.pi * i_coord * j_coord / R)
    y[:] = x[:]
    ii_coord, jj_coord = np.mgrid[0:R, 0 : R**K]
    for i in range(K):
        # stride permutation
        yv = np.reshape(y, (R**i, R, R ** (K - i - 1)))
        tmp_perm = np.transpose(yv, axes=(1, 0, 2))
        # twiddle factors
        D = np.empty((R, R**i, R ** (K - i - 1)), dtype=np.complex128)
        tmp = np.exp(-2.0j * np.pi * ii_coord[:, : R**i] * jj_coord[:, : R**i] / R ** (i + 1))
        D[:] = np.repeat(np.reshape(tmp, (R, R**i, 1)), R ** (K - i - 1), axis=2)
        tmp_twid = np.reshape(tmp_perm, (N,)) * np.reshape(D, (N,))
        # butterflies
        y[:] = np.reshape(dft_mat @ np.reshape(tmp_twid, (R, R ** (K - 1))), (N,))


def mandelbrot2(
    xmin: float,
    xmax: float,
    ymin: float,
    ymax: float,
    xn: int,
    yn: int,
    itermax: int,
    horizon: float = 2.0,
):
    """Edited: the original drops the points that have escaped, with `Z = Z[I]`.

    The size of such an array is known only when it has been counted; here the points stay, and
    a mask tells which are still at work.
    """
    Xi, Yi = np.mgrid[0:xn, 0:yn]
    X = np.linspace(xmin, xmax, xn, dtype=np.float64)[Xi]
    Y = np.linspace(ymin, ymax, yn, dtype=np.float64)[Yi]
    C = X + Y * 1j
    N_ = np.zeros(C.shape, dtype=np.int64)
    Z_ = np.zeros(C.shape, dtype=np.complex128)
    Z = np.zeros(C.shape, np.complex128)
    active = np.ones(C.shape, dtype=np.bool_)
    for i in range(itermax):
        if not active.any():
            break
        Z[active] = Z[active] * Z[active] + C[active]
        escaped = np.logical_and(active, abs(Z) > horizon)
        N_[escaped] = i + 1
        Z_[escaped] = Z[escaped]
        active[escaped] = False
    return Z_.T, N_.T


def relu(x: Array):
    return np.maximum(x, 0)


def conv2d(input: Array, weights: Array):
    K = weights.shape[0]
    N = input.shape[0]
    H_out = input.shape[1] - K + 1
    W_out = input.shape[2] - K + 1
    C_out = weights.shape[3]
    output = np.empty((N, H_out, W_out, C_out), dtype=np.float32)
    for i in range(H_out):
        for j in range(W_out):
            output[:, i, j, :] = np.sum(
                input[:, i : i + K, j : j + K, :, np.newaxis] * weights[np.newaxis, :, :, :],
                axis=(1, 2, 3),
            )
    return output


def conv2d_bias(input: Array, weights: Array, bias: Array):
    return conv2d(input, weights) + bias


def batchnorm2d(x: Array, eps: float = 1e-5):
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std + eps)


def resnet(input: Array, conv1: Array, conv2: Array, conv3: Array):
    # the first convolution leaves a border for the second
    padded = np.zeros((input.shape[0], input.shape[1] + 2, input.shape[2] + 2, conv1.shape[3]))
    padded[:, 1:-1, 1:-1, :] = conv2d(input, conv1)
    x = batchnorm2d(padded)
    x = relu(x)
    x = conv2d(x, conv2)
    x = batchnorm2d(x)
    x = relu(x)
    x = conv2d(x, conv3)
    x = batchnorm2d(x)
    return relu(x + input)


def softmax(x: Array):
    tmp_max = np.max(x, axis=-1, keepdims=True)
    tmp_out = np.exp(x - tmp_max)
    tmp_sum = np.sum(tmp_out, axis=-1, keepdims=True)
    return tmp_out / tmp_sum
