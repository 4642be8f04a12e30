"""Calls of other functions, which are put in place of the call."""

import functools
import math

from hybridjit import hybrid
from hybridjit.errors import ParseError, TypeMismatch
from tests.errors.case import VECTOR, Cases

cases = Cases()


def double(x):
    return 2 * x


def scale(x, factor, shift=0.0):
    return x * factor + shift


def scale_by_name(x, *, factor):
    return x * factor


@cases.wrong(ParseError, VECTOR)
def too_many(a):
    a[0] = double(a[0], 3)


@cases.right(VECTOR, says="it takes x")
def too_many(a):
    a[0] = double(a[0])


@cases.wrong(ParseError, VECTOR)
def too_few(a):
    a[0] = scale(a[0])


@cases.right(VECTOR, says="x, factor, shift")
def too_few(a):
    a[0] = scale(a[0], 2.0)


@cases.wrong(ParseError, VECTOR)
def unknown_keyword(a):
    a[0] = scale(a[0], facotr=2.0)


@cases.right(VECTOR, code="factor")
def unknown_keyword(a):
    a[0] = scale(a[0], factor=2.0)


@cases.wrong(ParseError, VECTOR)
def keyword_only(a):
    a[0] = scale_by_name(a[0], 2.0)


@cases.right(VECTOR, code="factor=")
def keyword_only(a):
    a[0] = scale_by_name(a[0], factor=2.0)


@cases.wrong(ParseError, VECTOR)
def given_twice(a):
    a[0] = scale(a[0], 2.0, factor=3.0)


@cases.right(VECTOR, says="leave one of them out")
def given_twice(a):
    a[0] = scale(a[0], factor=3.0)


def total(**values):
    return 1.0


@cases.wrong(ParseError, VECTOR)
def keyword_arguments(a):
    a[0] = total(x=a[0], y=a[1])


def total_of(x, y):
    return x + y


@cases.right(VECTOR, says="named parameters")
def keyword_arguments(a):
    a[0] = total_of(x=a[0], y=a[1])


@hybrid.script
def sum_of(a):
    if len(a) == 0:
        return 0.0
    return a[0] + sum_of(a[1:])


@cases.wrong(ParseError, VECTOR)
def recursion(a):
    a[0] = sum_of(a)


def sum_from(a, k):
    return 0.0 if k == len(a) else a[k] + sum_from(a, k + 1)


@cases.right(VECTOR, says="indices in place of parts")
def recursion(a):
    a[0] = sum_from(a, 0)


def is_even(n):
    if n == 0:
        return True
    return is_odd(n - 1)


def is_odd(n):
    if n == 0:
        return False
    return is_even(n - 1)


@cases.wrong(ParseError, VECTOR, 4)
def mutual_recursion(a, n):
    if is_even(n):
        a[0] = 1.0


@cases.wrong(ParseError, VECTOR)
def own_recursion(a):
    a[0] = 1.0
    own_recursion(a)


namespace = {}
exec("def hidden(x):\n    return 2 * x\n", namespace)
hidden = namespace["hidden"]


@cases.wrong(ParseError, VECTOR)
def without_source(a):
    a[0] = hidden(a[1])


triple = lambda x: 3 * x


@cases.wrong(ParseError, VECTOR)
def lambda_outside(a):
    a[0] = triple(a[1])


def thrice(x):
    return 3 * x


@cases.right(VECTOR, says="with 'def'")
def lambda_outside(a):
    a[0] = thrice(a[1])


def bad_inside(x):
    y = [x]
    z = {x: 1}
    return x


@cases.wrong(ParseError, VECTOR)
def error_inside(a):
    a[0] = bad_inside(a[1])


def bad_type_inside(x):
    return x & 1


@cases.wrong(TypeMismatch, VECTOR)
def type_error_inside(a):
    a[0] = bad_type_inside(a[1])


def numbers():
    yield 1


@cases.wrong(ParseError, VECTOR)
def generator(a):
    for x in numbers():
        a[0] = x


