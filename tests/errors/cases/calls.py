"""Calls: of functions that the language does not have, and of those it has, in the wrong way."""

import math
import random
import time

import numpy as np

from hybridjit import hybrid
from hybridjit.errors import ParseError, TypeMismatch
from tests.errors.case import COMPLEX, MATRIX, VECTOR, Cases

cases = Cases()


@cases.wrong(ParseError, VECTOR)
def numpy_random(a):
    a[0] = np.random.beta(1.0, 2.0)


@cases.right(VECTOR, np.random.default_rng(0).random(8), says="pass them as an array")
def numpy_random(a, numbers):
    a[0] = numbers[0]


@cases.wrong(ParseError, VECTOR)
def numpy_misspelt(a):
    a[0] = np.sqr(a[1])


@cases.right(VECTOR, code="sqrt")
def numpy_misspelt(a):
    a[0] = np.sqrt(a[1])


@cases.wrong(ParseError, VECTOR)
def exp_on_array(a):
    b = exp(a)
    return b


@cases.wrong(ParseError, VECTOR)
def math_misspelt(a):
    a[0] = math.sqroot(a[1])


@cases.right(VECTOR, code="sqrt")
def math_misspelt(a):
    a[0] = math.sqrt(a[1])


@cases.wrong(ParseError, VECTOR)
def standard_library(a):
    a[0] = random.random()


@cases.wrong(ParseError, VECTOR)
def clock(a):
    a[0] = time.time()


def now():
    return 1.5


now_packed = hybrid.packed(now, "float64")


@cases.right(VECTOR, says="hybrid.packed(", plain=False)
def clock(a):
    return now_packed()


@cases.wrong(TypeMismatch, VECTOR)
def builtin_isinstance(a):
    if isinstance(a, "ndarray"):
        a[0] = 1.0


@cases.right(VECTOR, says="name a class")
def builtin_isinstance(a):
    if isinstance(a, np.ndarray):
        a[0] = 1.0


@cases.wrong(ParseError, VECTOR)
def builtin_str(a):
    label = str(a[0])
    print(label)


@cases.right(VECTOR, says="texts are for print, assert and raise")
def builtin_str(a):
    print("a[0] = " + str(a[0]))


@cases.wrong(ParseError, VECTOR)
def ufunc_where(a):
    return np.exp(a, where=a > 0)


@cases.right(VECTOR, code="out=np.zeros_like(a)")
def ufunc_where(a):
    return np.exp(a, out=np.zeros_like(a), where=a > 0)


@cases.wrong(ParseError, VECTOR)
def builtin_dict(a):
    d = dict(x=1)
    a[0] = d["x"]


@cases.wrong(ParseError, VECTOR)
def builtin_input(a):
    a[0] = float(input())


@cases.right(VECTOR, 1.5, says="pass it as an argument")
def builtin_input(a, x):
    a[0] = x


@cases.wrong(ParseError, VECTOR)
def builtin_type(a):
    b = type(a)
    return b


@cases.wrong(ParseError, VECTOR)
def too_few_arguments(a):
    a[0] = exp()


@cases.wrong(ParseError, VECTOR)
def too_many_arguments(a):
    a[0] = sqrt(a[0], a[1])


@cases.wrong(ParseError, VECTOR)
def one_argument_missing(a):
    a[0] = np.maximum(a[0])


@cases.wrong(ParseError, VECTOR)
def three_to_maximum(a):
    a[0] = np.maximum(a[0], a[1], a[2])


@cases.wrong(ParseError, VECTOR)
def keyword_to_number_function(a):
    a[0] = exp(x=a[1])


@cases.right(VECTOR, says="by position")
def keyword_to_number_function(a):
    a[0] = exp(a[1])


@cases.wrong(ParseError, VECTOR)
def max_with_key(a):
    a[0] = max(a[0], a[1], key=abs)


@cases.right(VECTOR, says="leave out all others")
def max_with_key(a):
    a[0] = max(a[0], a[1])


@cases.wrong(ParseError, VECTOR)
def max_of_nothing(a):
    a[0] = max()


@cases.wrong(TypeMismatch, VECTOR)
def len_of_number(a):
    return len(5)


@cases.wrong(TypeMismatch, VECTOR)
def len_of_element(a):
    return len(a[0])


@cases.wrong(ParseError, VECTOR)
def number_from_string(a):
    a[0] = float("1.5")


@cases.right(VECTOR, says="write the number itself")
def number_from_string(a):
    a[0] = 1.5


@cases.wrong(ParseError, VECTOR)
def starred_argument(a):
    t = (a[0], a[1])
    a[0] = max(*t)


