"""Compiling is safe across fork: no lock of ours, or of LLVM's, is held by a thread that is gone.

A child has only the thread that forked. A lock that another thread held at that moment would
stay locked in the child for ever; so fork waits for both locks, and both sides release them.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import llvmlite.binding.ffi as ffi

# Held while a kernel is translated and compiled: one compilation per key, whoever asks.
COMPILE_LOCK = threading.RLock()
# llvmlite takes this around every call into LLVM. It is private: without it we do what we can.
_LLVM_LOCK: Any = getattr(ffi.lib, "_lock", None)


def _acquire() -> None:
    COMPILE_LOCK.acquire()
    if _LLVM_LOCK is not None:
        _LLVM_LOCK.__enter__()


def _release() -> None:
    if _LLVM_LOCK is not None:
        _LLVM_LOCK.__exit__()
    COMPILE_LOCK.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_acquire, after_in_parent=_release, after_in_child=_release)
