"""Loops: what cannot be looped over, and what cannot leave a loop."""

import numpy as np

from hybridjit.errors import ParseError, TypeMismatch
from tests.errors.case import MATRIX, VECTOR, Cases

cases = Cases()


class numba:  # what `import numba` would give
    class prange:
        def __new__(cls, *args):
            return range(*args)


@cases.wrong(ParseError, VECTOR)
def over_prange(a):
    for i in numba.prange(8):
        a[i] = 0.0


@cases.right(VECTOR, code="parallel(8)")
def over_prange(a):
    for i in parallel(8):
        a[i] = 0.0


@cases.wrong(ParseError, VECTOR)
def over_items(a):
    for i in {1: 2}.items():
        a[0] = 1.0


@cases.wrong(ParseError, VECTOR)
def over_number(a):
    for i in 8:
        a[i] = 0.0


@cases.right(VECTOR, code="for i in range(8):")
def over_number(a):
    for i in range(8):
        a[i] = 0.0


@cases.wrong(ParseError, VECTOR)
def over_length(a):
    for i in len(a):
        a[i] = 0.0


@cases.right(VECTOR, code="for i in range(len(a)):")
def over_length(a):
    for i in range(len(a)):
        a[i] = 0.0


@cases.wrong(ParseError, VECTOR)
def over_string(a):
    for c in "abc":
        a[0] = 1.0


@cases.right(np.frombuffer(b"abc", np.uint8), says="loop over these")
def over_string(codes):
    total = 0.0
    for code in codes:
        total += code
    return total


@cases.wrong(ParseError, VECTOR)
def over_function(a):
    for i in range:
        a[i] = 0.0


@cases.right(VECTOR, 8, code="range(n)")
def over_function(a, n):
    for i in range(n):
        a[i] = 0.0


@cases.wrong(ParseError, VECTOR)
def range_without_bounds(a):
    for i in range():
        a[i] = 0.0


@cases.right(VECTOR, 8, code="range(stop)")
def range_without_bounds(a, stop):
    for i in range(stop):
        a[i] = 0.0


@cases.wrong(ParseError, VECTOR)
def range_with_four(a):
    for i in range(0, 8, 1, 2):
        a[i] = 0.0


@cases.right(VECTOR, 0, 8, 2, code="range(start, stop, step)")
def range_with_four(a, start, stop, step):
    for i in range(start, stop, step):
        a[i] = 0.0


@cases.wrong(ParseError, VECTOR)
def range_with_keyword(a):
    for i in range(stop=8):
        a[i] = 0.0


@cases.right(VECTOR, says="by position")
def range_with_keyword(a):
    for i in range(8):
        a[i] = 0.0


@cases.wrong(TypeMismatch, VECTOR)
def range_of_float(a):
    for i in range(len(a) / 2):
        a[i] = 0.0


