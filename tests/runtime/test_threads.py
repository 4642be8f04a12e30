"""Kernels in threads and in forked processes: nothing hangs, and nothing is compiled twice."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, hybrid
from hybridjit.brief_locks import BRIEF_LOCKS
from hybridjit.runtime import specialization
from hybridjit.source import _texts_lock, read_text  # pyright: ignore[reportPrivateUsage]
from tests.support.oracle import fresh

AnyKernel = Kernel[..., Any]
REPOSITORY = Path(__file__).parents[2]
THREADS, CALLS = 16, 200
FORKS = 10
DEADLINE_SECONDS = 300
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@hybrid.script
def _add(a: Any, b: Any, c: Any) -> Any:
    for i in range(a.shape[0]):
        c[i] = a[i] + b[i]
    return c[0]


def make_add() -> AnyKernel:
    return fresh(_add)


def make_kernel(number: int) -> AnyKernel:
    """A kernel that differs from all others by a captured number."""

    @hybrid.script
    def kernel(a: Any) -> Any:
        total = a[0] * 0
        for i in range(a.shape[0]):
            total += a[i] * number
        return total

    return kernel


def run_threads(work: Callable[[int], None], count: int = THREADS) -> None:
    """Run `work` in threads that start together; raise what one of them raises."""
    failures: list[BaseException] = []
    barrier = threading.Barrier(count)

    def run(number: int) -> None:
        try:
            barrier.wait()
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The functions and layouts that were compiled."""
    found: list[Any] = []
    load_native = specialization.load_native

    def count(func: Any, layout: Any, code: Any) -> Any:
        found.append((func, layout))
        return load_native(func, layout, code)

    monkeypatch.setattr(specialization, "load_native", count)
    return found


def test_many_threads_call_one_kernel(compiled: list[Any], request: Any) -> None:
    add = make_add()
    calls: int = request.config.getoption("--fuzz") or CALLS

    def work(number: int) -> None:
        for i in range(calls):
            a, b, c = np.full(6, float(number)), np.full(6, float(i)), np.zeros(6)
            assert add(a, b, c) == number + i
            assert (c == number + i).all()

    run_threads(work)
    assert len(compiled) == 1


