"""What workers do: make a candidate, compare it with the plain program, race it with the best.

Everything that a job needs is in it, and it is data: it may be done in any process, on any machine
of the same kind. What is the same in many jobs, the program and its arguments, is kept between
them.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hybridjit import config
from hybridjit.errors import HybridError, InternalError, ScheduleError
from hybridjit.record import record
from hybridjit.scalars.contents import arrays_in, fresh_copies
from hybridjit.schedule.verification import Same, Version, outcome_of, verify_kernels
from hybridjit.tuning.machine import alone
from hybridjit.tuning.programs import Program, Run
from hybridjit.tuning.timing import Times, race

_CACHES = 1 << 27  # bytes: more than most caches hold

Status = Literal["measured", "wrong", "refused", "failed", "crashed", "late"]
"""`refused`: it could not be compiled as it says. `failed`: an error of another kind."""


@record
class Measurement:
    """What came of a job."""

    status: Status
    message: str = ""
    times: Times | None = None
    rival: Times | None = None
    compiling: float = 0.0

    @property
    def ratio(self) -> float:
        """How long it takes, if the rival takes 1."""
        if self.times is None or self.rival is None:
            return float("inf")
        return self.times.best / self.rival.best

    def is_gain(self, worth: float) -> bool:
        """True if it takes less than `worth` of the rival's time, at best and in the middle: one
        lucky turn is no gain.
        """
        if self.times is None or self.rival is None:
            return False
        return self.ratio < worth and self.times.median < self.rival.median


@record(eq=False)
class Task:
    """What all jobs of a search share, pickled: the program and the arguments to call it with.

    `loose`: the program leaves the order of some sums open, and results may differ by rounding.
    """

    program: bytes
    arguments: bytes
    loose: bool = False
    parallel: bool = False
    cold: bool = False

    @property
    def key(self) -> bytes:
        """What tells it from other ones."""
        parts = (self.program, self.arguments, bytes((self.loose, self.parallel, self.cold)))
        return b"".join(hashlib.sha256(part).digest() for part in parts)


@record(eq=False)
class Job:
    """A candidate to be raced with another, for so many seconds."""

    task: Task
    recipe: Any
    rival: Any = None
    seconds: float = 0.1


class _Workshop:
    """A task, unpacked: what was made of it so far."""

    def __init__(self, task: Task) -> None:
        self.program: Program = pickle.loads(task.program)
        self.args: list[Any] = pickle.loads(task.arguments)
        self.task = task
        self.same = Same(loose=task.loose, ordered=True)
        self._made: dict[bytes, Run] = {}
        self._expected: list[Any] | None = None

    def make(self, recipe: Any) -> Run:
        key = pickle.dumps(recipe)
        if key not in self._made:
            if len(self._made) > 8:  # the plain program, the best ones, and the last few
                self._made.pop(next(iter(self._made)))
            self._made[key] = self.program.make(recipe)
        return self._made[key]

    @property
    def expected(self) -> list[Any] | None:
        if self._expected is None:
            self._expected = outcome_of(self.make(None), self.args)
        return self._expected

    def is_right(self, run: Run) -> bool:
        found = outcome_of(run, self.args)
        if found is None or self.expected is None:
            return found is self.expected
        return all(map(self.same, self.expected, found))

    def race(self, runs: Sequence[Run], seconds: float) -> list[Times]:
        """Race calls on arguments that are written to as long as one race lasts, not longer."""
        args = fresh_copies(self.args)
        pairs = list(zip(arrays_in(args), arrays_in(self.args), strict=True))
        written = [pairs[place] for place in self._written()]

        def prepare() -> None:
            for array, original in written:
                np.copyto(array, original)
            if self.task.cold:
                _sweep()

        calls = [functools.partial(run, *args) for run in runs]
        is_needed = bool(written) or self.task.cold
        with alone():
            return race(calls, seconds, prepare=prepare if is_needed else None)

    def _written(self) -> list[int]:
        """Which of the arrays in the arguments a run changes."""
        after = arrays_in((self.expected or self.args)[: len(self.args)])
        pairs = zip(arrays_in(self.args), after, strict=True)
        return [place for place, (a, b) in enumerate(pairs) if a.tobytes() != b.tobytes()]


@functools.cache
def _elsewhere() -> NDArray[np.uint8]:
    return np.zeros(_CACHES, np.uint8)


def _sweep() -> None:
    """Fill the caches with something else."""
    _elsewhere()[:] += 1


_workshops: dict[bytes, _Workshop] = {}


def _workshop(task: Task) -> _Workshop:
    if task.key not in _workshops:
        _workshops.clear()  # one search at a time
        _workshops[task.key] = _Workshop(task)
    return _workshops[task.key]


@contextmanager
def _as_it_is(task: Task) -> Generator[None]:
    """The program is compiled and run, whatever is set, and takes nothing that an earlier search
    has kept: that is not what the compiler does by itself.
    """
    settings = config.scope(parallel=task.parallel, check=False, interpret=False)
    with settings, config.without_database():
        yield


def measure(job: Job) -> Measurement:
    """Compile a candidate, compare its results with the plain program's, and race it."""
    with _as_it_is(job.task):
        shop = _workshop(job.task)
        start = time.perf_counter()
        try:
            run = shop.make(job.recipe)
            is_right = shop.is_right(run)
        except ScheduleError as error:
            return Measurement("refused", str(error))
        except (HybridError, InternalError) as error:
            return Measurement("failed", str(error))
        compiling = time.perf_counter() - start
        if not is_right:
            message = "its results differ from those of the plain program"
            return Measurement("wrong", message, compiling=compiling)
        try:
            rival, times = shop.race([shop.make(job.rival), run], job.seconds)
        except Exception as error:  # whatever the program raises for these arguments
            return Measurement("failed", f"{type(error).__name__}: {error}")
        return Measurement("measured", "", times, rival, compiling)


def verify(job: Job) -> str | None:
    """What is wrong with a candidate at sizes that are awkward; None if nothing is."""
    with _as_it_is(job.task):
        shop = _workshop(job.task)
        version = Version(shop.make(job.recipe))
        try:
            verify_kernels(shop.make(None), [version], shop.args, loose=job.task.loose)
        except ScheduleError as error:
            return str(error)
        return None