@cases.right(VECTOR, code="len(a) // 2")
def range_of_float(a):
    for i in range(len(a) // 2):
        a[i] = 0.0


@cases.wrong(TypeMismatch, VECTOR)
def range_of_array(a):
    for i in range(a):
        a[i] = 0.0


@cases.right(VECTOR, code="len(a)")
def range_of_array(a):
    for i in range(len(a)):
        a[i] = 0.0


@cases.wrong(TypeMismatch, VECTOR)
def range_of_shape(a):
    for i in range(a.shape):
        a[i] = 0.0


@cases.right(VECTOR, code="a.shape[0]")
def range_of_shape(a):
    for i in range(a.shape[0]):
        a[i] = 0.0


@cases.wrong(ParseError, VECTOR)
def step_zero(a):
    for i in range(0, 8, 0):
        a[i] = 0.0


@cases.wrong(ParseError, MATRIX)
def two_targets_of_range(m):
    for i, j in range(4):
        m[i, j] = 0.0


@cases.right(MATRIX, 4, 4, code="for i, j in grid(n, m):")
def two_targets_of_range(x, n, m):
    for i, j in grid(n, m):
        x[i, j] = 0.0


@cases.wrong(ParseError, VECTOR)
def element_as_target(a):
    for a[0] in range(8):
        a[1] = 0.0


@cases.right(VECTOR, code="for i in ", says="store i in the body")
def element_as_target(a):
    for i in range(8):
        a[0] = i


@cases.wrong(ParseError, MATRIX)
def grid_with_one_target(m):
    for i in grid(4, 4):
        m[i, i] = 0.0


@cases.right(MATRIX, 4, 4, code="for i, j in grid(n, m):")
def grid_with_one_target(x, n, m):
    for i, j in grid(n, m):
        x[i, j] = 0.0


@cases.wrong(TypeMismatch, MATRIX)
def grid_of_shape(m):
    for i, j in grid(m.shape):
        m[i, j] = 0.0


@cases.right(MATRIX, code="grid(*m.shape)")
def grid_of_shape(m):
    for i, j in grid(*m.shape):
        m[i, j] = 0.0


@cases.wrong(TypeMismatch, VECTOR)
def grid_of_starred_number(a):
    for i in grid(*len(a)):
        a[i] = 0.0


@cases.right(VECTOR, code="grid(*a.shape)")
def grid_of_starred_number(a):
    for i in grid(*a.shape):
        a[i] = 0.0


@cases.wrong(TypeMismatch, MATRIX)
def grid_of_floats(m):
    for i, j in grid(4.0, 4):
        m[i, j] = 0.0


@cases.right(MATRIX, code="int(4.0)")
def grid_of_floats(m):
    for i, j in grid(int(4.0), 4):
        m[i, j] = 0.0


@cases.wrong(ParseError, VECTOR)
def break_in_parallel(a):
    for i in parallel(8):
        if a[i] == 0:
            break


@cases.right(VECTOR, code="range(")
def break_in_parallel(a):
    for i in range(8):
        if a[i] == 0:
            break


@cases.wrong(ParseError, VECTOR)
def break_in_vectorize(a):
    for i in vectorize(8):
        if a[i] == 0:
            break


@cases.wrong(ParseError, VECTOR)
def break_in_const_range(a):
    for i in const_range(8):
        if a[i] == 0:
            break


@cases.right(VECTOR, code="range(")
def break_in_const_range(a):
    for i in range(8):
        if a[i] == 0:
            break


@cases.wrong(ParseError, VECTOR)
def continue_in_const_range(a):
    for i in const_range(8):
        if a[i] == 0:
            continue
        a[i] = 1.0


@cases.right(VECTOR, says="under an if")
def continue_in_const_range(a):
    for i in const_range(8):
        if not a[i] == 0:
            a[i] = 1.0


@cases.wrong(ParseError, MATRIX)
def break_in_grid(m):
    for i, j in grid(4, 4):
        if m[i, j] == 0:
            break


@cases.right(MATRIX, says="one by one", code="range(")
def break_in_grid(m):
    for i in range(4):
        for j in range(4):
            if m[i, j] == 0:
                break


@cases.wrong(ParseError, VECTOR)
def return_in_parallel(a):
    for i in parallel(8):
        if a[i] == 0:
            return i
    return -1


@cases.right(VECTOR, says="return after the loop")
def return_in_parallel(a):
    found = -1
    for i in range(8):
        if a[i] == 0:
            found = i
    return found


@cases.wrong(ParseError, VECTOR)
def const_range_unknown(a):
    for i in const_range(int(a[0])):
        a[i] = 0.0


@cases.right(VECTOR, code="range(")
def const_range_unknown(a):
    for i in range(int(a[0])):
        a[i] = 0.0


@cases.wrong(ParseError, VECTOR)
def const_range_too_long(a):
    for i in const_range(5000):
        a[0] += 1.0


@cases.right(VECTOR, code="unroll(")
def const_range_too_long(a):
    for i in unroll(5000):
        a[0] += 1.0


@cases.wrong(ParseError, VECTOR)
def const_range_nested_too_long(a):
    for i in const_range(100):
        for j in const_range(100):
            for k in const_range(100):
                for l in const_range(100):
                    a[0] += 1.0


@cases.right(VECTOR, code="range(")
def const_range_nested_too_long(a):
    for i in range(10):
        for j in range(10):
            for k in const_range(10):
                for l in const_range(10):
                    a[0] += 1.0


@cases.wrong(ParseError, VECTOR)
def bind_without_thread(a):
    for i in bind(8):
        a[i] = 0.0


@cases.right(VECTOR, 8, code='bind(n, "threadIdx.x")')
def bind_without_thread(a, n):
    for i in bind(n, "threadIdx.x"):
        a[i] = 0.0


@cases.wrong(ParseError, VECTOR)
def bind_unknown_thread(a):
    for i in bind(8, "threadidx.x"):
        a[i] = 0.0


@cases.right(VECTOR, code="threadIdx.x")
def bind_unknown_thread(a):
    for i in bind(8, "threadIdx.x"):
        a[i] = 0.0


@cases.wrong(ParseError, VECTOR)
def while_array(a):
    while a:
        a[0] = 0.0


@cases.wrong(ParseError, VECTOR)
def too_deep(a):
    for i0 in range(1):
        for i1 in range(1):
            for i2 in range(1):
                for i3 in range(1):
                    for i4 in range(1):
                        for i5 in range(1):
                            for i6 in range(1):
                                for i7 in range(1):
                                    for i8 in range(1):
                                        for i9 in range(1):
                                            for j0 in range(1):
                                                for j1 in range(1):
                                                    for j2 in range(1):
                                                        for j3 in range(1):
                                                            for j4 in range(1):
                                                                for j5 in range(1):
                                                                    for j6 in range(1):
                                                                        a[0] += 1.0


@cases.right(VECTOR, says="with // and %")
def too_deep(a):
    for i in range(2 * 3):
        a[i // 3] += i % 3


@cases.wrong(ParseError, VECTOR)
def misspelt_kind(a):
    for i in vectorise(8):
        a[i] = 0.0


@cases.right(VECTOR, code="vectorize")
def misspelt_kind(a):
    for i in vectorize(8):
        a[i] = 0.0
