"""Statements that the language does not have, or has in a narrower form."""

import numpy as np

from hybridjit.errors import ParseError, TypeMismatch
from tests.errors.case import MATRIX, VECTOR, Cases

cases = Cases()


@cases.wrong(ParseError, VECTOR)
def try_except(a):
    try:
        a[int(a[0])] = 1.0
    except IndexError as error:
        print(error)


@cases.right(VECTOR, says="an error of your own")
def try_except(a):
    try:
        a[int(a[0])] = 1.0
    except IndexError:
        raise ValueError("not a place") from None


@cases.wrong(ParseError, VECTOR)
def try_finally(a):
    try:
        for i in parallel(len(a)):
            a[i] = 1 // int(a[i])
    finally:
        a[0] = 2.0


@cases.right(VECTOR, says="before or after the try")
def try_finally(a):
    for i in parallel(len(a)):
        a[i] = 1 // int(a[i] + 100)
    try:
        a[0] = 1.0
    finally:
        a[0] = 2.0


@cases.wrong(ParseError, VECTOR)
def except_number(a):
    try:
        a[0] = 1.0
    except 3:
        a[0] = 2.0


@cases.wrong(ParseError, VECTOR)
def class_inside(a):
    class Point:
        x = 0

    a[0] = 1.0


@cases.right(VECTOR, says="a variable for each attribute")
def class_inside(a):
    x = 0
    a[0] = 1.0 + x


@cases.wrong(ParseError, VECTOR)
def decorated_inside(a):
    @abs
    def double(x):
        return 2 * x

    a[0] = double(a[1])


def double(x):
    return 2 * x


@cases.right(VECTOR, says="outside the script")
def decorated_inside(a):
    a[0] = double(a[1])


@cases.wrong(ParseError, VECTOR)
def coroutine_inside(a):
    async def double(x):
        return 2 * x

    a[0] = 1.0


@cases.wrong(ParseError, VECTOR)
def import_inside(a):
    import cmath

    a[0] = cmath.sqrt(a[1]).real


import math


@cases.right(VECTOR, says="at the top of the file")
def import_inside(a):
    a[0] = math.sqrt(a[1])


@cases.wrong(ParseError, VECTOR)
def import_from_inside(a):
    from random import random

    a[0] = random()


from math import sqrt


@cases.right(VECTOR, says="at the top of the file")
def import_from_inside(a):
    a[0] = sqrt(a[1])


@cases.wrong(ParseError, VECTOR)
def global_statement(a):
    global TOTAL
    TOTAL = a[0]


@cases.right(VECTOR, says="return the value")
def global_statement(a):
    total = a[0]
    return total


def make_counter():
    count = 0

    @cases.wrong(ParseError, VECTOR)
    def nonlocal_statement(a):
        nonlocal count
        count = a[0]

    @cases.right(VECTOR, np.zeros(1), says="pass an array and write to its elements")
    def nonlocal_statement(a, counted):
        counted[0] = a[0]

    return count


make_counter()


@cases.wrong(ParseError, VECTOR)
def delete_element(a):
    b = a.copy()
    del b[0]


@cases.wrong(ParseError, VECTOR)
def read_what_is_deleted(a):
    x = a[0]
    del x
    a[1] = x


@cases.right(VECTOR, says="assign it on a line before this one")
def read_what_is_deleted(a):
    x = a[0]
    del x
    x = a[2]
    a[1] = x


@cases.wrong(ParseError, VECTOR)
def with_open(a):
    with open("log.txt") as log:
        a[0] = 1.0


@cases.right(VECTOR, code='with block("name"):')
def with_open(a):
    with block("name"):
        a[0] = 1.0


@cases.wrong(ParseError, VECTOR)
def generator(a):
    for i in range(a.shape[0]):
        yield a[i]


@cases.right(VECTOR, code="output_tensor(", says="and return it")
def generator(a):
    values = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        values[i] = a[i]
    return values


@cases.wrong(ParseError, VECTOR)
def generator_from(a):
    yield from a


@cases.wrong(ParseError, VECTOR)
def no_effect(a):
    a[0] + 1.0


@cases.right(VECTOR, says="assign it to a name")
def no_effect(a):
    x = a[0] + 1.0
    return x


@cases.wrong(ParseError, VECTOR)
def no_effect_comparison(a):
    a[0] == 1.0


@cases.wrong(ParseError, VECTOR)
def unused_result(a):
    max(a[0], a[1])


@cases.right(VECTOR, says="to an element")
def unused_result(a):
    a[2] = max(a[0], a[1])


@cases.wrong(ParseError, VECTOR)
def assign_attribute(a):
    a.flat = 0.0


@cases.right(VECTOR, says="the elements of an array")
def assign_attribute(a):
    for i in range(len(a)):
        a[i] = 0.0


@cases.wrong(ParseError, VECTOR)
def assign_shape(a):
    a.shape = (2, 4)


@cases.wrong(ParseError, VECTOR)
def update_attribute(a):
    a.size += 1


