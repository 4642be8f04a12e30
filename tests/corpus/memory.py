"""DESIGN 2: allocate, output_tensor, constant_array; scopes, shapes, zero filling, indexing."""

from hybridjit import hybrid
from hybridjit.hybrid import allocate, ceil_div, constant_array, output_tensor
from tests.corpus.case import INTS, REALS, Array, Number, call, case, sweep


@hybrid.script
def scratch_rows(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        row = allocate((a.shape[1],), a.dtype, "local")
        for j in range(a.shape[1]):
            row[j] += a[i, j]
        for j in range(a.shape[1]):
            b[i, j] = row[a.shape[1] - 1 - j]
    return b


@hybrid.script
def scratch_unset(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    tmp = allocate(a.shape, a.dtype, "shared", zero=False)
    for i in range(a.shape[0]):
        tmp[i] = a[i]
    for i in range(a.shape[0]):
        b[i] = tmp[i]
    return b


@hybrid.script
def default_types(n: Number) -> Array:
    b = output_tensor((3, 2))
    c = allocate(4)
    for i in range(4):
        c[i] = i + n
    b[0, 0] = c[3] / 3
    return b


@hybrid.script
def shape_of_shapes(a: Array, b: Array) -> Array:
    c = output_tensor(a.shape + b.shape, "int64")
    d = allocate((2,) * 3, "int64")
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            c[i, j] = a[i] * b[j] + d[1, 1, 1] + c.shape[1]
    return c


@hybrid.script
def padded(a: Array) -> Array:
    n = a.shape[0]
    b = output_tensor((ceil_div(n, 4) * 4,), a.dtype)
    for i in range(n):
        b[i] = a[i]
    for i in range(n, b.shape[0]):
        b[i] = 1
    return b


@hybrid.script
def scratch_size(a: Array) -> Number:
    total = 0
    for i in range(1, a.shape[0] + 1):
        tmp = allocate((i, 2), "int32")
        for j in range(i):
            tmp[j, 1] = j
            total += tmp[j, 0] + tmp[j, 1]
    return total


@hybrid.script
def lookup(a: Array) -> Array:
    b = output_tensor(a.shape, "int16")
    table = constant_array([[1, 2, 3], [4, 5, 6]], "int16")
    for i in range(a.shape[0]):
        b[i] = table[i % 2, a[i] % 3]
    return b


@hybrid.script
def negative_indices(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[-1 - i] = a[i - a.shape[0]]
    b[-1] = a[0]
    return b


@hybrid.script
def out_of_bounds(a: Array, i: Number) -> Number:
    a[0] = 7
    return a[i] + a[-i]


@hybrid.script
def store_out_of_bounds(a: Array, n: Number) -> None:
    for i in range(n):
        a[i, 0] = i


@hybrid.script
def same_array_twice(a: Array, b: Array) -> None:
    for i in range(1, a.shape[0]):
        a[i] = b[i - 1] + 1


@hybrid.script
def rank_four(a: Array) -> Array:
    b = output_tensor((a.shape[3], a.shape[2], a.shape[1], a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                for m in range(a.shape[3]):
                    b[m, k, j, i] = a[i, j, k, m]
    return b


@hybrid.script
def return_argument(a: Array) -> Array:
    for i in range(a.shape[0]):
        a[i] *= 2
    return a


def _overlapping(d: Array) -> tuple[Array, Array]:
    whole = d.out(d.n + 1)
    return whole[1:], whole[:-1]


def _same(d: Array) -> tuple[Array, Array]:
    whole = d.out(d.n)
    return whole, whole


CASES = (
    case(scratch_rows, sweep(lambda d: (d(d.n, 3),), dtypes=REALS)),
    case(scratch_unset, sweep(lambda d: (d(d.n),), dtypes=REALS)),
    case(default_types, call(0), call(2.5)),
    case(shape_of_shapes, sweep(lambda d: (d(d.n), d(2)), dtypes=("int64", "uint8"))),
    case(padded, sweep(lambda d: (d(d.n),), dtypes=REALS)),
    case(scratch_size, sweep(lambda d: (d(d.n),)), joined=True),
    case(lookup, sweep(lambda d: (d(d.n),), dtypes=INTS)),
    case(negative_indices, sweep(lambda d: (d(d.n),), sizes=(7, 1, 2))),
    case(out_of_bounds, *(sweep(lambda d, i=i: (d.out(d.n), i)) for i in (0, 2, -3, 7))),
    case(store_out_of_bounds, sweep(lambda d: (d.out(d.n, 2), 4))),
    case(
        same_array_twice,
        sweep(lambda d: (d.out(d.n), d(d.n))),
        sweep(_same),
        sweep(_overlapping),
    ),
    case(rank_four, sweep(lambda d: (d(2, d.n, 1, 3),), dtypes=("float64", "bool"))),
    case(return_argument, sweep(lambda d: (d.out(d.n),), dtypes=("float64", "int8"))),
)