@cases.right(VECTOR, says="one by one")
def starred_argument(a):
    t = (a[0], a[1])
    a[0] = max(t[0], t[1])


@cases.wrong(ParseError, VECTOR)
def double_starred_argument(a):
    options = 1
    b = output_tensor(8, **options)
    return b


@cases.right(VECTOR, says="as in name=value")
def double_starred_argument(a):
    b = output_tensor(8, dtype="float32")
    return b


@cases.wrong(ParseError, VECTOR)
def range_as_value(a):
    r = range(8)
    for i in r:
        a[i] = 0.0


@cases.right(VECTOR, code="for i in range(8):")
def range_as_value(a):
    for i in range(8):
        a[i] = 0.0


@cases.wrong(ParseError, VECTOR)
def grid_as_value(a):
    g = grid(8, 8)
    a[0] = 1.0


@cases.wrong(ParseError, VECTOR)
def print_as_value(a):
    x = print(a[0])
    a[0] = 1.0


@cases.right(VECTOR, says="on a line of its own")
def print_as_value(a):
    print(a[0])


@cases.wrong(ParseError, VECTOR)
def block_as_value(a):
    b = block("b")
    a[0] = 1.0


@cases.right(VECTOR, says="with block('b'):")
def block_as_value(a):
    with block("b"):
        a[0] = 1.0


@cases.wrong(ParseError, VECTOR)
def spatial_as_value(a):
    for i in range(8):
        a[spatial(i)] = 1.0


@cases.right(VECTOR, code='with block("name", spatial(i)):')
def spatial_as_value(a):
    for i in range(8):
        with block("name", spatial(i)):
            a[i] = 1.0


@cases.wrong(TypeMismatch, MATRIX)
def append(m):
    found = []
    for i in range(2):
        found.append(m[i])
    return found


@cases.right(MATRIX, says="keep the rows in an array of two dimensions")
def append(m):
    found = np.empty((2, m.shape[1]))
    for i in range(2):
        found[i] = m[i]
    return found


@cases.wrong(ParseError, VECTOR)
def scalar_method(a):
    return a[0].sqrt()


@cases.right(VECTOR, code="sqrt(a[0])")
def scalar_method(a):
    return sqrt(a[0])


@cases.wrong(ParseError, VECTOR)
def scalar_bit_length(a):
    n = len(a)
    return n.bit_length()


@cases.wrong(TypeMismatch, VECTOR)
def call_number(a):
    n = 2
    return n(a[0])


@cases.wrong(TypeMismatch, VECTOR)
def call_array(a):
    return a(0)


@cases.right(VECTOR, says="with brackets")
def call_array(a):
    return a[0]


@cases.wrong(TypeMismatch, VECTOR)
def call_module(a):
    return math(a[0])


@cases.wrong(ParseError, VECTOR)
def cast_array(a):
    b = float64(a)
    return b


@cases.right(VECTOR, code='a.astype("float64")')
def cast_array(a):
    return a.astype("float64")


@cases.wrong(ParseError, VECTOR)
def cast_without_value(a):
    return float64()


@cases.wrong(TypeMismatch, COMPLEX)
def cast_complex(z):
    return float(z[0])


@cases.right(COMPLEX, says="x.real")
def cast_complex(z):
    return float(z[0].real)


@cases.wrong(TypeMismatch, COMPLEX)
def math_on_complex(z):
    return math.sqrt(z[0])


@cases.right(COMPLEX, code="np.sqrt")
def math_on_complex(z):
    return np.sqrt(z[0])


@cases.wrong(TypeMismatch, VECTOR)
def popcount_of_float(a):
    return popcount(a[0])


@cases.right(VECTOR, says="int64(x)")
def popcount_of_float(a):
    return popcount(int64(a[0]))


@cases.wrong(ParseError, VECTOR)
def numpy_where_one_argument(a):
    return np.where(a[0] > 0)


@cases.wrong(ParseError, VECTOR)
def numpy_cast_array(a):
    b = np.float64(a)
    return b


@cases.wrong(ParseError, VECTOR)
def numpy_minimum_reduceat(a):
    return np.minimum.reduceat(a, [0, 2])


@cases.right(VECTOR, code="np.minimum", says="in a loop")
def numpy_minimum_reduceat(a):
    least = a[0]
    for i in range(len(a)):
        least = np.minimum(least, a[i])
    return least


@cases.wrong(TypeMismatch, VECTOR)
def print_a_tuple(a):
    print("ends:", (a[0], a[-1]))


@cases.right(VECTOR, says="give its items one by one")
def print_a_tuple(a):
    print("ends:", a[0], a[-1])
