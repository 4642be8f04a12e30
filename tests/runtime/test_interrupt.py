"""Signals and exceptions of callbacks come out of running kernels, which stay usable.

With --fuzz=N, N interrupts are sent and how long they took is printed.
"""

from __future__ import annotations

import ctypes
import gc
import itertools
import os
import signal
import sys
import threading
import time
import traceback
import tracemalloc
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, config, hybrid
from hybridjit.codegen.emit.emitter import POLL_WORK
from hybridjit.hybrid import const_range
from tests.support.memory import needs_proc, resident_megabytes
from tests.support.turns import others_run_during

AnyKernel = Kernel[..., Any]
# An exception that a handler raises while Python runs a destructor is lost, and pytest hears of it.
# On a busy machine, a signal finds a kernel being compiled, with many of them; it is sent again.
LOST = r"(?s)Exception ignored in.*(KeyboardInterrupt|Stop)"
pytestmark = pytest.mark.filterwarnings(f"ignore:{LOST}:pytest.PytestUnraisableExceptionWarning")
ENDLESS = 2**50
# A kernel that does not stop is a hang; how fast it stops is measured, not asserted.
LONGEST_SECONDS = 30
AGAIN_AFTER_SECONDS = 10


@hybrid.script
def innermost(a: Any, n: Any) -> Any:
    total = 0.0
    for i in range(n):
        total = total * 0.5 + a[i & 3]
    return total


@hybrid.script
def outer(a: Any, n: Any) -> Any:
    for _ in range(n):
        for j in range(1, a.shape[0]):
            a[j] = a[j] * 0.5 + a[j - 1]
    return a[1]


@hybrid.script
def middle(a: Any, n: Any) -> Any:
    total = 0.0
    for _ in range(2):
        for j in range(n):
            for k in range(j, j + 100):
                total = total * 0.5 + a[k & 3]
    return total


@hybrid.script
def waiting(a: Any, n: Any) -> Any:
    i = 0
    while i < n:
        i += 1
        a[0] = a[0] * 0.5 + 1.0
    return a[0]


@hybrid.script
def vectorised(a: Any, n: Any) -> Any:
    total = 0
    for i in range(n):
        total = total ^ i
    return total


@hybrid.script
def mixed(a: Any, n: Any) -> Any:
    # The work of the inner loop is known, that of the other one is not: both have to count.
    for _ in range(n):
        while a[0] > 1.0:
            a[0] -= 1.0
        for j in range(100_000):
            a[1] = a[1] * 0.5 + a[j & 3]
    return a[1]


@hybrid.script
def triangular(a: Any, n: Any) -> Any:
    for _ in range(n):
        for i in range(1000):
            last = i + 1
            for j in range(i, last):
                for k in range(j):
                    a[1] = a[1] * 0.5 + a[k]
    return a[1]


SERIAL: tuple[AnyKernel, ...] = (
    innermost,
    outer,
    middle,
    waiting,
    vectorised,
    mixed,
    triangular,
)


class Stop(Exception):
    """What a handler raises."""


class Sender(threading.Thread):
    """Sends a signal to this process soon. If nothing comes of it, sends it again.

    An exception is lost that a handler raises while Python happens to run a destructor.
    """

    def __init__(self, number: int, delay: float = 0.05) -> None:
        super().__init__()
        self.number, self.delay = number, delay
        self.sent_at = 0.0
        self.is_done = threading.Event()
        self.start()

    def run(self) -> None:
        time.sleep(self.delay)
        self.sent_at = time.perf_counter()
        os.kill(os.getpid(), self.number)
        while not self.is_done.wait(AGAIN_AFTER_SECONDS):
            os.kill(os.getpid(), self.number)

    def finish(self) -> None:
        self.is_done.set()
        self.join()


def interrupt(call: Callable[[], Any], error: type[BaseException] = KeyboardInterrupt) -> float:
    """How long it took from the signal to the exception.

    On a machine that stood still, the signal is sent once more while the first one is on its way.
    """
    sender = Sender(signal.SIGINT)
    ends: list[float] = []

    def wait() -> None:
        try:
            call()
        except error:
            ends.append(time.perf_counter())
        finally:
            sender.finish()

    try:
        wait()
    except error:
        ends.append(time.perf_counter())
        sender.finish()
    assert ends, f"{error.__name__} was not raised"
    return ends[0] - sender.sent_at


