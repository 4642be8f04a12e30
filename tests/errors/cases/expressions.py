"""Expressions that the language does not have, or has only for numbers."""

import numpy as np

from hybridjit.errors import BoundsError, ParseError, TypeMismatch
from tests.errors.case import BYTES, COMPLEX, INDICES, MATRIX, VECTOR, Cases

cases = Cases()


@cases.wrong(ParseError, VECTOR)
def list_comprehension(a):
    return a.sum() + len([x for x in a if x > 1])


@cases.right(VECTOR, says="make the list on a line of its own")
def list_comprehension(a):
    large = [x for x in a if x > 1]
    return a.sum() + len(large)


@cases.wrong(ParseError, VECTOR)
def set_comprehension(a):
    distinct = {x for x in a}
    return distinct


@cases.wrong(ParseError, VECTOR)
def dict_comprehension(a):
    table = {i: a[i] for i in range(8)}
    return table


@cases.wrong(ParseError, VECTOR)
def dict_display(a):
    scale = {"x": 2.0, "y": 3.0}
    a[0] = scale["x"]


@cases.right(VECTOR, says="a variable for each item")
def dict_display(a):
    scale_x, scale_y = 2.0, 3.0
    a[0] = scale_x


@cases.wrong(ParseError, VECTOR)
def set_display(a):
    wanted = {1, 2, 3}
    a[0] = 1.0


@cases.right(VECTOR, says="use a tuple")
def set_display(a):
    wanted = (1, 2, 3)
    a[0] = wanted[0]


@cases.wrong(ParseError, VECTOR)
def formatted_string(a):
    label = f"{a[0]}"
    print(label)


@cases.right(VECTOR, says='print(f"x = {x}")')
def formatted_string(a):
    print(f"a[0] = {a[0]}")


@cases.wrong(TypeMismatch, VECTOR)
def starred_number_in_tuple(a):
    t = a[1]
    x, y = (0.0, *t)
    a[0] = x + y


@cases.right(VECTOR, says="leave out the '*'")
def starred_number_in_tuple(a):
    t = a[1]
    x, y = (0.0, t)
    a[0] = x + y


@cases.wrong(ParseError, VECTOR)
def string_addition(a):
    label = "a" + "b"
    print(label)


@cases.right(VECTOR, says="texts are for print, assert and raise")
def string_addition(a):
    print("a" + "b")


@cases.wrong(ParseError, VECTOR)
def string_formatting(a):
    print("a = %(x)f" % a[0])


@cases.right(VECTOR, says="%5.2f")
def string_formatting(a):
    print("a = %f" % a[0])


@cases.wrong(ParseError, VECTOR)
def string_method(a):
    print("a".upper())


@cases.wrong(ParseError, VECTOR)
def bytes_literal(a):
    x = b"abc"
    a[0] = 1.0


@cases.wrong(ParseError, VECTOR)
def is_number(a):
    if a[0] is a[1]:
        a[1] = 2.0


@cases.right(VECTOR, code="==")
def is_number(a):
    if a[0] == 1.0:
        a[1] = 2.0


@cases.wrong(ParseError, VECTOR)
def is_not_number(a):
    if a[0] is not a[1]:
        a[1] = 2.0


@cases.right(VECTOR, code="!=")
def is_not_number(a):
    if a[0] != 1.0:
        a[1] = 2.0


@cases.wrong(ParseError, VECTOR, 3)
def in_tuple(a, n):
    if 0 < n in (1, 2):
        a[0] = 1.0


@cases.right(VECTOR, 3, says="x == 1 or x == 2")
def in_tuple(a, n):
    if n == 1 or n == 2:
        a[0] = 1.0


@cases.wrong(ParseError, VECTOR, 3)
def not_in_tuple(a, n):
    if 0 < n not in (1, 2):
        a[0] = 1.0


@cases.right(VECTOR, 3, says="x != 1 and x != 2")
def not_in_tuple(a, n):
    if n != 1 and n != 2:
        a[0] = 1.0


@cases.wrong(ParseError, MATRIX)
def in_array(m):
    if 1.0 in m:
        m[0, 0] = 2.0


