"""Functions of NumPy that a script does not have, or not so: what is said, and what works."""

import numpy as np

from hybridjit.errors import ParseError, ShapeMismatch, TypeMismatch
from tests.errors.case import INDICES, MATRIX, VECTOR, Cases

cases = Cases()


@cases.wrong(ParseError, VECTOR)
def transform(a):
    return np.fft.irfftn(a)


@cases.right(VECTOR, code="np.fft.fft(a, axis=0)")
def transform(a):
    return np.round(np.fft.fft(a, axis=0), 3)


@cases.wrong(ParseError, VECTOR)
def inserted(a):
    return np.insert(a, [1, 2], 5.0)


@cases.right(VECTOR, says="use np.concatenate")
def inserted(a):
    return np.concatenate((a[:1], np.array([5.0]), a[1:2], np.array([5.0]), a[2:]))


@cases.wrong(ParseError, VECTOR)
def piecewise(a):
    return np.piecewise(a, [a > 3], [1.0, 2.0])


@cases.right(VECTOR, code="np.select(conditions, values)")
def piecewise(a):
    conditions, values = (a > 3, a <= 3), (1.0, 2.0)
    return np.select(conditions, values)


@cases.wrong(ParseError, MATRIX)
def condition_number(m):
    return np.linalg.cond(m)


@cases.right(MATRIX, np.linalg.cond(MATRIX), says="pass the result in")
def condition_number(m, number):
    return number * 2


@cases.wrong(ParseError, MATRIX)
def raw_factors(m):
    return np.linalg.qr(m, mode="raw")


@cases.right(MATRIX, says="take one of these")
def raw_factors(m):
    return np.linalg.qr(m, mode="r")


@cases.wrong(ParseError, VECTOR)
def largest_by_fmax(a):
    return np.fmax.reduce(a)


@cases.right(VECTOR, code="np.nanmax(a)")
def largest_by_fmax(a):
    return np.nanmax(a)


@cases.wrong(ParseError, VECTOR)
def joined_by_brackets(a):
    return np.r_[a, a]


@cases.right(VECTOR, VECTOR, code="np.concatenate((a, b))")
def joined_by_brackets(a, b):
    return np.concatenate((a, b))


@cases.wrong(ParseError, VECTOR)
def padded_with_means(a):
    return np.pad(a, 1, mode="mean")


@cases.right(VECTOR, says="edge")
def padded_with_means(a):
    return np.pad(a, 1, mode="edge")


@cases.wrong(TypeMismatch, MATRIX)
def subscripts_without_dots(m):
    return np.einsum("...j->j", m)


@cases.wrong(ShapeMismatch, MATRIX)
def subscripts_of_two_sizes(m):
    return np.einsum("ij,jk->ik", m, m[:3])


@cases.wrong(TypeMismatch, MATRIX)
def subscripts_of_too_many(m):
    return np.einsum("ij,jk", m)


@cases.wrong(ShapeMismatch, VECTOR)
def split_in_unequal_parts(a):
    return np.split(a, 3)[0] * 2


@cases.right(VECTOR, code="np.array_split")
def split_in_unequal_parts(a):
    return np.array_split(a, 3)[0] * 2


@cases.wrong(ParseError, VECTOR)
def quantile_by_another_method(a):
    return np.quantile(a, 0.5, method="nearest")


@cases.right(VECTOR, code="np.sort(a)")
def quantile_by_another_method(a):
    return np.sort(a)[len(a) // 2]


@cases.wrong(ParseError, VECTOR)
def name_of_a_former_version(a):
    return np.alltrue(a)


@cases.right(VECTOR, code="all")
def name_of_a_former_version(a):
    return np.all(a)
