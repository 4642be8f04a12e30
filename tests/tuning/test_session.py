"""Searches, with workers that are made up: what is tried, kept, believed and returned."""

from __future__ import annotations

import dataclasses
import json
import pickle
import sqlite3
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hybridjit.errors import TuneError
from hybridjit.processor import current_target
from hybridjit.tuning import session as sessions
from hybridjit.tuning.database import Database
from hybridjit.tuning.identity import identify
from hybridjit.tuning.jobs import Job, Measurement, Status, measure, refer, verify
from hybridjit.tuning.search import Search, Strategy
from hybridjit.tuning.session import Limits, Session
from hybridjit.tuning.space import Schedules
from hybridjit.tuning.standings import FINALISTS
from hybridjit.tuning.tasks import Reference, Task
from hybridjit.tuning.timing import Times
from tests.tuning.kernels import CASES, loops

TASK = Task(b"", b"")
FACTORS = (2, 4, 8, 16)


def template(s: Any) -> None:
    """The best is 8, then 4."""
    factor = s.sample_categorical(list(FACTORS))
    other = s.sample_categorical(list(FACTORS))
    s.split("i", factor)
    s.split("j", other)


def seconds_of(recipe: str | None) -> float:
    """Made up: cuts by 8 are best."""
    if recipe is None:
        return 1.0
    factors = [args[1] for args in _args(recipe) if len(args) > 1]
    return 0.5 + sum(abs(FACTORS.index(factor) - 2) for factor in factors) / 10


def _args(recipe: str) -> list[Any]:
    return [step["args"] for step in json.loads(recipe)["steps"]]


class Pretending(Executor):
    """Does each job at once, by asking `answer`."""

    def __init__(self, answer: Callable[[Job], Measurement] | None = None) -> None:
        self.answer = answer or pretend
        self.tried: list[str] = []
        self.wrong: str | None = None

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(self.do(fn, *args))
        except Exception as error:
            future.set_exception(error)
        return future

    def do(self, fn: Any, *args: Any) -> Any:
        if fn is refer:
            return Reference(b"", seconds_of(None))
        if fn is verify:
            return self.wrong
        assert fn is measure
        (job,) = args
        self.tried.append(job.recipe)
        return self.answer(job)


def pretend(job: Job) -> Measurement:
    times, rival = (Times((seconds_of(recipe),)) for recipe in (job.recipe, job.rival))
    return Measurement("measured", "", times, rival)


def make_session(
    executor: Executor,
    *,
    seed: int = 0,
    strategy: Strategy = "evolution",
    trials: int | None = 40,
    database: Database | None = None,
    usual: Any = None,
) -> Session:
    args = CASES["loops"][1]
    func = loops.schedule(*args).func
    search = Search(Schedules(func, template), seed, strategy)
    limits = Limits(None, trials)
    return Session(
        TASK, search, limits, executor=executor, database=database, identity=KNOWN, usual=usual
    )


SHAPES = ((19, 23), (23, 34))
KNOWN = identify(loops.schedule(*CASES["loops"][1]).func, SHAPES, current_target(), [])
NEAR = dataclasses.replace(KNOWN, hash="near", shapes=((20, 23), (23, 34)))
SLOW = Measurement("measured", "", Times((0.995,)), Times((1.0,)))
STEPS = json.dumps({"format": 1, "steps": [{"step": "split", "args": ["k", 8], "results": []}]})


@pytest.mark.parametrize("strategy", ["evolution", "random", "grid"])
def test_the_best_is_found(strategy: Strategy) -> None:
    found = make_session(Pretending(), strategy=strategy).run()
    assert found.score == 0.5
    assert [args[1] for args in _args(found.recipe)] == [8, 8]
    assert found.counts["measured"] == len(FACTORS) ** 2
    assert found.curve[-1].score == 0.5
    assert found.stopped == "there is nothing else to try"


def test_the_same_seed_tries_the_same() -> None:
    runs = [Pretending() for _ in range(3)]
    for executor, seed in zip(runs, (1, 1, 2), strict=True):
        make_session(executor, seed=seed).run()
    assert runs[0].tried == runs[1].tried
    assert runs[0].tried != runs[2].tried


def test_as_many_trials_as_were_asked_for() -> None:
    executor = Pretending()
    found = make_session(executor, trials=5).run()
    assert found.trials == 5


def test_nothing_is_returned_if_nothing_is_faster() -> None:
    found = make_session(Pretending(lambda job: SLOW)).run()
    assert found.recipe is None
    assert "nothing found that is faster" in str(found)


def test_that_nothing_is_faster_is_remembered(tmp_path: Path) -> None:
    database = Database(tmp_path / "tuned.db")
    make_session(Pretending(lambda job: SLOW), database=database, usual="usual").run()
    assert [winner.recipe for winner in database.winners()] == [""]