@cases.wrong(TypeMismatch, VECTOR, VECTOR)
def compare_arrays(a, b):
    if a == b:
        a[0] = 1.0


@cases.right(VECTOR, VECTOR, code=".all()")
def compare_arrays(a, b):
    if (a == b).all():
        a[0] = 1.0


@cases.wrong(ParseError, VECTOR)
def array_as_condition(a):
    if a:
        a[0] = 1.0


@cases.right(VECTOR, code="len(a) > 0")
def array_as_condition(a):
    if len(a) > 0:
        a[0] = 1.0


@cases.wrong(TypeMismatch, MATRIX)
def row_arithmetic(m):
    m[0, 0] = m[0] + m[1]


@cases.wrong(TypeMismatch, MATRIX)
def too_few_indices(m):
    total = 0.0
    for i in range(4):
        total += m[i]
    return total


@cases.right(MATRIX, code="m[i, j]")
def too_few_indices(m):
    total = 0.0
    for i in range(4):
        for j in range(4):
            total += m[i, j]
    return total


@cases.wrong(TypeMismatch, VECTOR)
def too_many_indices(a):
    return a[0, 1]


@cases.right(VECTOR, code="a[i]")
def too_many_indices(a):
    i = 1
    return a[i]


@cases.wrong(TypeMismatch, VECTOR)
def float_index(a):
    return a[len(a) / 2]


