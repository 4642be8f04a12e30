"""Deep work from a full or a small stack: a thread of its own; and how full a stack is.

Python stops at 1000 frames, all of the caller's included; a script of legal depth must compile
from wherever it is called first. Nor are 1000 enough for the deepest: a level of an expression
takes six of them in the code for vectors. And it counts frames, not bytes: kernels that call each
other through callbacks would run out of stack before that, and so would LLVM in a thread that was
made with a small one.
"""

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from threading import Thread
from typing import Any, TypeVar

from hybridjit.brief_locks import brief_lock

T = TypeVar("T")

MOST_FRAMES = 5000  # what is deeper than this has no end
# What LLVM may need, with room to spare: it crashes in a thread with 64 KB, and not with 128.
_ENOUGH = 1 << 20
_FRESH = 16 << 20
# A kernel that a callback calls takes up to 16 KB for local arrays, registers and its caller.
_MARGIN = 1 << 17
_RLIMIT_STACK = 3  # as `resource` has it, which is not loaded for that


def on_fresh_stack(work: Callable[[], T]) -> T:
    """Return `work()`, done in a thread of its own if the caller's stack is too full for it.

    What `work` did before it ran out of stack must do no harm; locks of this thread are not to be
    waited for in it. A second RecursionError is passed on: then the work itself is too deep.
    """
    if _has_enough():
        try:
            return work()
        except RecursionError:
            pass
    results: list[T] = []
    errors: list[BaseException] = []

    def attempt() -> None:
        try:
            with _DEEP.room():
                results.append(work())
        except BaseException as error:  # raised again in the thread that waits
            errors.append(error)

    thread = Thread(target=copy_context().run, args=(attempt,), name="hybridjit-stack")
    before = threading.stack_size(_FRESH)
    try:
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


class _RecursionLimit:
    """The limit is one for all threads: the first that needs more raises it, the last lowers it."""

    def __init__(self) -> None:
        self._lock = brief_lock()
        self._users = 0
        self._before = 0

    @contextmanager
    def room(self) -> Generator[None]:
        """Let this thread, and meanwhile any other, use more frames."""
        with self._lock:
            if self._users == 0:
                self._before = sys.getrecursionlimit()
                sys.setrecursionlimit(max(self._before, MOST_FRAMES))
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    sys.setrecursionlimit(self._before)


_DEEP = _RecursionLimit()


def check_stack(address: int) -> None:
    """Refuse to call deeper from a frame at `address` when this thread's stack is nearly full."""
    bounds = _bounds.find()
    if bounds is None:
        return
    low, size = bounds
    if 0 < address - low < min(_MARGIN, size // 2):
        raise RecursionError("kernels and callbacks call each other too deeply for the stack")


class _Bounds(threading.local):
    """The lowest address and the size of a thread's stack, asked for once in each thread."""

    is_known = False
    found: tuple[int, int] | None = None

    def find(self) -> tuple[int, int] | None:
        if not self.is_known:
            self.found = _stack_bounds()
            self.is_known = True
        return self.found


_bounds = _Bounds()


def _has_enough() -> bool:
    """Whether the stack of this thread is large enough for what LLVM needs."""
    if _is_first_thread():
        return _stack_limit() >= _ENOUGH
    bounds = _bounds.find()
    return bounds is None or bounds[1] >= _ENOUGH


# The thread that Python began in, which is the process's own if their numbers are the same.
_FIRST = threading.main_thread()


def _is_first_thread() -> bool:
    """Whether this is the thread that the process began with; it may be, where the answer is no."""
    return threading.get_ident() == _FIRST.ident and _FIRST.native_id == os.getpid()


@cache
def _stack_limit() -> int:
    """How far the stack of the first thread may grow.

    To ask where it lies takes 0.3 ms: the system writes down all of the memory for that.
    """
    libc: Any = ctypes.CDLL(None)
    limits = (ctypes.c_size_t * 2)()  # now, and at most
    return 0 if libc.getrlimit(_RLIMIT_STACK, limits) else limits[0]


def _stack_bounds() -> tuple[int, int] | None:
    """Where the stack of this thread lies; None where the system does not say."""
    libc: Any = ctypes.CDLL(None)
    if not hasattr(libc, "pthread_getattr_np"):
        return None
    attributes = ctypes.create_string_buffer(256)  # a pthread_attr_t takes 56 bytes
    low, size = ctypes.c_size_t(), ctypes.c_size_t()
    libc.pthread_self.restype = ctypes.c_size_t
    if libc.pthread_getattr_np(ctypes.c_size_t(libc.pthread_self()), attributes):
        return None
    libc.pthread_attr_getstack(attributes, ctypes.byref(low), ctypes.byref(size))
    libc.pthread_attr_destroy(attributes)
    return low.value, size.value
