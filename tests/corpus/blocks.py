"""DESIGN 3: computations named by hand, with iterations bound by the loops around them."""

from hybridjit import hybrid
from hybridjit.hybrid import block, output_tensor, reduce, scan, spatial
from tests.corpus.case import Array, case, sweep


@hybrid.script
def named_block(a: Array, b: Array) -> Array:
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                with block("multiply"):
                    c[i, j] += a[i, k] * b[k, j]
    return c


@hybrid.script
def explicit_block(a: Array) -> Array:
    c = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            with block("rows", i, reduce(k)):
                c[i] += a[i, k]
    return c


@hybrid.script
def bound_block(a: Array) -> Array:
    c = output_tensor((12,), a.dtype)
    for io in range(3):
        for ii in range(4):
            with block("tile", spatial(io * 4 + ii, 0, 12)) as (i,):
                if i < a.shape[0]:
                    c[i] = a[i] + i
    return c


@hybrid.script
def scan_block(a: Array) -> Array:
    c = output_tensor((a.shape[0] + 1,), a.dtype)
    for t in scan(a.shape[0]):
        with block("step", scan(t)):
            c[t + 1] = c[t] + a[t]
    return c


@hybrid.script
def block_around_loop(a: Array) -> Array:
    c = output_tensor(a.shape, a.dtype)
    with block("whole"):
        for i in range(a.shape[0]):
            c[i] = a[i] * 2
    return c


@hybrid.script
def loop_in_block(a: Array) -> Array:
    c = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        with block("row"):
            c[i] = 1
            for j in range(a.shape[1]):
                c[i] += a[i, j]
    return c


@hybrid.script
def block_in_block(a: Array) -> Array:
    c = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        with block("row", spatial(i)):
            c[i] = 1
            for j in range(a.shape[1]):
                with block("sum", spatial(i, 0, a.shape[0]), reduce(j)) as (x, y):
                    c[x] += a[i, y]
    return c


CASES = (
    case(loop_in_block, sweep(lambda d: (d(d.n, 3),))),
    case(block_in_block, sweep(lambda d: (d(d.n, 3),))),
    case(named_block, sweep(lambda d: (d(d.n, 3), d(3, 2)))),
    case(explicit_block, sweep(lambda d: (d(d.n, 3),))),
    case(bound_block, sweep(lambda d: (d(d.n),))),
    case(scan_block, sweep(lambda d: (d(d.n),), dtypes=("int64", "float32"))),
    case(block_around_loop, sweep(lambda d: (d(d.n),))),
)
