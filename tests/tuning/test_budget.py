"""What the parts of a search get of its time, by a clock that is made up."""

from __future__ import annotations

import math
from typing import Any

import pytest

from hybridjit.tuning.budget import Timetable
from hybridjit.tuning.entry import read_settings


class Watch:
    """A clock that shows what it is told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_parts_follow_each_other() -> None:
    times = Timetable(60.0, Watch())
    assert 1000.0 < times.explored(5.0) == 1055.0 < times.end == 1060.0 < times.over < 1065.0


def test_what_comes_at_the_end_does_not_take_all() -> None:
    times = Timetable(60.0, Watch())
    assert times.explored(500.0) == times.explored(5000.0) > 1030.0


def test_time_passes() -> None:
    watch = Watch()
    times = Timetable(60.0, watch)
    assert (times.passed, times.left, times.is_half_over) == (0.0, 60.0, False)
    watch.now += 40.0
    assert (times.passed, times.left, times.is_half_over) == (40.0, 20.0, True)
    assert times.is_past(1039.0)
    assert not times.is_past(times.end)


def test_without_a_limit_nothing_is_ever_over() -> None:
    watch = Watch()
    times = Timetable(None, watch)
    watch.now += 1e9
    assert times.left is None
    assert not times.is_half_over
    assert math.inf == times.explored(1e9) == times.end == times.over


@pytest.mark.parametrize(
    ("given", "seconds", "trials"),
    [
        ({}, 60.0, None),
        ({"trials": 3}, None, 3),
        ({"budget": "60s", "trials": 3}, 60.0, 3),
        ({"budget": "5m"}, 300.0, None),
    ],
)
def test_what_ends_a_search(given: Any, seconds: float | None, trials: int | None) -> None:
    limits = read_settings(**given).limits()
    assert (limits.seconds, limits.trials) == (seconds, trials)
