"""Scripts that look suspicious and have a meaning: that of Python."""

import numpy as np

from hybridjit import hybrid

KNOWN: list = []
abs = 7  # hides Python's


def known(*args):
    """A script, with the arguments that it is tried on."""

    def register(function):
        KNOWN.append((hybrid.script(function), args))
        return function

    return register


@known(np.arange(4.0), 3.0)
def parameter_named_max(a, max):
    return max + a[1]


@known(np.arange(4.0), 3)
def parameter_named_range(a, range):
    return a[range]


@known(np.arange(4.0))
def local_named_sum(a):
    sum = 0.0
    for i in range(len(a)):
        sum += a[i]
    return sum


@known(np.arange(4.0))
def global_named_abs(a):
    return a[0] + abs


@known(np.arange(4.0))
def local_named_as_function_of_the_language(a):
    exp = a[1]
    return exp + 1


@known(np.arange(4.0))
def loop_variable_read_after_the_loop(a):
    for i in range(len(a)):
        a[i] += 1
    return i


@known(np.arange(4.0))
def variable_of_one_branch_read_in_it_only(a):
    if a[0] > 0:
        x = 1.0
        return x
    return 0.0


@known(np.arange(4.0), "fast")
def string_compared_with_number(a, mode):
    if mode == 1 or mode is None:
        return 1.0
    return 2.0


@known(np.arange(4.0))
def unused_variable(a):
    x = a[0]


@known(np.arange(4.0))
def statement_after_return(a):
    return a[1]
    a[0] = undefined


@known(np.arange(4.0))
def branch_never_taken(a):
    if a.ndim == 2:
        return a[0, 0, 0]
    return a[0]
