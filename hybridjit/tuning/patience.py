"""Runs that are given up on the way, in a process that does nothing but try things.

Native code looks for signals now and then, as for Ctrl-C, so an alarm ends it from inside: what the
process has made so far is kept, which it would not be if it were killed.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

_HAS_ALARMS = hasattr(signal, "setitimer")
_UNLIMITED = math.inf


class GivenUpError(Exception):
    """A run took longer than it was given."""


class Stopwatch:
    """How long something takes: on a busy machine, the time in which this process computes."""

    def __init__(self) -> None:
        self._start = time.perf_counter(), time.process_time()

    @property
    def seconds(self) -> float:
        """Since it was made. Threads that compute at once do not count twice."""
        passed, computed = (
            time.perf_counter() - self._start[0],
            time.process_time() - self._start[1],
        )
        return min(passed, computed or passed)  # some clocks do not see what is short


class _Alarm:
    """The one alarm of a process: it rings when a run has had its seconds, or at a given time."""

    def __init__(self) -> None:
        self._watch = Stopwatch()
        self._seconds = self._until = _UNLIMITED

    def set(self, seconds: float, until: float) -> None:
        self._watch, self._seconds, self._until = Stopwatch(), seconds, until
        self._wait()

    def ring(self, number: int, frame: Any) -> None:
        """End what runs, if it had its time; on a busy machine it may have had less."""
        if self._left() <= 0:
            raise GivenUpError
        self._wait()

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _left(self) -> float:
        return min(self._seconds - self._watch.seconds, self._until - time.time())

    def _wait(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, max(self._left(), 1e-3))  # 0 would be never


_ALARM = _Alarm()
_RING: Callable[[int, Any], None] = _ALARM.ring


def obey_alarms() -> None:
    """Let `at_most` end what this process runs: its alarms are used for nothing else."""
    if _HAS_ALARMS:
        signal.signal(signal.SIGALRM, _RING)


@contextmanager
def at_most(seconds: float, until: float = _UNLIMITED) -> Generator[None]:
    """Raise GivenUpError in what takes longer, or beyond the time `until`; in a process that does
    not obey, do nothing.
    """
    is_limited = math.isfinite(min(seconds, until))
    if not (_HAS_ALARMS and is_limited and signal.getsignal(signal.SIGALRM) is _RING):
        yield
        return
    _ALARM.set(seconds, until)
    try:
        yield
    finally:
        _ALARM.stop()
