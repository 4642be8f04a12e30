"""Values of the wrong type: what a variable, an element or a condition can hold."""

import numpy as np

from hybridjit.errors import ParseError, TypeMismatch
from tests.errors.case import BYTES, COMPLEX, INDICES, MATRIX, VECTOR, Cases

cases = Cases()


@cases.wrong(TypeMismatch, VECTOR, COMPLEX)
def complex_into_float(a, z):
    a[0] = z[0]


@cases.right(VECTOR, COMPLEX, says="x.real")
def complex_into_float(a, z):
    a[0] = z[0].real


@cases.wrong(TypeMismatch, VECTOR, COMPLEX)
def complex_into_annotated(a, z):
    x: float64 = z[0]
    a[0] = x


@cases.wrong(TypeMismatch, VECTOR, COMPLEX)
def complex_added_to_float(a, z):
    a[0] += z[0]


@cases.wrong(ParseError, VECTOR)
def number_becomes_array(a):
    x = 0.0
    for i in range(8):
        if a[i] > 3:
            x = a
    return x


@cases.right(VECTOR, says="use another name")
def number_becomes_array(a):
    x = 0.0
    for i in range(8):
        if a[i] > 3:
            x = a[i]
    y = a
    return x + y[0]


@cases.wrong(ParseError, VECTOR, VECTOR)
def array_chosen_in_loop(a, b):
    c = a
    for i in range(8):
        c[i] = 1.0
        c = b


@cases.right(np.ones((2, 8)), says="index it with 0 or 1")
def array_chosen_in_loop(ab):
    c = 0
    for i in range(8):
        ab[c, i] = 1.0
        c = 1


@cases.wrong(ParseError, VECTOR, VECTOR)
def array_chosen_by_condition(a, b):
    c = a if a[0] > 0 else b
    c[0] = 1.0


@cases.wrong(ParseError, VECTOR)
def string_chosen_in_loop(a):
    text = "up"
    for i in range(8):
        print(text, a[i])
        text = "down"


@cases.wrong(ParseError, VECTOR)
def tuple_changes(a):
    t = (1.0, 2.0)
    for i in range(8):
        t = (t[1], t[0])
    a[0] = t[0]


@cases.wrong(ParseError, VECTOR)
def none_variable(a):
    best = None
    for i in range(8):
        if best is None or a[i] > best:
            best = a[i]
    return best


@cases.right(VECTOR, code="-inf")
def none_variable(a):
    best = -inf
    for i in range(8):
        if a[i] > best:
            best = a[i]
    return best


@cases.wrong(TypeMismatch, BYTES)
def annotated_too_small(a):
    x: int8 = 200
    return x


@cases.right(BYTES, code="int8(int64(200))")
def annotated_too_small(a):
    x: int8 = int8(int64(200))
    return x


@cases.wrong(TypeMismatch, VECTOR)
def condition_is_tuple(a):
    if (a[0], a[1]):
        a[0] = 1.0


@cases.wrong(TypeMismatch, VECTOR)
def condition_is_none(a):
    if None:
        a[0] = 1.0


@cases.wrong(TypeMismatch, np.zeros(3, np.uint64), INDICES)
def shift_of_mixed(u, i):
    return u[0] << i[0]


@cases.right(np.zeros(3, np.uint64), INDICES, says="int64(x)")
def shift_of_mixed(u, i):
    return int64(u[0]) << i[0]


@cases.wrong(TypeMismatch, VECTOR)
def store_array_into_element(a):
    a[0] = a


@cases.wrong(TypeMismatch, VECTOR)
def compare_with_string(a):
    if a[0] < "x":
        a[0] = 1.0


@cases.wrong(TypeMismatch, VECTOR)
def abs_of_string(a):
    a[0] = abs("x")


@cases.wrong(TypeMismatch, VECTOR)
def min_of_tuple_of_strings(a):
    a[0] = min(("a", "b"))


@cases.wrong(ParseError, VECTOR)
def assert_on_array(a):
    assert a, "empty"


@cases.right(VECTOR, code="len(a) > 0")
def assert_on_array(a):
    assert len(a) > 0, "empty"
