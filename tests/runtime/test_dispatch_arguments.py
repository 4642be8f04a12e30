"""Native calls take numbers, keywords, defaults, tuples and `out=` as Python does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.errors import ArgumentError
from hybridjit.hybrid import output_tensor
from hybridjit.runtime.dispatch.objects import native_class
from tests.runtime.native_calls import (
    AnyKernel,
    agrees,
    doubled,
    hits,
    outcome,
    read_only,
    scaled_sum,
    shown,
    through_python,
    warm,
)
from tests.support.oracle import fresh

pytestmark = [
    pytest.mark.usefixtures("unchecked"),
    pytest.mark.skipif(
        native_class() is None, reason="native calls are not possible on this interpreter"
    ),
]


# Numbers


SCALARS: list[Any] = [
    2,
    -(2**63),
    2**63 - 1,
    True,
    False,
    2.5,
    -0.0,
    float("nan"),
    float("inf"),
    1 + 2j,
    np.float64(2.5),
    np.float32(2.5),
    np.float16(2.5),
    ml_dtypes.bfloat16(2.5),
    np.int8(-3),
    np.uint8(200),
    np.int32(-5),
    np.uint64(2**64 - 1),
    np.longlong(7),
    np.complex64(1 + 2j),
    np.complex128(1 - 2j),
    np.True_,
]


@pytest.mark.parametrize("k", SCALARS, ids=repr)
def test_every_kind_of_number(k: Any) -> None:
    scaled = fresh(scaled_sum)
    a = np.arange(4.0)
    for _ in range(3):
        agrees(scaled, a, k)
    assert agrees(scaled, a, k)


def test_numbers_of_all_kinds_keep_apart() -> None:
    scaled = fresh(scaled_sum)
    a = np.arange(4.0)
    for _ in range(3):
        for k in SCALARS:
            agrees(scaled, a, k)
    assert all([agrees(scaled, a, k) for k in SCALARS])


@pytest.mark.parametrize("k", [2**63, -(2**63) - 1, 10**30])
def test_int_beyond_64_bits_is_refused(k: int) -> None:
    scaled = fresh(scaled_sum)
    a = np.arange(4.0)
    warm(scaled, a, 3)
    with pytest.raises(ValueError, match="does not fit in 64 bits"):
        scaled(a, k)


class _Half(float):
    pass


class _Flag(int):
    pass


@pytest.mark.parametrize("k", [_Half(2.5), _Flag(1), "2", None, [2.0], object()], ids=type)
def test_subclass_of_a_number_is_no_number(k: Any) -> None:
    scaled = fresh(scaled_sum)
    a = np.arange(4.0)
    warm(scaled, a, 2.5)
    assert not agrees(scaled, a, k)


def test_declared_scalars() -> None:
    def function(x: np.float32, n: np.int8, b: np.float64) -> Any:
        return x, n, b

    declared: AnyKernel = hybrid.script(function)
    for args in [(2.1, 3, 0.5), (np.float32(2.1), np.int8(3), np.float64(0.5)), (1e300, 127, 1.0)]:
        for _ in range(4):
            agrees(declared, *args)
    assert agrees(declared, 0.1, -128, 2.5)
    assert agrees(declared, np.float32(7), np.int8(1), np.float64(0.5))
    assert not agrees(declared, 0.1, 128, 2.5)
    assert not agrees(declared, 0.1, 2**70, 2.5)


# How arguments are passed


@hybrid.script
def _options(a: Any, /, k: Any = 2.0, *, shift: Any = 1, mode: Any = "up") -> Any:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        if mode == "up":
            b[i] = a[i] * k + shift
        else:
            b[i] = a[i] * k - shift
    return b


GOOD_CALLS: list[Callable[[Any, Any], Any]] = [
    lambda f, a: f(a),
    lambda f, a: f(a, 3.0),
    lambda f, a: f(a, k=3.0),
    lambda f, a: f(a, 3.0, shift=2),
    lambda f, a: f(a, shift=2, k=3.0),
    lambda f, a: f(a, mode="down"),
    lambda f, a: f(a, mode="".join(["do", "wn"])),
    lambda f, a: f(a, mode="up", shift=5, k=1.5),
    lambda f, a: f(*[a], **{"k": 2.5}),
]


@pytest.mark.parametrize("call", GOOD_CALLS)
def test_keywords_and_defaults(call: Any) -> None:
    options = fresh(_options)
    a = np.arange(5.0)
    for _ in range(3):
        call(options, a)
    before = hits(options)
    result = call(options, a)
    assert hits(options) == before + 1
    assert shown(result) == shown(call(options.interpret, a))


BAD_CALLS: list[Callable[[Any, Any], Any]] = [
    lambda f, a: f(),
    lambda f, a: f(a, 1.0, 2),
    lambda f, a: f(a=a),
    lambda f, a: f(a, k=1.0, **{"other": 2}),
    lambda f, a: f(a, 2.0, k=1.0),
    lambda f, a: f(a, 1.0, 2, 3, 4),
    lambda f, a: f(*[a] * 200),
    lambda f, a: f(a, **{f"x{i}": i for i in range(200)}),
]


@pytest.mark.parametrize("call", BAD_CALLS)
def test_wrong_arguments_raise_what_python_raises(call: Any) -> None:
    options = fresh(_options)
    a = np.arange(5.0)
    warm(options, a)
    expected = outcome(lambda: call(through_python(options), a))
    assert outcome(lambda: call(options, a)) == expected
    assert expected[0] is ArgumentError


def test_tuples() -> None:
    @hybrid.script
    def total(pair: Any, n: Any) -> Any:
        x, k = pair
        s = 0.0
        for i in range(x.shape[0]):
            s += x[i] * k
        return s + n

    x = np.arange(4.0)
    for _ in range(3):
        total((x, 2.0), 1)
    assert agrees(total, (x, 3.0), 2)
    assert not agrees(total, [x, 3.0], 2)
    assert not agrees(total, (x, 3), 2)
    assert not agrees(total, (x, 3.0, 1), 2)
    assert not agrees(total, (x,), 2)
    assert not agrees(total, x, 2)


def test_out_is_filled_natively() -> None:
    double = fresh(doubled)
    a, out = np.arange(4.0), np.zeros(4)
    warm(double, a)
    before = hits(double)
    assert double(a, out=out) is out
    names: dict[str, Any] = {"out": out, "a": a}
    assert double(**names) is out
    np.testing.assert_array_equal(out, 2 * a)
    assert double(a, **{"out": a}) is a
    assert hits(double) == before + 3
    np.testing.assert_array_equal(a, [0, 2, 4, 6])


OUTS: list[Callable[[], Any]] = [
    lambda: None,
    lambda: 3,
    lambda: [1.0],
    lambda: np.zeros(5),
    lambda: np.zeros((4, 1)),
    lambda: np.zeros(4, np.float32),
    lambda: read_only(np.zeros(4)),
    lambda: np.zeros(8)[::2],
    lambda: np.lib.stride_tricks.as_strided(np.zeros(1), (4,), (0,)),
    lambda: np.zeros(4, ">f8"),
    lambda: np.recarray(4, np.float64),
]


@pytest.mark.parametrize("make", OUTS)
def test_out_that_does_not_fit_goes_through_python(make: Callable[[], Any]) -> None:
    double = fresh(doubled)
    a = np.arange(4.0)
    warm(double, a)
    counts = sys.getrefcount(a), sys.getrefcount(None)
    assert not agrees(double, a, out=make())
    assert sys.getrefcount(a) == counts[0]


def test_out_of_a_kernel_that_fails_is_left_alone() -> None:
    @hybrid.script
    def gather(a: Any, i: Any) -> Any:
        b = output_tensor((2,), a.dtype)
        b[0] = a[0]
        b[1] = a[i]
        return b

    a, out = np.arange(4.0) + 1, np.zeros(2)
    warm(gather, a, 3)
    count = sys.getrefcount(out)
    with pytest.raises(IndexError, match="out of bounds"):
        gather(a, 9, **{"out": out})
    assert not out.any()
    assert sys.getrefcount(out) == count
