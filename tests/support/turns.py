"""Do other threads of Python run while a kernel does?"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

# Where the GIL is kept, others get a turn before and after the call, between two lines of Python.
_MOST_WITHOUT_RELEASE = 5
_DOUBLINGS = 7


def others_run_during(call: Callable[[int], Any], count: int) -> bool:
    """True if another thread takes turns while `call(count)` runs, or one of a larger count.

    How many it takes in a second is up to the machine and what else it does. So the call is made
    longer until there are enough; with the GIL kept, there are few however long it is.
    """
    return any(_turns_during(call, count << k) > _MOST_WITHOUT_RELEASE for k in range(_DOUBLINGS))


def _turns_during(call: Callable[[int], Any], count: int) -> int:
    turns: list[int] = []
    is_started, is_done = threading.Event(), threading.Event()

    def take_turns() -> None:
        is_started.set()
        while not is_done.wait(0.001):
            turns.append(1)

    thread = threading.Thread(target=take_turns)
    thread.start()
    is_started.wait()
    before = len(turns)
    call(count)
    seen = len(turns) - before
    is_done.set()
    thread.join()
    return seen
