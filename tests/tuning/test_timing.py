"""Races on machines that are made up: the clock says how long things take."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from hybridjit.tuning.timing import (
    GIVE_UP,
    LEARN,
    LEAST_LONG_TURNS,
    LEAST_TURNS,
    SHORT,
    Times,
    is_clear,
    longest_run,
    race,
)


class Machine:
    """A clock that calls turn on; with noise, each takes up to three times as long."""

    def __init__(self, seed: int | None = None) -> None:
        self.now = 0.0
        self.random = None if seed is None else Random(seed)

    def clock(self) -> float:
        self.now += 1e-7
        return self.now

    def call(self, seconds: float) -> Callable[[], None]:
        def run() -> None:
            slow = 1.0 if self.random is None else self.random.uniform(1.0, 3.0)
            self.now += seconds * slow

        return run


def winner(seed: int) -> bool:
    machine = Machine(seed)
    plain, better = race([machine.call(1.1e-3), machine.call(1e-3)], 0.25, clock=machine.clock)
    return better.best < plain.best


def test_the_faster_one_wins_on_a_noisy_machine() -> None:
    assert sum(map(winner, range(20))) >= 19


def test_who_runs_first_in_a_turn_has_no_disadvantage() -> None:
    """Looking whether a race is over leaves the caches cold for the one who comes next."""
    machine = Machine()
    looks = 0

    def clock() -> float:
        nonlocal looks
        looks += 1
        return machine.clock()

    def run() -> None:
        nonlocal looks
        machine.now += 1.1e-3 if looks > 2 else 1e-3
        looks = 0

    plain, same = race([run, run], 0.25, clock=clock)
    assert abs(same.best / plain.best - 1) < 1e-3


def test_a_hopeless_candidate_is_not_timed_for_long() -> None:
    machine = Machine()
    _, slow = race([machine.call(1e-3), machine.call(1.0)], 5.0, clock=machine.clock)
    assert len(slow.seconds) == 1


def test_one_that_seems_to_win_is_timed_longer() -> None:
    machine = Machine()
    calls = (machine.call(1e-3), machine.call(0.9e-3)), (machine.call(1e-3), machine.call(1.2e-3))
    close, clear = (race(pair, 0.1, clock=machine.clock) for pair in calls)
    assert len(close[0].seconds) > 2 * len(clear[0].seconds)


def test_calls_that_take_long_have_few_turns() -> None:
    machine = Machine()
    plain, close = race([machine.call(0.8), machine.call(0.7)], 0.05, clock=machine.clock)
    assert len(plain.seconds) == len(close.seconds) == LEAST_LONG_TURNS
    assert machine.now < (LEAST_LONG_TURNS + 0.1) * 1.5  # none of them is in vain
    _, slow = race([machine.call(0.8), machine.call(2.0)], 0.05, prepare=int, clock=machine.clock)
    assert len(slow.seconds) == 1


def test_a_first_run_is_given_up_when_it_takes_far_longer_than_the_rival() -> None:
    assert longest_run(1.0, 0.0) == GIVE_UP
    assert longest_run(1e-6, 0.0) == SHORT
    assert longest_run(1.0, 10.0) == LEARN * 10.0
    assert longest_run(None, 0.0) == float("inf")


def test_it_is_clear_who_wins_where_a_race_would_be_long() -> None:
    assert is_clear(0.1, 34.0, 0.05)
    assert is_clear(34.0, 0.1, 0.05)
    assert not is_clear(0.5, 0.6, 0.05)
    assert not is_clear(1e-4, 1e-2, 0.05)


def test_short_calls_are_timed_together() -> None:
    machine = Machine()
    (times,) = race([machine.call(1e-8)], 0.001, clock=machine.clock)
    assert times.best < 2e-8
    assert len(times.seconds) >= LEAST_TURNS


def test_what_prepares_a_call_is_not_timed() -> None:
    machine = Machine()
    runs = [machine.call(1e-3)]
    (times,) = race(runs, 0.01, prepare=machine.call(1.0), clock=machine.clock)
    assert times.best < 2e-3


def test_spread_is_what_the_middle_lies_above_the_best() -> None:
    assert Times((1.0, 2.0, 3.0)).spread == 1.0
