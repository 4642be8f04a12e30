"""Allocations: wrong shapes, dtypes, scopes and options of new arrays."""

import numpy as np

from hybridjit.errors import ParseError, TypeMismatch
from tests.errors.case import VECTOR, Cases

cases = Cases()


@cases.wrong(ParseError, VECTOR)
def output_without_shape(a):
    b = output_tensor()
    return b


@cases.right(VECTOR, says="shape, dtype")
def output_without_shape(a):
    b = output_tensor(shape=8, dtype="float32")
    return b


@cases.wrong(ParseError, VECTOR)
def output_unknown_argument(a):
    b = output_tensor(a.shape, dtpye="float32")
    return b


@cases.right(VECTOR, code="dtype")
def output_unknown_argument(a):
    b = output_tensor(a.shape, dtype="float32")
    return b


@cases.wrong(ParseError, VECTOR)
def output_argument_twice(a):
    b = output_tensor(a.shape, "float32", dtype="float64")
    return b


@cases.right(VECTOR, says="leave one of them out")
def output_argument_twice(a):
    b = output_tensor(a.shape, dtype="float64")
    return b


@cases.wrong(ParseError, VECTOR)
def output_too_many_arguments(a):
    b = output_tensor(8, "float32", "global")
    return b


@cases.wrong(TypeMismatch, VECTOR)
def output_shape_spread(a):
    b = output_tensor(8, 8)
    return b


@cases.right(VECTOR, code="output_tensor((8, 8)")
def output_shape_spread(a):
    b = output_tensor((8, 8))
    return b


@cases.wrong(TypeMismatch, VECTOR)
def unknown_dtype(a):
    b = output_tensor(a.shape, "flaot32")
    return b


@cases.right(VECTOR, code="float32")
def unknown_dtype(a):
    b = output_tensor(a.shape, "float32")
    return b


@cases.wrong(TypeMismatch, VECTOR)
def swapped_dtype(a):
    b = np.zeros(a.shape, ">f8")
    return b


@cases.right(VECTOR, says="'f8'")
def swapped_dtype(a):
    b = np.zeros(a.shape, "f8")
    return b


@cases.wrong(TypeMismatch, VECTOR)
def dtype_of_strings(a):
    return a.astype("U8")


@cases.wrong(TypeMismatch, VECTOR)
def dtype_from_array(a):
    b = output_tensor(a.shape, a)
    return b


@cases.right(VECTOR, code="a.dtype")
def dtype_from_array(a):
    b = output_tensor(a.shape, a.dtype)
    return b


@cases.wrong(TypeMismatch, VECTOR)
def unsupported_dtype(a):
    b = output_tensor(a.shape, np.longdouble)
    return b


@cases.right(VECTOR, code="float64")
def unsupported_dtype(a):
    b = output_tensor(a.shape, float64)
    return b


@cases.wrong(TypeMismatch, VECTOR)
def unknown_scope(a):
    b = allocate(8, "float32", "globl")
    a[0] = b[0]


@cases.right(VECTOR, code="global")
def unknown_scope(a):
    b = allocate(8, "float32", "global")
    a[0] = b[0]


@cases.wrong(TypeMismatch, VECTOR)
def scope_not_text(a):
    b = allocate(8, "float32", 3)
    a[0] = b[0]


@cases.wrong(TypeMismatch, VECTOR, True)
def zero_unknown(a, clear):
    b = allocate(8, "float32", zero=clear)
    a[0] = b[0]


@cases.right(VECTOR, True, code="zero=True")
def zero_unknown(a, clear):
    b = allocate(8, "float32", zero=True)
    a[0] = b[0]


@cases.wrong(TypeMismatch, VECTOR)
def negative_size(a):
    b = output_tensor((8, -1))
    return b


@cases.wrong(TypeMismatch, VECTOR)
def float_size(a):
    b = output_tensor(len(a) / 2)
    return b


@cases.right(VECTOR, code="len(a) // 2")
def float_size(a):
    b = output_tensor(len(a) // 2)
    return b


@cases.wrong(TypeMismatch, VECTOR)
def array_as_shape(a):
    b = output_tensor(a)
    return b


@cases.right(VECTOR, code="a.shape")
def array_as_shape(a):
    b = output_tensor(a.shape)
    return b
