"""DESIGN 2.3 and 2.4: every cast, what it does to values that do not fit, weak ints checked."""

import numpy as np

from hybridjit import hybrid
from hybridjit.hybrid import (
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    output_tensor,
    uint8,
    uint16,
    uint32,
    uint64,
)
from tests.corpus.case import INTS, REALS, Array, Number, call, case, sweep


@hybrid.script
def cast_integers(a: Array) -> Array:
    b = output_tensor((8, a.shape[0]), "int64")
    for i in range(a.shape[0]):
        b[0, i] = int8(a[i])
        b[1, i] = int16(a[i])
        b[2, i] = int32(a[i])
        b[3, i] = int64(a[i])
        b[4, i] = uint8(a[i])
        b[5, i] = uint16(a[i])
        b[6, i] = uint32(a[i])
        b[7, i] = uint64(a[i]) % uint64(1 << 40)
    return b


@hybrid.script
def cast_floats(a: Array) -> Array:
    b = output_tensor((4, a.shape[0]), "float64")
    for i in range(a.shape[0]):
        b[0, i] = float16(a[i])
        b[1, i] = float32(a[i])
        b[2, i] = float64(a[i])
        b[3, i] = float32(bfloat16(a[i]))
    return b


@hybrid.script
def cast_complex(a: Array) -> Array:
    b = output_tensor((3, a.shape[0]), "complex128")
    for i in range(a.shape[0]):
        b[0, i] = complex64(a[i])
        b[1, i] = complex128(a[i])
        b[2, i] = complex(a[i]) * 2
    return b


@hybrid.script
def cast_python(a: Array) -> Array:
    b = output_tensor((4, a.shape[0]), "float64")
    for i in range(a.shape[0]):
        b[0, i] = int(a[i]) * 2
        b[1, i] = float(a[i]) / 3
        b[2, i] = bool(a[i]) + (bool_(a[i]) ^ True)
        b[3, i] = np.int32(a[i]) + np.float32(a[i])
    return b


@hybrid.script
def cast_by_store(a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        b[i] = a[i]


@hybrid.script
def cast_saturates(a: Array) -> Array:
    b = output_tensor((4, a.shape[0]), "int64")
    for i in range(a.shape[0]):
        b[0, i] = int8(a[i])
        b[1, i] = uint8(a[i])
        b[2, i] = int32(a[i])
        b[3, i] = int64(a[i])
    return b


@hybrid.script
def store_weak(a: Array, x: Number) -> None:
    for i in range(a.shape[0]):
        a[i] = x + i


@hybrid.script
def cast_weak(x: Number) -> Number:
    return int8(x), uint16(x)


@hybrid.script
def cast_unchecked(x: Number) -> Number:
    return uint8(x, checked=False), int64(int32(x, checked=False))


@hybrid.script
def add_weak(a: Array, x: Number) -> None:
    for i in range(a.shape[0]):
        a[i] = a[i] + x


_EXTREME = np.array([0.0, -0.0, 1.9, -1.9, 300.7, -300.7, 1e10, -1e10, 1e300, np.inf, -np.inf])

CASES = (
    case(
        cast_integers,
        sweep(lambda d: (d(d.n, low=-300, high=300),), dtypes=(*INTS, "bool")),
        sweep(lambda d: (d(d.n),), dtypes=("float64", "float16")),
    ),
    case(cast_floats, sweep(lambda d: (d(d.n),), dtypes=(*REALS, "bool", "uint64"))),
    case(cast_complex, sweep(lambda d: (d(d.n),), dtypes=(*REALS, "bool", "complex64"))),
    case(cast_python, sweep(lambda d: (d(d.n),), dtypes=(*REALS, "bool"))),
    case(
        cast_by_store,
        *(
            sweep(lambda d, to=to: (d(d.n, low=0), d.out(d.n, dtype=to)), dtypes=(*REALS, "bool"))
            for to in ("float32", "int8", "uint16", "bool", "complex64", "float16")
        ),
    ),
    case(
        cast_saturates,
        call(_EXTREME),
        call(np.append(_EXTREME, np.nan)),
        call(_EXTREME[:7].astype(np.float32)),
    ),
    case(
        store_weak,
        *(
            sweep(lambda d, x=x: (d.out(d.n), x), dtypes=("int8", "uint8", "int64", "float32"))
            for x in (3, -2, 125, 254)
        ),
    ),
    case(cast_weak, call(5), call(127), call(128), call(-1), call(np.int64(300)), call(2.5)),
    case(cast_unchecked, call(5), call(-1), call(1 << 40)),
    case(
        add_weak,
        *(
            sweep(lambda d, x=x: (d.out(d.n), x), dtypes=("int8", "uint8", "uint32"))
            for x in (100, 200, -1)
        ),
    ),
)
