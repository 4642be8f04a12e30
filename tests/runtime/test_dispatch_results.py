"""Native calls return and raise what calls through Python do."""

from __future__ import annotations

import signal
import sys
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.hybrid import output_tensor
from hybridjit.runtime.dispatch.objects import native_class
from tests.runtime.native_calls import (
    agrees,
    hits,
    warm,
)

pytestmark = [
    pytest.mark.usefixtures("unchecked"),
    pytest.mark.skipif(
        native_class() is None, reason="native calls are not possible on this interpreter"
    ),
]


# Results


def test_results_of_every_kind() -> None:
    @hybrid.script
    def mixed(a: Any, n: Any, x: Any) -> Any:
        b = output_tensor((n, a.shape[0]), "int32")
        c = output_tensor((2,), "complex64")
        for i in range(n):
            for j in range(a.shape[0]):
                b[i, j] = i + j
        c[1] = 1 + 2j
        return a, b, n, a[0], x > 1.0, c, x * 1j, a[1] > a[0]

    args = np.arange(3.0), 2, 1.5
    for n in (3, 2):  # from the second one on, n is known at run time only
        warm(mixed, args[0], n, 1.5)
    assert agrees(mixed, *args)
    assert mixed(*args)[0] is args[0]
    assert agrees(mixed, args[0], 0, 0.5)
    assert agrees(mixed, args[0], 50, 0.5)
    with pytest.raises(ValueError, match="negative dimensions"):
        mixed(args[0], -1, 1.5)
    with pytest.raises(MemoryError, match=r"Unable to allocate|too big"):
        mixed(args[0], 2**58, 1.5)


def test_sizes_of_outputs_are_computed() -> None:
    @hybrid.script
    def shapes(a: Any, n: Any) -> Any:
        b = output_tensor((a.shape[0] - 2, 2 * a.shape[1] + n), a.dtype)
        c = output_tensor((a.shape[0] * a.shape[1] // 3,), "int8")
        d = output_tensor((max(n, a.shape[0]), min(n, 3)), "int8")
        return b, c, d

    for size in (4, 5, 6):
        warm(shapes, np.zeros((size, size + 1)), size - 2)
    for rows, columns, n in ((7, 8, 3), (2, 3, 0), (3, 10, 100), (9, 1, 5)):
        assert agrees(shapes, np.zeros((rows, columns)), n)
    for rows, n in ((1, 1), (5, -7)):
        with pytest.raises(ValueError, match="negative dimensions"):
            shapes(np.zeros((rows, 3)), n)


def test_sizes_of_parts_that_an_argument_bounds_are_computed() -> None:
    @hybrid.script
    def parts(a: Any, n: Any) -> Any:
        return a[:n] + 1, a[n:] + 1, a[n - 1 : -n] + 1

    @hybrid.script
    def choices(a: Any, n: Any) -> Any:
        b = output_tensor((n if n <= 3 else 2 * n, 7 if n >= 3 else n + 7), "int8")
        c = output_tensor((1 if n == 3 else 2, 3 if n != 3 else 4), "int8")
        d = output_tensor((5 if n > 3 else 6, 5 if n < 3 else n + 9), "int8")
        return b, c, d

    bounds = {parts: range(-12, 13), choices: range(7)}
    for kernel, values in bounds.items():
        for n in (2, 3):
            warm(kernel, np.arange(9.0), n)
        for n in values:
            assert agrees(kernel, np.arange(9.0), n)


def test_one_result_and_tuples_of_none_or_one() -> None:
    @hybrid.script
    def one(a: Any) -> Any:
        return (a[0],)

    @hybrid.script
    def two(a: Any) -> Any:
        return a

    a = np.arange(3)
    for kernel in (one, two):
        for _ in range(3):
            kernel(a)
        assert agrees(kernel, a)
    assert two(a) is a


def test_new_arrays_are_zero_and_separate() -> None:
    @hybrid.script
    def first(a: Any) -> Any:
        b = output_tensor((100,), "float64")
        b[0] = a[0]
        return b

    a = np.ones(1)
    for _ in range(3):
        first(a)
    results = [first(a) for _ in range(50)]
    for result in results:
        assert result[0] == 1
        assert not result[1:].any()
        assert result.flags.owndata
        assert result.flags.writeable
        result[...] = 7
    assert len({result.ctypes.data for result in results}) == 50


# Errors


def test_errors_of_the_kernel() -> None:
    @hybrid.script
    def element(a: Any, i: Any) -> Any:
        b = output_tensor((3,), "float64")
        b[0] = a[i]
        return b, 10 // i

    a = np.arange(5.0)
    warm(element, a, 3)
    for i in (7, -6, 2**40, 0):
        agrees(element, a, i)
        before = hits(element)
        with pytest.raises((IndexError, ZeroDivisionError), match=r"out of bounds|by zero"):
            element(a, i)
        assert hits(element) == before + 1
    assert agrees(element, a, 2)


def test_traceback_of_a_native_error_starts_at_the_caller() -> None:
    @hybrid.script
    def element(a: Any, i: Any) -> Any:
        return a[i]

    a = np.arange(5.0)
    warm(element, a, 3)
    with pytest.raises(IndexError, match="out of bounds") as caught:
        element(a, 9)
    frames = [entry.frame.f_globals["__name__"] for entry in caught.traceback]
    ours = [name for name in frames if name.startswith("hybridjit")]
    assert len(ours) <= (1 if sys.version_info < (3, 11) else 0)


def test_exception_of_a_callback() -> None:
    @hybrid.packed
    def refuse(x: Any) -> None:
        if x > 2:
            raise LookupError("refused")

    @hybrid.script
    def visit(a: Any) -> Any:
        for i in range(a.shape[0]):
            refuse(a[i])

    small, large = np.zeros(4), np.full(4, 5.0)
    warm(visit, small)
    before = hits(visit)
    with pytest.raises(LookupError, match="refused"):
        visit(large)
    assert hits(visit) == before + 1
    visit(small)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")
def test_signal_interrupts_a_native_call() -> None:
    @hybrid.script
    def spin(a: Any, n: Any) -> Any:
        s = 0.0
        for _ in range(n):
            for i in range(a.shape[0]):
                s = s * 0.5 + a[i]
        return s

    class Alarm(Exception):
        pass

    def ring(number: int, frame: object) -> None:
        raise Alarm("rang")

    def spin_until_it_rings() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.5)  # time enough to get into the kernel
        spin(a, 10**10)

    a = np.arange(1000.0)
    warm(spin, a, 2)
    previous = signal.signal(signal.SIGALRM, ring)
    try:
        with pytest.raises(Alarm, match="rang"):
            spin_until_it_rings()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert hits(spin) == 2