async def later(x):
    return x


@cases.wrong(ParseError, VECTOR)
def coroutine(a):
    a[0] = later(a[1])


def sometimes(x):
    if x > 0:
        return x


@cases.wrong(ParseError, VECTOR)
def returns_on_some_paths(a):
    a[0] = sometimes(a[1])


def always(x):
    if x > 0:
        return x
    return 0.0


@cases.right(VECTOR, says="add a return to the end")
def returns_on_some_paths(a):
    a[0] = always(a[1])


def either(x, a):
    if x > 0:
        return x
    return a


@cases.wrong(ParseError, VECTOR)
def returns_disagree(a):
    a[0] = either(a[1], a)


def either_number(x, a):
    if x > 0:
        return x
    return a[0]


@cases.right(VECTOR, says="on every path")
def returns_disagree(a):
    a[0] = either_number(a[1], a)


def nothing(x):
    y = x


@cases.wrong(TypeMismatch, VECTOR)
def returns_nothing(a):
    a[0] = nothing(a[1])


class Model:
    weight = 2.0

    def predict(self, x):
        return self.weight * x

    def __call__(self, x):
        return x


MODEL = Model()
HALF = functools.partial(scale, factor=0.5)


@cases.wrong(ParseError, VECTOR)
def method(a):
    a[0] = MODEL.predict(a[1])


def predict(x):
    return Model.weight * x


@cases.right(VECTOR, says="define a function that does what predict does")
def method(a):
    a[0] = predict(a[1])


@cases.wrong(ParseError, VECTOR)
def callable_object(a):
    a[0] = MODEL(a[1])


@cases.wrong(ParseError, VECTOR)
def partial(a):
    a[0] = HALF(a[1])


half_packed = hybrid.packed(HALF, "float64", name="half")


@cases.right(VECTOR, says="hybrid.packed(", plain=False)
def partial(a):
    return half_packed(a[1])


@functools.lru_cache
def cached(x):
    return x


@cases.wrong(ParseError, VECTOR)
def cached_function(a):
    a[0] = cached(a[1])


@cases.wrong(ParseError, VECTOR)
def constructor(a):
    m = Model()
    a[0] = m.weight


@cases.wrong(ParseError, VECTOR)
def result_not_used(a):
    double(a[0])


@cases.right(VECTOR, says="to an element")
def result_not_used(a):
    a[0] = double(a[0])


sqrt_from_c = hybrid.extern("sqrt", "float64", ["float64"])


@cases.wrong(ParseError, VECTOR)
def extern_argument_count(a):
    a[0] = sqrt_from_c(a[0], a[1])


@cases.wrong(TypeMismatch, VECTOR)
def extern_argument_array(a):
    a[0] = sqrt_from_c(a)


@cases.wrong(ParseError, VECTOR)
def extern_keyword(a):
    a[0] = sqrt_from_c(x=a[0])


@cases.right(VECTOR, says="by position", plain=False)
def extern_keyword(a):
    a[0] = sqrt_from_c(a[0])


log_value = hybrid.packed(print)


@cases.wrong(TypeMismatch, VECTOR)
def packed_string(a):
    log_value("hello")


def inner_loop_break(a):
    for i in range(8):
        a[i] = hash(3)


@cases.wrong(ParseError, VECTOR)
def error_two_levels_down(a):
    outer_helper(a)


def outer_helper(a):
    inner_loop_break(a)


def doubled_or_not(x):
    if x[0] > 2:
        return x * 2
    return x


@cases.wrong(ParseError, VECTOR)
def write_to_what_may_be_the_result(a):
    b = a + 1
    c = doubled_or_not(b)
    b[0] = 0
    return c


def doubled_or_copied(x):
    if x[0] > 2:
        return x * 2
    return x.copy()


@cases.right(VECTOR, says="on every path, with .copy()")
def write_to_what_may_be_the_result(a):
    b = a + 1
    c = doubled_or_copied(b)
    b[0] = 0
    return c
