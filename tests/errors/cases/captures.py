"""Values that a script takes from around it."""

import numpy as np

from hybridjit import hybrid
from hybridjit.errors import ParseError, TypeMismatch
from tests.errors.case import VECTOR, Cases

cases = Cases()

LARGE = np.zeros(10_000)
OBJECTS = np.array([None, "x"], dtype=object)
DATES = np.array(["2024-01-01"], dtype="datetime64[D]")
WORDS = np.array(["a", "b"])
SWAPPED = np.arange(4, dtype=np.dtype(np.int32).newbyteorder())
SETTINGS = {"scale": 2.0}
WANTED = {1, 2}
HUGE = 10**30
WEIGHTS = np.array([1.0, 2.0])
LIST = [1.0, 2.0]
MIXED = [1.0, "x", object()]
MASKED = np.ma.masked_array([1.0, 2.0], mask=[0, 1])
LIMIT = None


class Model:
    def __init__(self):
        self.weight = 2.0


MODEL = Model()


@cases.wrong(TypeMismatch, VECTOR)
def large_array(a):
    a[0] = LARGE[0]


@cases.right(VECTOR, LARGE, says="as an argument")
def large_array(a, large):
    a[0] = large[0]


@cases.wrong(TypeMismatch, VECTOR)
def object_array(a):
    a[0] = OBJECTS[0]


@cases.wrong(TypeMismatch, VECTOR)
def date_array(a):
    a[0] = DATES[0]


DAYS = DATES.astype(np.int64)


@cases.right(VECTOR, says="DATES.astype(np.int64)")
def date_array(a):
    a[0] = DAYS[0]


@cases.wrong(TypeMismatch, VECTOR)
def string_array(a):
    print(WORDS[0])


@cases.wrong(TypeMismatch, VECTOR)
def swapped_array(a):
    a[0] = SWAPPED[0]


NATIVE = SWAPPED.astype(SWAPPED.dtype.newbyteorder("="))


@cases.right(VECTOR, says="SWAPPED.astype(SWAPPED.dtype.newbyteorder('='))")
def swapped_array(a):
    a[0] = NATIVE[0]


@cases.wrong(TypeMismatch, VECTOR)
def masked_array(a):
    a[0] = MASKED[0]


FILLED = MASKED.filled(0)


@cases.right(VECTOR, says="MASKED.filled(0)")
def masked_array(a):
    a[0] = FILLED[1]


@cases.wrong(TypeMismatch, VECTOR)
def dict_item(a):
    a[0] = SETTINGS["scale"]


item = SETTINGS["scale"]


@cases.right(VECTOR, says="item = SETTINGS['scale']")
def dict_item(a):
    a[0] = item


@cases.wrong(ParseError, VECTOR)
def dict_method(a):
    a[0] = SETTINGS.get("scale")


@cases.wrong(ParseError, VECTOR, 1)
def in_set(a, n):
    if n in WANTED:
        a[0] = 1.0


@cases.wrong(ParseError, VECTOR)
def object_attribute(a):
    a[0] = MODEL.weight


weight = MODEL.weight


@cases.right(VECTOR, says="weight = MODEL.weight")
def object_attribute(a):
    a[0] = weight


@cases.wrong(TypeMismatch, VECTOR)
def object_as_number(a):
    a[0] = MODEL


@cases.wrong(TypeMismatch, VECTOR)
def huge_integer(a):
    a[0] = 1.0
    n = HUGE + len(a)
    return n


@cases.wrong(TypeMismatch, VECTOR)
def write_to_captured(a):
    WEIGHTS[0] = a[0]


@cases.right(VECTOR, WEIGHTS, says="as an argument")
def write_to_captured(a, weights):
    weights[0] = a[0]


@cases.wrong(TypeMismatch, VECTOR)
def write_to_captured_list(a):
    LIST[0] = a[0]


@cases.wrong(ParseError, VECTOR)
def append_to_captured_list(a):
    LIST.append(a[0])


@cases.wrong(TypeMismatch, VECTOR)
def mixed_list(a):
    a[0] = MIXED[2]


@cases.wrong(TypeMismatch, VECTOR)
def captured_none(a):
    a[0] = LIMIT


@cases.wrong(TypeMismatch, VECTOR)
def module_as_number(a):
    a[0] = np


@cases.wrong(TypeMismatch, VECTOR)
def kernel_as_number(a):
    a[0] = kernel


@cases.right(VECTOR, code="kernel(")
def kernel_as_number(a):
    kernel(a)


@hybrid.script
def kernel(a):
    a[0] = 1.0


def make_closure():
    table = {"x": 1.0}

    @cases.wrong(TypeMismatch, VECTOR)
    def closure_dict(a):
        a[0] = table["x"]

    return closure_dict


make_closure()
