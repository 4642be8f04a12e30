# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
"""Functions inside of scripts, as values and as arguments: as plain Python has them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from hybridjit.errors import HybridError
from tests.support.array_results import assert_agree

np: Any = numpy

# ruff: noqa: E731, B023, B007, SIM108


def twice(f: Any, x: Any) -> Any:
    return f(f(x))


def fill(out: Any, f: Any) -> None:
    for i in range(len(out)):
        out[i] = f(i)


def total(*values: Any) -> Any:
    s = 0.0
    for value in values:
        s += value
    return s


def scaled(x: Any, *shifts: Any, by: Any = 2.0) -> Any:
    return x * by + len(shifts) + total(*shifts)


def inner_def(a: Any) -> Any:
    def double(x: Any) -> Any:
        return x * 2

    return double(a[0]) + double(1)


def named_lambda(a: Any) -> Any:
    f = lambda x, y=2.0: x * y
    return f(a[0]) + f(a[1], 3.0) + f(y=1.0, x=a[2])


def called_at_once(a: Any) -> Any:
    return (lambda x: x + 1.0)(a[0])


def whole_arrays(a: Any) -> Any:
    def centred(x: Any) -> Any:
        return x - x.mean()

    return centred(a) + centred(a[::-1])


def closure(a: Any) -> Any:
    n = len(a)
    s = a.sum()

    def share(i: Any) -> Any:
        return a[i] / s

    b = np.empty(n)
    for i in range(n):
        b[i] = share(i) + n
    return b


def reads_when_called(a: Any) -> Any:
    s = 2.0
    scale = lambda x: x * s
    first = scale(a[0])
    s = 3.5
    return first + 10.0 * scale(a[0])


def reads_through_another_name(a: Any) -> Any:
    s = 2.0
    scale = lambda x: x * s
    f = scale
    s = 3.5
    return f(a[0])


def reads_through_another_function(a: Any) -> Any:
    s = 2.0
    inner = lambda x: x * s
    outer = lambda x: inner(x) + 1.0
    s = 3.5
    return outer(a[0])


def defined_before_its_names(a: Any) -> Any:
    def late(x: Any) -> Any:
        return x + offset

    offset = a[1]
    return late(a[0])


def reads_a_variable(a: Any) -> Any:
    s = 0.0
    add = lambda x: s + x
    for i in range(len(a)):
        s = add(a[i])
    return s


def reads_the_loop(a: Any) -> Any:
    s = 0.0
    for i in range(len(a)):
        weigh = lambda x: x * i
        s += weigh(a[i])
    return s


def reads_the_last_round(a: Any) -> Any:
    f = lambda: i
    s = 0
    for i in range(len(a)):
        s += f()
    return s + 100 * f()


def keeps_a_default(a: Any) -> Any:
    s = 2.0
    f = lambda x, s=s: x * s
    s = 5.0
    return f(a[0]) + s


def another_array_by_the_name(a: Any) -> Any:
    b = a.copy()
    first = lambda: b[0]
    x = first()
    b = a[::-1] * 2.0
    return x + 10.0 * first()


def exchanged_arrays(a: Any) -> Any:
    u, v = a.copy(), a * 2.0
    step = lambda i: u[i] + 1.0
    for _ in range(3):
        for i in range(len(a)):
            v[i] = step(i)
        u, v = v, u
    return u


def writes_to_an_array(a: Any) -> Any:
    b = np.zeros(len(a))

    def put(i: Any, x: Any) -> None:
        b[i] = x

    for i in range(len(a)):
        put(i, a[i] * 2.0)
    return b


def passed_to_a_helper(a: Any) -> Any:
    s = a[1]
    return twice(lambda x: x * s, a[0])


def passed_with_a_name(a: Any) -> Any:
    def shifted(i: Any) -> Any:
        return a[i] + 1.0

    b = np.empty(len(a))
    fill(b, shifted)
    fill(a, lambda i: b[len(b) - 1 - i])
    return b


def a_function_of_numpy_passed(a: Any) -> Any:
    return twice(np.sqrt, a[0]) + twice(abs, a[1])


def chosen(a: Any) -> Any:
    f = (lambda x: x + 1.0) if a.ndim == 1 else (lambda x: x - 1.0)
    return f(a[0])


def chosen_by_an_if(a: Any) -> Any:
    if len(a) > 100:

        def f(x: Any) -> Any:
            return x + 1.0

    else:

        def f(x: Any) -> Any:
            return x - 1.0

    return f(a[0])


def chosen_at_run_time(a: Any) -> Any:
    if a[0] > 0.5:
        f = lambda x: x + 1.0
    else:
        f = lambda x: x - 1.0
    return f(a[0])


def in_a_tuple(a: Any) -> Any:
    fs = (lambda x: x + 1.0, lambda x: x * 2.0, np.sin)
    s = 0.0
    for f in fs:
        s += f(a[0])
    return s + fs[1](a[1])


def made_by_a_function(a: Any) -> Any:
    def multiplied(by: Any) -> Any:
        return lambda x: x * by

    double, triple = multiplied(2.0), multiplied(3.0)
    return double(a[0]) + triple(a[1])


def a_local_of_its_own(a: Any) -> Any:
    s = 1.0

    def own(x: Any) -> Any:
        s = x * 2.0
        s += 1.0
        return s

    return own(a[0]) + s


def hidden_by_a_parameter(a: Any) -> Any:
    x = 100.0
    f = lambda x: x + 1.0
    return f(a[0]) + x


def returns_early(a: Any) -> Any:
    def clamp(x: Any) -> Any:
        if x < 0.3:
            return 0.3
        for k in range(5):
            if x < k:
                return x * k
        return x

    b = np.empty(len(a))
    for i in range(len(a)):
        b[i] = clamp(a[i])
    return b


def short_syntax_inside(a: Any) -> Any:
    def norm(x: Any) -> Any:
        return sum(v * v for v in x)

    count = lambda x: sum(1 for v in x if v > 0.5)
    return norm(a) + count(a)


def inside_of_an_inner_function(a: Any) -> Any:
    s = a[0]

    def outer(x: Any) -> Any:
        t = x + s

        def inner(y: Any) -> Any:
            return y * t + s

        return inner(2.0) + inner(3.0)

    s = a[1]
    return outer(a[2])


def in_a_comprehension(a: Any) -> Any:
    f = lambda x: x * 2.0
    return sum(f(x) for x in a) + max([f(x) for x in a])


def star_arguments(a: Any) -> Any:
    xs = (a[0], a[1])
    return total(*xs, a[2]) + total() + scaled(a[0], *xs, by=3.0) + scaled(*xs)


def star_arguments_of_arrays(a: Any) -> Any:
    def mean(*xs: Any) -> Any:
        s = np.zeros(len(xs[0]))
        for x in xs:
            s += x
        return s / len(xs)

    return mean(a, a * 2.0, a[::-1])


def with_vectors(a: Any) -> Any:
    def rhs(t: Any, y: Any) -> Any:
        return np.array([y[1], -y[0] * a[0] + t])

    y = np.array([1.0, 0.0])
    h, t = 0.1, 0.0
    for _ in range(10):
        k1 = rhs(t, y)
        k2 = rhs(t + h / 2.0, y + h / 2.0 * k1)
        y = y + h * k2
        t += h
    return y


SCRIPTS = [
    value
    for value in list(globals().values())
    if callable(value)
    and getattr(value, "__module__", "") == __name__
    and value not in (twice, fill, total, scaled)
]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_as_in_python(script: Callable[..., Any]) -> None:
    values = numpy.random.default_rng(3).random(7)
    kernel = hybrid.script(script)
    assert_agree(kernel, [values])
    assert_agree(kernel, [1.0 - values])


def nonlocal_name(a: Any) -> Any:
    s = 0.0

    def add(x: Any) -> None:
        nonlocal s
        s += x

    add(a[0])
    return s


def recursive(a: Any) -> Any:
    def down(n: Any) -> Any:
        return down(n - 1)

    return down(5) + a[0]


def decorated(a: Any) -> Any:
    @staticmethod
    def f(x: Any) -> Any:
        return x

    return f(a[0])


def generator(a: Any) -> Any:
    def numbers() -> Any:
        yield 1.0

    return sum(numbers()) + a[0]


def returned(a: Any) -> Any:
    return lambda x: x + a[0]


def not_yet_known(a: Any) -> Any:
    f = lambda x: x + later
    y = f(a[0])
    later = 1.0
    return y + later


def keywords(a: Any) -> Any:
    def f(**given: Any) -> Any:
        return 1.0

    return f(x=a[0])


REFUSED = {
    nonlocal_name: "nonlocal is not supported",
    recursive: "'down' calls itself",
    decorated: "a function inside a script cannot be decorated",
    generator: "yield is not supported",
    returned: "cannot return the function 'lambda'",
    not_yet_known: "'later' is used before it is assigned",
    keywords: r"it takes \*\* arguments",
}


@pytest.mark.parametrize("script", REFUSED, ids=lambda script: script.__name__)
def test_what_is_refused(script: Callable[..., Any]) -> None:
    with pytest.raises(HybridError, match=REFUSED[script]):
        hybrid.script(script)(numpy.ones(4))


# functions as arguments of a script


def doubled(x: Any) -> Any:
    return x * 2.0


def shifted(x: Any) -> Any:
    return x + 1.0


@hybrid.script
def summed(f: Any, a: Any) -> Any:
    s = 0.0
    for i in range(len(a)):
        s += f(a[i])
    return s


@pytest.mark.parametrize("f", [doubled, shifted, math.sin, np.sqrt, abs, hybrid.script(doubled)])
def test_a_function_as_an_argument(f: Any) -> None:
    values = numpy.array([0.25, 0.5, 3.0])
    expected = summed.py_func(f, values)
    assert summed(f, values) == pytest.approx(expected)
    assert summed.interpret(f, values) == pytest.approx(expected)


def test_functions_take_turns() -> None:
    values = numpy.array([0.25, 0.5, 3.0])
    for f in (doubled, shifted, doubled, math.sin, shifted, math.cos):
        assert summed(f, values) == pytest.approx(sum(map(f, values)))


def test_a_function_that_is_given_other_code() -> None:
    def changing(x: Any) -> Any:
        return x * 2.0

    values = numpy.array([0.25, 0.5, 3.0])
    assert [summed(changing, values) for _ in range(3)] == [7.5] * 3
    changing.__code__ = shifted.__code__
    assert [summed(changing, values) for _ in range(3)] == [6.75] * 3


def test_a_lambda_as_an_argument() -> None:
    with pytest.raises(HybridError, match="a lambda cannot be compiled"):
        summed(lambda x: x, numpy.ones(3))
