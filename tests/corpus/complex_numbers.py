"""DESIGN 2.1 and 2.3: complex values, .real, .imag, .conjugate(), and the functions they have."""

import numpy as np

from hybridjit import hybrid
from hybridjit.hybrid import (
    complex64,
    cos,
    cosh,
    exp,
    log,
    output_tensor,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)
from tests.corpus.case import COMPLEX, Array, Number, call, case, sweep


@hybrid.script
def complex_arithmetic(a: Array, b: Array) -> Array:
    c = output_tensor((7, a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        c[0, i] = a[i] + b[i]
        c[1, i] = a[i] - b[i]
        c[2, i] = a[i] * b[i]
        c[3, i] = a[i] / b[i]
        c[4, i] = -a[i] * 2
        c[5, i] = a[i] * 0.5 + 1j
        c[6, i] = a[i] if a[i] == b[i] or a[i] != 0 else 1
    return c


@hybrid.script
def complex_parts(a: Array) -> Array:
    b = output_tensor((6, a.shape[0]), "float64")
    for i in range(a.shape[0]):
        b[0, i] = a[i].real
        b[1, i] = a[i].imag
        b[2, i] = a[i].conjugate().imag
        b[3, i] = abs(a[i])
        b[4, i] = (a[i] * a[i].conjugate()).real
        b[5, i] = np.real(a[i]) + np.imag(a[i]) + np.conjugate(a[i]).imag
    return b


@hybrid.script
def complex_functions(a: Array) -> Array:
    b = output_tensor((9, a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        z = a[i] / 4
        b[0, i] = exp(z)
        b[1, i] = log(z)
        b[2, i] = sqrt(z)
        b[3, i] = sin(z)
        b[4, i] = cos(z)
        b[5, i] = tan(z)
        b[6, i] = sinh(z)
        b[7, i] = cosh(z)
        b[8, i] = tanh(z)
    return b


@hybrid.script
def make_complex(a: Array, b: Array) -> Array:
    c = output_tensor((3, a.shape[0]), "complex128")
    for i in range(a.shape[0]):
        c[0, i] = complex(a[i], b[i])
        c[1, i] = complex64(a[i], b[i]) * 3
        c[2, i] = a[i] + b[i] * 1j
    return c


@hybrid.script
def parts_of_reals(a: Array, x: Number) -> Array:
    b = output_tensor((3, a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        b[0, i] = a[i].real
        b[1, i] = a[i].imag
        b[2, i] = a[i].conjugate() + x.real
    return b


@hybrid.script
def complex_scalars(z: Number, w: Number) -> Number:
    return z * w, z.real, w.imag, z == w, abs(z)


@hybrid.script
def complex_power(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = a[i] ** 2
    return b


@hybrid.script
def mandelbrot(width: Number, height: Number, limit: Number) -> Array:
    counts = output_tensor((12, 16), "uint8")
    for y in range(height):
        for x in range(width):
            c = complex(-2.0 + 3.0 * x / width, -1.0 + 2.0 * y / height)
            z = 0j
            n = 0
            while n < limit and z.real * z.real + z.imag * z.imag <= 4.0:
                z = z * z + c
                n += 1
            counts[y, x] = n
    return counts


CASES = (
    case(complex_arithmetic, sweep(lambda d: (d(d.n), d(d.n)), dtypes=COMPLEX)),
    case(complex_parts, sweep(lambda d: (d(d.n),), dtypes=COMPLEX), ulp=4),
    case(complex_functions, sweep(lambda d: (d(d.n),), dtypes=COMPLEX), ulp=4),
    case(make_complex, sweep(lambda d: (d(d.n), d(d.n)), dtypes=("float64", "float32", "int8"))),
    case(parts_of_reals, sweep(lambda d: (d(d.n), 2), dtypes=("float64", "float32", "int8"))),
    case(
        complex_scalars,
        *(
            call(z, w)
            for z in (1 + 2j, np.complex64(2 - 1j))
            for w in (0.5j, np.complex128(3 + 1j))
        ),
    ),
    case(complex_power, sweep(lambda d: (d(d.n),), dtypes=COMPLEX), ulp=4),
    case(mandelbrot, call(16, 12, 20), call(0, 0, 5), call(1, 1, 3)),
)
