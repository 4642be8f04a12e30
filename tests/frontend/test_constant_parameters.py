"""Integers that a script has to know before it runs are constants of the specialisation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.errors import ParseError
from hybridjit.frontend.constant_parameters import constant_parameters
from hybridjit.hybrid import const_range
from tests.support.oracle import run_native, run_plain_and_interpreted

A: Any = np.arange(8.0)
PAIRS: Any = ((1.0, 2), (3.0, 4), (5.0, 6))
ARRAYS: Any = (A, A[:3].astype("float32"), A + 1)


class Steps(NamedTuple):
    """Parts of an argument, one of which is wanted."""

    first: int
    many: int
    scale: int


@hybrid.script
def powers(a: Any, n: Any) -> Any:
    s = 0.0
    for i in range(a.shape[0]):
        for k in const_range(n):
            s += a[i] * (k + 1)
    return s


@hybrid.script
def between(a: Any, first: Any, last: Any) -> Any:
    s = 0.0
    for k in const_range(first, last, 2):
        for j in const_range(k):
            s += a[k] * j
    return s


@hybrid.script
def changed(a: Any, n: Any) -> Any:
    n //= 2
    m = max(n, 1) if n > 0 else 1
    s = 0.0
    for k in const_range(m + 1):
        s += a[k]
    return s


@hybrid.script
def of_helpers(a: Any, m: Any) -> Any:
    def inner(x: Any, last: Any) -> Any:
        t = 0.0
        for k in const_range(last):
            t += x[k]
        return t

    return powers(a, m) + powers(n=m + 1, a=a) + inner(a, m)


@hybrid.script
def of_parts(a: Any, steps: Any) -> Any:
    s = 0.0
    for k in const_range(steps.first, steps.first + steps.many):
        s += a[k] * steps.scale
    return s


@hybrid.script
def of_items(a: Any, bounds: Any) -> Any:
    s = 0.0
    for k in const_range(bounds[0], bounds[1]):
        s += a[k] * bounds[2]
    return s


@hybrid.script
def of_nested(a: Any, pairs: Any, n: Any) -> Any:
    s = 0.0
    for k in const_range(n):
        s += pairs[k][0] * a[pairs[k][1]]
    return s


@hybrid.script
def of_arrays(arrays: Any, n: Any) -> Any:
    return arrays[n].sum() + arrays[n - 1][0]


@hybrid.script
def of_sizes(a: Any, n: Any) -> Any:
    s = 0.0
    for k in const_range(a.shape[0] - n):
        s += a[k]
    return s


@hybrid.script
def typed(a: Any, n: Any) -> Any:
    s = a[0] * n
    for k in const_range(n):
        s += a[k]
    return s


CALLS: list[tuple[Any, list[tuple[Any, ...]]]] = [
    (powers, [(A, 3), (A, 0), (A[:3], 3), (A, -2), (A, np.int32(3)), (A, 3), (A[:5], 2)]),
    (between, [(A, 1, 7), (A, 0, 8), (A, 7, 1)]),
    (changed, [(A, 3), (A, 7), (A, -3)]),
    (of_helpers, [(A, 3), (A, 1)]),
    (of_parts, [(A, Steps(1, 3, 2)), (A, Steps(0, 2, 2)), (A, Steps(0, 2, 7))]),
    (of_items, [(A, (1, 3, 2)), (A, (0, 3, 2)), (A, [0, 3, 7])]),
    (of_nested, [(A, PAIRS, 3), (A, PAIRS, 1)]),
    (of_arrays, [(ARRAYS, 1), (ARRAYS, 2), (ARRAYS, -1)]),
    (of_sizes, [(A, 1), (A, 7), (A[:4], 2)]),
    (typed, [(A.astype("int8"), 3), (A.astype("int8"), np.int64(3)), (A, np.int8(3))]),
]


@pytest.mark.parametrize(("kernel", "calls"), CALLS, ids=lambda item: getattr(item, "__name__", ""))
def test_every_number_has_code_of_its_own(kernel: Any, calls: list[tuple[Any, ...]]) -> None:
    for args in calls:
        run_plain_and_interpreted(kernel, list(args))
        wanted = kernel.py_func(*args)
        for _ in range(3):  # the dispatcher takes over
            found = run_native(kernel, *args)
            np.testing.assert_array_equal(found, wanted)
            assert np.asarray(found).dtype == np.asarray(wanted).dtype


@pytest.mark.usefixtures("unchecked")
def test_only_what_is_wanted_is_specialised_for() -> None:
    @hybrid.script
    def scaled(a: Any, n: Any, c: Any, lengths: Any) -> Any:
        s = 0.0
        for k in const_range(n):
            for j in const_range(len(lengths)):
                s += a[k] * c * lengths[j]
        return s

    for c in range(4):
        run_native(scaled, A, 3, c, (c, c + 1))
    assert len(scaled.cache_info()) == 1
    run_native(scaled, A, 2, 1, (1, 2))
    assert len(scaled.cache_info()) == 2


def test_scripts_without_such_loops_are_not_read() -> None:
    def plain(a: Any, n: Any) -> Any:
        return np.sum(a) + np.fft.fft(a)[n]

    assert constant_parameters(plain) == frozenset()


def test_numbers_of_loops_stay_unknown() -> None:
    @hybrid.script
    def f(n: Any) -> Any:
        m, s = 0, 0
        for i in range(n):
            m = i
        for k in const_range(m):
            s += k
        return s

    with pytest.raises(ParseError, match="the bounds of const_range must be known"):
        f.interpret(3)