def test_one_compilation_for_each_kind_of_call(compiled: list[Any]) -> None:
    """Exact sizes, run-time sizes, another type, and strides: each is compiled once."""
    add = make_add()
    for size in (3, 4):
        add(*(np.zeros(size) for _ in range(3)))
    compiled.clear()

    def work(number: int) -> None:
        for i in range(60):
            size = 5 + (number + i) % 7
            dtype = (np.float32, np.float64)[i % 2]
            memory = np.full(2 * size, number, dtype)
            views = [memory[::2], memory[:size]]
            c = np.zeros(size, dtype)
            assert add(views[i // 2 % 2], memory[size:], c) == 2 * number
            assert (c == 2 * number).all()

    run_threads(work)
    assert len(compiled) == len(set(compiled))
    texts = {func: str(func) for func, _ in compiled}
    assert len(texts) == len(set(texts.values()))


def test_threads_with_kernels_of_their_own(compiled: list[Any]) -> None:
    def work(number: int) -> None:
        for i in range(3):
            kernel = make_kernel(100 * number + i)
            for _ in range(4):
                assert kernel(np.arange(5)) == 10 * (100 * number + i)

    run_threads(work, 8)
    assert len(compiled) == 24


def test_errors_stay_in_their_thread() -> None:
    @hybrid.packed
    def refuse(x: Any) -> None:
        raise LookupError(f"refused {x}")

    @hybrid.script
    def fail(a: Any, i: Any) -> Any:
        if i % 2 == 0:
            refuse(i)
        return a[i]

    def work(number: int) -> None:
        a = np.zeros(1)
        for i in range(1, CALLS // 4):
            index = 1000 * number + i
            expected = LookupError if index % 2 == 0 else IndexError
            with pytest.raises(expected, match=f"(refused|index) {index}"):
                fail(a, index)

    run_threads(work, 8)


# Processes


@contextmanager
def compiling() -> Generator[None]:
    """While another thread compiles one kernel after the other."""
    done = threading.Event()

    def work() -> None:
        number = 0
        while not done.is_set():
            number += 1
            make_kernel(number)(np.arange(4))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def run_child(work: Callable[[], None]) -> None:
    """Fork; run `work` in the child; fail unless it succeeds within the deadline."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # there are threads; that is the test
        child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            assert status == 0, f"the child ended with status {status}"
            return
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


@needs_fork
def test_fork_while_another_thread_compiles(request: Any) -> None:
    add = make_add()
    args = [np.ones(4) for _ in range(3)]
    for _ in range(3):
        add(*args)
    forks: int = request.config.getoption("--fuzz") or FORKS

    def work() -> None:
        for number in range(3):
            assert add(*args) == 2.0
            assert make_kernel(-1 - number)(np.arange(4)) == -6 * (1 + number)

    with compiling():
        for _ in range(forks):
            run_child(work)
            assert add(*args) == 2.0


@needs_fork
def test_fork_in_another_thread() -> None:
    add = make_add()
    args = [np.ones(4) for _ in range(3)]

    def work() -> None:
        assert add(*args) == 2.0
        assert make_kernel(3)(np.arange(4)) == 18

    def fork(number: int) -> None:
        for _ in range(2):
            add(*args)
            run_child(work)

    run_threads(fork, 3)


@needs_fork
def test_fork_while_another_thread_remembers_a_text() -> None:
    is_held = threading.Event()

    def hold() -> None:
        with _texts_lock:
            is_held.set()
            time.sleep(0.05)

    def work() -> None:
        assert read_text("def f(): pass").name == "f"

    thread = threading.Thread(target=hold)
    thread.start()
    is_held.wait()
    run_child(work)
    thread.join()


@needs_fork
def test_fork_waits_for_every_brief_lock() -> None:
    def take_all() -> None:
        for lock in BRIEF_LOCKS:
            assert lock.acquire(timeout=20)

    for held in BRIEF_LOCKS:
        is_held = threading.Event()

        def hold(lock: Any = held, done: threading.Event = is_held) -> None:
            with lock:
                done.set()
                threading.Event().wait(0.02)

        thread = threading.Thread(target=hold)
        thread.start()
        is_held.wait()
        run_child(take_all)
        thread.join()


def call_in_worker(size: int) -> float:
    """For worker processes, which import this module or are forks of it."""
    a = np.arange(float(size))
    for _ in range(3):
        _add(a, a, np.zeros(size))
    out = np.zeros(size)
    _add(a, a, out)
    return float(out.sum())


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_multiprocessing(method: Any) -> None:
    _add(*(np.ones(5) for _ in range(3)))
    make_context: Any = multiprocessing.get_context
    context = make_context(method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with context.Pool(2) as pool:
            found = pool.map_async(call_in_worker, [3, 4, 5, 6]).get(DEADLINE_SECONDS)
            shared = pool.map_async(_add_ones, [_add] * 2).get(DEADLINE_SECONDS)
    assert found == [6.0, 12.0, 20.0, 30.0]
    assert shared == [2.0, 2.0]


def _add_ones(kernel: AnyKernel) -> float:
    return float(kernel(np.ones(3), np.ones(3), np.zeros(3)))


@needs_fork
def test_fork_warns_of_nothing() -> None:
    """Importing, compiling and calling starts no thread that fork would warn about."""
    program = """
        import os, sys, warnings
        warnings.simplefilter("error")
        import numpy as np
        from tests.runtime.test_threads import make_kernel
        kernel = make_kernel(2)
        for _ in range(4):
            kernel(np.arange(4))
        child = os.fork()
        if child == 0:
            os._exit(0 if kernel(np.arange(4)) == 12 and make_kernel(3)(np.arange(4)) == 18 else 1)
        sys.exit(os.waitpid(child, 0)[1])
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    run = subprocess.run(command, cwd=REPOSITORY, check=False, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
