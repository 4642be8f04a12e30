"""Whoever does the jobs of a search, and how long one waits for them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, wait
from concurrent.futures import TimeoutError as Overdue
from typing import Any, TypeVar

from hybridjit.runtime.cache.carried_code import Codes
from hybridjit.tuning.budget import Clock
from hybridjit.tuning.executors import Executors
from hybridjit.tuning.jobs import Job, Measurement, compile_code, measure
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


def _copy_outcome(done: Future[T], found: Future[T]) -> None:
    try:
        found.set_result(outcome(done))
    except BaseException as error:
        found.set_exception(error)


class Crew:
    """Executors that are not waited for longer than agreed."""

    def __init__(self, executors: Executors, clock: Clock) -> None:
        self.hands = executors.hands
        self._executor = executors.measurers
        self._compilers = executors.compilers
        self._clock = clock
        self._dismissed: list[Future[Any]] = []
        self._has_worked = False

    def submit(self, fn: Callable[..., T], *args: Any) -> Future[T]:
        """Have a job done where times are taken."""
        return self._submit(self._executor, fn, *args)

    def submit_aside(self, fn: Callable[..., T], *args: Any) -> Future[T]:
        """Have a job done that takes no times."""
        return self._submit(self._compilers or self._executor, fn, *args)

    def measure(self, job: Job) -> Future[Measurement]:
        """Have a candidate compiled, and then measured: by others, if there are some for it."""
        if self._compilers is None:
            return self.submit(measure, job)
        found: Future[Measurement] = Future()
        compiling = self._submit(self._compilers, compile_code, job)
        compiling.add_done_callback(lambda done: self._hand_over(done, job, found))
        return found

    def _hand_over(
        self, done: Future[Codes | Measurement], job: Job, found: Future[Measurement]
    ) -> None:
        """Send what was compiled to those who measure; it may have failed already."""
        if not found.set_running_or_notify_cancel():
            return
        try:
            code = outcome(done)
            if isinstance(code, Measurement):
                found.set_result(code)
                return
            measuring = self.submit(measure, dataclasses.replace(job, code=code))
        except BaseException as error:
            found.set_exception(error)
            return
        measuring.add_done_callback(lambda end: _copy_outcome(end, found))

    def _submit(self, executor: Executor, fn: Callable[..., T], *args: Any) -> Future[T]:
        try:
            return executor.submit(fn, *args)
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
