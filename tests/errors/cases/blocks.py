"""Blocks: what they are called, their iterations and how they start."""

import numpy as np

from hybridjit.errors import ParseError
from tests.errors.case import MATRIX, VECTOR, Cases

cases = Cases()


@cases.wrong(ParseError, VECTOR)
def block_without_name(a):
    for i in range(8):
        with block():
            a[i] = 0.0


@cases.right(VECTOR, code='block("name")')
def block_without_name(a):
    for i in range(8):
        with block("name"):
            a[i] = 0.0


@cases.wrong(ParseError, VECTOR)
def block_name_with_space(a):
    for i in range(8):
        with block("my block"):
            a[i] = 0.0


@cases.wrong(ParseError, VECTOR)
def block_bare(a):
    for i in range(8):
        with block:
            a[i] = 0.0


@cases.wrong(ParseError, VECTOR)
def block_iteration_not_variable(a):
    for i in range(8):
        with block("b", i + 1):
            a[i] = 0.0


@cases.right(np.zeros(9), code='with block("name", spatial(i + 1, 0, 9)) as x:', plain=False)
def block_iteration_not_variable(a):
    for i in range(8):
        with block("name", spatial(i + 1, 0, 9)) as x:
            a[x] = 0.0


@cases.wrong(ParseError, VECTOR)
def block_names_and_iterations(a):
    for i in range(8):
        with block("b", spatial(i)) as (x, y):
            a[x] = 0.0


@cases.right(VECTOR, code='with block("name", spatial(i)) as x:', plain=False)
def block_names_and_iterations(a):
    for i in range(8):
        with block("name", spatial(i)) as x:
            a[x] = 0.0


@cases.wrong(ParseError, VECTOR)
def block_range_of_loop_variable(a):
    for i in range(8):
        with block("b", spatial(i, 0, 8)):
            a[i] = 0.0


@cases.right(VECTOR, code="spatial(i)")
def block_range_of_loop_variable(a):
    for i in range(8):
        with block("b", spatial(i)):
            a[i] = 0.0


@cases.wrong(ParseError, VECTOR)
def block_unknown_option(a):
    for i in range(8):
        with block("b", kind="spatial"):
            a[i] = 0.0


@cases.right(VECTOR, code='block("name", spatial(i)')
def block_unknown_option(a):
    for i in range(8):
        with block("name", spatial(i)):
            a[i] = 0.0


@cases.wrong(ParseError, VECTOR)
def init_outside_block(a):
    for i in range(8):
        with init():
            a[i] = 0.0


@cases.right(VECTOR, code='with block("name", reduce(k)):', plain=False)
def init_outside_block(a):
    for k in range(8):
        with block("name", reduce(k)):
            with init():
                a[0] = 0.0
            a[0] += 1.0


@cases.wrong(ParseError, VECTOR)
def init_not_first(a):
    for i in range(8):
        with block("b", reduce(i)):
            a[0] += 1.0
            with init():
                a[0] = 0.0


@cases.wrong(ParseError, VECTOR)
def init_in_plain_block(a):
    for i in range(8):
        with block("b"):
            with init():
                a[0] = 0.0
            a[0] += 1.0


@cases.wrong(ParseError, VECTOR)
def two_blocks_at_once(a):
    for i in range(8):
        with block("b"), block("c"):
            a[i] = 0.0


@cases.wrong(ParseError, MATRIX)
def block_uses_other_loop(a):
    for i in range(4):
        for j in range(4):
            with block("b", i):
                a[i, 0] = j


@cases.right(MATRIX, code="spatial(j)")
def block_uses_other_loop(a):
    for i in range(4):
        for j in range(4):
            with block("b", i, spatial(j)):
                a[i, 0] = j


@cases.wrong(ParseError, MATRIX)
def block_iteration_of_block_around(a):
    for i in range(4):
        with block("row", i):
            for j in range(4):
                with block("b", i, j):
                    a[i, j] = 0.0


@cases.right(MATRIX, says="leave it out")
def block_iteration_of_block_around(a):
    for i in range(4):
        with block("row", i):
            for j in range(4):
                with block("b", j):
                    a[i, j] = 0.0


@cases.wrong(ParseError, VECTOR, 3)
def block_iteration_no_loop(a, n):
    with block("b", n):
        a[n] = 0.0
