"""Errors of a running kernel, each at the line of the script."""

import numpy as np

from hybridjit.errors import (
    BoundsError,
    DivisionByZero,
    NarrowingError,
    UnboundVariable,
    UninitializedRead,
)
from tests.errors.case import BYTES, INDICES, MATRIX, VECTOR, Cases

cases = Cases()


@cases.wrong(BoundsError, VECTOR)
def index_past_the_end(a):
    for i in range(8):
        a[i] = a[i + 1]


@cases.wrong(BoundsError, VECTOR, 9)
def index_too_negative(a, n):
    a[-n] = 1.0


@cases.wrong(BoundsError, VECTOR)
def constant_index(a):
    return a[8]


@cases.wrong(BoundsError, MATRIX)
def second_axis(m):
    for i in range(4):
        for j in range(5):
            m[i, j] = 0.0


@cases.wrong(BoundsError, np.zeros(0))
def empty_array(a):
    return a[0]


def read_at(a, i):
    return a[i + 8]


@cases.wrong(BoundsError, VECTOR)
def index_in_called_function(a):
    for i in range(2):
        a[i] = read_at(a, i)


@cases.wrong(BoundsError, VECTOR)
def index_in_parallel(a):
    for i in parallel(9):
        a[i] = 0.0


@cases.wrong(BoundsError, VECTOR, INDICES)
def indirect_index(a, idx):
    for i in range(8):
        a[idx[i] + 1] = 0.0


@cases.wrong(DivisionByZero, INDICES)
def floor_division(a):
    for i in range(8):
        a[i] = 10 // a[i]


@cases.wrong(DivisionByZero, INDICES)
def remainder(a):
    return 10 % a[0]


@cases.wrong(DivisionByZero, VECTOR, 0)
def python_division(a, n):
    return 1 // n


@cases.wrong(DivisionByZero, VECTOR)
def constant_division(a):
    return 1 // 0


@cases.wrong(NarrowingError, BYTES, 300)
def narrow_argument(a, n):
    a[0] = n


@cases.wrong(NarrowingError, BYTES)
def narrow_loop_variable(a):
    for i in range(1000):
        a[i % 8] = i


@cases.wrong(NarrowingError, VECTOR, 300)
def narrow_cast(a, n):
    return int8(n)


@cases.wrong(NarrowingError, VECTOR, np.array([2**63], np.uint64))
def huge_unsigned_index(a, u):
    return a[u[0]]


@cases.wrong(UnboundVariable, VECTOR)
def assigned_in_one_branch(a):
    if a[0] > 100:
        x = 1.0
    return x


@cases.wrong(UnboundVariable, np.zeros(0))
def loop_that_never_runs(a):
    for i in range(len(a)):
        last = a[i]
    return last


@cases.wrong(UnboundVariable, VECTOR)
def only_declared(a):
    x: float32
    if a[0] > 100:
        x = 1.0
    return x


@cases.wrong(UninitializedRead, VECTOR)
def scratch_not_written(a):
    t = allocate(8, zero=False)
    for i in range(4):
        t[i] = a[i]
    for i in range(8):
        a[i] = t[i]
