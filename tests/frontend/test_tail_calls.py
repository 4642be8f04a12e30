"""Functions that call themselves last are loops."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from hybridjit.errors import ParseError
from tests.support.array_results import assert_agree

np: Any = numpy


@hybrid.script
def gcd(a: Any, b: Any) -> Any:
    if b == 0:
        return a
    return gcd(b, a % b)


@hybrid.script
def power(x: Any, n: Any, product: Any = 1.0) -> Any:
    """By squaring."""
    if n == 0:
        return product
    if n % 2 == 1:
        return power(x * x, n // 2, product=product * x)
    return power(x * x, n // 2, product)


def search(a: Any, x: Any, low: Any, high: Any) -> Any:
    if low >= high:
        return low
    middle = (low + high) // 2
    if a[middle] < x:
        return search(a, x, middle + 1, high)
    else:  # noqa: RET505
        return search(a, x, low, middle)


@hybrid.script
def found(a: Any, x: Any) -> Any:
    return search(a, x, 0, len(a)), gcd(12, len(a))


def test_as_plain_python() -> None:
    for pair in ((48, 36), (7, 0), (0, 5), (17, 5)):
        assert_agree(gcd, pair)
    for n in (0, 1, 13):
        assert_agree(power, [1.5, n])
    for x in (-1.0, 3.5, 99.0):
        assert_agree(found, [np.arange(10.0), x])


def test_a_name_that_is_given_another_function(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(a: Any, b: Any) -> Any:
        return 77

    first = gcd
    assert first(48, 36) == 12
    monkeypatch.setitem(globals(), "gcd", other)
    assert first(48, 36) == 77


def test_a_name_that_only_the_caller_gave_a_value() -> None:
    @hybrid.script
    def leftover(n: Any) -> Any:
        if n == 5:
            kept = 1
        if n == 0:
            return kept  # pyright: ignore[reportPossiblyUnboundVariable]
        return leftover(n - 1)

    with pytest.raises(ParseError, match="'leftover' calls itself"):
        leftover(5)
