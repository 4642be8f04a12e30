"""Whole arrays where they cannot stand, and what NumPy can do with them that a script cannot."""

import numpy as np

from hybridjit.errors import ParseError
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


@cases.wrong(ParseError, VECTOR)
def over_masked_elements(a):
    total = 0.0
    for x in a[a > 2]:
        total += x
    return total


@cases.right(VECTOR, says="a[m].sum()")
def over_masked_elements(a):
    m = a > 2
    return a[m].sum()


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
    return m.reshape(-1)


@cases.right(MATRIX, code=".copy()")
def return_reshaped(m):
    return m.reshape(-1).copy()
