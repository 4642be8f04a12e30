"""Deep work from a full stack: a thread of its own, whose frames are counted from zero.

Python stops at 1000 frames, all of the caller's included; a script of legal depth must compile
from wherever it is called first.
"""

from collections.abc import Callable
from contextvars import copy_context
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


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
            results.append(work())
        except BaseException as error:  # raised again in the thread that waits
            errors.append(error)

    thread = Thread(target=copy_context().run, args=(attempt,), name="hybridjit-stack")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
