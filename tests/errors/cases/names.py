"""Names: misspelt, not assigned yet, shadowed."""

import math
from dataclasses import dataclass
from enum import Enum
from types import SimpleNamespace

import numpy as np

from hybridjit.errors import ParseError, TypeMismatch
from tests.errors.case import MATRIX, VECTOR, Cases

cases = Cases()


@cases.wrong(ParseError, VECTOR)
def undefined(a):
    a[0] = frobnicate


FACTOR = 2.0


@cases.right(VECTOR, says="define it outside")
def undefined(a):
    a[0] = FACTOR


@cases.wrong(ParseError, VECTOR)
def misspelt_local(a):
    total = 0.0
    for i in range(8):
        total += a[i]
    return totl


@cases.right(VECTOR, code="total")
def misspelt_local(a):
    total = 0.0
    for i in range(8):
        total += a[i]
    return total


@cases.wrong(ParseError, VECTOR)
def misspelt_parameter(vector):
    return vectro[0]


@cases.right(VECTOR, code="vector")
def misspelt_parameter(vector):
    return vector[0]


@cases.wrong(ParseError, VECTOR)
def misspelt_loop(a):
    for i in paralel(8):
        a[i] = 0.0


@cases.right(VECTOR, code="parallel")
def misspelt_loop(a):
    for i in parallel(8):
        a[i] = 0.0


@cases.wrong(ParseError, VECTOR)
def misspelt_function(a):
    a[0] = sqrtt(a[1])


@cases.right(VECTOR, code="sqrt")
def misspelt_function(a):
    a[0] = sqrt(a[1])


@cases.wrong(ParseError, VECTOR)
def misspelt_output(a):
    b = output_tenser(a.shape)
    return b


@cases.right(VECTOR, code="output_tensor")
def misspelt_output(a):
    b = output_tensor(a.shape)
    return b


@cases.wrong(ParseError, VECTOR)
def misspelt_shape(a):
    return a.shap[0]


@cases.right(VECTOR, code="shape")
def misspelt_shape(a):
    return a.shape[0]


@cases.wrong(ParseError, VECTOR)
def misspelt_method(a):
    return a.meen()


@cases.right(VECTOR, code="mean")
def misspelt_method(a):
    return a.mean()


@cases.wrong(ParseError, VECTOR)
def misspelt_method_of_a_list(a):
    items = [a[0]]
    items.apend(a[0])
    return items[1]


@cases.right(VECTOR, code="append")
def misspelt_method_of_a_list(a):
    items = [a[0]]
    items.append(a[0])
    return items[1]


@cases.wrong(TypeMismatch, VECTOR)
def method_without_a_call(a):
    return a.mean


@cases.right(VECTOR, code="a.mean()")
def method_without_a_call(a):
    return a.mean()


@cases.wrong(ParseError, VECTOR)
def misspelt_dtype_attribute(a):
    b = output_tensor(a.shape, a.dtpye)
    return b


@cases.wrong(ParseError, VECTOR)
def misspelt_numpy_dtype(a):
    b = output_tensor(a.shape, np.flaot64)
    return b


@cases.right(VECTOR, code="float64")
def misspelt_numpy_dtype(a):
    b = output_tensor(a.shape, np.float64)
    return b


@cases.wrong(ParseError, VECTOR)
def misspelt_math(a):
    a[0] = math.squrt(a[1])


@cases.wrong(ParseError, VECTOR)
def wrong_case(a):
    if a[0] > 0:
        return true
    return False


@cases.right(VECTOR, code="True")
def wrong_case(a):
    if a[0] > 0:
        return True
    return False


@cases.wrong(ParseError, VECTOR)
def language_without_numpy(a):
    a[0] = numpy.exp(a[1])


@cases.right(VECTOR, code="np")
def language_without_numpy(a):
    a[0] = np.exp(a[1])


@cases.wrong(ParseError, VECTOR)
def used_before_assigned(a):
    a[0] = x
    x = 1.0


@cases.right(VECTOR, says="on a line before this one")
def used_before_assigned(a):
    x = 1.0
    a[0] = x


@cases.wrong(ParseError, VECTOR)
def updated_before_assigned(a):
    for i in range(8):
        total += a[i]
    return total


@cases.right(VECTOR, says="on a line before this one")
def updated_before_assigned(a):
    total = 0.0
    for i in range(8):
        total += a[i]
    return total


@cases.wrong(ParseError, VECTOR)
def local_hides_global(a):
    a[0] = SCALE
    SCALE = 2.0


