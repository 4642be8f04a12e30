"""Kernels while Python ends: objects that outlive their modules, and threads that are cut off."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.own_process import run_program

KERNEL = """
import atexit, os, sys, threading, time
import numpy as np
import hybridjit as hj
from hybridjit import hybrid

@hybrid.script
def add(a, b, c):
    for i in range(a.shape[0]):
        c[i] = a[i] + b[i]

@hybrid.script
def work(a, rounds):
    for i in parallel(a.shape[0]):
        s = 0.0
        for k in range(rounds):
            s += (s + k) * 0.5
        a[i] = s
"""


@pytest.mark.usefixtures("unchecked")
def test_call_from_an_object_that_outlives_the_modules(tmp_path: Path) -> None:
    program = """
arrays = [np.arange(8.0) for _ in range(3)]
for _ in range(4):
    add(*arrays)

class Late:
    def __init__(self):
        self.kernel, self.arrays, self.write = add, arrays, os.write

    def __del__(self):
        for _ in range(3):
            self.kernel(*self.arrays)
        self.write(1, b"%d " % int(self.arrays[2][3]))

sys.late = Late()
cycle = Late()
cycle.itself = cycle
"""
    # Which objects Python ends at all is its own affair.
    assert set(run_program(tmp_path, KERNEL + program).split()) == {"6"}


@pytest.mark.parametrize("rounds", [1000, 3_000_000])
def test_daemon_thread_in_a_parallel_loop(tmp_path: Path, rounds: int) -> None:
    """Its stack is large, so that the system takes it back at once when the thread is cut off."""
    program = f"""
hj.set_num_threads(4)
threading.stack_size(256 << 20)
work(np.zeros(64), 10)

def run():
    while True:
        work(np.zeros(64), {rounds})

for _ in range(2):
    threading.Thread(target=run, daemon=True).start()

class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(0.5)

sys.slow = Slow()
time.sleep(0.1)
"""
    for _ in range(2):
        assert run_program(tmp_path, KERNEL + program) == ""


def test_parallel_loop_after_the_pool_is_closed(tmp_path: Path) -> None:
    """What is registered first runs last."""
    program = """
def last():
    a = np.zeros(64)
    work(a, 100)
    print((a == a[0]).all() and a[0] > 0)

"""
    first = "import atexit\natexit.register(lambda: last())\n"
    used = "hj.set_num_threads(4)\nwork(np.zeros(64), 10)\n"
    assert run_program(tmp_path, first + KERNEL + program + used) == "True\n"
