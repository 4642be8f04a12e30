"""The kernels as loops over elements: linear algebra, solvers and dynamic programming.

Written from the algorithms, with the arguments and results of the NumPy forms.
"""

from __future__ import annotations

from typing import Any

import numpy

from tests.npbench.loops_on_grids import (
    channel_flow,
    fdtd_2d,
    jacobi_1d,
    jacobi_2d,
    seidel_2d,
    vadv,
)
from tests.npbench.loops_on_points import (
    azimint_hist,
    azimint_naive,
    contour_integral,
    conv2d_bias,
    crc16,
    mandelbrot2,
    nbody,
    resnet,
    softmax,
    spmv,
    stockham_fft,
)

__all__ = [
    "atax",
    "azimint_hist",
    "azimint_naive",
    "channel_flow",
    "cholesky",
    "cholesky2",
    "contour_integral",
    "conv2d_bias",
    "correlation",
    "covariance2",
    "crc16",
    "doitgen",
    "durbin",
    "fdtd_2d",
    "floyd_warshall",
    "gemm",
    "gemver",
    "gesummv",
    "go_fast",
    "gramschmidt",
    "jacobi_1d",
    "jacobi_2d",
    "k2mm",
    "lu",
    "mandelbrot2",
    "mvt",
    "nbody",
    "nussinov",
    "resnet",
    "seidel_2d",
    "softmax",
    "spmv",
    "stockham_fft",
    "symm",
    "syrk",
    "vadv",
]
np: Any = numpy
Array = Any


def atax(A: Array, x: Array):
    m, n = A.shape
    y = np.zeros(n, A.dtype)
    for i in range(m):
        row = 0 * x[0]
        for j in range(n):
            row += A[i, j] * x[j]
        for j in range(n):
            y[j] += row * A[i, j]
    return y


def cholesky(A: Array):
    for i in range(A.shape[0]):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = np.sqrt(A[i, i])


def cholesky2(A: Array):
    # the lower half is factored in place; the upper half stays
    n = A.shape[0]
    for j in range(n):
        for k in range(j):
            for i in range(j, n):
                A[i, j] -= A[i, k] * A[j, k]
        root = np.sqrt(A[j, j])
        for i in range(j, n):
            A[i, j] /= root


def correlation(M: int, float_n: float, data: Array):
    n = data.shape[0]
    corr = np.zeros((M, M), data.dtype)
    for j in range(M):
        mean = 0 * data[0, j]
        for i in range(n):
            mean += data[i, j]
        mean /= n
        variance = 0 * data[0, j]
        for i in range(n):
            variance += (data[i, j] - mean) * (data[i, j] - mean)
        stddev = np.sqrt(variance / n)
        if stddev <= 0.1:
            stddev = stddev / stddev
        for i in range(n):
            data[i, j] = (data[i, j] - mean) / (np.sqrt(float_n) * stddev)
    for i in range(M):
        corr[i, i] = 1
        for j in range(i + 1, M):
            for k in range(n):
                corr[i, j] += data[k, i] * data[k, j]
            corr[j, i] = corr[i, j]
    return corr


def covariance2(M: int, float_n: float, data: Array):
    n = data.shape[0]
    mean = np.zeros(M, np.float64)
    cov = np.zeros((M, M), np.float64)
    for i in range(n):
        for j in range(M):
            mean[j] += data[i, j]
    for j in range(M):
        mean[j] /= n
    for k in range(n):
        for i in range(M):
            for j in range(M):
                cov[i, j] += (data[k, i] - mean[i]) * (data[k, j] - mean[j])
    for i in range(M):
        for j in range(M):
            cov[i, j] /= n - 1
    return cov


def doitgen(NR: int, NQ: int, NP: int, A: Array, C4: Array):
    row = np.zeros(NP, A.dtype)
    for r in range(NR):
        for q in range(NQ):
            for p in range(NP):
                row[p] = 0
            for s in range(NP):
                for p in range(NP):
                    row[p] += A[r, q, s] * C4[s, p]
            for p in range(NP):
                A[r, q, p] = row[p]


def durbin(r: Array):
    n = r.shape[0]
    y = np.zeros(n, r.dtype)
    z = np.zeros(n, r.dtype)
    y[0] = -r[0]
    alpha = -r[0]
    beta = 1 + 0 * r[0]
    for k in range(1, n):
        beta *= 1 - alpha * alpha
        total = r[k]
        for i in range(k):
            total += r[k - 1 - i] * y[i]
        alpha = -total / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - 1 - i]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha
    return y


