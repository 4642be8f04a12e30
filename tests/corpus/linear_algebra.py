"""Realistic kernels: matrices, decompositions, solvers, sparse products."""

import numpy as np

from hybridjit import hybrid
from hybridjit.hybrid import allocate, exp, grid, output_tensor, parallel, sqrt, vectorize
from tests.corpus.case import Array, Number, case, sweep


@hybrid.script
def matmul(a: Array, b: Array) -> Array:
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


@hybrid.script
def matmul_tiled(a: Array, b: Array) -> Array:
    n, m, depth = a.shape[0], b.shape[1], a.shape[1]
    c = output_tensor((n, m), a.dtype)
    for io in parallel(0, n, 4):
        for jo in range(0, m, 4):
            for k in range(depth):
                for i in range(io, min(io + 4, n)):
                    for j in vectorize(jo, min(jo + 4, m)):
                        c[i, j] += a[i, k] * b[k, j]
    return c


@hybrid.script
def matmul_accumulator(a: Array, b: Array) -> Array:
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)
    for i, j in grid(a.shape[0], b.shape[1]):
        acc = 0.0
        for k in range(a.shape[1]):
            acc += a[i, k] * b[k, j]
        c[i, j] = acc
    return c


@hybrid.script
def transpose(a: Array) -> Array:
    b = output_tensor((a.shape[1], a.shape[0]), a.dtype)
    for i, j in grid(a.shape[0], a.shape[1]):
        b[j, i] = a[i, j]
    return b


@hybrid.script
def outer_product(a: Array, b: Array) -> Array:
    c = output_tensor((a.shape[0], b.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            c[i, j] = a[i] * b[j]
    return c


@hybrid.script
def saxpy(alpha: Number, x: Array, y: Array) -> None:
    for i in range(x.shape[0]):
        y[i] = alpha * x[i] + y[i]


@hybrid.script
def lu(a: Array) -> None:
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


@hybrid.script
def cholesky(a: Array) -> Array:
    n = a.shape[0]
    low = output_tensor((n, n), a.dtype)
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= low[i, k] * low[j, k]
            if i == j:
                if s <= 0:
                    raise ValueError("the matrix is not positive definite at", i)
                low[i, i] = sqrt(s)
            else:
                low[i, j] = s / low[j, j]
    return low


@hybrid.script
def forward_substitution(low: Array, b: Array) -> Array:
    x = output_tensor(b.shape, b.dtype)
    for i in range(b.shape[0]):
        s = b[i]
        for j in range(i):
            s -= low[i, j] * x[j]
        x[i] = s / low[i, i]
    return x


@hybrid.script
def thomas(lower: Array, diagonal: Array, upper: Array, rhs: Array) -> Array:
    n = rhs.shape[0]
    c = allocate((n,), rhs.dtype)
    x = output_tensor((n,), rhs.dtype)
    for i in range(n):
        scale = diagonal[i]
        previous = rhs[i]
        if i > 0:
            scale -= lower[i] * c[i - 1]
            previous -= lower[i] * x[i - 1]
        c[i] = upper[i] / scale
        x[i] = previous / scale
    for i in range(n - 2, -1, -1):
        x[i] -= c[i] * x[i + 1]
    return x


@hybrid.script
def sparse_matvec(starts: Array, columns: Array, values: Array, x: Array) -> Array:
    y = output_tensor((max(starts.shape[0] - 1, 0),), x.dtype)
    for i in range(y.shape[0]):
        acc = 0
        for k in range(starts[i], starts[i + 1]):
            acc += values[k] * x[columns[k]]
        y[i] = acc
    return y


@hybrid.script
def softmax(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        highest = a[i, 0]
        for j in range(1, a.shape[1]):
            highest = max(highest, a[i, j])
        total = 0.0
        for j in range(a.shape[1]):
            b[i, j] = exp(a[i, j] - highest)
            total += b[i, j]
        for j in range(a.shape[1]):
            b[i, j] /= total
    return b


@hybrid.script
def layer_norm(a: Array, epsilon: Number = 1e-5) -> Array:
    b = output_tensor(a.shape, a.dtype)
    n = a.shape[1]
    for i in range(a.shape[0]):
        mean = 0.0
        for j in range(n):
            mean += a[i, j]
        mean /= n
        variance = 0.0
        for j in range(n):
            variance += (a[i, j] - mean) * (a[i, j] - mean)
        scale = 1 / sqrt(variance / n + epsilon)
        for j in range(n):
            b[i, j] = (a[i, j] - mean) * scale
    return b


@hybrid.script
def power_iteration(a: Array, rounds: Number) -> Array:
    n = a.shape[0]
    x = output_tensor((n,), a.dtype)
    y = allocate((n,), a.dtype)
    for i in range(n):
        x[i] = 1
    for _ in range(rounds):
        norm = 0.0
        for i in range(n):
            y[i] = 0
            for j in range(n):
                y[i] += a[i, j] * x[j]
            norm += y[i] * y[i]
        for i in range(n):
            x[i] = y[i] / sqrt(norm)
    return x


@hybrid.script
def floyd_warshall(distance: Array) -> None:
    n = distance.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = distance[i, k] + distance[k, j]
                if through < distance[i, j]:
                    distance[i, j] = through


def _definite(d: Array) -> Array:
    a = d(d.n, d.n, dtype="float64")
    return (a @ a.T + np.eye(d.n)).astype(d.dtype)


def _dominant(d: Array) -> Array:
    return d.out(d.n, d.n) + 20 * np.eye(d.n, dtype=d.dtype)


CASES = (
    case(
        matmul,
        sweep(lambda d: (d(d.n, 3), d(3, 5)), dtypes=("float64", "float32", "int8", "complex64")),
    ),
    case(matmul_tiled, sweep(lambda d: (d(d.n, 3), d(3, 5)), dtypes=("float32", "int32"))),
    case(matmul_accumulator, sweep(lambda d: (d(d.n, 3), d(3, 5)), dtypes=("float64", "float32"))),
    case(transpose, sweep(lambda d: (d(d.n, 4),), dtypes=("float64", "bool", "int16"))),
    case(outer_product, sweep(lambda d: (d(d.n), d(3)), dtypes=("float64", "int8"))),
    case(
        saxpy, sweep(lambda d: (d.scalar(2.5), d(d.n), d.out(d.n)), dtypes=("float32", "float64"))
    ),
    case(lu, sweep(lambda d: (_dominant(d),), layouts=("C",))),
    case(
        cholesky,
        sweep(lambda d: (_definite(d),), layouts=("C",)),
        sweep(lambda d: (d(d.n, d.n),)),
    ),
    case(forward_substitution, sweep(lambda d: (_dominant(d), d(d.n)))),
    case(thomas, sweep(lambda d: (d(d.n), d(d.n, low=20, high=30), d(d.n), d(d.n)))),
    case(
        sparse_matvec,
        sweep(
            lambda d: (
                np.array([0, 2, 2, 5], np.int32),
                np.array([0, 3, 1, 2, 3], np.int32),
                d(5),
                d(4),
            ),
            dtypes=("float64", "float32", "int64"),
            sizes=(1,),
        ),
    ),
    case(softmax, sweep(lambda d: (d(d.n, 4),)), ulp=64),
    case(layer_norm, sweep(lambda d: (d(d.n, 4),))),
    case(power_iteration, sweep(lambda d: (d(d.n, d.n), 3))),
    case(
        floyd_warshall,
        sweep(lambda d: (d.out(d.n, d.n, low=1, high=50),), dtypes=("int32", "float64")),
    ),
)