@cases.right(VECTOR, code="len(a) // 2")
def float_index(a):
    return a[len(a) // 2]


@cases.wrong(TypeMismatch, VECTOR)
def bool_index(a):
    return a[a[0] > 1]


@cases.right(VECTOR, code="int(a[0] > 1)")
def bool_index(a):
    return a[int(a[0] > 1)]


@cases.wrong(TypeMismatch, VECTOR)
def string_index(a):
    return a["x"]


@cases.wrong(TypeMismatch, VECTOR)
def number_index(a):
    x = a[0]
    return x[0]


@cases.right(VECTOR, says="write x")
def number_index(a):
    x = a[0]
    return x


@cases.wrong(TypeMismatch, VECTOR, 1)
def tuple_index_unknown(a, n):
    t = (a, a[1:])
    return t[n][0]


@cases.right(VECTOR, 1, code="for k in const_range(len(t)):")
def tuple_index_unknown(a, n):
    t = (a, a[1:])
    found = a[0]
    for k in const_range(len(t)):
        if k == n:
            found = t[k][0]
    return found


@cases.wrong(BoundsError, VECTOR)
def tuple_index_outside(a):
    return a.shape[1]


@cases.wrong(TypeMismatch, VECTOR, 1)
def tuple_slice_unknown(a, n):
    t = (1.0, 2.0, 3.0)
    x, y = t[n:]
    return x


@cases.right(VECTOR, 1, says="use constants")
def tuple_slice_unknown(a, n):
    t = (1.0, 2.0, 3.0)
    x, y = t[1:]
    return x


@cases.wrong(TypeMismatch, COMPLEX)
def complex_order(z):
    if z[0] < z[1]:
        z[0] = 0


@cases.right(COMPLEX, says="abs(x)")
def complex_order(z):
    if abs(z[0]) < abs(z[1]):
        z[0] = 0


@cases.wrong(TypeMismatch, COMPLEX)
def complex_maximum(z):
    return max(z[0], z[1])


@cases.right(COMPLEX, says="x.real")
def complex_maximum(z):
    return max(z[0].real, z[1].real)


@cases.wrong(TypeMismatch, COMPLEX)
def complex_floor_division(z):
    return z[0] // 2


@cases.right(COMPLEX, says="x.real")
def complex_floor_division(z):
    return z[0].real // 2


@cases.wrong(TypeMismatch, VECTOR)
def bitwise_and_floats(a):
    return a[0] & 1


@cases.right(VECTOR, says="int64(x)")
def bitwise_and_floats(a):
    return int64(a[0]) & 1


@cases.wrong(TypeMismatch, VECTOR)
def bitwise_and_conditions(a):
    if a[0] > 0 & a[1] > 0:
        return 1
    return 0


@cases.right(VECTOR, code="and")
def bitwise_and_conditions(a):
    if a[0] > 0 and a[1] > 0:
        return 1
    return 0


@cases.wrong(TypeMismatch, VECTOR)
def shift_float(a):
    return a[0] << 2


@cases.right(VECTOR, says="int64(x)")
def shift_float(a):
    return int64(a[0]) << 2


@cases.wrong(TypeMismatch, VECTOR)
def invert_float(a):
    return ~a[0]


@cases.right(VECTOR, says="int64(x)")
def invert_float(a):
    return ~int64(a[0])


@cases.wrong(TypeMismatch, np.array([True, False]))
def subtract_bools(mask):
    return mask[0] - mask[1]


@cases.right(np.array([True, False]), says="x ^ y")
def subtract_bools(mask):
    return mask[0] ^ mask[1]


@cases.wrong(TypeMismatch, np.array([True, False]))
def negate_bool(mask):
    return -mask[0]


@cases.right(np.array([True, False]), says="not x")
def negate_bool(mask):
    return not mask[0]


@cases.wrong(TypeMismatch, BYTES)
def constant_too_large(a):
    a[0] = 300


@cases.right(BYTES, code="uint8(int64(300))")
def constant_too_large(a):
    a[0] = uint8(int64(300))


@cases.wrong(TypeMismatch, BYTES)
def constant_too_large_in_sum(a):
    return a[0] + 256


@cases.right(BYTES, says="int64(...)")
def constant_too_large_in_sum(a):
    return int64(a[0]) + 256


@cases.wrong(TypeMismatch, BYTES)
def constant_negative(a):
    return a[0] * -1


@cases.right(BYTES, says="int64(...)")
def constant_negative(a):
    return int64(a[0]) * -1


@cases.wrong(TypeMismatch, VECTOR)
def integer_too_large(a):
    x = 10**30
    a[0] = 1.0
    return x


@cases.right(VECTOR, code="1e+30")
def integer_too_large(a):
    x = 1e30
    a[0] = 1.0
    return x


@cases.wrong(TypeMismatch, VECTOR)
def shift_too_far(a):
    return 1 << 5000


@cases.wrong(TypeMismatch, VECTOR)
def negative_shift(a):
    return 1 << -1


@cases.right(VECTOR, code=">> 1")
def negative_shift(a):
    return 1 >> 1


@cases.wrong(TypeMismatch, INDICES)
def negative_power(a):
    return a[0] ** -1


@cases.right(INDICES + 1, says="float64(x) ** -1")
def negative_power(a):
    return float64(a[0]) ** -1


@cases.wrong(TypeMismatch, VECTOR)
def string_as_number(a):
    a[0] = "1.0"


@cases.wrong(TypeMismatch, VECTOR, None)
def none_as_number(a, scale):
    a[0] = a[0] * scale


@cases.wrong(TypeMismatch, VECTOR)
def tuple_as_number(a):
    a[0] = a.shape


@cases.right(VECTOR, code="[0]")
def tuple_as_number(a):
    a[0] = a.shape[0]


@cases.wrong(TypeMismatch, VECTOR)
def tuple_plus_number(a):
    t = (1, 2) + 3
    a[0] = t[0]


@cases.right(VECTOR, says="joined with +")
def tuple_plus_number(a):
    t = (1, 2) + (3,)
    a[0] = t[2]


@cases.wrong(TypeMismatch, VECTOR)
def string_as_condition(a):
    if "x":
        a[0] = 1.0


@cases.wrong(ParseError, VECTOR)
def conditional_of_arrays(a):
    b = a if a[0] > 0 else 1.0
    return b


@cases.wrong(TypeMismatch, VECTOR)
def function_as_number(a):
    a[0] = exp


@cases.right(VECTOR, code="exp(")
def function_as_number(a):
    a[0] = exp(a[1])


@cases.wrong(TypeMismatch, VECTOR)
def dtype_as_number(a):
    a[0] = a.dtype