@pytest.mark.parametrize("options", [{}, {"usual": "usual", "trials": 3}])
def test_a_space_of_ones_own_or_a_few_trials_say_nothing(tmp_path: Path, options: Any) -> None:
    """What is found for shapes nearby is still better than nothing."""
    database = Database(tmp_path / "tuned.db")
    make_session(Pretending(lambda job: SLOW), database=database, **options).run()
    assert database.winners() == []


@pytest.mark.parametrize("known", [KNOWN, NEAR], ids=["here", "nearby"])
@pytest.mark.parametrize("is_good", [True, False], ids=["good", "bad"])
def test_what_kernels_take_now_is_raced_again(tmp_path: Path, known: Any, is_good: bool) -> None:
    """Even if its measurement is not there any more, or was made for other shapes."""

    def answer(job: Job) -> Measurement:
        return pretend(job) if is_good and job.recipe == STEPS else SLOW

    database = Database(tmp_path / "tuned.db")
    database.crown(known, STEPS, 0.8, None)
    found = make_session(Pretending(answer), trials=1, database=database).run()
    assert found.recipe == (STEPS if is_good else None)
    winner = database.winner(KNOWN)
    assert winner is not None
    assert winner.recipe == (STEPS if is_good else "")


@pytest.mark.parametrize("status", ["late", "crashed"])
def test_a_race_that_did_not_end_dethrones_nobody(tmp_path: Path, status: Status) -> None:
    def answer(job: Job) -> Measurement:
        return Measurement(status) if job.recipe == STEPS else SLOW

    database = Database(tmp_path / "tuned.db")
    database.crown(KNOWN, STEPS, 0.8, None)
    make_session(Pretending(answer), database=database, usual="usual").run()
    assert len(database.winners()) == 1


def test_what_the_compiler_does_is_not_better_than_itself() -> None:
    """Where code lies in memory makes it a little faster or slower."""
    executor = Pretending(lambda job: Measurement("measured", "", Times((0.9,)), Times((1.0,))))
    make_session(executor, trials=1).run()
    found = make_session(executor, trials=1, usual=executor.tried[0]).run()
    assert found.trials == 1
    assert found.recipe is None
    assert len(found.curve) == 1


def test_a_search_without_a_verdict_dethrones_nobody(tmp_path: Path) -> None:
    database = Database(tmp_path / "tuned.db")
    make_session(Pretending(), database=database).run()
    (winner,) = database.winners()
    executor = Pretending()
    executor.wrong = "it differs"  # which is no proof that the plain program is as fast
    make_session(executor, database=database, seed=1).run()
    assert database.winners() == [winner]


def test_a_winner_that_is_wrong_at_other_sizes_is_not_believed() -> None:
    executor = Pretending()
    executor.wrong = "it differs"
    found = make_session(executor).run()
    assert found.recipe is None
    assert found.counts["wrong"] > 0


def test_candidates_that_are_wrong_crash_or_are_late_do_not_win() -> None:
    def answer(job: Job) -> Measurement:
        if "8" in str(_args(job.recipe)):
            return Measurement("wrong", "differs", Times((0.1,)), None)
        return pretend(job)

    found = make_session(Pretending(answer)).run()
    assert found.counts["wrong"] == 7
    assert [args[1] for args in _args(found.recipe)] == [4, 4] or found.score == 0.7


def test_errors_of_an_executor_are_counted() -> None:
    def answer(job: Job) -> Measurement:
        raise ValueError("no")

    with pytest.raises(TuneError, match=r"(?s)no candidate could be run: 3 failed.*ValueError: no"):
        make_session(Pretending(answer), trials=3).run()


def test_ctrl_c_ends_with_the_best_so_far() -> None:
    executor = Pretending()

    def answer(job: Job) -> Measurement:
        if len(executor.tried) == 6:
            raise KeyboardInterrupt
        return pretend(job)

    executor.answer = answer
    executor.submit = _interrupting(executor)  # type: ignore[method-assign]
    found = make_session(executor).run()
    assert found.stopped == "stopped by Ctrl-C"
    assert found.score == min(map(seconds_of, executor.tried[:5]))


def _interrupting(executor: Pretending) -> Any:
    submit = executor.submit

    def once(fn: Any, /, *args: Any) -> Future[Any]:
        future = submit(fn, *args)
        if isinstance(future.exception(), KeyboardInterrupt):
            raise KeyboardInterrupt
        return future

    return once


@pytest.mark.parametrize(
    ("error", "message"),
    [(BrokenExecutor("gone"), "gone"), (CancelledError(), "its jobs were cancelled")],
)
def test_an_executor_that_breaks_ends_the_search(
    monkeypatch: pytest.MonkeyPatch, error: Exception, message: str
) -> None:
    """Jobs of a cluster whose scheduler is gone are cancelled."""
    executor = Pretending()

    def answer(job: Job) -> Measurement:
        if len(executor.tried) > 4:
            raise error
        return pretend(job)

    executor.answer = answer
    monkeypatch.setattr(sessions, "Workers", _Context)
    found = make_session(executor).run()
    assert found.stopped == f"the executor broke: {message}"
    assert found.recipe is not None


