"""Signals at awkward moments: no exception is lost, nothing hangs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.own_process import run_program

HEAD = """
import os, signal, sys, threading, time
import numpy as np
import hybridjit as hj
from hybridjit import hybrid
"""


def test_two_handlers_that_raise_in_one_parallel_loop(tmp_path: Path) -> None:
    """One chunk sleeps and cannot be ended; the second handler is called when the kernel has."""
    program = """
hj.set_num_threads(2)

class First(Exception): pass
class Second(Exception): pass

def on_first(number, frame):
    raise First

def on_second(number, frame):
    raise Second

signal.signal(signal.SIGUSR1, on_first)
signal.signal(signal.SIGUSR2, on_second)

wait = hybrid.extern("usleep", "int32", ["uint32"], reentrant=True)

@hybrid.script
def work(a, time):
    for i in parallel(a.shape[0]):
        for k in range(4):
            wait(time)
            for l in range(100_000):
                a[i] = a[i] * 0.5 + l

for _ in range(4):
    work(np.zeros(2), np.uint32(1))
main = threading.get_ident()

def send():
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        time.sleep(0.1)
        signal.pthread_kill(main, number)

seen = []
threading.Thread(target=send).start()
while len(seen) < 2:
    try:
        try:
            work(np.zeros(2), np.uint32(400_000))
        except First as error:
            seen.append("First")
            time.sleep(1)
    except Second as error:
        seen.append("Second")
print(seen)
"""
    assert run_program(tmp_path, HEAD + program) == "['First', 'Second']\n"


FORK = """
from hybridjit.codegen.forks import COMPILE_LOCK

@hybrid.script
def kernel(a):
    a[0] += 1

def hold():
    with COMPILE_LOCK:
        is_held.set()
        is_forking.wait()
        time.sleep(0.2)  # now the other thread waits for the lock
        os.kill(os.getpid(), signal.{name})
        time.sleep(0.2)

class Stop(Exception): pass

def stop(number, frame):
    raise Stop("now")

signal.signal(signal.SIGUSR1, stop)
is_held, is_forking = threading.Event(), threading.Event()
os.register_at_fork(before=is_forking.set)  # the last hook that is registered runs first
threading.Thread(target=hold).start()
is_held.wait()
try:
    if os.fork() == 0:
        signal.alarm(250)
        a = np.zeros(1)
        for _ in range(4):
            kernel(a)
        os._exit(int(a[0]))
    for _ in range(500):
        time.sleep(0.01)
except (KeyboardInterrupt, Stop) as error:
    print(type(error).__name__, *error.args)
print(os.waitstatus_to_exitcode(os.waitpid(-1, 0)[1]))
for _ in range(4):
    kernel(np.zeros(1))
"""


@pytest.mark.parametrize(
    ("name", "shown"), [("SIGINT", "KeyboardInterrupt"), ("SIGUSR1", "Stop now")]
)
def test_signal_while_a_fork_waits_for_a_compilation(tmp_path: Path, name: str, shown: str) -> None:
    assert run_program(tmp_path, HEAD + FORK.format(name=name)) == f"{shown}\n4\n"


def test_handler_that_calls_a_kernel_while_a_module_is_loaded(tmp_path: Path) -> None:
    """Signals come so often that some find the first call at its imports."""
    program = """
@hybrid.script
def kernel(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] + 1

results = []

def call(number, frame):
    b = np.zeros(3, "float32")
    kernel(np.ones(3, "float32"), b)
    results.append(b.tolist() == [2, 2, 2])
    if len(results) < 200:
        signal.setitimer(signal.ITIMER_REAL, 0.002)

signal.signal(signal.SIGALRM, call)
signal.setitimer(signal.ITIMER_REAL, {delay})
b = np.zeros(3)
for _ in range(4):
    kernel(np.ones(3), b)
while not results:
    time.sleep(0.001)
signal.setitimer(signal.ITIMER_REAL, 0)
print(all(results), b.tolist())
"""
    for delay in (0.001, 0.03, 0.1):
        found = run_program(tmp_path, HEAD + program.format(delay=delay), HYBRIDJIT_CACHE="0")
        assert found == "True [2.0, 2.0, 2.0]\n"


ORPHAN = """
import ctypes
hj.set_num_threads(4)

@hybrid.script
def endless(a, n):
    for i in parallel(a.shape[0]):
        ask(i)
        k = 0
        while k < n:
            k += 1
            a[i] = a[i] * 0.5 + 1.0

@hybrid.script
def other(a):
    for i in parallel(a.shape[0]):
        if a[i] < -1:
            raise ValueError("one")
        if a[i] < -2:
            raise ValueError("two")
        for k in range(1000):
            a[i] = a[i] + k % 2

class Stop(Exception): pass

def check_other():
    a = np.ones(5000)
    other(a)
    assert (a == 501).all()

def fail():
    try:
        other(np.full(5000, -9.0))
    except ValueError:
        pass

def call_in_a_thread():
    threads.append(threading.Thread(target=lambda: [check_other() for _ in range(200)]))
    threads[0].start()

def stop():
    raise Stop

def leave():
    pass

def fork_once():
    if is_child:
        return
    child = os.fork()
    if child == 0:
        signal.alarm(250)
        is_child.append(True)
        {inside}()
        return
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    sys.stdout.flush()
    os._exit(0)

@ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
def asked(i):
    if is_armed and threading.current_thread() is threading.main_thread():
        in_loop.set()
        if {in_callback}:
            fork_once()
    return 0

def send():
    in_loop.wait()
    time.sleep(0.1)  # now the main thread is in native code
    signal.pthread_kill(main, signal.SIGUSR1)

ask = hybrid.extern(asked, "int64", ["int64"], reentrant=True)
is_child, is_armed, threads = [], [], []
in_loop, main = threading.Event(), threading.get_ident()
for _ in range(4):
    endless(np.ones(64), 1)
    check_other()
is_armed.append(True)
if not {in_callback}:
    signal.signal(signal.SIGUSR1, lambda number, frame: fork_once())
    threading.Thread(target=send).start()
try:
    endless(np.ones(64), 2**50)
except (RuntimeError, Stop) as error:
    print(type(error).__name__, *error.args)
for _ in range(200 if threads else 1):
    check_other()
for thread in threads:
    thread.join()
sys.stdout.flush()
os._exit(0)
"""
FORKED = "RuntimeError the process was forked inside a parallel loop\n0\n"


@pytest.mark.usefixtures("unchecked")
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("inside", "in_callback", "shown"),
    [
        ("leave", False, FORKED),
        ("check_other", False, FORKED),
        ("fail", False, FORKED),
        ("call_in_a_thread", False, FORKED),
        ("stop", False, "Stop\n0\n"),
        ("leave", True, FORKED),
        ("call_in_a_thread", True, FORKED),
    ],
)
def test_child_that_was_forked_inside_a_parallel_loop(
    tmp_path: Path, inside: str, in_callback: bool, shown: str
) -> None:
    """The loop has lost its threads: it ends with an error, and others of the child are right."""
    program = ORPHAN.format(inside=inside, in_callback=in_callback)
    assert run_program(tmp_path, HEAD + program) == shown
