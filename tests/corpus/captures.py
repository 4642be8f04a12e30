"""DESIGN 2.1: captured globals and closure values are constants of the specialisation."""

import enum
import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from hybridjit import Kernel, hybrid
from hybridjit.hybrid import allocate, output_tensor
from tests.corpus.case import Array, Number, case, sweep

FACTOR = 3
RATIO = 0.25
TYPED = np.float32(0.1)
UNIT = 1j
FLAG = True
DTYPE = "float32"
ELEMENT = np.dtype("int16")
OFFSETS = (-1, 0, 1)
WEIGHTS = np.array([[0.25, 0.5], [1.0, -2.0]])
TABLE = np.array([3, 1, 2], np.int8)
CONFIG = SimpleNamespace(depth=2, scale=1.5)


class Mode(enum.IntEnum):
    """An enumeration: its members are numbers."""

    UP = 1
    DOWN = 2


@hybrid.script
def capture_numbers(a: Array) -> Array:
    b = output_tensor(a.shape, "complex128")
    for i in range(a.shape[0]):
        b[i] = a[i] * FACTOR + RATIO * TYPED + UNIT
        if FLAG:
            b[i] += math.pi - np.e + math.inf * 0
    return b


@hybrid.script
def capture_dtypes(a: Array) -> Array:
    b = output_tensor(a.shape, DTYPE)
    c = allocate(a.shape, ELEMENT)
    for i in range(a.shape[0]):
        c[i] = i + 1
        b[i] = a[i] * c[i]
    return b


@hybrid.script
def capture_tuple(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    for offset in OFFSETS:
        for i in range(a.shape[0]):
            if 0 <= i + offset < a.shape[0]:
                b[i] += a[i + offset]
    return b


@hybrid.script
def capture_array(a: Array) -> Array:
    b = output_tensor(a.shape, "float64")
    for i in range(a.shape[0]):
        b[i] = a[i] * WEIGHTS[i % 2, (i + 1) % 2] + TABLE[i % TABLE.shape[0]]
    return b


@hybrid.script
def capture_attributes(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = a[i] * CONFIG.scale
        for _ in range(CONFIG.depth):
            b[i] += Mode.DOWN.value
    return b


def make_scaled(factor: Number, bias: Array) -> Kernel[..., Any]:
    """A script that takes a number and an array from the function around it."""

    @hybrid.script
    def capture_closure(a: Array) -> Array:
        b = output_tensor(a.shape, a.dtype)
        for i in range(a.shape[0]):
            b[i] = a[i] * factor + bias[i % 2]
        return b

    return capture_closure


CASES = (
    case(capture_numbers, sweep(lambda d: (d(d.n),), dtypes=("float64", "float32", "int8"))),
    case(capture_dtypes, sweep(lambda d: (d(d.n),), dtypes=("float64", "float32"))),
    case(capture_tuple, sweep(lambda d: (d(d.n),), dtypes=("float64", "int32"))),
    case(capture_array, sweep(lambda d: (d(d.n),), dtypes=("float64", "float32", "int8"))),
    case(capture_attributes, sweep(lambda d: (d(d.n),))),
    case(make_scaled(2, np.array([1.0, -1.0], np.float32)), sweep(lambda d: (d(d.n),))),
)
