"""Memory that a call frees stays with the process, for the next call.

glibc gives memory back to the system as soon as a few large arrays are freed, and takes it anew in
the next call: a page fault for every 4 KB, which takes longer than what most kernels do with it
(three stages over 4 MB took 1.7 ms or 6.1 ms, by where earlier arrays happened to lie). What it
does is a matter of two numbers, which it raises by itself when it meets larger arrays; here they
are as high from the beginning as they would get.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache

# mallopt's numbers for them, and what they are set to: arrays that are mapped on their own, and
# what may stay free at the end of the heap.
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
MAPPED_BYTES = 1 << 25
KEPT_BYTES = 1 << 27
# Whoever sets one of these knows better.
SETTINGS = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_")


@cache
def keep_freed_memory() -> bool:
    """Let the process keep what is freed, once; False where C's library has no such thing."""
    is_set = any(name in os.environ for name in SETTINGS)
    if is_set or "glibc.malloc" in os.environ.get("GLIBC_TUNABLES", ""):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    values = ((_MMAP_THRESHOLD, MAPPED_BYTES), (_TRIM_THRESHOLD, KEPT_BYTES))
    return all(mallopt(name, value) == 1 for name, value in values)