def test_an_executor_that_is_closed_meanwhile_ends_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    executor = Pretending()
    submit = executor.submit

    def while_open(fn: Any, /, *args: Any) -> Future[Any]:
        if len(executor.tried) > 4:
            raise RuntimeError("closed")
        return submit(fn, *args)

    monkeypatch.setattr(executor, "submit", while_open)
    monkeypatch.setattr(sessions, "Workers", _Context)
    found = make_session(executor).run()
    assert found.stopped == "the executor broke: closed"
    assert found.recipe is not None


def test_an_executor_that_was_closed_before_is_told_of() -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(RuntimeError, match="after shutdown"):
        make_session(executor).run()


class _Context:
    def __init__(self, count: int) -> None:
        assert count == 1

    def __enter__(self) -> Executor:
        return Pretending()

    def __exit__(self, *details: object) -> None:
        return


def test_a_second_search_goes_on_where_the_first_ended(tmp_path: Path) -> None:
    database = Database(tmp_path / "tuned.db")
    first, second = Pretending(), Pretending()
    make_session(first, trials=8, database=database).run()
    found = make_session(second, trials=30, database=database).run()
    finals = FINALISTS
    assert not set(first.tried[:-finals]) & set(second.tried[:-finals])
    assert found.counts["measured"] == len(FACTORS) ** 2 - 8


def test_a_second_search_makes_as_many_trials_as_were_asked_for(tmp_path: Path) -> None:
    """Also if it need not begin with what the compiler does by itself."""
    database = Database(tmp_path / "tuned.db")
    runs = [make_session(Pretending(), trials=2, database=database).run() for _ in range(3)]
    assert [found.trials for found in runs] == [2, 2, 2]
    assert runs[-1].stopped == "all trials are made"


def test_a_second_search_remembers_the_best_of_the_first(tmp_path: Path) -> None:
    database = Database(tmp_path / "tuned.db")
    make_session(Pretending(), database=database).run()
    found = make_session(Pretending(), database=database).run()
    assert (found.trials, found.score) == (0, 0.5)


def test_features_of_older_versions_are_no_lessons(tmp_path: Path) -> None:
    database = Database(tmp_path / "tuned.db")
    make_session(Pretending(), database=database, trials=13).run()
    with closing(sqlite3.connect(database.path)) as connection, connection:
        connection.execute("update measurements set features = '[1.0, 2.0]'")
    found = make_session(Pretending(), database=database, trials=3).run()
    assert found.trials > 1
    assert found.score == 0.5


def test_a_full_disk_does_not_end_a_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def keep(*args: Any) -> None:
        raise TuneError("the disk is full")

    database = Database(tmp_path / "tuned.db")
    monkeypatch.setattr(database, "keep", keep)
    with pytest.warns(UserWarning, match="is not remembered: the disk is full"):
        found = make_session(Pretending(), database=database).run()
    assert found.score == 0.5


def test_measurements_are_kept_at_once(tmp_path: Path) -> None:
    database = Database(tmp_path / "tuned.db")
    kept: list[int] = []

    def answer(job: Job) -> Measurement:
        kept.append(len(database.rows(KNOWN)))
        return pretend(job)

    make_session(Pretending(answer), database=database, trials=9).run()
    assert kept[8] >= 6  # of 8 that were tried before, as two are on their way
    assert kept[-1] == 9


def test_what_cannot_be_kept_at_once_is_kept_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(tmp_path / "tuned.db")
    keep, tried = database.keep, list[int]()

    def locked_at_first(known: Any, rows: Any, patience: float) -> None:
        tried.append(len(rows))
        if len(tried) == 1:
            assert patience < 1
            raise TuneError("it is locked")
        keep(known, rows)

    monkeypatch.setattr(database, "keep", locked_at_first)
    make_session(Pretending(), database=database, trials=9).run()
    assert tried == [1, 9]
    assert len(database.rows(KNOWN)) == 9
    assert len(database.winners()) == 1


def test_what_was_found_can_be_read() -> None:
    text = str(make_session(Pretending()).run())
    assert text.startswith("2.00 times as fast as what the compiler does by itself\n")
    assert "16 measured" in text
    assert "    i_0, j = s.split('i', 8)" in text or "s.split('i', 8)" in text


def test_measurements_can_be_sent() -> None:
    job = Job(TASK, "r")
    assert pickle.loads(pickle.dumps(job)).recipe == "r"
    assert pickle.loads(pickle.dumps(pretend(Job(TASK, None)))).ratio == 1.0


def test_one_lucky_turn_does_not_win() -> None:
    lucky = Measurement("measured", "", Times((0.4, 1.2, 1.2)), Times((1.0, 1.0, 1.0)))
    found = make_session(Pretending(lambda job: lucky), trials=3).run()
    assert found.recipe is None
