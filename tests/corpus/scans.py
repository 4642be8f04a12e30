"""DESIGN 2.6: loops that carry state from one step to the next."""

from hybridjit import hybrid
from hybridjit.hybrid import allocate, output_tensor, scan
from tests.corpus.case import REALS, Array, Number, call, case, sweep


@hybrid.script
def prefix_sum(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    for t in scan(0, a.shape[0]):
        b[t] = a[t] if t == 0 else b[t - 1] + a[t]
    return b


@hybrid.script
def scan_rows(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    for j in range(a.shape[1]):
        b[0, j] = a[0, j]
    for t in scan(1, a.shape[0]):
        for j in range(a.shape[1]):
            b[t, j] = 0.5 * b[t - 1, j] + a[t, j]
    return b


@hybrid.script
def scan_backwards(a: Array) -> Array:
    b = output_tensor((a.shape[0] + 1,), a.dtype)
    for t in scan(a.shape[0] - 1, -1, -1):
        b[t] = b[t + 1] * 2 + a[t]
    return b


@hybrid.script
def fibonacci(n: Number) -> Array:
    f = output_tensor((20,), "int64")
    f[1] = 1
    for t in scan(2, n):
        f[t] = f[t - 1] + f[t - 2]
    return f


@hybrid.script
def two_states(a: Array) -> Array:
    out = output_tensor(a.shape, a.dtype)
    level = 0.0
    trend = 0.0
    for t in scan(0, a.shape[0]):
        previous = level
        level = 0.5 * a[t] + 0.5 * (level + trend)
        trend = 0.25 * (level - previous) + 0.75 * trend
        out[t] = level + trend
    return out


@hybrid.script
def recurrent_cell(x: Array, w: Array) -> Array:
    h = output_tensor((x.shape[0] + 1, w.shape[0]), x.dtype)
    for t in scan(x.shape[0]):
        s = allocate((w.shape[0],), x.dtype)
        for i in range(w.shape[0]):
            for k in range(w.shape[0]):
                s[i] += w[i, k] * h[t, k]
        for i in range(w.shape[0]):
            h[t + 1, i] = max(s[i] + x[t, i], 0)
    return h


CASES = (
    case(prefix_sum, sweep(lambda d: (d(d.n),), dtypes=REALS)),
    case(scan_rows, sweep(lambda d: (d(d.n, 3),), sizes=(7, 1, 2))),
    case(scan_backwards, sweep(lambda d: (d(d.n),), dtypes=REALS)),
    case(fibonacci, call(0), call(2), call(20)),
    case(two_states, sweep(lambda d: (d(d.n),))),
    case(recurrent_cell, sweep(lambda d: (d(d.n, 3), d(3, 3)))),
)
