"""DESIGN 2.3: types of scalars: weak and typed, promotion, the join of a variable."""

import numpy as np

from hybridjit import hybrid
from hybridjit.hybrid import bfloat16, float16, float64, output_tensor
from tests.corpus.case import FLOATS, INTS, Array, Number, call, case, sweep


@hybrid.script
def weak_accumulator(a: Array) -> Number:
    acc = 0.0
    for i in range(a.shape[0]):
        acc += a[i]
    return acc


@hybrid.script
def weak_integer_accumulator(a: Array) -> Number:
    acc = 0
    for i in range(a.shape[0]):
        acc += a[i]
    return acc


@hybrid.script
def promote_pair(a: Array, b: Array) -> Array:
    c = output_tensor((6, a.shape[0]), "float64")
    for i in range(a.shape[0]):
        c[0, i] = a[i] + b[i]
        c[1, i] = a[i] * b[i]
        c[2, i] = a[i] - 2
        c[3, i] = b[i] * 0.5
        c[4, i] = a[i] / b[i]
        c[5, i] = a[i] < b[i]
    return c


@hybrid.script
def scalar_arguments(x: Number, y: Number) -> Number:
    return x + y, x * y, x - y, x == y, -x


@hybrid.script
def scalar_order(x: Number, y: Number) -> Number:
    return x < y, x <= y, x > y, x >= y, x != y


@hybrid.script
def weak_literals(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = (a[i] * 3 + i) * (i + 1) - len(a)
    return b


@hybrid.script
def join_of_branches(a: Array, n: Number) -> Array:
    b = output_tensor((2,), "float64")
    x = 1
    if n > 2:
        x = a[0]
    b[0] = x * 3
    y = 0
    for i in range(a.shape[0]):
        y = y + a[i] * 0.25
    b[1] = y
    return b


@hybrid.script
def small_floats(a: Array) -> Array:
    b = output_tensor(a.shape, "float16")
    c = float16(0.1)
    for i in range(a.shape[0]):
        b[i] = a[i] * c + float16(1.5)
        b[i] = b[i] - b[i] * b[i]
    return b


@hybrid.script
def brain_floats(a: Array) -> Array:
    b = output_tensor(a.shape, "bfloat16")
    c = bfloat16(0.1)
    for i in range(a.shape[0]):
        b[i] = a[i] * c + bfloat16(1.5)
        b[i] = b[i] - b[i] * b[i]
    return b


@hybrid.script
def zero_dimensional(a: Array, b: Array) -> None:
    b[()] = a[()] + 1
    b[()] *= 2


@hybrid.script
def shape_arithmetic(a: Array) -> Number:
    return a.shape[0] * 2 + a.ndim, a.size, len(a), a.shape[-1], a.dtype.itemsize


@hybrid.script
def numpy_literals(a: Array) -> Array:
    b = output_tensor(a.shape, "float64")
    for i in range(a.shape[0]):
        b[i] = a[i] * np.float32(0.1) + np.int8(3) + float64(0.1)
    return b


@hybrid.script
def numeric_edges() -> Number:
    big = 1e308
    return big * 10, -(big * 10), 0.0 * -1, 5e-324 / 2, 0x7FFFFFFFFFFFFFFF, 1_000


@hybrid.script
def infinities(a: Array) -> Number:
    lowest = float("inf")
    highest = -np.inf
    for i in range(a.shape[0]):
        if a[i] < lowest:
            lowest = a[i]
        if a[i] > highest:
            highest = a[i]
    return lowest, highest


@hybrid.script
def typed_indices(a: Array, index: Array) -> Array:
    b = output_tensor(index.shape, a.dtype)
    for i in range(index.shape[0]):
        b[i] = a[index[i]] + a[-1 - int(index[i])]
    return b


@hybrid.script
def partial_index(a: Array) -> Array:
    b = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        row = a[i]
        for j in range(row.shape[0]):
            b[i] += row[j] + a[i][j] * a[-1][j]
    return b


@hybrid.script
def item_and_astype(a: Array) -> Array:
    b = output_tensor((2, a.shape[0]), "float64")
    for i in range(a.shape[0]):
        b[0, i] = a[i].item() * 0.1
        b[1, i] = a[i].astype(np.float32) * 0.1
    return b


_PAIRS = [
    ("int8", "int8"),
    ("int8", "uint8"),
    ("int32", "float32"),
    ("uint32", "int32"),
    ("uint64", "int64"),
    ("float16", "int16"),
    ("float32", "float64"),
    ("bool", "float32"),
    ("bool", "int8"),
]
_SCALARS = [True, 3, 2.5, np.int8(4), np.uint16(9), np.float32(0.1), np.float64(0.1), np.int64(-7)]
# Python adds a complex and a np.float64 by itself, because a np.float64 is a float, and gives a
# Python complex; with any other NumPy scalar, NumPy adds. So np.float64 stands first.
_COMPLEX = [1 + 2j, np.complex64(2 - 1j)]

CASES = (
    case(weak_accumulator, sweep(lambda d: (d(d.n),), dtypes=(*FLOATS, "int32")), joined=True),
    case(
        weak_integer_accumulator, sweep(lambda d: (d(d.n),), dtypes=(*INTS, *FLOATS)), joined=True
    ),
    case(
        promote_pair,
        *(
            sweep(
                lambda d, other=right: (d(d.n), d(d.n, dtype=other)),
                dtypes=(left,),
                layouts=("C",),
                sizes=(7,),
            )
            for left, right in _PAIRS
        ),
    ),
    case(
        scalar_arguments,
        *(call(x, y) for x in _SCALARS for y in _SCALARS if x is not True or y is not True),
        *(call(x, y) for x in _SCALARS for y in _COMPLEX),
        *(call(x, y) for x in _COMPLEX for y in (True, 3, 2.5, np.float32(0.1), *_COMPLEX)),
    ),
    case(scalar_order, *(call(x, y) for x in _SCALARS for y in _SCALARS)),
    case(weak_literals, sweep(lambda d: (d(d.n),), dtypes=(*INTS, *FLOATS, "complex64"))),
    case(
        join_of_branches,
        sweep(lambda d: (d(d.n), 3), dtypes=("float64", "float32", "int16"), sizes=(7, 1)),
    ),
    case(small_floats, sweep(lambda d: (d(d.n),), dtypes=("float16",))),
    case(brain_floats, sweep(lambda d: (d(d.n),), dtypes=("bfloat16",))),
    case(
        zero_dimensional,
        sweep(
            lambda d: (d(), d.out()), dtypes=("float64", "int8", "bool", "complex64"), sizes=(1,)
        ),
    ),
    case(shape_arithmetic, sweep(lambda d: (d(d.n, 3),))),
    case(numpy_literals, sweep(lambda d: (d(d.n),), dtypes=("float32", "int8", "float64"))),
    case(numeric_edges, call()),
    case(infinities, sweep(lambda d: (d(d.n),), dtypes=FLOATS), joined=True),
    case(
        typed_indices,
        *(
            sweep(lambda d, t=t: (d(5), d(d.n, low=0, high=5, dtype=t)), dtypes=("float32",))
            for t in ("int64", "uint8", "int32", "uint64")
        ),
        sweep(lambda d: (d(5), d(d.n, dtype="int64"))),
    ),
    case(partial_index, sweep(lambda d: (d(d.n, 3),))),
    case(item_and_astype, sweep(lambda d: (d(d.n),), dtypes=("float32", "int16", "bool"))),
)