@cases.right(VECTOR, says="assign to a variable")
def update_attribute(a):
    size = a.size
    size += 1
    return size


@cases.wrong(TypeMismatch, VECTOR)
def too_few_for_a_starred_target(a):
    first, second, *rest = (1.0,)
    a[0] = first


@cases.right(VECTOR, says="as many values as there are names")
def too_few_for_a_starred_target(a):
    first, second, *rest = (1.0, 2.0)
    a[0] = first + second


@cases.wrong(TypeMismatch, VECTOR)
def unpack_too_many(a):
    x, y = 1.0, 2.0, 3.0
    a[0] = x + y


@cases.right(VECTOR, says="as many values as there are names")
def unpack_too_many(a):
    x, y, z = 1.0, 2.0, 3.0
    a[0] = x + y + z


@cases.wrong(TypeMismatch, VECTOR)
def unpack_number(a):
    x, y = a[0]
    a[1] = x + y


@cases.right(VECTOR, code="x, y = 1.0, 2.0")
def unpack_number(a):
    x, y = 1.0, 2.0
    a[1] = x + y


@cases.wrong(TypeMismatch, MATRIX)
def unpack_array(a):
    x, y = a
    a[0, 0] = x


@cases.right(MATRIX, says="as many values as there are names")
def unpack_array(a):
    x, y, z, w = a
    a[0, 0] = x[1] + y[0] + z[0] + w[0]


@cases.wrong(ParseError, VECTOR)
def raise_again(a):
    if a[0] > 0:
        raise


@cases.right(VECTOR, says='raise ValueError("...")')
def raise_again(a):
    if a[0] < 0:
        raise ValueError("negative")


@cases.wrong(ParseError, VECTOR)
def raise_from(a):
    if a[0] > 0:
        raise ValueError("bad") from IndexError("place")


@cases.right(VECTOR, says='raise ValueError("...")')
def raise_from(a):
    if a[0] < 0:
        raise ValueError("bad")


class Trouble(Exception):
    pass


@cases.wrong(ParseError, VECTOR)
def raise_own_class(a):
    if a[0] > 0:
        raise Trouble("bad")


@cases.right(VECTOR, code="RuntimeError")
def raise_own_class(a):
    if a[0] < 0:
        raise RuntimeError("bad")


@cases.wrong(ParseError, VECTOR)
def raise_string(a):
    if a[0] > 0:
        raise "bad"


@cases.right(VECTOR, code="ValueError")
def raise_string(a):
    if a[0] < 0:
        raise ValueError("bad")


@cases.wrong(ParseError, VECTOR)
def annotated_element(a):
    a[0]: float = 1.0


@cases.right(VECTOR, code="a[0] = ")
def annotated_element(a):
    a[0] = 1.0


@cases.wrong(TypeMismatch, VECTOR)
def annotated_unknown(a):
    x: flaot32
    x = a[0]
    a[1] = x


@cases.right(VECTOR, code="float32")
def annotated_unknown(a):
    x: float32
    x = a[0]
    a[1] = x


@cases.wrong(TypeMismatch, VECTOR)
def annotated_unknown_with_value(a):
    x: flaot32 = 0
    a[1] = x


@cases.right(VECTOR, code="float32")
def annotated_unknown_with_value(a):
    x: float32 = 0
    a[1] = x


@cases.wrong(ParseError, VECTOR)
def print_formatted(a):
    print(f"a[0] = {a[0]:{len(a)}}")


@cases.right(VECTOR, says="{x:8.3f}")
def print_formatted(a):
    print(f"a[0] = {a[0]:8.3f}")


@cases.wrong(ParseError, VECTOR)
def print_to_a_file(a):
    print(a[0], file=None)


@cases.right(VECTOR, says="leave it out")
def print_to_a_file(a):
    print(a[0], end="", flush=True)


@cases.wrong(TypeMismatch, VECTOR)
def print_array(a):
    print("a =", a)


@cases.right(VECTOR, code="print(a[i])")
def print_array(a):
    for i in range(len(a)):
        print(a[i])


@cases.wrong(ParseError, MATRIX, MATRIX)
def update_with_matmul(a, b):
    a @= b


@cases.right(MATRIX, MATRIX, code="a[:] = a @ b")
def update_with_matmul(a, b):
    a[:] = a @ b


@cases.wrong(ParseError, VECTOR)
def assert_formatted(a):
    assert a[0] > 0, f"bad {a[0]!r}"


@cases.right(VECTOR, says="as in {x} or %s")
def assert_formatted(a):
    assert a[0] > 0, f"bad {a[0]:.2f}"


@cases.wrong(TypeMismatch, VECTOR)
def assign_item_of_tuple(a):
    t = (1.0, 2.0)
    t[0] = 3.0
    a[0] = t[0]


@cases.right(VECTOR, code="allocate(")
def assign_item_of_tuple(a):
    t = allocate(2, "float64")
    t[0] = 3.0
    a[0] = t[0]
