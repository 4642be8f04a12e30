"""Whoever does the jobs of a search, and how long one waits for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, wait
from concurrent.futures import TimeoutError as Overdue
from typing import Any, TypeVar

from hybridjit.tuning.budget import Clock
from hybridjit.tuning.workers import LateError, Workers

T = TypeVar("T")
_GRACE = 1.0  # seconds after its time in which a job may still end by itself


def outcome(future: Future[T], timeout: float | None = None) -> T:
    """What came of a job. Who cancels one that somebody waits for does no others either: so do
    clusters whose scheduler is gone.
    """
    try:
        return future.result(timeout)
    except CancelledError:
        raise BrokenExecutor("its jobs were cancelled") from None


class Crew:
    """An executor that is not waited for longer than agreed."""

    def __init__(self, executor: Executor, clock: Clock) -> None:
        self._executor = executor
        self._clock = clock
        self._dismissed: list[Future[Any]] = []
        self._has_worked = False

    @property
    def hands(self) -> int:
        """How many jobs it does at once."""
        executor = self._executor
        hands: int = getattr(executor, "_max_workers", 0) or len(getattr(executor, "_threads", ()))
        return max(hands, 1)

    def submit(self, fn: Callable[..., T], *args: Any) -> Future[T]:
        """Have a job done."""
        try:
            return self._executor.submit(fn, *args)
        except RuntimeError as error:  # it is closed, or broken
            if not self._has_worked:
                raise
            raise BrokenExecutor(str(error)) from None

    def result(self, future: Future[T], until: float) -> T:
        """What came of a job; LateError if nothing came of it in time."""
        if not wait([future], _GRACE).done:
            self._end_dismissed()
        try:
            found = outcome(future, self._timeout(until))
            self._has_worked = True
            return found
        except Overdue:
            if future.done():
                raise  # of the job itself
            self._abandon(future)
            raise LateError("the time was up") from None

    def dismiss(self, futures: Sequence[Future[Any]]) -> None:
        """Have jobs ended that nobody waits for any more: they know the time at which to end, so
        those that run are given up only when others wait for them.
        """
        self._dismissed = [future for future in futures if not future.cancel()]

    def _end_dismissed(self) -> None:
        for future in self._dismissed:
            self._abandon(future)
        self._dismissed = []

    def _abandon(self, future: Future[Any]) -> None:
        if isinstance(self._executor, Workers):
            self._executor.abandon(future)
        else:
            future.cancel()

    def _timeout(self, until: float) -> float | None:
        return None if math.isinf(until) else max(until - self._clock(), 0.0) + _GRACE
