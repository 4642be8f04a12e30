"""Scripts with more than one error, and scripts whose one error touches many lines."""

from hybridjit.errors import ParseError, TypeMismatch
from tests.errors.case import VECTOR, Cases

cases = Cases()


@cases.wrong(ParseError, VECTOR)
def three_errors(a):
    x = [1, 2]
    y = {1: 2}
    z = {t: 1 for t in y}
    a[0] = frobnicate(a[1])


@cases.wrong(ParseError, VECTOR)
def more_than_five(a):
    b = {1}
    c = {2}
    d = {3}
    e = {4}
    f = {5}
    g = {6}
    h = {7}


@cases.wrong(ParseError, VECTOR)
def nothing_follows_from_a_failed_assignment(a):
    table = {1: 2}
    x = table[1]
    y = x + 1.0
    for i in range(y):
        a[i] = y
    if y > x:
        a[0] = x
    return y


@cases.wrong(ParseError, VECTOR)
def nothing_follows_from_a_failed_loop(a):
    for i, x in map(a, 2):
        last = x
    a[0] = last + i


@cases.wrong(TypeMismatch, VECTOR)
def nothing_follows_from_a_failed_output(a):
    b = (output_tensor(a.shape, "flaot32"), [x for x in a])[1]
    b[0] = a[0]
    return b


@cases.wrong(ParseError, VECTOR)
def nothing_follows_from_a_failed_import(a):
    import cmath as xp
    from random import gauss as root

    a[0] = xp.exp(a[1]) + root(a[2])


@cases.wrong(ParseError, VECTOR)
def errors_in_both_branches(a):
    if a[0] > 0:
        a[1] = {1}
    else:
        a[1] = {x: x for x in a}
    a[2] = sqrtt(a[1])


def helper(x):
    y = {x}
    return y


@cases.wrong(ParseError, VECTOR)
def nothing_follows_from_a_failed_call(a):
    x = helper(a[0])
    a[1] = x + 1.0
    a[2] = {1: 2}[1]