@pytest.fixture(autouse=True)
def default_handler() -> Any:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kernel", SERIAL, ids=lambda kernel: kernel.__name__)
def test_interrupt(kernel: AnyKernel) -> None:
    """On the first calls, which go through Python, and on later ones, which do not."""
    expected = kernel.interpret(np.ones(1000), 2)
    for _ in range(2):
        assert interrupt(lambda: kernel(np.ones(1000), ENDLESS)) < LONGEST_SECONDS
        for _ in range(3):
            assert kernel(np.ones(1000), 2) == expected


@hybrid.script
def long_body(a: Any, n: Any) -> None:
    x = 0.5
    for _ in range(n):
        for k in const_range(400):
            x = x * a[0] + k
    a[0], a[1] = x, 1.0


def test_interrupt_of_a_loop_with_a_long_body() -> None:
    """What is counted is work: few iterations of this one take seconds."""
    a: Any = np.array([0.25, 0.0])
    long_body(a.copy(), 5)
    interrupt(lambda: long_body(a, POLL_WORK))
    assert a.tolist() == [0.25, 0.0]


def test_interrupt_of_constant_loops() -> None:
    @hybrid.script
    def constant(a: Any) -> Any:
        for i in range(2**40):
            for j in range(2**10):
                a[0] = a[0] * 0.5 + (i ^ j)

    for _ in range(2):
        assert interrupt(lambda: constant(np.ones(1))) < LONGEST_SECONDS


@pytest.mark.parametrize("error", [KeyboardInterrupt, Stop, TimeoutError])
def test_interrupt_of_a_check(error: type[BaseException]) -> None:
    """It is no difference: the plain function, which would take even longer, is not run."""

    def stop(number: int, frame: Any) -> None:
        raise error

    waiting.check(np.ones(4), 5)
    signal.signal(signal.SIGINT, stop)
    assert interrupt(lambda: waiting.check(np.ones(4), ENDLESS), error) < LONGEST_SECONDS


def test_handler_that_raises_something_else() -> None:
    def stop(number: int, frame: Any) -> None:
        raise Stop("enough")

    signal.signal(signal.SIGINT, stop)
    for kernel in (outer, waiting):
        assert interrupt(lambda k=kernel: k(np.ones(1000), ENDLESS), Stop) < LONGEST_SECONDS
        assert kernel(np.ones(1000), 5) == kernel.interpret(np.ones(1000), 5)


def test_handler_that_returns_lets_the_kernel_go_on() -> None:
    seen: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    count = 2**20
    while not seen:
        count *= 4
        sender = Sender(signal.SIGINT, 0.01)
        assert waiting(np.zeros(1), count) == 2.0
        sender.finish()
    assert set(seen) == {signal.SIGINT}


@pytest.mark.usefixtures("unchecked")
def test_handler_that_calls_the_kernel() -> None:
    """The handler runs inside the kernel that it calls."""
    results: list[float] = []

    def call_again(number: int, frame: Any) -> None:
        results.append(outer(np.ones(1000), 5))
        raise Stop("enough")

    signal.signal(signal.SIGINT, call_again)
    for _ in range(2):
        interrupt(lambda: outer(np.ones(1000), ENDLESS), Stop)
    assert results == [outer.interpret(np.ones(1000), 5)] * 2


@needs_proc
def test_arrays_on_the_heap_are_freed() -> None:
    @hybrid.script
    def large(n: Any) -> Any:
        scratch = hybrid.allocate((8_000_000,), "float64")
        for i in range(n):
            scratch[i & 1023] = i
        return scratch[0]

    for _ in range(4):  # on a busy machine, the signals would find it being compiled
        large(5)
    before = resident_megabytes()
    for _ in range(8):
        interrupt(lambda: large(ENDLESS))
    assert resident_megabytes() - before < 8 * 64 / 2


