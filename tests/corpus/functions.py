"""DESIGN 2.1: calls to other scripts and to plain functions, module-level and closure-local."""

from typing import Any

from hybridjit import Kernel, hybrid
from hybridjit.hybrid import allocate, output_tensor
from tests.corpus.case import REALS, Array, Number, call, case, sweep


def clamp(x: Number, lo: Number = 0, hi: Number = 5) -> Number:
    """A plain function with several returns."""
    if x < lo:
        return lo
    if x > hi:
        return hi
    return x


@hybrid.script
def square(x: Number) -> Number:
    return x * x


def sum_of_squares(a: Array, i: Number) -> Number:
    total = 0.0
    for j in range(a.shape[1]):
        total += square(a[i, j])
    return total


def first_above(a: Array, x: Number) -> Number:
    for i in range(a.shape[0]):
        if a[i] > x:
            return i
    return -1


def divide_with_remainder(x: Number, y: Number) -> Number:
    return x // y, x % y


def fill(a: Array, x: Number) -> None:
    for i in range(a.shape[0]):
        a[i] = x


def scratch_sum(a: Array) -> Array:
    tmp = allocate(a.shape, a.dtype)
    for i in range(a.shape[0]):
        tmp[i] = a[i] + a[i]
    return tmp


def early_out(a: Array, i: Number) -> None:
    if i % 2 == 0:
        return
    a[i] = 0


def sign_of(x: Number) -> Number:
    if x > 0:
        if x > 100:
            return 2
        return 1
    elif x < 0:  # noqa: RET505
        return -1
    return 0


def position(a: Array, x: Number) -> Number:
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] == x:
                return i, j
    return -1, -1


def bump(a: Array, i: Number) -> Number:
    a[i] += 1
    return a[i]


@hybrid.script
def call_several_returns(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = clamp(a[i]) + clamp(a[i], lo=-2) + clamp(hi=3, x=a[i])
    return b


@hybrid.script
def call_script(a: Array) -> Array:
    b = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        b[i] = sum_of_squares(a, i)
    return b


@hybrid.script
def call_return_in_loop(a: Array, b: Array) -> Array:
    c = output_tensor(b.shape, "int64")
    for i in range(b.shape[0]):
        c[i] = first_above(a, b[i])
    return c


@hybrid.script
def call_for_tuple(a: Array) -> Array:
    b = output_tensor((2, a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        quotient, remainder = divide_with_remainder(a[i], 3)
        b[0, i] = quotient
        b[1, i] = remainder
    return b


@hybrid.script
def call_for_effect(a: Array, x: Number) -> None:
    fill(a, x)
    for i in range(a.shape[0]):
        early_out(a, i)


@hybrid.script
def call_for_array(a: Array) -> Array:
    b = output_tensor(a.shape, a.dtype)
    doubled = scratch_sum(a)
    for i in range(a.shape[0]):
        b[i] = doubled[i] * 2
    return b


@hybrid.script
def call_nested_returns(a: Array) -> Array:
    b = output_tensor(a.shape, "int8")
    for i in range(a.shape[0]):
        b[i] = sign_of(a[i]) * sign_of(-a[i])
    return b


@hybrid.script
def call_for_position(a: Array, x: Number) -> Number:
    i, j = position(a, x)
    return i, j


@hybrid.script
def call_order(a: Array) -> Array:
    b = output_tensor((4,), a.dtype)
    b[0] = a[0] + bump(a, 0)
    b[1] = bump(a, 0) + a[0] * bump(a, 0)
    x = a[0]
    b[2] = bump(a, 0) if x > 1 else -bump(a, 0)
    b[3] = a[0]
    return b


@hybrid.script
def call_lazily(a: Array) -> Number:
    hits = 0
    for i in range(a.shape[0]):
        if a[i] > 0 and bump(a, i) > 3:
            hits += 1
        if a[i] < 0 or bump(a, i) > 4:
            hits += 10
    return hits


@hybrid.script
def call_in_while(a: Array) -> Number:
    rounds = 0
    while bump(a, 0) < 8:
        rounds += 1
    return rounds


def in_leaves(a: Array, first: Number, last: Number) -> Number:
    """Calls itself twice."""
    if last - first < 2:
        return a[first] * 2 if first < last else 0
    middle = (first + last) // 2
    return in_leaves(a, first, middle) + in_leaves(a, middle, last)


@hybrid.script
def call_recursive(a: Array) -> Array:
    return in_leaves(a, 0, a.shape[0])


def make_local(scale: Number) -> Kernel[..., Any]:
    """A script in a closure that calls a function of the same closure."""

    def local(x: Number) -> Number:
        return x * scale + 1

    @hybrid.script
    def call_local(a: Array) -> Array:
        b = output_tensor(a.shape, a.dtype)
        for i in range(a.shape[0]):
            b[i] = local(local(a[i]))
        return b

    return call_local


CASES = (
    case(call_several_returns, sweep(lambda d: (d(d.n),), dtypes=("float64", "float32", "int32"))),
    case(call_script, sweep(lambda d: (d(d.n, 3),))),
    case(call_return_in_loop, sweep(lambda d: (d(d.n), d(3)), dtypes=REALS)),
    case(call_for_tuple, sweep(lambda d: (d(d.n),), dtypes=REALS)),
    case(call_for_effect, sweep(lambda d: (d.out(d.n), 4), dtypes=REALS)),
    case(call_for_array, sweep(lambda d: (d(d.n),), dtypes=REALS)),
    case(call_nested_returns, sweep(lambda d: (d(d.n),), dtypes=("float64", "int32"))),
    case(call_for_position, sweep(lambda d: (d(d.n, 3, low=0), 4), dtypes=("int32", "uint8"))),
    case(call_order, sweep(lambda d: (d.out(d.n),), dtypes=("int64", "float32"), sizes=(7, 1))),
    case(call_lazily, sweep(lambda d: (d.out(d.n),), dtypes=("int64", "float32"))),
    case(call_in_while, sweep(lambda d: (d.out(d.n),), dtypes=("int64", "float32"), sizes=(7, 1))),
    case(call_recursive, sweep(lambda d: (d(d.n),), dtypes=("int64",)), joined=True),
    case(make_local(2), sweep(lambda d: (d(d.n),), dtypes=("int64", "float32"))),
    case(square, call(3), call(2.5), call(True)),
)
