"""A search from beginning to end: propose, measure, learn; then a last race among the best.

                    propose               submit                measure, in workers
    Search  ------------------> Candidate --------> Executor ------------------------> Measurement
       ^                                                                                   |
       +------------------------------- learn, keep in the database ----------------------+

Candidates are raced with the best so far, so scores of different times can be compared. The few
that seem best are raced once more, for longer, with the plain program; the winner is compared with
it at awkward sizes before anybody believes in it. If nothing wins, nothing is what is returned.
"""

from __future__ import annotations

import itertools
import os
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import nullcontext
from typing import Any

from hybridjit.errors import TuneError
from hybridjit.record import record
from hybridjit.tuning.database import Database, Identity, Row
from hybridjit.tuning.features import features_of
from hybridjit.tuning.jobs import Job, Measurement, Task, measure, verify
from hybridjit.tuning.picks import Pick
from hybridjit.tuning.progress import Progress
from hybridjit.tuning.rates import Work
from hybridjit.tuning.result import Improvement, Tuned, describe_counts
from hybridjit.tuning.search import Known, Search
from hybridjit.tuning.space import Candidate
from hybridjit.tuning.timing import Times
from hybridjit.tuning.workers import LateError, WorkerError, Workers

RACE = 0.05  # seconds that a candidate is raced
LAST_RACE = 0.25  # and one of the last ones, up to three times as long
FINALISTS = 4
WORTH = 0.985  # of the plain program's time: what is less of a gain is none
PATIENCE = 200  # trials without a better one, after which a search ends
_KEEP_EVERY = 16  # measurements that are written at once

Clock = Callable[[], float]


@record(eq=False)
class Limits:
    """When a search ends: after so many seconds or trials, or when nothing gets better."""

    seconds: float | None = 60.0
    trials: int | None = None
    patience: int = PATIENCE


@record(eq=False)
class _Scored:
    recipe: Any
    score: float


