"""Compiling is safe across fork: no lock of ours, or of LLVM's, is held by a thread that is gone.

A child has only the thread that forked. A lock that another thread held at that moment would
stay locked in the child for ever; so fork waits for all locks, and both sides release them. It
takes them in the order in which a compilation does, or fork and a compilation would wait for
each other: first that of compilations, then that of late imports, then LLVM's, then those that
are held for a moment.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import llvmlite.binding.ffi as ffi

from hybridjit.lazy import LOADING

# Held while a kernel is translated and compiled: one compilation per key, whoever asks.
COMPILE_LOCK = threading.RLock()
# llvmlite takes this around every call into LLVM. It is private: without it we do what we can.
_LLVM_LOCK: Any = getattr(ffi.lib, "_lock", None)
_brief_locks: list[Any] = []


def hold_across_fork(lock: Any) -> None:
    """Let fork wait for a lock that is held briefly, and never while waiting for another one."""
    _brief_locks.append(lock)


def _acquire() -> None:
    COMPILE_LOCK.acquire()
    LOADING.acquire()
    if _LLVM_LOCK is not None:
        _LLVM_LOCK.__enter__()
    for lock in _brief_locks:
        lock.acquire()


def _release() -> None:
    for lock in reversed(_brief_locks):
        lock.release()
    if _LLVM_LOCK is not None:
        _LLVM_LOCK.__exit__()
    LOADING.release()
    COMPILE_LOCK.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_acquire, after_in_parent=_release, after_in_child=_release)
