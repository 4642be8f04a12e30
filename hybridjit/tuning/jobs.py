"""What workers do: make a candidate, compare it with the plain program, race it with the best.

Everything that a job needs is in it, and it is data: it may be done in any process, on any machine
of the same kind. What is the same in many jobs, the program and its arguments, is kept between
them.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import field
from typing import Any, Literal

from hybridjit import config
from hybridjit.errors import HybridError, InternalError, ScheduleError
from hybridjit.record import record
from hybridjit.runtime.cache.carried_code import Codes, handed
from hybridjit.runtime.cache.entry import Entry
from hybridjit.tuning.patience import GivenUpError
from hybridjit.tuning.programs import Run
from hybridjit.tuning.tasks import Reference, Task
from hybridjit.tuning.timing import Times, is_clear
from hybridjit.tuning.workshop import Trial, Workshop

_UNLIMITED = float("inf")

Status = Literal["measured", "slow", "wrong", "refused", "failed", "crashed", "late"]
"""`slow`: its first run was given up, as it took far longer than the rival's; its time is the least
that it can be. `refused`: it could not be compiled as it says. `failed`: an error of another kind.
`late`: the search was over before it was measured.
"""


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
        if self.status != "measured" or self.times is None or self.rival is None:
            return False
        return self.ratio < worth and self.times.median < self.rival.median


@record(eq=False)
class Job:
    """A candidate to be raced with another, for so many seconds.

    `usual` is how long a run of the rival takes, as far as is known; a first run that takes longer
    than `longest` is given up. `until` is the time at which nobody waits for it any more.
    """

    task: Task
    recipe: Any
    rival: Any = None
    seconds: float = 0.1
    usual: float | None = None
    longest: float = _UNLIMITED
    until: float = _UNLIMITED
    # What somebody else has compiled for it.
    code: Codes = field(default_factory=dict[bytes, Entry])


_workshops: dict[bytes, Workshop] = {}


def _workshop(task: Task) -> Workshop:
    if task.key not in _workshops:
        _workshops.clear()  # one search at a time
        _workshops[task.key] = Workshop(task)
    return _workshops[task.key]


def clear() -> None:
    """Forget the tasks that jobs were done for."""
    _workshops.clear()


@contextmanager
def _as_it_is(task: Task) -> Generator[None]:
    """The program is compiled and run, whatever is set, and takes nothing that an earlier search
    has kept: that is not what the compiler does by itself.
    """
    settings = config.scope(parallel=task.parallel, check=False, interpret=False)
    with settings, config.without_database():
        yield


def unpack(task: Task) -> None:
    """Get ready for the jobs of a task, while somebody else runs the plain program."""
    _workshop(task)


def refer(task: Task, until: float = _UNLIMITED) -> Reference | None:
    """Run the plain program, which candidates are compared with; None if that takes too long."""
    with _as_it_is(task):
        try:
            return _workshop(task).refer(until)
        except GivenUpError:
            return None


def compile_code(job: Job) -> Codes | Measurement:
    """The code of a candidate and of its rival, for others to measure; or why there is none."""
    if time.time() > job.until:
        return _late()
    with _as_it_is(job.task):
        shop = _workshop(job.task)
        try:
            return {**shop.code_of(job.rival), **shop.code_of(job.recipe)}
        except ScheduleError as error:
            return Measurement("refused", str(error))
        except (HybridError, InternalError) as error:
            return Measurement("failed", str(error))


def measure(job: Job) -> Measurement:
    """Compile a candidate, compare its results with the plain program's, and race it."""
    if time.time() > job.until:
        return _late()
    with _as_it_is(job.task), handed(job.code):
        shop = _workshop(job.task)
        start = time.perf_counter()
        try:
            run = shop.make(job.recipe)
            compiling = time.perf_counter() - start
            first = shop.first_run(run, job.longest, job.until)
        except GivenUpError:
            return _late() if time.time() > job.until else _slow(job, job.longest)
        except ScheduleError as error:
            return Measurement("refused", str(error))
        except (HybridError, InternalError) as error:
            return Measurement("failed", str(error))
        if not first.is_right:
            message = "its results differ from those of the plain program"
            return Measurement("wrong", message, compiling=compiling)
        if first.seconds is not None and first.seconds > job.longest:
            return _slow(job, first.seconds)
        return _raced(shop, job, run, first, compiling)


def _raced(shop: Workshop, job: Job, run: Run, first: Trial, compiling: float) -> Measurement:
    try:
        rival, times = _race(shop, job, run, first)
    except GivenUpError:
        return _late()
    except Exception as error:  # whatever the program raises for these arguments
        return Measurement("failed", f"{type(error).__name__}: {error}")
    return Measurement("measured", "", times, rival, compiling)


def _race(shop: Workshop, job: Job, run: Run, first: Trial) -> list[Times]:
    """The times of the rival and of a candidate: in turns, unless it is clear who wins."""
    once, usual = first.seconds, job.usual
    if once is None or usual is None or not is_clear(once, usual, job.seconds):
        return shop.race([shop.make(job.rival), run], job.seconds, job.until)
    times = [Times((once,))] if once > usual else shop.race([run], job.seconds, job.until)
    return [Times((usual,)), *times]


def _slow(job: Job, seconds: float) -> Measurement:
    usual = job.usual or seconds
    message = f"it takes {seconds:.3g} s or more, the best so far {usual:.3g} s"
    return Measurement("slow", message, Times((seconds,)), Times((usual,)))


def _late() -> Measurement:
    return Measurement("late", "the time was up before it was measured")


def verify(job: Job) -> str | None:
    """What is wrong with a candidate at sizes that are awkward; None if nothing is."""
    with _as_it_is(job.task):
        try:
            _workshop(job.task).verify(job.recipe, job.usual, job.until)
        except ScheduleError as error:
            return str(error)
        return None