@cases.right(VECTOR, says="use another name")
def local_hides_global(a):
    a[0] = SCALE
    scale = 2.0
    a[1] = scale


SCALE = 3.0


@cases.wrong(TypeMismatch, VECTOR)
def shadowed_max(a):
    max = a[0]
    for i in range(1, 8):
        max = max(max, a[i])
    return max


@cases.right(VECTOR, says="rename the variable")
def shadowed_max(a):
    largest = a[0]
    for i in range(1, 8):
        largest = max(largest, a[i])
    return largest


@cases.wrong(TypeMismatch, VECTOR, 8)
def parameter_named_range(a, range):
    for i in range(8):
        a[i] = 0.0


@cases.right(VECTOR, 8, says="rename the variable")
def parameter_named_range(a, n):
    for i in range(n):
        a[i] = 0.0


@cases.wrong(TypeMismatch, VECTOR)
def shadowed_len(a):
    len = 3
    return len(a)


@cases.wrong(ParseError, VECTOR)
def array_attribute_unknown(a):
    return a.length


@cases.wrong(TypeMismatch, VECTOR)
def array_size_called(a):
    return a.size()


@cases.right(VECTOR, says="leave out the parentheses", code="a.size")
def array_size_called(a):
    return a.size


@cases.wrong(ParseError, VECTOR)
def number_attribute_unknown(a):
    x = a[0]
    return x.value


@cases.wrong(ParseError, MATRIX)
def ndims(m):
    return m.ndims


@dataclass(frozen=True)
class Options:
    scale: float = 2.0
    shift: float = 1.0


OPTIONS = Options()
NAMESPACE = SimpleNamespace(scale=2.0)


@cases.wrong(ParseError, VECTOR)
def record_attribute_misspelt(a):
    a[0] = a[0] * OPTIONS.scael


@cases.right(VECTOR, code="scale")
def record_attribute_misspelt(a):
    a[0] = a[0] * OPTIONS.scale


@cases.wrong(ParseError, VECTOR)
def namespace_attribute_missing(a):
    a[0] = a[0] * NAMESPACE.shift


@cases.wrong(ParseError, VECTOR)
def never_assigned_branch(a):
    if False:
        x = 1.0
    return x


@cases.right(VECTOR, says="on a line before this one")
def never_assigned_branch(a):
    x = 0.0
    if False:
        x = 1.0
    return x


@cases.wrong(ParseError, VECTOR)
def misspelt_accumulator(a):
    total = 0.0
    for i in range(8):
        totl += a[i]
    return total


@cases.right(VECTOR, says="or did you mean 'total'?")
def misspelt_accumulator(a):
    total = 0.0
    for i in range(8):
        total += a[i]
    return total


@cases.wrong(ParseError, VECTOR)
def loop_of_numba(a):
    for i in pndindex(8):
        a[i] = 0.0


@cases.right(VECTOR, code="grid(")
def loop_of_numba(a):
    for i in grid(8):
        a[i] = 0.0


@cases.wrong(ParseError, VECTOR)
def bytes_of_an_array(a):
    return a.nbytes


@cases.right(VECTOR, code="a.size * a.itemsize")
def bytes_of_an_array(a):
    return a.size * a.itemsize


@cases.wrong(TypeMismatch, VECTOR)
def limits_of_the_wrong_kind(a):
    return np.iinfo(a.dtype).max


@cases.right(VECTOR, code="np.finfo")
def limits_of_the_wrong_kind(a):
    return np.finfo(a.dtype).max


class Mode(Enum):
    FAST = 1


@cases.wrong(TypeMismatch, 1)
def member_of_an_enum(mode):
    return 1 if mode == Mode.FAST else 0


@cases.right(1, code=".value")
def member_of_an_enum(mode):
    return 1 if mode == Mode.FAST.value else 0


@cases.wrong(ParseError, VECTOR, 2)
def parts_of_parts_in_loops_of_two_functions(a, n):
    def part(a, n):
        found = a[1:]
        for i in range(n):
            found = a[i % 2 :]
        return found

    found = part(a, n)
    for i in range(2):
        found = part(a, i)
    return found


@cases.wrong(ParseError, VECTOR, 2)
def another_tuple_inside_try(a, n):
    found = (a * 2, 0)
    try:
        k = 10 // n
        found = (a * k, k)
    except ZeroDivisionError:
        pass
    return found


@cases.right(VECTOR, 2, says="after it")
def another_tuple_inside_try(a, n):
    k = 2
    try:
        k = 10 // n
    except ZeroDivisionError:
        pass
    return (a * k, k)
