"""Whole arrays where they cannot stand, and what NumPy can do with them that a script cannot."""

import numpy as np

from hybridjit.errors import ParseError, ShapeMismatch, TypeMismatch
from tests.errors.case import MATRIX, VECTOR, Cases

cases = Cases()


@cases.wrong(ParseError, MATRIX)
def row_used_after_its_loop(m):
    for row in m:
        pass
    return row.sum()


@cases.right(MATRIX, says="index the array again after the loop")
def row_used_after_its_loop(m):
    last = 0
    for i, row in enumerate(m):
        last = i
    return m[last].sum()


@cases.wrong(ParseError, MATRIX)
def reshaped_and_written(m):
    flat = m.reshape(-1)
    m[0, 0] = 1
    return flat.sum()


@cases.right(MATRIX, code=".copy()")
def reshaped_and_written(m):
    flat = m.reshape(-1).copy()
    m[0, 0] = 1
    return flat.sum()


@cases.wrong(ParseError, VECTOR)
def write_to_reshaped(a):
    m = a.reshape(2, 4)
    m[0, 1] = 1


@cases.right(VECTOR, says="write to 'a' itself")
def write_to_reshaped(a):
    a[1] = 1


@cases.wrong(ParseError, MATRIX)
def return_reshaped(m):
    return m.reshape(-1)[1:]


@cases.right(MATRIX, code=".copy()")
def return_reshaped(m):
    return m.reshape(-1)[1:].copy()


@cases.wrong(TypeMismatch, VECTOR)
def arrays_of_two_shapes_in_a_condition(a):
    b = a if a[0] > 0 else a[1:]
    return b.sum()


@cases.right(VECTOR, says="if and else on lines of their own")
def arrays_of_two_shapes_in_a_condition(a):
    if a[0] > 0:
        b = a
    else:
        b = a[1:]
    return b.sum()


@cases.wrong(ShapeMismatch, MATRIX)
def solve_of_a_rectangle(m):
    return np.linalg.solve(m[:, :3], m)


@cases.wrong(ShapeMismatch, MATRIX, VECTOR)
def shapes_that_do_not_fit(m, a):
    return m * 2 + a


@cases.wrong(ShapeMismatch, MATRIX, VECTOR)
def matrices_that_do_not_fit(m, a):
    return m @ a


@cases.wrong(ShapeMismatch, MATRIX, VECTOR)
def joined_shapes(m, a):
    return np.concatenate((m, m[:, 1:]))


@cases.wrong(ShapeMismatch, MATRIX)
def axis_out_of_bounds(m):
    return m.sum(axis=2)


@cases.wrong(ParseError, VECTOR)
def array_or_number_in_a_condition(a):
    return a + 1 if a[0] > 0 else 0.0


@cases.right(VECTOR, says="np.where(condition, x, y)")
def array_or_number_in_a_condition(a):
    return np.where(a[0] > 0, a + 1, 0.0)


@cases.wrong(ParseError, VECTOR)
def errors_that_raise(a):
    with np.errstate(divide="raise"):
        b = 1 / a
    return b


@cases.right(VECTOR, says="divide='ignore'")
def errors_that_raise(a):
    with np.errstate(divide="ignore"):
        b = 1 / a
    return b
