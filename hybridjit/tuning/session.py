"""A search from beginning to end: propose, measure, learn; then a last race among the best.

                    propose               submit                measure, in workers
    Search  ------------------> Candidate --------> Executor ------------------------> Measurement
       ^                                                                                   |
       +------------------------------- learn, keep in the database ----------------------+

The plain program is run once; what it gives is what all candidates are compared with. Candidates
are raced with the best so far, so scores of different times can be compared. The few that seem best
are raced once more, for longer, with the plain program; the winner is compared with it at awkward
sizes before anybody believes in it. If nothing wins, nothing is what is returned.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import nullcontext
from typing import Any

from hybridjit.errors import TuneError
from hybridjit.record import record
from hybridjit.tuning.budget import Clock, Timetable
from hybridjit.tuning.crew import Crew, outcome
from hybridjit.tuning.database import Database, Identity
from hybridjit.tuning.executors import Executors, executors_of
from hybridjit.tuning.jobs import Job, Measurement, refer, unpack, verify
from hybridjit.tuning.memory import Memory
from hybridjit.tuning.progress import Progress
from hybridjit.tuning.rates import Work
from hybridjit.tuning.result import Tuned, describe_counts
from hybridjit.tuning.search import Search
from hybridjit.tuning.space import Candidate
from hybridjit.tuning.standings import Scored, Standings
from hybridjit.tuning.tasks import Task
from hybridjit.tuning.timing import CLOSER, is_clear, longest_run
from hybridjit.tuning.workers import TIMEOUT, LateError, WorkerError, Workers

RACE = 0.05  # seconds that a candidate is raced
LAST_RACE = 0.25  # and one of the last ones, or longer
LAST_TURNS = 3  # with the first run, if they take long
WORTH = 0.985  # of the plain program's time: what is less of a gain is none
ENOUGH = 8  # trials, after which it means something that nothing is better
PATIENCE = 200  # trials without a better one, after which a search ends
LONGEST_JOB = 0.25  # of the time: the plain program may take long
_TIME_IS_UP = "the time is up"


@record(eq=False)
class Limits:
    """When a search ends: after so many seconds or trials, or when nothing gets better."""

    seconds: float | None = 60.0
    trials: int | None = None
    patience: int = PATIENCE


@record(eq=False)
class _Check:
    """A candidate that is looked at at awkward sizes, since so many seconds after the start."""

    recipe: Any
    since: float


class Session:
    """One search. `run` gives what it found."""

    def __init__(
        self,
        task: Task,
        search: Search,
        limits: Limits,
        *,
        executor: Any = None,
        database: Database | None = None,
        identity: Identity | None = None,
        work: Work | None = None,
        usual: Any = None,
        clock: Clock = time.time,  # the one that workers on all machines have
    ) -> None:
        self._task = task
        self._search = search
        self._limits = limits
        self._executor = executor
        self._memory = Memory(database, identity, cold=task.cold)
        self._work = work
        self._clock = clock
        self._times = Timetable(limits.seconds, clock)
        self._usual = usual  # the recipe of what the compiler does by itself, in its own space
        self._standings = Standings(usual)
        self._checks: dict[Future[str | None], _Check] = {}
        self._checking = 0.0  # seconds that a check takes
        self._is_time_up = False

    def run(self, name: str = "") -> Tuned:
        """Search until the limits are reached, or Ctrl-C: then with what there is."""
        for scored in self._memory.teach(self._search):
            self._standings.add(scored)
        self._standings.champion = self._memory.champion()
        progress = Progress(name, self._times)
        try:
            with self._executor_to_use() as executor:
                return self._run(executors_of(executor), progress)
        finally:
            progress.end()

    def _run(self, executors: Executors, progress: Progress) -> Tuned:
        crew = Crew(executors, self._clock)
        try:
            progress.tell("the program as it is")
            stopped = self._refer(crew) or self._explore(crew, progress)
            self._check_some_ran()
        except KeyboardInterrupt:
            stopped = "stopped by Ctrl-C"
        except BrokenExecutor as error:
            stopped = f"the executor broke: {error}"
        self._memory.keep()
        progress.tell("the last races")
        try:
            return self._finish(crew, stopped)
        except BrokenExecutor:
            with Workers(1) as own:
                return self._finish(Crew(executors_of(own), self._clock), stopped)

    def _executor_to_use(self) -> Any:
        if self._executor is not None:
            return nullcontext(self._executor)
        timeout = max(TIMEOUT, LONGEST_JOB * (self._limits.seconds or 0.0))
        return Workers(max(os.cpu_count() or 1, 1), timeout)

    def _refer(self, crew: Crew) -> str | None:
        """Run the plain program once, for all; why the search is over if that cannot be done."""
        future = crew.submit(refer, self._task, self._times.end)
        for _ in range(1, crew.hands):
            crew.submit(unpack, self._task)
        try:
            found = crew.result(future, self._times.end)
        except (BrokenExecutor, KeyboardInterrupt):
            raise
        except LateError:
            found = None
        except Exception as error:  # of whatever executor it is
            self._standings.note(None, _failure(error), self._standings.plain, self._times.passed)
            return "the program as it is does not run"
        if found is None:
            return f"{_TIME_IS_UP}: to start and to run the program as it is takes longer"
        self._task = dataclasses.replace(self._task, reference=found.packed)
        self._standings.start(found.seconds)
        return None

    # exploring

    def _explore(self, crew: Crew, progress: Progress) -> str:
        waiting: dict[Future[Measurement], tuple[Candidate, Scored]] = {}
        proposals = self._proposals()
        progress.tell("")
        try:
            while True:
                stopped = self._is_over()
                if stopped is not None:
                    return stopped
                self._check_best(crew)
                # One more than there are hands, so that none of them has to wait.
                while len(waiting) <= crew.hands and (made := next(proposals, None)) is not None:
                    rival = self._standings.best
                    waiting[crew.measure(self._job(made.recipe, rival))] = made, rival
                if not waiting:
                    return self._why_nothing_is_left()
                jobs: list[Future[Any]] = [*waiting, *self._checks]
                pause = min(1.0, self._times.until(self._explored))
                wait(jobs, timeout=pause, return_when=FIRST_COMPLETED)
                for future in [future for future in waiting if future.done()]:
                    self._note(future, *waiting.pop(future))
                self._note_checks()
                self._show(progress)
        finally:
            crew.dismiss(list(waiting))

    def _job(self, recipe: Any, rival: Scored) -> Job:
        fastest = self._standings.fastest
        longest = longest_run(rival.seconds, self._times.sip if fastest is None else fastest)
        return Job(self._task, recipe, rival.recipe, RACE, rival.seconds, longest, self._explored)

    def _show(self, progress: Progress) -> None:
        best = self._standings.best
        speed = ""
        if self._work is not None and best.seconds is not None:
            speed = self._work.describe(best.seconds)
        progress.show(best.score, speed, self._standings.trials)

    def _proposals(self) -> Iterator[Candidate]:
        made = self._search.first()  # None if an earlier search has tried it
        trials = self._limits.trials
        for _ in itertools.count() if trials is None else range(trials):
            made = made or self._search.propose(self._is_explored)
            if made is None:
                return
            yield made
            made = None

    def _why_nothing_is_left(self) -> str:
        if self._is_time_up:
            return _TIME_IS_UP
        is_done = self._standings.trials == self._limits.trials
        return "all trials are made" if is_done else "there is nothing else to try"

    def _is_over(self) -> str | None:
        if self._is_explored():
            return _TIME_IS_UP
        if self._standings.idle_trials > self._limits.patience:
            return f"nothing better in {self._limits.patience} trials"
        return None

    def _is_explored(self) -> bool:
        """True when the time for candidates is up, from then on."""
        self._is_time_up = self._is_time_up or self._times.is_past(self._explored)
        return self._is_time_up

    @property
    def _explored(self) -> float:
        """When the time for candidates is up: what is left is for the last races and a check."""
        plain, best = self._standings.plain.seconds or 0.0, self._standings.best.seconds or 0.0
        turn = best if is_clear(best, plain, LAST_RACE) else best + plain
        last_race = max(CLOSER * LAST_RACE, LAST_TURNS * turn) + LAST_RACE
        return self._times.explored(self._standings.finals * last_race + self._checking)

    def _note(self, future: Future[Measurement], candidate: Candidate, rival: Scored) -> None:
        found = _result_of(future)
        if found.status == "late" and self._is_explored():
            return
        score = self._standings.note(candidate.recipe, found, rival, self._times.passed)
        features = self._search.look_at(candidate)
        if found.status == "slow" and score is not None:
            self._search.avoid(features, score, candidate.recipe)
        elif score is not None:
            self._search.learn(candidate, score)
        self._memory.note(candidate, features, found, score)

    # awkward sizes

    def _check_best(self, crew: Crew) -> None:
        """Look at the best so far at awkward sizes while others are tried: at the end there may be
        no time for it.
        """
        recipe = self._standings.best.recipe
        is_known = recipe is None or self._standings.verdict(recipe) is not None
        if is_known or self._checks or not self._times.is_half_over:
            return
        self._checks[self._submit_check(crew, recipe)] = _Check(recipe, self._times.passed)

    def _submit_check(self, crew: Crew, recipe: Any) -> Future[str | None]:
        usual = self._standings.plain.seconds
        job = Job(self._task, recipe, usual=usual, until=self._times.end)
        return crew.submit_aside(verify, job)

    def _note_checks(self) -> None:
        for future in [future for future in self._checks if future.done()]:
            check = self._checks.pop(future)
            self._checking = max(self._checking, self._times.passed - check.since)
            self._judge(check.recipe, future)

    def _judge(self, recipe: Any, future: Future[str | None]) -> None:
        try:
            wrong = outcome(future)
        except BrokenExecutor:
            raise
        except Exception as error:  # of whatever executor it is
            wrong = str(error)
        self._standings.judge(recipe, wrong is None)

    def _is_right(self, crew: Crew, recipe: Any) -> bool:
        """True if a candidate is right at awkward sizes, as far as there is time to look."""
        if self._standings.verdict(recipe) is None and not self._times.is_past(self._times.over):
            running = (future for future, it in self._checks.items() if it.recipe is recipe)
            future = next(running, None) or self._submit_check(crew, recipe)
            try:
                crew.result(future, self._times.over)
            except LateError:
                return False
            except BrokenExecutor:
                raise
            except Exception:  # `_judge` looks at it
                pass
            self._judge(recipe, future)
        return bool(self._standings.verdict(recipe))

    # the end

    def _finish(self, crew: Crew, stopped: str) -> Tuned:
        standings = self._standings
        raced = sorted(self._last_races(crew), key=lambda pair: pair[0].ratio)
        gains = [pair for pair in raced if pair[0].is_gain(WORTH)]
        best = next((pair for pair in gains if self._is_right(crew, pair[1])), None)
        counts = standings.counts + self._refused()
        facts = tuple(standings.curve), counts, self._times.passed, stopped, self._work
        if best is None:
            if not gains and self._is_settled([found for found, _ in raced]):
                self._memory.crown_plain(standings.plain.seconds)
            return Tuned(None, 1.0, None, None, *facts)
        won, recipe = best
        self._memory.crown(recipe, won)
        return Tuned(recipe, won.ratio, won.times, won.rival, *facts)

    def _is_settled(self, last: Sequence[Measurement]) -> bool:
        """True if it is known that nothing is better: all last races took place, with the champion;
        if there is none, enough was tried of all that the compiler could do.
        """
        standings = self._standings
        is_tried = self._usual is not None and standings.counts["measured"] >= ENOUGH
        has_ended = all(found.status not in ("late", "crashed") for found in last)
        is_raced = len(last) == standings.finals and has_ended
        return is_raced and (is_tried or standings.champion is not None)

    def _last_races(self, crew: Crew) -> Iterator[tuple[Measurement, Any]]:
        """Race the best ones with the plain program; the first of them even beyond the end."""
        until = self._times.over
        for scored in self._standings.finalists():
            plain = self._standings.plain.seconds
            job = Job(self._task, scored.recipe, None, LAST_RACE, plain, until=until)
            future = crew.measure(job)
            try:
                crew.result(future, until)
            except LateError:
                return
            except BrokenExecutor:
                raise
            except Exception:  # `_result_of` tells of it
                pass
            yield _result_of(future), scored.recipe
            until = self._times.end
            if self._times.is_past(until):
                return

    def _refused(self) -> Counter[str]:
        return Counter(refused=self._search.refused)

    def _check_some_ran(self) -> None:
        """Fail if whatever was tried failed: no schedule is at fault then."""
        counts = self._standings.counts
        if counts["measured"] or counts["slow"] or counts["wrong"]:
            return
        if counts or self._search.is_barren:
            first = self._standings.first_failure or self._search.first_refusal
            raise TuneError(
                f"no candidate could be run: {describe_counts(counts + self._refused())}",
                notes=(f"the first one: {first}",),
                help="call it without a search first" if counts else "take the steps by hand first",
            )


def _result_of(future: Future[Measurement]) -> Measurement:
    try:
        return outcome(future)
    except BrokenExecutor:
        raise
    except Exception as error:  # of whatever executor it is
        return _failure(error)


def _failure(error: Exception) -> Measurement:
    match error:
        case LateError():
            return Measurement("late", str(error))
        case WorkerError():
            return Measurement("crashed", str(error))
        case _:
            return Measurement("failed", f"{type(error).__name__}: {error}")
