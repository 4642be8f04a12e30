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


@cases.right(VECTOR, says="before the loop, as in x = np.zeros(shape)")
def number_becomes_array(a):
    x = np.zeros(8, np.float32)
    for i in range(8):
        if a[i] > 3:
            x = a.copy()
    return x


@cases.wrong(ParseError, VECTOR, 3)
def array_changes_type_in_loop(a, n):
    for i in range(n):
        a = a * np.float64(0.5)
    return a.sum()


@cases.right(VECTOR.astype(np.float64), 3, says="give it one type and shape before the loop")
def array_changes_type_in_loop(a, n):
    for i in range(n):
        a = a * np.float64(0.5)
    return a.sum()


@cases.wrong(ParseError, VECTOR, VECTOR, 3)
def array_of_before_the_loop_is_written(a, b, n):
    for i in range(n):
        a = a * 2
    a[0] = 1


@cases.right(VECTOR, VECTOR, 3, code="a = a.copy()")
def array_of_before_the_loop_is_written(a, b, n):
    a = a.copy()
    for i in range(n):
        a = a * 2
    a[0] = 1


@cases.wrong(ParseError, VECTOR, VECTOR)
def array_chosen_by_condition(a, b):
    c = a if a[0] > 0 else b
    c[0] = 1.0


@cases.wrong(ParseError, VECTOR)
def tuple_changes(a):
    t = (1.0, 2.0)
    for i in range(8):
        t = (t[1], t[0], 1) if len(t) < 3 else (t[1], t[0])
    a[0] = t[0]


@cases.wrong(ParseError, VECTOR, 8)
def none_variable(a, n):
    best = None
    for i in range(n):
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


@cases.wrong(TypeMismatch, BYTES)
def starts_outside_its_type(a):
    best = -1
    for v in a:
        best = max(best, v)
    return best


@cases.right(BYTES, code="best: int64 = -1", says="best: int64 = -1")
def starts_outside_its_type(a):
    best: int64 = -1
    for v in a:
        best = max(best, v)
    return best


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


@cases.wrong(ParseError, VECTOR, 3)
def write_to_what_may_have_two_names(a, n):
    u = a + 1
    v = a * 2
    for i in range(n):
        u = v
    u[0] = 1
    return v


@cases.right(VECTOR, 3, says="give each name an array of its own")
def write_to_what_may_have_two_names(a, n):
    u = a + 1
    v = a * 2
    for i in range(n):
        u = v.copy()
    u[0] = 1
    return v