class Session:
    """One search. `run` gives what it found."""

    def __init__(
        self,
        task: Task,
        search: Search,
        limits: Limits,
        *,
        executor: Executor | None = None,
        database: Database | None = None,
        identity: Identity | None = None,
        work: Work | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self._task = task
        self._search = search
        self._limits = limits
        self._executor = executor
        self._database = database
        self._identity = identity
        self._work = work
        self._clock = clock
        self._start = clock()
        self._found: list[_Scored] = []
        self._best = (None, 1.0)  # the recipe to beat, and its score
        self._best_seconds: float | None = None
        self._counts: Counter[str] = Counter()
        self._curve = [Improvement(0.0, 0, 1.0)]
        self._unkept: list[Row] = []
        self._last_gain = 0
        self._first_failure = ""

    def run(self, name: str = "") -> Tuned:
        """Search until the limits are reached, or Ctrl-C: then with what there is."""
        self._resume()
        progress = Progress(name)
        with self._executor_to_use() as executor:
            try:
                stopped = self._explore(executor, progress)
                self._check_some_ran()
            except KeyboardInterrupt:
                stopped = "stopped by Ctrl-C"
            except BrokenExecutor as error:
                stopped = f"the executor broke: {error}"
            progress.end()
            self._keep(every=1)
            try:
                return self._finish(executor, stopped)
            except BrokenExecutor:
                with Workers(1) as own:
                    return self._finish(own, stopped)

    def _executor_to_use(self) -> Any:
        if self._executor is not None:
            return nullcontext(self._executor)
        return Workers(max(os.cpu_count() or 1, 1))

    # exploring

    def _explore(self, executor: Executor, progress: Progress) -> str:
        waiting: dict[Future[Measurement], tuple[Candidate, float]] = {}
        width = _width(executor)
        proposals = self._proposals()
        try:
            while True:
                stopped = self._is_over()
                if stopped is not None:
                    return stopped
                while len(waiting) < width and (made := next(proposals, None)) is not None:
                    job = Job(self._task, made.recipe, self._best[0], RACE)
                    waiting[executor.submit(measure, job)] = made, self._best[1]
                if not waiting:
                    is_done = sum(self._counts.values()) == self._limits.trials
                    return "all trials are made" if is_done else "there is nothing else to try"
                wait(waiting, timeout=1.0, return_when=FIRST_COMPLETED)
                for future in [future for future in waiting if future.done()]:
                    self._note(future, *waiting.pop(future))
                seconds = self._clock() - self._start
                left = None if self._limits.seconds is None else self._limits.seconds - seconds
                trials = sum(self._counts.values())
                progress.show(self._best[1], self._speed(), trials, seconds, left)
        finally:
            for future in waiting:
                future.cancel()

    def _speed(self) -> str:
        """How fast the best so far is, if that can be said."""
        if self._work is None or self._best_seconds is None:
            return ""
        return self._work.describe(self._best_seconds)

    def _proposals(self) -> Iterator[Candidate]:
        first = self._search.first()
        if first is not None:
            yield first
        trials = self._limits.trials
        for _ in itertools.count(1) if trials is None else range(1, trials):
            made = self._search.propose()
            if made is None:
                return
            yield made

    def _is_over(self) -> str | None:
        trials = sum(self._counts.values())
        if self._limits.seconds is not None and self._clock() - self._start > self._explored:
            return "the time is up"
        if trials - self._last_gain > self._limits.patience:
            return f"nothing better in {self._limits.patience} trials"
        return None

    @property
    def _explored(self) -> float:
        """Seconds until the last race."""
        assert self._limits.seconds is not None
        return max(self._limits.seconds - 4 * FINALISTS * LAST_RACE, 0.7 * self._limits.seconds)

    def _note(self, future: Future[Measurement], candidate: Candidate, rival: float) -> None:
        found = _result_of(future)
        self._counts[found.status] += 1
        self._first_failure = self._first_failure or found.message
        score = found.ratio * rival
        is_measured = found.status == "measured"
        if is_measured:
            self._found.append(_Scored(candidate.recipe, score))
            self._search.learn(candidate, score)
            if self._best_seconds is None and found.rival is not None:
                self._best_seconds = found.rival.best
            if score < self._best[1] * 0.995:
                self._best_seconds = None if found.times is None else found.times.best
                trials = sum(self._counts.values())
                self._best, self._last_gain = (candidate.recipe, score), trials
                self._curve.append(Improvement(self._clock() - self._start, trials, score))
        self._unkept.append(_row(candidate, found, score if is_measured else None))
        self._keep(_KEEP_EVERY)

    # the end

    def _finish(self, executor: Executor, stopped: str) -> Tuned:
        self._found.sort(key=lambda scored: scored.score)
        best: tuple[Measurement, Any] | None = None
        for scored in self._found[:FINALISTS]:
            job = Job(self._task, scored.recipe, None, LAST_RACE)
            found = _result_of(executor.submit(measure, job))
            is_better = best is None or found.ratio < best[0].ratio
            if found.is_gain(WORTH) and is_better and self._is_right(executor, job):
                best = found, scored.recipe
        seconds = self._clock() - self._start
        facts = tuple(self._curve), self._all_counts(), seconds, stopped, self._work
        if best is None:
            return Tuned(None, 1.0, None, None, *facts)
        won, recipe = best
        self._crown(recipe, won)
        return Tuned(recipe, won.ratio, won.times, won.rival, *facts)

    def _check_some_ran(self) -> None:
        """Fail if whatever was tried failed: no schedule is at fault then."""
        tried = sum(self._counts.values())
        if self._counts["measured"] or self._counts["wrong"]:
            return
        if tried or self._search.is_barren:
            raise TuneError(
                f"no candidate could be run: {describe_counts(self._all_counts())}",
                notes=(f"the first one: {self._first_failure or self._search.first_refusal}",),
                help="call it without a search first" if tried else "take the steps by hand first",
            )

    def _is_right(self, executor: Executor, job: Job) -> bool:
        try:
            wrong = executor.submit(verify, job).result()
        except BrokenExecutor:
            raise
        except Exception as error:  # of whatever executor it is
            wrong = str(error)
        if wrong is not None:
            self._counts["wrong"] += 1
        return wrong is None

    def _all_counts(self) -> Counter[str]:
        return self._counts + Counter(refused=self._search.refused)

    # what is kept

    def _resume(self) -> None:
        if self._database is None or self._identity is None:
            return
        for features, score in self._database.lessons(self._identity):
            self._search.remember(features, score)
        for row in self._database.rows(self._identity):
            if row.score is not None:
                picks = tuple(Pick(*pair) for pair in row.picks)
                self._search.resume(Known(picks, row.features, row.score), row.recipe)
                if row.recipe:  # what a template made is not kept
                    self._found.append(_Scored(row.recipe, row.score))

    def _keep(self, every: int) -> None:
        if self._database is None or self._identity is None or len(self._unkept) < every:
            return
        rows, self._unkept = self._unkept, []
        try:
            self._database.keep(self._identity, rows)
        except TuneError as error:
            self._forget_database(error)

    def _crown(self, recipe: Any, won: Measurement) -> None:
        if self._database is None or self._identity is None or type(recipe) is not str:
            return
        seconds = None if won.times is None else won.times.best
        try:
            self._database.crown(self._identity, recipe, won.ratio, seconds)
        except TuneError as error:
            self._forget_database(error)

    def _forget_database(self, error: TuneError) -> None:
        warnings.warn(f"the search goes on, but is not remembered: {error}", stacklevel=4)
        self._database = None


def _width(executor: Executor) -> int:
    """How many jobs to hand out at once: one more than there are hands."""
    hands: int = getattr(executor, "_max_workers", 0) or len(getattr(executor, "_threads", ()))
    return max(hands, 1) + 1


def _result_of(future: Future[Measurement]) -> Measurement:
    try:
        return future.result()
    except BrokenExecutor:
        raise
    except LateError as error:
        return Measurement("late", str(error))
    except WorkerError as error:
        return Measurement("crashed", str(error))
    except Exception as error:  # of whatever executor it is
        return Measurement("failed", f"{type(error).__name__}: {error}")


def _row(candidate: Candidate, found: Measurement, score: float | None) -> Row:
    picks = tuple((pick.place, pick.count) for pick in candidate.picks)
    times: Times | None = found.times
    recipe = candidate.recipe if type(candidate.recipe) is str else ""
    return Row(
        recipe,
        picks,
        features_of(candidate.func),
        found.status,
        found.message,
        score,
        None if times is None else times.best,
        None if times is None else times.spread,
        found.compiling,
    )
