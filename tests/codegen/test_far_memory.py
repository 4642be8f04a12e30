"""Code and its constants lie next to each other, however memory is divided."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.own_process import run_program

# A page is free above six gigabytes that are taken, and there is room for more below them: what
# takes the first place that is large enough has its parts too far apart for 32 bits.
PROGRAM = """
import ctypes
import numpy as np
from hybridjit import hybrid

@hybrid.script
def small(a):
    return a + 1.0

@hybrid.script
def long(a):
    return np.exp(a) + np.log(a) * np.cbrt(a) + np.tan(a) + np.power(a, 1.3) + np.arcsinh(a)

PAGE, READ_WRITE, PRIVATE_UNRESERVED = 4096, 3, 0x4022
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

def take(size):
    return libc.mmap(None, size, READ_WRITE, PRIVATE_UNRESERVED, -1, 0)

assert small(np.zeros(3))[0] == 1.0  # the compiler is loaded
pages, large = take(3 * PAGE), take(6 << 30)
size = 1 << 28
while size > PAGE:
    while (place := take(size)) > large:
        pass
    libc.munmap(place, size)
    size //= 2
libc.munmap(pages + PAGE, PAGE)
x = np.linspace(1.0, 2.0, 36)
print(np.allclose(long(x), long.py_func(x)))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="divides memory as Linux does")
def test_kernel_where_only_a_page_is_free_nearby(tmp_path: Path) -> None:
    assert run_program(tmp_path, PROGRAM, HYBRIDJIT_CACHE="0") == "True\n"
