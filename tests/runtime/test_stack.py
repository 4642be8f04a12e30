"""Stacks that are small or nearly full: an error that Python knows, never a crash."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.own_process import run_program

# Python takes no smaller one: 32 KB with pages of 4 KB on x86-64, 128 KB on ARM.
LEAST_STACK = max(1 << 15, os.sysconf("SC_THREAD_STACK_MIN"))

RECURSION = """
import sys, threading
import numpy as np
from hybridjit import hybrid

SIZE = {size}
is_on = False

def again(a):
    if is_on:
        kernel(a)

packed_again = hybrid.packed(again)

@hybrid.script
def kernel(a):
    t = allocate((SIZE,), "float64")
    for i in range(SIZE):
        t[i] = a[0] + i
    packed_again(a)
    a[0] = t[SIZE - 1]

def run():
    try:
        kernel(np.zeros(1))
    except RecursionError:
        print("refused")

for _ in range(4):
    kernel(np.zeros(1))
is_on = True
sys.setrecursionlimit({limit})
run()
run()
threading.stack_size({stack})
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""


@pytest.mark.sampled(6)
@pytest.mark.parametrize("size", [4, 2000, 8000])
@pytest.mark.parametrize(("limit", "stack"), [(1000, 2 * LEAST_STACK), (100_000, 8 * LEAST_STACK)])
def test_callback_that_calls_its_kernel(tmp_path: Path, size: int, limit: int, stack: int) -> None:
    program = RECURSION.format(size=size, limit=limit, stack=stack)
    assert run_program(tmp_path, program) == "refused\n" * 3


SMALL = """
import threading
import numpy as np
from hybridjit import hybrid

@hybrid.script
def kernel(a):
    t = allocate((8000,), "float64")
    for i in range(8000):
        t[i] = a[0] + i
    for i in range(4000):
        a[0] += t[(i * i) % 8000]

def run():
    a = np.zeros(1, {dtype!r})
    for _ in range(4):
        kernel(a)
    print(a[0] > 0)

for _ in range(4):
    kernel(np.zeros(1))
threading.stack_size({stack})
thread = threading.Thread(target=run)
thread.start()
thread.join()
print(threading.stack_size() == {stack})
"""


def test_large_local_array_in_a_thread_with_a_small_stack(tmp_path: Path) -> None:
    program = SMALL.format(dtype="float64", stack=LEAST_STACK)
    assert run_program(tmp_path, program) == "True\nTrue\n"


def test_compiling_in_a_thread_with_a_small_stack(tmp_path: Path) -> None:
    program = SMALL.format(dtype="float32", stack=2 * LEAST_STACK)
    assert run_program(tmp_path, program, HYBRIDJIT_CACHE="0") == "True\nTrue\n"
