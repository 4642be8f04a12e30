"""The thread pool: how many threads there are, and that they get along with everything else.

With --fuzz=N, what happens at random happens N times.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridjit import get_num_threads, hybrid, set_num_threads, threads
from hybridjit.codegen.pool.names import RUN
from hybridjit.codegen.sites import RECORD_WORDS
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.hybrid import parallel
from hybridjit.runtime import pool
from hybridjit.runtime.cpus import count_cpus, find_quota
from tests.runtime.test_interrupt import ENDLESS, LONGEST_SECONDS, Stop, interrupt
from tests.runtime.test_threads import needs_fork, run_child, run_threads
from tests.support.own_process import PATIENCE

REPOSITORY = Path(__file__).parents[2]
_PRELUDE = """
import numpy as np
from hybridjit import get_num_threads, set_num_threads, threads
from hybridjit.errors import ConfigError
"""
# An exception that a handler raises while Python runs a destructor is lost, and pytest hears of it.
# On a busy machine, a signal finds a kernel being compiled, with many of them; it is sent again.
LOST = r"(?s)Exception ignored in.*(KeyboardInterrupt|Stop)"
pytestmark = pytest.mark.filterwarnings(f"ignore:{LOST}:pytest.PytestUnraisableExceptionWarning")
SIZE = 20_000


@hybrid.script
def triple(a: Any, out: Any) -> Any:
    for i in parallel(a.shape[0]):
        out[i] = a[i] * 3 + i


@hybrid.script
def summed(a: Any) -> Any:
    total = 0
    for i in parallel(a.shape[0]):
        total += a[i]
    return total


@hybrid.script
def fails_at(a: Any, n: Any) -> Any:
    for i in parallel(a.shape[0]):
        if i >= n:
            raise ValueError("at", i)
        a[i] = i


@hybrid.script
def waits(a: Any, n: Any) -> Any:
    for i in parallel(a.shape[0]):
        k = 0
        while k < n:
            k += 1
            a[i] = a[i] * 0.5 + 1.0


@hybrid.script
def long_chunks(a: Any, n: Any) -> Any:
    total = 0
    for i in parallel(n):
        total ^= i * 3
    a[0] = total


@hybrid.script
def short_regions(a: Any, n: Any) -> Any:
    for k in range(n):
        for i in parallel(a.shape[0]):
            a[i] = a[i] * 0.5 + k


@pytest.fixture(autouse=True)
def four_threads() -> Generator[None]:
    before = get_num_threads()
    set_num_threads(4)
    yield
    set_num_threads(before)


def rounds(request: pytest.FixtureRequest, default: int) -> int:
    return request.config.getoption("--fuzz") or default


def check_all(size: int = SIZE) -> None:
    a = np.arange(size)
    out = np.zeros(size, np.int64)
    triple(a, out)
    assert (out == 4 * a).all()
    assert summed(a) == size * (size - 1) // 2


# How many


def test_number_of_threads() -> None:
    assert get_num_threads() == 4
    with threads(2):
        assert get_num_threads() == 2
        with threads(7):
            assert get_num_threads() == 7
        set_num_threads(3)
        assert get_num_threads() == 2
    assert get_num_threads() == 3


def test_threads_is_for_this_thread_only() -> None:
    with threads(2), ThreadPoolExecutor(1) as executor:
        assert executor.submit(get_num_threads).result() == 4
        assert get_num_threads() == 2


def test_threads_may_be_entered_again() -> None:
    two = threads(2)
    with two, threads(3), two:
        assert get_num_threads() == 2
    assert get_num_threads() == 4


def test_threads_ends_with_an_error() -> None:
    with pytest.raises(Stop, match="enough"), threads(2):
        raise Stop("enough")
    assert get_num_threads() == 4


@pytest.mark.parametrize("count", [0, -1, 257])
def test_number_out_of_range(count: int) -> None:
    with pytest.raises(ArgumentValueError, match=f"between 1 and 256, got {count}"):
        set_num_threads(count)


@pytest.mark.parametrize("count", [2.0, "2", True, None])
def test_number_of_another_type(count: Any) -> None:
    with pytest.raises(ArgumentError, match="must be an int"):
        threads(count)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [("1", 1), ("", count_cpus()), ("1000", count_cpus())],
)
def test_environment(setting: str, expected: int) -> None:
    assert run_program("print(get_num_threads())", setting) == f"{expected}\n"


def test_malformed_environment() -> None:
    program = """
        try:
            get_num_threads()
        except ConfigError as error:
            print(error)
    """
    said = run_program(program, "many")
    assert "HYBRIDJIT_NUM_THREADS is 'many'; it must be a number, 1 or more" in said


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_affinity() -> None:
    program = """
        import os
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        print(get_num_threads())
    """
    assert run_program(program) == "1\n"


@pytest.mark.parametrize(
    ("files", "own", "quota"),
    [
        ({"cpu.max": "150000 100000"}, "0::/", 1.5),
        ({"cpu.max": "max 100000"}, "0::/", None),
        ({"a/cpu.max": "max 100000", "a/b/cpu.max": "50000 100000"}, "0::/a/b", 0.5),
        ({"a/cpu.max": "100000 100000", "a/b/cpu.max": "300000 100000"}, "0::/a/b", 1.0),
        ({"cpu/d/cpu.cfs_quota_us": "200000", "cpu/d/cpu.cfs_period_us": "100000"}, "4:cpu:/d", 2),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, "4:cpu:/", None),
        ({"cpu.max": "what is this"}, "0::/", None),
        ({}, "", None),
    ],
)
def test_quota(files: dict[str, str], own: str, quota: float | None, tmp_path: Path) -> None:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    groups = tmp_path / "own"
    groups.write_text(own)
    assert find_quota(tmp_path, groups) == quota


def run_program(text: str, num_threads: str = "") -> str:
    """What a program prints, in a process of its own that must end well."""
    source = f"{_PRELUDE}{textwrap.dedent(text)}"
    environment = {**os.environ, "HYBRIDJIT_NUM_THREADS": num_threads}
    run = subprocess.run(
        [sys.executable, "-c", source],
        cwd=REPOSITORY,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


# Life


def native_threads() -> int:
    return len(os.listdir("/proc/self/task"))


def test_threads_are_started_when_they_are_needed() -> None:
    program = """
        import os
        from tests.runtime.test_pool import native_threads, triple
        a, out = np.arange(50_000), np.zeros(50_000, int)
        before = native_threads()
        with threads(1):
            triple(a, out)
        print(native_threads() - before)
        for count in (3, 2, 5):
            with threads(count):
                triple(a, out)
            print(native_threads() - before)
        triple(a[:10], out[:10])
        print((out == 4 * a).all())
    """
    assert run_program(program) == "0\n2\n2\n4\nTrue\n"


def test_idle_threads_sleep() -> None:
    check_all()
    time.sleep(0.1)
    before = time.process_time()
    time.sleep(0.2)
    assert time.process_time() - before < 0.15


@pytest.mark.parametrize(
    "end", ["", "os._exit(0)", "sys.exit(0)", "del triple, summed; gc.collect()"]
)
def test_processes_end_well(end: str) -> None:
    """With threads that still look for work, and kernels that are unloaded."""
    program = f"""
        import gc, os, sys
        from tests.runtime.test_pool import summed, triple
        set_num_threads(4)
        for _ in range(50):
            triple(np.arange(50_000), np.zeros(50_000, int))
            summed(np.arange(50_000))
        {end}
    """
    for _ in range(2):
        run_program(program)


def test_process_ends_while_a_thread_is_in_a_loop() -> None:
    program = """
        import threading, time
        from tests.runtime.test_pool import waits
        set_num_threads(4)
        waits(np.ones(64), 5)
        threading.Thread(target=waits, args=(np.ones(64), 2**50), daemon=True).start()
        time.sleep(0.3)
        print("done", flush=True)
    """
    assert run_program(program) == "done\n"


# Several callers


def test_many_threads_call_at_once(request: pytest.FixtureRequest) -> None:
    calls = rounds(request, 30)

    def work(number: int) -> None:
        chosen = random.Random(number)
        for _ in range(calls):
            size = chosen.choice((0, 1, 100, SIZE, SIZE + 1))
            with threads(chosen.choice((1, 2, 3, 8))):
                check_all(size)

    run_threads(work, 8)


def test_errors_stay_with_their_caller(request: pytest.FixtureRequest) -> None:
    calls = rounds(request, 20)

    def work(number: int) -> None:
        for i in range(calls):
            place = 1000 * number + i
            with pytest.raises(ValueError, match="at") as caught:
                fails_at(np.zeros(SIZE), place)
            assert caught.value.args == ("at", place)
            check_all(5000)

    run_threads(work, 8)


def test_calls_of_different_kernels_share_the_pool() -> None:
    done = threading.Event()

    def keep_busy() -> None:
        while not done.is_set():
            waits(np.ones(64), 20_000)

    thread = threading.Thread(target=keep_busy)
    thread.start()
    try:
        for _ in range(100):
            check_all()
    finally:
        done.set()
        thread.join()


# Forks


@needs_fork
def test_children_start_their_own_threads(request: pytest.FixtureRequest) -> None:
    for _ in range(rounds(request, 10)):
        check_all()
        run_child(check_all)
    check_all()


@needs_fork
def test_fork_while_loops_run(request: pytest.FixtureRequest) -> None:
    done = threading.Event()

    def keep_busy() -> None:
        while not done.is_set():
            check_all()
            waits(np.ones(64), 2000)

    callers = [threading.Thread(target=keep_busy) for _ in range(2)]
    for thread in callers:
        thread.start()
    try:
        for _ in range(rounds(request, 8)):
            run_child(check_all)
    finally:
        done.set()
        for thread in callers:
            thread.join()
    check_all()


@needs_fork
def test_grandchildren() -> None:
    def child() -> None:
        check_all()
        run_child(check_all)
        check_all()

    check_all()
    run_child(child)


def call_in_worker(size: int) -> int:
    check_all(size)
    return int(summed(np.arange(size)))


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_multiprocessing(method: Any) -> None:
    check_all()
    make_context: Any = multiprocessing.get_context
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with make_context(method).Pool(2) as pool:
            found = pool.map_async(call_in_worker, [SIZE] * 4).get(60)
    assert found == [SIZE * (SIZE - 1) // 2] * 4


# Signals


@pytest.fixture
def default_handler() -> Generator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


LONG: tuple[Any, ...] = (waits, long_chunks, short_regions)


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("default_handler")
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("kernel", LONG, ids=lambda kernel: kernel.__name__)
def test_interrupt(kernel: Any, count: int) -> None:
    with threads(count):
        for _ in range(2):
            kernel(np.ones(5000), 5)
            assert interrupt(lambda: kernel(np.ones(5000), ENDLESS)) < LONGEST_SECONDS
        check_all()


@pytest.mark.usefixtures("default_handler")
def test_interrupt_while_only_workers_are_busy() -> None:
    """The caller has run out of iterations, and waits."""

    @hybrid.script
    def uneven(a: Any, n: Any) -> Any:
        for i in parallel(a.shape[0]):
            k = 0
            while k < n * (i + 1 - a.shape[0] + 1):
                k += 1
                a[i] = a[i] * 0.5 + 1.0

    with threads(2):
        for _ in range(4):
            assert interrupt(lambda: uneven(np.ones(16), ENDLESS)) < LONGEST_SECONDS
        check_all()


@pytest.mark.usefixtures("default_handler")
def test_handler_that_runs_a_parallel_loop() -> None:
    def handler(number: int, frame: Any) -> None:
        check_all()
        raise Stop("enough")

    warm_up()
    signal.signal(signal.SIGINT, handler)
    for _ in range(2):
        assert interrupt(lambda: waits(np.ones(64), ENDLESS), Stop) < LONGEST_SECONDS
    check_all()


def warm_up() -> None:
    """Compile what is to be interrupted while it runs."""
    for _ in range(3):
        check_all()
        waits(np.ones(64), 5)


@pytest.mark.usefixtures("unchecked")
@needs_fork
@pytest.mark.usefixtures("default_handler")
def test_handler_that_forks() -> None:
    """In the child, the loop has lost its threads: it ends with an error. The parent goes on."""
    statuses: list[int] = []

    def handler(number: int, frame: Any) -> None:
        run_child_that_returns(statuses)

    def child() -> None:
        signal.signal(signal.SIGINT, handler)
        try:
            interrupt(lambda: waits(np.ones(64), ENDLESS), RuntimeError)
        except BaseException:
            os._exit(3)
        check_all()

    warm_up()
    run_child(child)


def run_child_that_returns(statuses: list[int]) -> None:
    """Fork; the child goes on as if nothing had happened, the parent waits for its end."""
    child = os.fork()
    if child == 0:
        return
    statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    os._exit(statuses[-1])


def test_how_long_interrupts_take(
    request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    count: int | None = request.config.getoption("--fuzz")
    if count is None:
        pytest.skip("run by `make torture`")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for kernel in LONG:
            kernel(np.ones(5000), 5)
        chosen = [LONG[i % len(LONG)] for i in range(count)]
        taken = [interrupt(lambda k=kernel: k(np.ones(5000), ENDLESS)) for kernel in chosen]
    finally:
        signal.signal(signal.SIGINT, before)
    median, high, most = (np.quantile(taken, q) * 1e3 for q in (0.5, 0.99, 1.0))
    with capsys.disabled():
        print(f"\n{count} interrupts: median {median:.1f} ms, p99 {high:.1f} ms, max {most:.1f} ms")


def chunks_of(count: int, least: int) -> list[tuple[int, int]]:
    """The chunks of a loop whose body takes no time, as the pool hands them out."""
    found: list[tuple[int, int]] = []

    def body(begin: int, end: int, context: int, ticket: int) -> int:
        found.append((begin, end))
        return 0

    words = [ctypes.c_int64] * 6
    run = ctypes.CFUNCTYPE(ctypes.c_int32, *words)(pool.pool_addresses()[RUN])
    called = ctypes.CFUNCTYPE(ctypes.c_int32, *words[:4])(body)
    error = (ctypes.c_int64 * RECORD_WORDS)()
    address = ctypes.cast(called, ctypes.c_void_p).value or 0
    assert run(address, count, least, 0, ctypes.addressof(error), 1) == 0
    return sorted(found)


@pytest.mark.parametrize("count", [1000, 2**53, 2**54, 2**62, 2**63 - 2, 2**63 - 1])
@pytest.mark.parametrize("least", [1, 2**52])
def test_chunks_cover_a_loop_of_any_length_once(count: int, least: int) -> None:
    with threads(2):
        chunks = chunks_of(count, least)
    assert [begin for begin, _ in chunks] == [0, *(end for _, end in chunks[:-1])]
    assert chunks[-1][1] == count
