"""The driver of campaigns: what a worker finds is told, and what kills a worker is found."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from tests.campaigns import drive
from tests.campaigns.drawn import Drawn, size_class
from tests.campaigns.drive import Plan, run

COUNT = 30


def try_number(seed: int, number: int) -> Drawn:
    """Stands in for a campaign: some numbers are wrong, one ends the process, one never ends."""
    if number == 7:
        os.kill(os.getpid(), signal.SIGSEGV)
    if number == 11:
        signal.pause()
    if number % 10 == 3:
        raise AssertionError(f"number {number} is wrong")
    drawn = Drawn()
    drawn.counts.update(programs=1, native=number % 2)
    drawn.count("sizes", [size_class(number)])
    return drawn


def driven(workers: int, **options: Any) -> Drawn:
    said: list[str] = []
    return run(Plan(__name__, COUNT, workers=workers, **options), said.append)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("workers", [2, 1])
def test_crashes_hangs_and_errors_are_finds(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drive, "PATIENCE", 1.0)
    drawn = driven(workers)
    assert drawn.counts["programs"] == COUNT
    found = sorted(failure.split("--first ")[1].split(":")[0] for failure in drawn.failures)
    assert found == ["11", "13", "23", "3", "7"]
    assert any("the process ended with -11" in failure for failure in drawn.failures)
    assert any("no answer after 1 s" in failure for failure in drawn.failures)


def test_a_number_can_be_repeated() -> None:
    said: list[str] = []
    drawn = run(Plan(__name__, count=1, first=13, workers=1), said.append)
    assert len(drawn.failures) == 1
    assert "number 13 is wrong" in said[0]


def test_no_program_is_begun_after_the_time_is_up() -> None:
    drawn = run(Plan(__name__, count=1 << 40, first=100, workers=1, seconds=0.0), print)
    assert drawn.counts["programs"] == 0


def test_what_was_drawn_is_told() -> None:
    drawn = Drawn()
    for number in (0, 1, 20):
        drawn.add(try_number(0, number))
    assert list(drawn.lines()) == ["sizes: 0 33 %, 1 33 %, 17-64 33 %"]
    assert drawn.summary(1.5) == "3 programs, 1 native (33 %), 0 failures, 2.0 programs/s"
