"""What workers do with programs that are made up: who runs how often, and what is noticed."""

from __future__ import annotations

import math
import pickle
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hybridjit import config, hybrid
from hybridjit.runtime import compiler
from hybridjit.tuning import jobs, workshop
from hybridjit.tuning.jobs import Job, Measurement, compile_code, measure, refer, verify
from hybridjit.tuning.programs import Script
from hybridjit.tuning.tasks import Task
from hybridjit.tuning.workshop import Workshop

SLEEP = 0.02  # seconds that the slow one takes at least
calls: list[tuple[str, int]] = []  # who was run, and for how many elements


class Doubling:
    """Doubles numbers in place. A recipe says how: well, slowly, or wrongly at some sizes."""

    def make(self, recipe: Any) -> Any:
        def run(x: Any, y: Any) -> Any:
            calls.append((recipe or "plain", len(x)))
            if recipe == "slow":
                _compute(SLEEP)
            y[:] = x * 2
            if recipe is not None and recipe.endswith(f" {len(x)}"):
                y[:] += 1
            return y.sum()

        return run


def _compute(seconds: float) -> None:
    start = time.process_time()
    while time.process_time() < start + seconds:
        pass


@pytest.fixture
def task() -> Task:
    calls.clear()
    jobs.clear()
    args = [np.arange(100.0), np.zeros(100)]
    return Task(pickle.dumps(Doubling()), pickle.dumps(args))


def test_the_plain_program_is_run_once_for_all(task: Task) -> None:
    found = refer(task)
    assert found is not None
    assert calls == [("plain", 100)]
    jobs.clear()  # as in another process
    known = replace(task, reference=found.packed)
    for recipe in ("good", "wrong at 100"):
        usual = 100.0  # far more than the candidate takes: there is no doubt
        assert measure(Job(known, recipe, seconds=1e-9, usual=usual)).status == (
            "measured" if recipe == "good" else "wrong"
        )
    assert verify(Job(known, "good")) is None
    assert calls.count(("plain", 100)) == 1


@pytest.mark.parametrize("cold", [False, True], ids=["warm", "cold"])
def test_caches_are_emptied_before_each_run_if_they_are_to_be_cold(
    task: Task, monkeypatch: pytest.MonkeyPatch, cold: bool
) -> None:
    monkeypatch.setattr(workshop, "_sweep", lambda: calls.append(("sweep", 0)))
    found = measure(Job(replace(task, cold=cold), "good", seconds=1e-3))
    assert found.status == "measured"
    assert found.times is not None
    runs = 2 * len(found.times.seconds)  # with those of the rival
    assert calls.count(("sweep", 0)) == (runs if cold else 0)


def test_without_a_reference_it_is_run_where_it_is_needed(task: Task) -> None:
    assert measure(Job(task, "good", "good", seconds=1e-9)).status == "measured"
    assert calls.count(("plain", 100)) == 1


def test_what_was_expected_is_the_same_everywhere(task: Task) -> None:
    here = Workshop(task)
    there = Workshop(replace(task, reference=here.refer(math.inf).packed))
    ours, theirs = here.expected, there.expected
    assert ours is not None
    assert theirs is not None
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_candidate_that_is_far_slower_is_run_once(task: Task) -> None:
    found = measure(Job(task, "slow", usual=SLEEP / 10, longest=SLEEP / 2))
    assert (found.status, calls.count(("slow", 100))) == ("slow", 1)
    assert found.ratio >= 10
    assert not found.is_gain(1e9)


def test_one_that_clearly_loses_is_run_once(task: Task) -> None:
    found = measure(Job(task, "slow", usual=SLEEP / 10, seconds=SLEEP / 10))
    assert (found.status, calls.count(("slow", 100))) == ("measured", 1)
    assert found.ratio >= 10
    assert calls.count(("plain", 100)) == 1


def test_one_that_clearly_wins_does_not_make_the_rival_run_again(task: Task) -> None:
    found = measure(Job(task, "good", usual=34.0, seconds=1e-9))
    assert found.status == "measured"
    assert found.is_gain(0.5)
    assert found.rival is not None
    assert found.rival.seconds == (34.0,)
    assert calls.count(("plain", 100)) == 1


def test_a_job_that_comes_too_late_is_not_begun(task: Task) -> None:
    assert measure(Job(task, "good", until=time.time() - 1)).status == "late"
    assert not calls


@pytest.mark.parametrize("size", [0, 1, 7, 31, 99, 100, 101])
def test_awkward_sizes_are_looked_at(task: Task, size: int) -> None:
    wrong = verify(Job(task, f"wrong at {size}"))
    assert wrong is None if size == 0 else wrong is not None and "differs" in wrong


def test_when_the_time_is_up_only_small_sizes_are_looked_at(task: Task) -> None:
    assert verify(Job(task, "wrong at 31", until=time.time() - 1)) is not None
    assert verify(Job(task, "wrong at 101", until=time.time() - 1)) is None
    assert not {("plain", 99), ("plain", 101)} & set(calls)


def test_sizes_for_which_a_run_would_take_too_long_are_not_looked_at(task: Task) -> None:
    assert verify(Job(task, "wrong at 101", usual=1e6, until=time.time() + 1e3)) is None


@hybrid.script
def shifted(x: Any) -> Any:
    for i in range(x.shape[0]):
        x[i] = x[i] + 1.0
    return x, x.sum()


def test_what_is_recalled_is_what_a_run_gives() -> None:
    x = np.arange(40.0)
    task = Task(pickle.dumps(Script(shifted)), pickle.dumps([x]))
    found = refer(task)
    assert found is not None
    recipe = shifted.schedule(x).trace.to_json()
    assert verify(Job(replace(task, reference=found.packed), recipe)) is None


def test_what_others_have_compiled_is_only_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs.clear()
    args = [np.arange(40.0)]
    task = Task(pickle.dumps(Script(negated)), pickle.dumps(args))
    schedule = negated.schedule(*args)
    schedule.split("i", factor=8)
    recipe = schedule.trace.to_json()
    with config.scope(cache_enabled=False):
        code = compile_code(Job(task, recipe))
        assert isinstance(code, dict)
        assert len(code) == 2  # that of the rival, too
        jobs.clear()  # as in another process
        monkeypatch.setattr(compiler, "build", None)
        found = measure(Job(task, recipe, code=pickle.loads(pickle.dumps(code))))
        assert found.status == "measured", found.message
        jobs.clear()
        with pytest.raises(TypeError, match="not callable"):
            measure(Job(task, recipe))


@hybrid.script
def negated(a: Any) -> Any:
    b = np.empty_like(a)
    for i in range(a.shape[0]):
        b[i] = -a[i]
    return b


def test_what_cannot_be_compiled_is_refused_by_those_who_compile(task: Task) -> None:
    refused = Task(pickle.dumps(Script(negated)), pickle.dumps([np.arange(4.0)]))
    found = compile_code(Job(refused, "nonsense"))
    assert isinstance(found, Measurement)
    assert found.status in ("refused", "failed")
    late = compile_code(Job(refused, None, until=0.0))
    assert isinstance(late, Measurement)
    assert late.status == "late"
