"""Deep work from a full stack: a thread of its own, whose frames are counted from zero.

Python stops at 1000 frames, all of the caller's included; a script of legal depth must compile
from wherever it is called first. Nor are 1000 enough for the deepest: a level of an expression
takes six of them in the code for vectors.
"""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import copy_context
from threading import Lock, Thread
from typing import TypeVar

T = TypeVar("T")

MOST_FRAMES = 5000  # what is deeper than this has no end


def on_fresh_stack(work: Callable[[], T]) -> T:
    """Return `work()`, done again in a thread of its own if the caller's stack is too full for it.

    What `work` did before it ran out of stack must do no harm; locks of this thread are not to be
    waited for in it. A second RecursionError is passed on: then the work itself is too deep.
    """
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
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


class _RecursionLimit:
    """The limit is one for all threads: the first that needs more raises it, the last lowers it."""

    def __init__(self) -> None:
        self._lock = Lock()
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
