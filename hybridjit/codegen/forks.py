"""Compiling is safe across fork: no lock of ours, or of LLVM's, is held by a thread that is gone.

A child has only the thread that forked. A lock that another thread held at that moment would
stay locked in the child for ever; so fork waits for all locks, and both sides release them. It
takes them in the order in which a compilation does, or fork and a compilation would wait for
each other: first that of compilations, then that of late imports, then LLVM's, then those that
are held for a moment.
"""

from __future__ import annotations

import ctypes
import os
import threading
from operator import methodcaller
from threading import Timer
from typing import Any

import llvmlite.binding.ffi as ffi

from hybridjit.brief_locks import BRIEF_LOCKS
from hybridjit.lazy import LOADING

# Held while a kernel is translated and compiled: one compilation per key, whoever asks.
COMPILE_LOCK = threading.RLock()
# llvmlite takes this around every call into LLVM. It is private: without it we do what we can.
_LLVM_LOCK: Any = getattr(getattr(ffi.lib, "_lock", None), "_lock", None)
_MOMENT = 0.1  # seconds: on a busy machine, the hooks of others take their time
_release_all = methodcaller("release")


class _Fork(threading.local):
    """What a thread that forks has taken so far, and what signal handlers raised meanwhile."""

    def __init__(self) -> None:
        self.locks: list[Any] = []
        self.taken: list[bool] = []
        self.raised: list[BaseException] = []


_fork = _Fork()


def _acquire() -> None:
    """Take all locks, whatever signal handlers raise meanwhile.

    Python prints what a function raises before a fork, and forks: with half of the locks, the
    child would wait for ever.
    """
    llvm = [] if _LLVM_LOCK is None else [_LLVM_LOCK]
    _fork.locks = [COMPILE_LOCK, LOADING, *llvm, *BRIEF_LOCKS]
    while len(_fork.taken) < len(_fork.locks):
        try:
            _take()
        except BaseException as error:
            _fork.raised.append(error)


def _take() -> None:
    for lock in _fork.locks[len(_fork.taken) :]:
        # One step, in C: a lock that is taken is noted, also if a signal comes just then.
        _fork.taken.extend(map(lock.acquire, (True,)))


def _release() -> None:
    locks = _fork.locks[: len(_fork.taken)]
    _fork.locks, _fork.taken, _fork.raised = [], [], []
    list(map(_release_all, reversed(locks)))  # one step as well


def _release_in_parent() -> None:
    raised = _fork.raised
    _release()
    if raised:
        # Not here: Python would print it. The thread that forked is out of this in a moment.
        Timer(_MOMENT, _raise_in, (threading.get_ident(), raised[0])).start()


def _raise_in(thread: int, error: BaseException) -> None:
    """Let a thread raise an exception wherever it is now. Python makes it by calling a class."""

    def make(cls: type) -> BaseException:
        return error

    kind = type(type(error).__name__, (type(error),), {"__new__": make})
    raise_later = ctypes.pythonapi.PyThreadState_SetAsyncExc
    raise_later(ctypes.c_ulong(thread), ctypes.py_object(kind))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_acquire, after_in_parent=_release_in_parent, after_in_child=_release
    )
