"""DESIGN 2.4: integers wrap, floor // and %, shifts past the width, bits, division by zero."""

import numpy as np

from hybridjit import hybrid
from hybridjit.hybrid import (
    ceil_div,
    clz,
    dot_bytes,
    output_tensor,
    popcount,
    uint8,
    uint16,
    uint32,
    uint64,
)
from tests.corpus.case import INTS, Array, Number, call, case, sweep


@hybrid.script
def wrapping(a: Array, b: Array) -> Array:
    c = output_tensor((5, a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        c[0, i] = a[i] + b[i]
        c[1, i] = a[i] - b[i]
        c[2, i] = a[i] * b[i]
        c[3, i] = -a[i]
        c[4, i] = abs(a[i])
    return c


@hybrid.script
def floor_division(a: Array, b: Array) -> Array:
    c = output_tensor((4, a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        if b[i] != 0:
            c[0, i] = a[i] // b[i]
            c[1, i] = a[i] % b[i]
            c[2, i] = np.fmod(a[i], b[i])
            c[3, i] = ceil_div(a[i], b[i])
    return c


@hybrid.script
def shifts(a: Array, s: Array) -> Array:
    c = output_tensor((4, a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        c[0, i] = a[i] << s[i]
        c[1, i] = a[i] >> s[i]
        c[2, i] = a[i] << 3
        c[3, i] = np.left_shift(a[i], 1) + np.right_shift(a[i], 2)
    return c


@hybrid.script
def bit_tricks(a: Array) -> Array:
    c = output_tensor((7, a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        c[0, i] = popcount(a[i])
        c[1, i] = clz(a[i])
        c[2, i] = ~a[i]
        c[3, i] = a[i] & (a[i] - 1)
        c[4, i] = a[i] | 5
        c[5, i] = a[i] ^ (a[i] >> 1)
        c[6, i] = np.bitwise_count(a[i])
    return c


@hybrid.script
def products_of_bytes(a: Array, b: Array) -> Array:
    c = output_tensor((2,), "int32")
    for i in range(a.shape[0]):
        c[0] = c[0] + dot_bytes(a[i], b[i])
        c[1] = dot_bytes(a[i], c[0])
    return c


@hybrid.script
def integer_power(a: Array) -> Array:
    c = output_tensor((3, a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        c[0, i] = a[i] ** 2
        c[1, i] = a[i] ** 5
        c[2, i] = pow(a[i], 3)
    return c


@hybrid.script
def negative_power(x: Number, n: Number) -> Number:
    return np.int64(x) ** np.int64(n)  # pyright: ignore[reportUnknownVariableType]


@hybrid.script
def python_integers(x: Number, y: Number) -> Number:
    return x // y, x % y, -x // y, -x % y, x & y, x | y, x ^ y, ~x, x << 2, x >> 1


@hybrid.script
def python_division(x: Number, y: Number) -> Number:
    return x // y


@hybrid.script
def divide(a: Array, b: Array) -> Array:
    c = output_tensor((2, a.shape[0]), "float64")
    for i in range(a.shape[0]):
        c[0, i] = a[i] / b[i]
        c[1, i] = a[i] / 2
    return c


@hybrid.script
def float_division(a: Array, b: Array) -> Array:
    c = output_tensor((4, a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        c[0, i] = a[i] // b[i]
        c[1, i] = a[i] % b[i]
        c[2, i] = a[i] / b[i]
        c[3, i] = np.fmod(a[i], b[i])
    return c


@hybrid.script
def compare_mixed(a: Array, b: Array) -> Array:
    c = output_tensor((4, a.shape[0]), "bool")
    for i in range(a.shape[0]):
        c[0, i] = a[i] < b[i]
        c[1, i] = a[i] == b[i]
        c[2, i] = a[i] >= -1
        c[3, i] = b[i] < 300
    return c


@hybrid.script
def linear_congruential(state: Array, n: Number) -> Array:
    numbers = output_tensor((8,), "uint32")
    for i in range(n):
        state[0] = state[0] * np.uint32(1664525) + np.uint32(1013904223)
        numbers[i] = state[0] >> 4
    return numbers


@hybrid.script
def crc32(data: Array) -> Number:
    crc = uint32(0xFFFFFFFF)
    for i in range(data.shape[0]):
        crc = crc ^ uint32(data[i])
        for _ in range(8):
            odd = crc & 1
            crc = crc >> 1
            if odd:
                crc ^= uint32(0xEDB88320)
    return ~crc


@hybrid.script
def fnv_hash(data: Array) -> Number:
    h = uint64(0xCBF29CE484222325)
    for i in range(data.shape[0]):
        h = (h ^ uint64(data[i])) * uint64(0x100000001B3)
    return h


@hybrid.script
def xorshift(n: Number) -> Array:
    out = output_tensor((6,), "uint64")
    x = uint64(88172645463325252)
    for i in range(n):
        x ^= x << 13
        x ^= x >> 7
        x ^= x << 17
        out[i] = x
    return out


@hybrid.script
def gcd(a: Array, b: Array) -> Array:
    c = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        x = abs(a[i])
        y = abs(b[i])
        while y != 0:
            x, y = y, x % y
        c[i] = x
    return c


@hybrid.script
def saturating_add(a: Array, b: Array) -> Array:
    c = output_tensor(a.shape, "uint8")
    for i in range(a.shape[0]):
        s = np.uint16(a[i]) + uint16(b[i])
        c[i] = uint8(255) if s > 255 else uint8(s)
    return c


def _extremes(d: Array) -> Array:
    info = np.iinfo(d.dtype)
    values = np.array([info.min, info.max, 0, 1, info.max // 2, info.min + 1, 3], d.dtype)
    return values[: d.n]


CASES = (
    case(
        wrapping,
        sweep(lambda d: (_extremes(d), d(d.n)), dtypes=(*INTS, "uint64", "int16"), layouts=("C",)),
        sweep(lambda d: (d(d.n), d(d.n)), dtypes=INTS),
    ),
    case(
        floor_division,
        sweep(lambda d: (d(d.n, low=-20, high=20), d(d.n, low=-4, high=5)), dtypes=INTS),
        sweep(lambda d: (_extremes(d), -1 * (_extremes(d) // 2 * 0 + 1)), dtypes=("int8", "int64")),
    ),
    case(shifts, sweep(lambda d: (d(d.n), d(d.n, low=0, high=70)), dtypes=INTS)),
    case(bit_tricks, sweep(lambda d: (_extremes(d),), dtypes=(*INTS, "uint64", "int16"))),
    case(
        products_of_bytes,
        sweep(lambda d: (_extremes(d), d(d.n)), dtypes=("int32",), layouts=("C",)),
        call(*np.array([[-(2**31), 2**31 - 1, -1], [-0x7F7F7F80, 5, 0x01020304]], np.int32)),
    ),
    case(integer_power, sweep(lambda d: (d(d.n),), dtypes=INTS)),
    case(negative_power, call(3, 4), call(2, -1)),
    case(python_integers, call(17, 5), call(-17, 5), call(17, -5), call(5, 0)),
    case(python_division, call(17, 5), call(5, 0), call(2.5, 0.5), call(-7, 2.0)),
    case(divide, sweep(lambda d: (d(d.n), d(d.n)), dtypes=(*INTS, "float32", "float16"))),
    case(
        float_division,
        sweep(lambda d: (d(d.n), d(d.n, low=-3, high=4)), dtypes=("float64", "float32", "float16")),
        call(
            np.array([1.0, -1.0, 0.0, -0.0, np.inf, np.nan, 5.5, -5.5, 1.0]),
            np.array([0.0, 0.0, 0.0, 2.0, 2.0, 1.0, np.inf, np.inf, -np.inf]),
        ),
    ),
    case(
        compare_mixed,
        *(
            sweep(lambda d, t=t: (d(d.n), d(d.n, dtype=t)), dtypes=("int8", "uint64", "int64"))
            for t in ("uint8", "int64", "uint64", "float32")
        ),
    ),
    case(linear_congruential, call(np.array([1], np.uint32), 8), call(np.array([7], np.uint32), 0)),
    case(crc32, sweep(lambda d: (d(d.n, high=255),), dtypes=("uint8",))),
    case(fnv_hash, sweep(lambda d: (d(d.n, high=255),), dtypes=("uint8", "int8"))),
    case(xorshift, call(0), call(6)),
    case(
        gcd, sweep(lambda d: (d(d.n, high=99), d(d.n, high=99)), dtypes=("int64", "uint8", "int16"))
    ),
    case(saturating_add, sweep(lambda d: (d(d.n, high=255), d(d.n, high=255)), dtypes=("uint8",))),
)