def test_how_long_interrupts_take(
    request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    count: int | None = request.config.getoption("--fuzz")
    if count is None:
        pytest.skip("run by `make torture`")
    for kernel in SERIAL:
        kernel(np.ones(1000), 5)  # compiled before it is measured
    kernels = itertools.islice(itertools.cycle(SERIAL), count)
    taken = [interrupt(lambda k=kernel: k(np.ones(1000), ENDLESS)) for kernel in kernels]
    median, high, most = (np.quantile(taken, q) * 1e3 for q in (0.5, 0.99, 1.0))
    with capsys.disabled():
        print(f"\n{count} interrupts: median {median:.1f} ms, p99 {high:.1f} ms, max {most:.1f} ms")


# Exceptions of callbacks


class Refusal(Exception):
    """Raised by callbacks, with an object that must not be lost or kept."""

    def __init__(self, value: Any) -> None:
        super().__init__(f"refused {value}")
        self.value = value


class Token:
    """Something to look for."""


def make_visit(callback: Callable[[Any], Any]) -> AnyKernel:
    refuse = hybrid.packed(callback)

    @hybrid.script
    def visit(a: Any) -> Any:
        scratch = hybrid.allocate((20_000,), "float64")
        for i in range(a.shape[0]):
            scratch[i] = a[i]
            refuse(a[i])
        return scratch[0]

    return visit


@pytest.mark.parametrize(
    "error",
    [Refusal(3), KeyError("k"), StopIteration(), KeyboardInterrupt(), SystemExit(3), MemoryError()],
    ids=lambda error: type(error).__name__,
)
def test_callback_raises(error: BaseException) -> None:
    def raise_it(x: Any) -> None:
        if x > 2:
            raise error

    visit = make_visit(raise_it)
    for _ in range(4):
        visit(np.zeros(4))
        with pytest.raises(type(error)) as caught:
            visit(np.arange(4.0))
        assert caught.value is error
        names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert names[-1] == "raise_it"
        error.__traceback__ = None


def test_callback_with_a_deep_traceback() -> None:
    def recurse(x: Any, depth: int = 100) -> None:
        if depth == 0:
            raise Refusal(x)
        recurse(x, depth - 1)

    def callback(x: Any) -> None:
        recurse(x)

    visit = make_visit(callback)
    for _ in range(3):
        with pytest.raises(Refusal, match=r"refused 1\.0") as caught:
            visit(np.ones(1))
        assert len(traceback.extract_tb(caught.value.__traceback__)) > 100


def test_exceptions_of_callbacks_leak_nothing() -> None:
    tokens: list[weakref.ref[Token]] = []

    def callback(x: Any) -> None:
        token = Token()
        tokens.append(weakref.ref(token))
        raise Refusal(token)

    visit = make_visit(callback)
    a = np.ones(3)

    def fail(count: int) -> None:
        for _ in range(count):
            try:
                visit(a)
            except Refusal:
                pass
            else:
                raise AssertionError("raised nothing")

    fail(50)
    gc.collect()
    references = sys.getrefcount(a), sys.getrefcount(visit)
    tracemalloc.start()
    start = tracemalloc.get_traced_memory()[0]
    fail(1000)
    gc.collect()
    tokens_alive = sum(token() is not None for token in tokens)
    tokens.clear()
    grown = tracemalloc.get_traced_memory()[0] - start
    tracemalloc.stop()
    assert tokens_alive == 0
    assert grown < 100_000
    assert (sys.getrefcount(a), sys.getrefcount(visit)) == references


# Signals that arrive just before a kernel runs: the first Python code that it needs handles them


@dataclass
class Settings:
    """An attribute whose reading runs Python code."""

    factor: float

    @property
    def scale(self) -> float:
        return self.factor


SETTINGS = Settings(2.0)


@hybrid.script
def scaled(status: Any, a: Any) -> Any:
    for i in range(a.shape[0]):
        a[i] = a[i] * SETTINGS.scale + status


@hybrid.script
def counted(status: Any, a: Any) -> Any:
    for i in range(a.shape[0]):
        a[i] = a[i] + status


def call_after_a_signal(kernel: AnyKernel, a: Any) -> None:
    """Call the kernel with a signal pending: `map` runs no Python code in between."""
    send = ctypes.CDLL(None)["raise"]
    next(map(kernel, map(send, [signal.SIGINT]), [a]))


def test_signal_before_a_captured_attribute_is_read() -> None:
    for _ in range(4):
        scaled(0, np.ones(3))
    a = np.ones(3)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt, match=r"^$"):
            call_after_a_signal(scaled, a)
    assert a.tolist() == [1, 1, 1]


def test_signal_before_the_settings_are_read() -> None:
    with config.scope(interpret=True):
        pass  # from now on, each call asks
    for _ in range(4):
        counted(0, np.ones(3))
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt, match=r"^$"):
            call_after_a_signal(counted, np.ones(3))


@pytest.mark.parametrize("first", [0, -1])
def test_other_threads_run_whatever_sizes_are_zero_or_negative(first: int) -> None:
    @hybrid.script
    def uneven(a: Any, low: Any, n: Any) -> Any:
        for i in range(a.shape[0]):
            a[i] += 1
        total = 0.0
        for _ in range(low, 0):
            total += 1
        for i in range(n):
            total = total * 0.5 + i
        return total

    for size in (2, 3, 4, 0, 2, 0, 3, 0):
        uneven(np.zeros(size), first, 10)
    assert others_run_during(lambda count: uneven(np.zeros(0), first, count), 2**28)
