"""What a script returns, and the arrays that it makes."""

import numpy as np

from hybridjit.errors import ParseError, TypeMismatch
from tests.errors.case import INDICES, MATRIX, VECTOR, Cases

cases = Cases()
TABLE = np.array([1.0, 2.0])


@cases.wrong(ParseError, VECTOR)
def output_not_returned(a):
    b = output_tensor(a.shape, a.dtype)
    for i in range(8):
        b[i] = 2 * a[i]


@cases.right(VECTOR, code="return b")
def output_not_returned(a):
    b = output_tensor(a.shape, a.dtype)
    for i in range(8):
        b[i] = 2 * a[i]
    return b


@cases.wrong(ParseError, VECTOR)
def second_output_not_returned(a):
    b = output_tensor(a.shape, a.dtype)
    c = output_tensor(a.shape, a.dtype)
    for i in range(8):
        b[i] = c[i]
    return b


@cases.right(VECTOR, code="allocate(")
def second_output_not_returned(a):
    b = output_tensor(a.shape, a.dtype)
    c = allocate(a.shape, a.dtype)
    for i in range(8):
        b[i] = c[i]
    return b


@cases.wrong(ParseError, VECTOR)
def path_without_return(a):
    for i in range(8):
        if a[i] > 3:
            return i


@cases.right(VECTOR, says="add a return after it")
def path_without_return(a):
    for i in range(8):
        if a[i] > 3:
            return i
    return -1


@cases.wrong(ParseError, VECTOR)
def branch_without_return(a):
    if a[0] > 0:
        return 1.0


@cases.wrong(ParseError, VECTOR)
def value_or_nothing(a):
    if a[0] > 0:
        return 1.0
    return


@cases.right(VECTOR, says="as many arrays and numbers")
def value_or_nothing(a):
    if a[0] > 0:
        return 1.0
    return 0.0


@cases.wrong(ParseError, VECTOR)
def number_or_array(a):
    if a[0] > 0:
        return a[0]
    return a


@cases.wrong(ParseError, VECTOR)
def one_or_two(a):
    if a[0] > 0:
        return 1.0, 2.0
    return 1.0


@cases.wrong(ParseError, VECTOR, VECTOR)
def either_array(a, b):
    if a[0] > 0:
        return a
    return b


@cases.right(VECTOR, VECTOR, code="return b.copy()")
def either_array(a, b):
    if a[0] > 0:
        return a.copy()
    return b.copy()


@cases.wrong(TypeMismatch, VECTOR)
def arrays_of_two_types(a):
    if a[0] > 5:
        return a.astype(np.float64)
    return a * 2


@cases.right(VECTOR, says="arrays of one type and rank on every path")
def arrays_of_two_types(a):
    if a[0] > 5:
        return a.astype(np.float64)
    return (a * 2).astype(np.float64)


@cases.wrong(TypeMismatch, VECTOR)
def string(a):
    return "done"


@cases.wrong(TypeMismatch, VECTOR)
def dtype(a):
    return a.dtype


@cases.wrong(TypeMismatch, VECTOR)
def function(a):
    return exp


@cases.wrong(ParseError, VECTOR)
def nested_tuple(a):
    if a[0] > 0:
        return a[0], (a[1], a[2])
    return a[0], a[1], a[2]


@cases.right(VECTOR, says="in the same order")
def nested_tuple(a):
    if a[0] > 0:
        return a[0], (a[1], a[2])
    return a[0], (a[2], a[1])


@cases.wrong(TypeMismatch, VECTOR)
def captured_array(a):
    return TABLE


@cases.right(VECTOR, code="output_tensor(")
def captured_array(a):
    b = output_tensor(2, "float64")
    for i in range(2):
        b[i] = TABLE[i]
    return b


@cases.wrong(ParseError, VECTOR)
def output_in_loop(a):
    for i in range(8):
        b = output_tensor(a.shape, a.dtype)
        b[i] = a[i]
    return b


@cases.right(VECTOR, says="before the loop")
def output_in_loop(a):
    b = output_tensor(a.shape, a.dtype)
    for i in range(8):
        b[i] = a[i]
    return b


@cases.wrong(ParseError, VECTOR)
def output_in_branch(a):
    if a[0] > 0:
        b = output_tensor(a.shape, a.dtype)
    return b


@cases.wrong(ParseError, VECTOR)
def returned_none_and_value(a):
    if a[0] > 0:
        return None
    return 1.0


@cases.wrong(ParseError, VECTOR)
def returned_dict(a):
    return {"a": a}


@cases.wrong(ParseError, VECTOR)
def returned_view_or_array(a):
    b = output_tensor((4,), a.dtype)
    if a[0] > 0:
        return b
    return a[4:]


@cases.right(VECTOR, says=".copy() makes one of a view")
def returned_view_or_array(a):
    b = output_tensor((4,), a.dtype)
    if a[0] > 0:
        return b
    return a[4:].copy()
