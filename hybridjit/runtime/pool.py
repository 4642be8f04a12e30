"""The threads that run parallel loops: how many there are, and the life of their pool.

The pool is native code (`hybridjit.codegen.pool.run`), one for the process. It is loaded with the
first kernel that has a parallel loop and starts its threads when such a loop first runs. It is
never unloaded: its threads sleep in it until the process ends. A forked child starts its own.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import time
from contextlib import AbstractContextManager
from functools import cache
from types import TracebackType
from typing import Any

from hybridjit import config
from hybridjit.brief_locks import brief_lock
from hybridjit.codegen.engine import link
from hybridjit.codegen.pool.layout import MAX_THREADS, Pool
from hybridjit.codegen.pool.names import POLL, RUN, STATE
from hybridjit.codegen.pool.run import emit_pool
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.record import record
from hybridjit.runtime.cpus import count_cpus
from hybridjit.runtime.dispatch.pinned import pin
from hybridjit.runtime.shared_code import shared_code

# A worker looks for the next loop so often before it sleeps: for some 50 µs.
_SPINS = 1000
# Seconds that exit waits for chunks that never look for signals.
_PATIENCE = 10.0
# What belongs to the threads, and is void in a child that has none of them.
_LOST_IN_FORK = (
    Pool.PARKED,
    Pool.BUSY,
    Pool.WORKERS,
    Pool.GATE,
    Pool.SIGNAL,
    Pool.SLEEPERS,
    Pool.LOCK,
    Pool.FINISHED,
    Pool.WAITING,
)


# How many threads


def set_num_threads(count: int) -> None:
    """Let parallel loops run on up to `count` threads, the calling one included, from now on.

    More than there are processors is allowed. The number is that of the whole process; `threads`
    changes it for one thread and for a while.
    """
    limits = _limits()
    with _lock:
        limits.default = _checked(count)
        if limits.state is not None:
            limits.state[Pool.LIMIT] = limits.default


def get_num_threads() -> int:
    """How many threads a parallel loop that is run here may use."""
    return _limits().own() or _limits().default


class threads(AbstractContextManager[None]):
    """Let parallel loops use up to `count` threads inside a `with` block, on this thread only.

    The number belongs to the thread of the operating system: a coroutine that waits inside the
    block lets others on the same thread see it.
    """

    def __init__(self, count: int) -> None:
        self._count = _checked(count)
        self._before: list[int] = []

    def __enter__(self) -> None:
        self._before.append(_limits().own())
        _limits().set_own(self._count)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _limits().set_own(self._before.pop())


def _checked(count: Any) -> int:
    if isinstance(count, bool) or not hasattr(count, "__index__"):
        raise ArgumentError(f"the number of threads must be an int, got {count!r}")
    if not 1 <= int(count) <= MAX_THREADS:
        raise ArgumentValueError(
            f"the number of threads must be between 1 and {MAX_THREADS}, got {int(count)}"
        )
    return int(count)


class _Limits:
    """How many threads: by default, and where a thread has a number of its own."""

    def __init__(self) -> None:
        wanted = config.current().num_threads
        available = min(count_cpus(), MAX_THREADS)
        self.default = available if wanted is None else min(wanted, available)
        self.state: ctypes.Array[ctypes.c_int64] | None = None  # of the pool, once there is one
        self._libc = ctypes.CDLL(None)
        self._libc.pthread_getspecific.restype = ctypes.c_void_p
        self._libc.pthread_setspecific.argtypes = [ctypes.c_uint, ctypes.c_void_p]
        key = ctypes.c_uint()
        if self._libc.pthread_key_create(ctypes.byref(key), None):
            raise OSError("this process has no room for another thread-specific value")
        self.key = key.value

    def own(self) -> int:
        """The number of this thread, 0 if it has none."""
        return self._libc.pthread_getspecific(self.key) or 0

    def set_own(self, count: int) -> None:
        """Give this thread a number, or take it away with 0."""
        self._libc.pthread_setspecific(self.key, count)


def _limits() -> _Limits:
    with _lock:
        return _only_limits()


@cache
def _only_limits() -> _Limits:
    return _Limits()


_lock = brief_lock()


# The pool


@record
class _NativePool:
    """The pool in memory: where its functions are, and its words."""

    addresses: dict[str, int]
    state: ctypes.Array[ctypes.c_int64]


def pool_addresses() -> dict[str, int]:
    """Where the functions are that kernels with parallel loops call."""
    return _pool().addresses


def clear() -> None:
    """Forget the pool: kernels compiled from now on get a new one, for tests.

    The old one stays in memory, for the kernels that have it; they must not run in a child.
    """
    _pool.cache_clear()


@cache
def _pool() -> _NativePool:
    library = link(shared_code("pool", emit_pool), (RUN, POLL, STATE), {})
    pin(library.tracker)
    state = (ctypes.c_int64 * Pool.SIZE).from_address(library.addresses[STATE])
    limits = _limits()
    with _lock:
        limits.state = state
        state[Pool.LIMIT], state[Pool.KEY], state[Pool.SPINS] = limits.default, limits.key, _SPINS
    return _NativePool({name: library.addresses[name] for name in (RUN, POLL)}, state)


def _close() -> None:
    """At exit, before Python ends its threads: nobody is at a loop of a thread that ends."""
    state = _only_limits().state if _only_limits.cache_info().currsize else None
    if state is None:
        return
    state[Pool.CLOSED] = 1
    end = time.monotonic() + _PATIENCE
    while state[Pool.BUSY] and not state[Pool.PARKED] and time.monotonic() < end:
        time.sleep(0.001)


atexit.register(_close)


def _forget_threads() -> None:
    """In a child after fork."""
    state = _only_limits().state if _only_limits.cache_info().currsize else None
    if state is None:
        return
    for place in _LOST_IN_FORK:
        state[place] = 0
    state[Pool.GENERATION] += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
