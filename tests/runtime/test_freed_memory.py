"""What a call frees is there for the next one: no page is asked for anew."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hybridjit.codegen.emit import memory
from hybridjit.runtime.freed_memory import MAPPED_BYTES, SETTINGS

# Three arrays of 4 MB, as the temporaries of a kernel: made, written, freed.
PROGRAM = """
import ctypes, resource
from hybridjit.runtime.freed_memory import keep_freed_memory

print(keep_freed_memory())
c = ctypes.CDLL(None)
c.aligned_alloc.restype = ctypes.c_void_p
c.aligned_alloc.argtypes = [ctypes.c_size_t] * 2
c.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
c.free.argtypes = [ctypes.c_void_p]

def call():
    arrays = [c.aligned_alloc(64, 1 << 22) for _ in range(3)]
    for array in arrays:
        c.memset(array, 1, 1 << 22)
    for array in arrays:
        c.free(array)

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

for _ in range(8):  # until everything has found its place
    call()
before = faults()
for _ in range(10):
    call()
print(faults() - before)
"""


def run(**environment: str) -> tuple[bool, int]:
    """Whether memory is kept, and the page faults of ten calls."""
    others = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(
        command, env={**others, **environment}, capture_output=True, text=True, check=True
    )
    kept, count = done.stdout.split()
    return kept == "True", int(count)


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's")
def test_memory_stays() -> None:
    kept, count = run()
    if not kept:
        pytest.skip("not glibc")
    assert count < 100
    assert run(MALLOC_TRIM_THRESHOLD_="131072")[1] > 10_000


@pytest.mark.parametrize("setting", [*SETTINGS, "GLIBC_TUNABLES"])
def test_what_the_user_set_is_left_alone(setting: str) -> None:
    value = "glibc.malloc.trim_threshold=131072" if setting == "GLIBC_TUNABLES" else "131072"
    kept, _ = run(**{setting: value})
    assert not kept


def test_code_knows_which_arrays_are_mapped() -> None:
    assert memory.MAPPED_BYTES == MAPPED_BYTES
