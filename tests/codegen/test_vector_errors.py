"""A vector loop fails where the plain loop does: with the same error, after the same stores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, config, hybrid
from tests.support.oracle import fresh_copies

SIZE = 53


@hybrid.script
def two_gathers(a: Any, k: Any, m: Any, b: Any) -> None:
    for i in range(b.shape[0]):
        b[i] = a[k[i]] + a[m[i]] * 2.0


@hybrid.script
def guarded(a: Any, k: Any, m: Any, b: Any) -> None:
    for i in range(b.shape[0]):
        x = a[m[i]] if k[i] != 18 else 0.0
        if m[i] > 3:
            b[i] = a[k[i]] + x


@hybrid.script
def divided(a: Any, k: Any, m: Any, b: Any) -> None:
    for i in range(b.shape[0]):
        x = 100 // (m[i] - 7)
        b[i] = a[k[i]] + x


@hybrid.script
def raised(a: Any, k: Any, m: Any, b: Any) -> None:
    for i in range(b.shape[0]):
        assert k[i] != 30, ("thirty", i)
        if m[i] == 31:
            raise ValueError("thirty-one", m[i], i)
        b[i] = a[k[i]]


@hybrid.script
def summed(a: Any, k: Any, m: Any, b: Any) -> None:
    s = 0
    for i in range(k.shape[0]):
        s += m[k[i]]
    b[0] = s


@hybrid.script
def beyond_the_end(a: Any, k: Any, m: Any, b: Any) -> None:
    n = m[0]
    for i in range(n):
        b[i] = a[i]
        a[i] = a[i] * 2.0 + k[i + 1]


KERNELS = [two_gathers, guarded, divided, raised, summed, beyond_the_end]


def arguments(**changes: dict[int, int]) -> list[Any]:
    """Arrays for the kernels; `changes` says what to put where into the tables `k` and `m`."""
    tables: dict[str, Any] = {"k": np.arange(SIZE), "m": SIZE - 1 - np.arange(SIZE)}
    tables["m"][tables["m"] == 7] = 8
    tables["k"][30], tables["m"][tables["m"] == 31] = 29, 32
    for name, places in changes.items():
        for place, value in places.items():
            tables[name][place] = value
    return [np.arange(SIZE) * 0.5, tables["k"], tables["m"], np.zeros(SIZE)]


def outcome(kernel: Kernel[..., Any], args: list[Any]) -> tuple[str, list[Any]]:
    copies = fresh_copies(args)
    try:
        with config.scope(interpret=False):
            kernel(*copies)
    except (IndexError, ValueError, AssertionError, ZeroDivisionError) as error:
        return f"{type(error).__name__}: {error}", [copy.tolist() for copy in copies]
    return "", [copy.tolist() for copy in copies]


CHANGES: list[dict[str, dict[int, int]]] = [
    {},
    {"k": {21: 99}},
    {"k": {21: 99}, "m": {18: 99}},
    {"k": {18: 99}, "m": {21: 99}},
    {"k": {18: 30}, "m": {21: 31}},
    {"k": {21: 30}, "m": {18: 31}},
    {"k": {33: 99, 34: 99}, "m": {33: 7, 32: 7}},
    {"k": {52: 99}, "m": {50: -99}},
    {"m": {0: SIZE}},
    {"m": {0: SIZE - 1}},
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_errors_are_those_of_the_plain_loop(kernel: Kernel[..., Any]) -> None:
    vectors = kernel.with_schedule(lambda s: s.vectorize("i"))
    assert "<" in vectors.inspect("llvm", *arguments())  # there is vector code
    for changes in CHANGES:
        args = arguments(**changes)
        assert outcome(vectors, args) == outcome(kernel, args), changes


@pytest.mark.parametrize("kernel", KERNELS[:4], ids=lambda kernel: kernel.__name__)
def test_errors_do_occur(kernel: Kernel[..., Any]) -> None:
    found = {outcome(kernel, arguments(**changes))[0] for changes in CHANGES}
    assert len(found) > 3


def test_what_was_stored_before_a_check_stays_stored() -> None:
    """The rule for a store that comes before a check: all lanes of a vector are done with it."""

    @hybrid.script
    def stores_first(a: Any, k: Any, b: Any, c: Any) -> None:
        for i in range(k.shape[0]):
            b[i] += 1.0
            a[i] = c[k[i]]

    check: Callable[..., Any] = stores_first.with_schedule(lambda s: s.vectorize("i"))
    a, k, b, c = np.zeros(32), np.arange(32), np.zeros(32), np.ones(32)
    k[19] = 99
    with pytest.raises(IndexError, match="99 is out of bounds"):
        check(a, k, b, c)
    assert b[:20].tolist() == [1.0] * 20
    assert a[19:].tolist() == [0.0] * 13
