"""Searches on machines that are made up, whose clock says how long all takes: they end in time."""

from __future__ import annotations

import json
from concurrent.futures import Executor, Future
from typing import Any

import pytest

from hybridjit.record import record
from hybridjit.tuning.jobs import Job, Measurement, measure, refer, verify
from hybridjit.tuning.result import Tuned
from hybridjit.tuning.search import Search
from hybridjit.tuning.session import Limits, Session
from hybridjit.tuning.space import Schedules
from hybridjit.tuning.tasks import Reference, Task
from hybridjit.tuning.timing import LEAST_LONG_TURNS, Times, is_clear
from tests.tuning.kernels import CASES, loops

BUDGET = 60.0
ENOUGH = BUDGET + 5.0
COMPILING = 0.2
FACTORS = list(range(2, 18))


def cuts(s: Any) -> None:
    s.split("i", s.sample_categorical(FACTORS))
    s.split("j", s.sample_categorical(FACTORS))


@record
class Costs:
    """Seconds: of a run of the plain program, of the fastest candidate and of the slowest, and of
    a look at awkward sizes.
    """

    plain: float
    fastest: float
    slowest: float
    check: float = 1.0

    def of(self, recipe: str | None) -> float:
        if recipe is None:
            return self.plain
        cuts = [step["args"][1] for step in json.loads(recipe)["steps"]]
        share = sum(abs(FACTORS.index(cut) - 6) for cut in cuts) / (2 * len(FACTORS))
        return self.fastest + share * (self.slowest - self.fastest)


class Machine(Executor):
    """Does one job after the other, as workers do: by the limits that are in it."""

    def __init__(self, costs: Costs) -> None:
        self.costs = costs
        self.now = 1e6
        self.refers = 0
        self.checked: list[str] = []

    def clock(self) -> float:
        return self.now

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        doing = {refer: self.refer, measure: self.measure, verify: self.verify}
        future: Future[Any] = Future()
        future.set_result(doing[fn](*args))
        return future

    def spend(self, seconds: float, until: float) -> bool:
        """Compute for so long, or until then: whether there was time."""
        is_time = self.now + seconds <= until
        self.now = self.now + seconds if is_time else max(self.now, until)
        return is_time

    def refer(self, task: Task, until: float) -> Reference | None:
        self.refers += 1
        return Reference(b"x", self.costs.plain) if self.spend(self.costs.plain, until) else None

    def measure(self, job: Job) -> Measurement:
        late = Measurement("late")
        if self.now > job.until:
            return late
        assert job.task.reference == b"x"
        assert job.usual is not None
        self.now += COMPILING
        run, rival = self.costs.of(job.recipe), self.costs.of(job.rival)
        if not self.spend(min(run, job.longest), job.until):
            return late
        times = Times((min(run, job.longest),)), Times((job.usual,))
        if run > job.longest:
            return Measurement("slow", "", *times)
        if not is_clear(run, job.usual, job.seconds):
            turn = run + rival
            if not self.spend(max(LEAST_LONG_TURNS * turn, job.seconds), job.until):
                return late
        return Measurement("measured", "", Times((run,) * 3), Times((rival,) * 3))

    def verify(self, job: Job) -> str | None:
        self.checked.append(job.recipe)
        self.spend(self.costs.check, job.until)
        return None


def tune(machine: Machine, seconds: float = BUDGET) -> Tuned:
    func = loops.schedule(*CASES["loops"][1]).func
    search = Search(Schedules(func, cuts), 0, "random")
    limits = Limits(seconds, None)
    session = Session(Task(b"", b""), search, limits, executor=machine, clock=machine.clock)
    return session.run()


CASES_OF_COSTS = {
    "the plain program takes long": Costs(34.0, 0.2, 2.0),
    "candidates take long": Costs(0.8, 0.4, 40.0),
    "all of them are hopeless": Costs(0.8, 20.0, 400.0),
    "none of them ends": Costs(0.8, 1e9, 1e9),
    "all take long": Costs(2.0, 1.5, 4.0),
    "looking at awkward sizes takes long": Costs(0.2, 0.1, 0.3, check=25.0),
    "looking at awkward sizes does not end": Costs(0.2, 0.1, 0.3, check=1e9),
    "all are short": Costs(1e-3, 5e-4, 2e-3, check=0.1),
    "a run takes nearly all the time": Costs(50.0, 49.0, 60.0),
}


@pytest.mark.parametrize("name", CASES_OF_COSTS)
def test_a_search_ends_in_time(name: str) -> None:
    machine = Machine(CASES_OF_COSTS[name])
    start = machine.now
    found = tune(machine)
    assert machine.now - start <= ENOUGH
    assert machine.refers == 1
    assert found.recipe is None or found.recipe in machine.checked


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("candidates take long", 24),
        ("all of them are hopeless", 16),
        ("the plain program takes long", 4),
        ("looking at awkward sizes takes long", 24),
        ("all are short", 100),
    ],
)
def test_many_candidates_are_tried(name: str, least: int) -> None:
    assert tune(Machine(CASES_OF_COSTS[name])).trials >= least


@pytest.mark.parametrize(
    "name", ["the plain program takes long", "looking at awkward sizes takes long", "all are short"]
)
def test_a_gain_is_found(name: str) -> None:
    machine = Machine(CASES_OF_COSTS[name])
    found = tune(machine)
    assert found.recipe is not None
    assert found.score < 1


def test_a_program_that_takes_longer_than_the_search_is_told_of() -> None:
    found = tune(Machine(Costs(100.0, 1.0, 2.0)))
    assert found.recipe is None
    assert found.stopped == "the time is up: to start and to run the program as it is takes longer"


class Stuck(Machine):
    """Some jobs never end, and nobody can end them."""

    def __init__(self, costs: Costs, stuck: Any) -> None:
        super().__init__(costs)
        self.stuck = stuck

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        if fn is not self.stuck:
            return super().submit(fn, *args)
        self.now += BUDGET / 4  # it passes meanwhile
        return Future()


@pytest.mark.parametrize("stuck", [refer, measure, verify])
def test_jobs_that_never_end_do_not_keep_a_search(stuck: Any) -> None:
    machine = Stuck(Costs(1.0, 0.5, 2.0), stuck)
    machine.now -= BUDGET
    assert tune(machine, 0.5).recipe is None
