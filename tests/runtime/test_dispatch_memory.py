"""Native calls leak nothing, and many threads may make them at once."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.codegen.dispatcher.layout import Table
from hybridjit.codegen.dispatcher.object_layout import Head
from hybridjit.hybrid import output_tensor
from hybridjit.runtime.dispatch.native_calls import NativeCalls
from hybridjit.runtime.dispatch.objects import native_class
from tests.runtime.native_calls import (
    AnyKernel,
    agrees,
    arrays,
    hits,
    make_add,
    warm,
)
from tests.support.turns import others_run_during

pytestmark = [
    pytest.mark.usefixtures("unchecked"),
    pytest.mark.skipif(
        native_class() is None, reason="native calls are not possible on this interpreter"
    ),
]


# Memory


@pytest.fixture(autouse=True)
def quick_collections() -> Iterator[None]:
    """Garbage collection looks at what a test has made only: the suite has made a lot before it."""
    gc.freeze()
    yield
    gc.unfreeze()


def test_references_stay_balanced() -> None:
    @hybrid.script
    def everything(a: Any, pair: Any, k: Any = 1.0) -> Any:
        b = output_tensor(a.shape, a.dtype)
        for i in range(a.shape[0]):
            b[i] = a[i] * k + pair[0][i]
        return a, b, a[0], k

    a, x, k = np.arange(300.0), np.arange(300.0), 12345.678
    pair = (x, 3)
    for _ in range(5):
        everything(a, pair, k=k)
    watched = [a, x, pair, k, None, a.dtype, np.ndarray, everything]
    counts = [sys.getrefcount(item) for item in watched]
    for _ in range(10_000):
        everything(a, pair, k=k)
    assert [sys.getrefcount(item) for item in watched] == counts


def test_errors_leak_nothing() -> None:
    @hybrid.script
    def element(a: Any, i: Any) -> Any:
        b = output_tensor((1000,), "float64")
        b[0] = a[i]
        return b

    a = np.arange(5.0)
    warm(element, a, 3)

    def fail() -> None:
        for _ in range(2000):
            with pytest.raises(IndexError, match="out of bounds"):
                element(a, 99)

    fail()
    gc.collect()
    counts = [sys.getrefcount(item) for item in (a, None, a.dtype)]
    tracemalloc.start()
    start = tracemalloc.get_traced_memory()[0]
    fail()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - start
    tracemalloc.stop()
    assert grown < 200_000
    after = [sys.getrefcount(item) for item in (a, None, a.dtype)]
    assert all(abs(x - y) < 500 for x, y in zip(counts, after, strict=True))


def test_many_calls_use_no_more_memory() -> None:
    @hybrid.script
    def double(a: Any) -> Any:
        b = output_tensor(a.shape, a.dtype)
        for i in range(a.shape[0]):
            b[i] = 2 * a[i]
        return b, a[0]

    a = np.arange(1000.0)
    for _ in range(10):
        double(a)
    gc.collect()
    tracemalloc.start()
    start = tracemalloc.get_traced_memory()[0]
    for _ in range(100_000):
        double(a)
    grown = tracemalloc.get_traced_memory()[0] - start
    tracemalloc.stop()
    assert grown < 50_000


def test_dropped_kernel_is_freed_and_others_live_on() -> None:
    kernels = [make_add() for _ in range(5)]
    while any(hits(kernel) == 0 for kernel in kernels):
        list(map(lambda kernel: kernel(*arrays()), kernels))
    seen = [weakref.ref(kernel) for kernel in kernels]
    tables = [weakref.ref(kernel.native_calls) for kernel in kernels]
    kept = kernels[2]
    del kernels
    gc.collect()
    assert [ref() is not None for ref in seen] == [False, False, True, False, False]
    assert [ref() is not None for ref in tables] == [False, False, True, False, False]
    assert agrees(kept, *arrays())


def test_kernel_in_a_cycle_is_collected() -> None:
    names: dict[str, Any] = {"hybrid": hybrid, "np": np}
    add = make_add()
    names["add"] = add
    vars(add)["cycle"] = names
    warm(add, *arrays())
    gone = weakref.ref(add)
    del add, names
    gc.collect()
    assert gone() is None


def test_clear_during_a_call_is_safe() -> None:
    kernels: list[AnyKernel] = []

    @hybrid.packed
    def clear(x: Any) -> None:
        kernels[0].native_calls.clear()
        gc.collect()

    @hybrid.script
    def visit(a: Any) -> Any:
        b = output_tensor((4,), "float64")
        for i in range(a.shape[0]):
            clear(a[i])
            b[i] = a[i]
        return b, a[1]

    kernels.append(visit)
    a = np.arange(4.0)
    for _ in range(10):
        b, x = visit(a)
        np.testing.assert_array_equal(a, b)
        assert x == 1.0


# Threads


def test_gil_is_released_in_long_kernels() -> None:
    @hybrid.script
    def long(a: Any, n: Any) -> Any:
        s = 0.0
        for _ in range(n):
            for i in range(a.shape[0]):
                s = s * 0.5 + a[i]
        return s

    a = np.arange(1000.0)
    for _ in range(3):
        long(a, 2)
    before = hits(long)
    assert others_run_during(lambda count: long(a, count), 200_000)
    assert hits(long) > before


def test_many_threads_share_a_kernel() -> None:
    add = make_add()
    failures: list[BaseException] = []
    barrier = threading.Barrier(16)

    def work(seed: int) -> None:
        try:
            barrier.wait()
            for i in range(1000):
                size = 1 + (seed + i) % 3
                a, b = np.full(size, float(seed)), np.full(size, float(i))
                c = np.zeros(size)
                add(a, b, c)
                assert (c == seed + i).all()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_one_compilation_whoever_asks() -> None:
    add = make_add()
    barrier = threading.Barrier(16)

    def work() -> None:
        barrier.wait()
        add(*arrays())

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (specialization,) = add.specializations
    assert len(specialization.natives) == 1


# Interrupted changes


class Interruption(Exception):
    """What a signal handler raises."""


def test_interruption_while_a_table_is_linked_leaves_none_dangling() -> None:
    """At every line of `_replace`: what can be reached is owned, and calls still work."""
    replace: Any = vars(NativeCalls)["_replace"]

    def interrupt_after(lines: int) -> Any:
        def trace(frame: Any, event: str, arg: object) -> Any:
            nonlocal lines
            if frame.f_code is not replace.__code__:
                return None
            lines -= event == "line"
            if lines < 0:
                sys.settrace(None)
                raise Interruption
            return trace

        return trace

    for lines in range(40):
        kernel = make_add()
        warm(kernel, *arrays())
        given = arrays(dtype=np.float32)
        kernel(*given)
        sys.settrace(interrupt_after(lines))
        try:
            kernel(*given)
        except Interruption:
            pass
        finally:
            sys.settrace(None)
        assert reachable(kernel) <= {table.address for table in kernel.native_calls.tables}
        gc.collect()
        for dtype in (np.float64, np.float32):
            agrees(kernel, *arrays(dtype=dtype))


def reachable(kernel: AnyKernel) -> set[int]:
    """The addresses of the tables that a call walks through."""
    head: Any = vars(kernel.native_calls)["_head"]
    found: set[int] = set()
    address = head[Head.FIRST]
    while address != 0:
        assert address not in found
        found.add(address)
        address = ctypes.c_int64.from_address(address + 8 * Table.NEXT).value
    return found


def test_finaliser_that_calls_a_kernel_of_its_cycle() -> None:
    """Calls after the tables are gone run through Python, and bring none back."""

    class Caller:
        def __init__(self, kernel: AnyKernel) -> None:
            self.kernel = kernel

        def __del__(self) -> None:
            results.extend(self.kernel(*arrays()) for _ in range(6))

    results: list[Any] = []
    for _ in range(20):
        kernel: Any = make_add()
        warm(kernel, *arrays())
        kernel.callers = [Caller(kernel), Caller(kernel)]
        del kernel
        gc.collect()
    assert len(results) == 20 * 2 * 6