def floyd_warshall(path: Array):
    n = path.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])


def gemm(alpha: float, beta: float, C: Array, A: Array, B: Array):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] *= beta
        for k in range(A.shape[1]):
            for j in range(C.shape[1]):
                C[i, j] += alpha * A[i, k] * B[k, j]


def gemver(
    alpha: float,
    beta: float,
    a: Array,
    u1: Array,
    v1: Array,
    u2: Array,
    v2: Array,
    w: Array,
    x: Array,
    y: Array,
    z: Array,
):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            a[i, j] += u1[i] * v1[j] + u2[i] * v2[j]
    for j in range(n):
        for i in range(n):
            x[i] += beta * y[j] * a[j, i]
    for i in range(n):
        x[i] += z[i]
    for i in range(n):
        for j in range(n):
            w[i] += alpha * a[i, j] * x[j]


def gesummv(alpha: float, beta: float, A: Array, B: Array, x: Array):
    n = A.shape[0]
    y = np.zeros(n, A.dtype)
    for i in range(n):
        first = 0 * x[0]
        second = 0 * x[0]
        for j in range(n):
            first += A[i, j] * x[j]
            second += B[i, j] * x[j]
        y[i] = alpha * first + beta * second
    return y


def go_fast(a: Array):
    n = a.shape[0]
    result = np.zeros((n, n), a.dtype)
    trace = 0.0
    for i in range(n):
        trace += np.tanh(a[i, i])
    for i in range(n):
        for j in range(n):
            result[i, j] = a[i, j] + trace
    return result


def gramschmidt(A: Array):
    m, n = A.shape
    Q = np.zeros((m, n), A.dtype)
    R = np.zeros((n, n), A.dtype)
    for k in range(n):
        total = 0 * A[0, 0]
        for i in range(m):
            total += A[i, k] * A[i, k]
        R[k, k] = np.sqrt(total)
        for i in range(m):
            Q[i, k] = A[i, k] / R[k, k]
        for j in range(k + 1, n):
            for i in range(m):
                R[k, j] += Q[i, k] * A[i, j]
            for i in range(m):
                A[i, j] -= Q[i, k] * R[k, j]
    return Q, R


def k2mm(alpha: float, beta: float, A: Array, B: Array, C: Array, D: Array):
    ni, nj = A.shape
    nk, nl = C.shape
    tmp = np.zeros((ni, nk), D.dtype)
    for i in range(ni):
        for k in range(nj):
            for j in range(nk):
                tmp[i, j] += alpha * A[i, k] * B[k, j]
    for i in range(ni):
        for j in range(nl):
            D[i, j] *= beta
        for k in range(nk):
            for j in range(nl):
                D[i, j] += tmp[i, k] * C[k, j]


def lu(A: Array):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]


def mvt(x1: Array, x2: Array, y_1: Array, y_2: Array, A: Array):
    n = A.shape[0]
    for i in range(n):
        for j in range(n):
            x1[i] += A[i, j] * y_1[j]
    for j in range(n):
        for i in range(n):
            x2[i] += A[j, i] * y_2[j]


def pairs(b1: int, b2: int):
    return 1 if b1 + b2 == 3 else 0


def nussinov(N: int, seq: Array):
    table = np.zeros((N, N), np.int32)
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            best = max(table[i, j - 1], table[i + 1, j])
            bonus = pairs(seq[i], seq[j]) if i < j - 1 else 0
            best = max(best, table[i + 1, j - 1] + bonus)
            for k in range(i + 1, j):
                best = max(best, table[i, k] + table[k + 1, j])
            table[i, j] = best
    return table


def symm(alpha: float, beta: float, c: Array, A: Array, B: Array):
    m, n = c.shape
    for i in range(m):
        for j in range(n):
            c[i, j] *= beta
    for i in range(m):
        for j in range(n):
            total = 0 * B[0, 0]
            for k in range(i):
                c[k, j] += alpha * B[i, j] * A[i, k]
                total += B[k, j] * A[i, k]
            c[i, j] += alpha * B[i, j] * A[i, i] + alpha * total


def syrk(alpha: float, beta: float, C: Array, A: Array):
    n, m = A.shape
    for i in range(n):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(m):
            for j in range(i + 1):
                C[i, j] += alpha * A[i, k] * A[j, k]
