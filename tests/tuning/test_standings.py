"""Who leads, who may win, and what becomes of those that are wrong."""

from __future__ import annotations

from hybridjit.tuning.jobs import Measurement, Status
from hybridjit.tuning.standings import FINALISTS, Standings
from hybridjit.tuning.timing import Times


def stand(*scores: float) -> Standings:
    """Candidates by the names of their scores, each raced with the plain program."""
    standings = Standings()
    standings.start(1.0)
    for score in scores:
        note(standings, score)
    return standings


def note(standings: Standings, seconds: float, status: Status = "measured") -> float | None:
    found = Measurement(status, "", Times((seconds,) * 3), Times((1.0,) * 3))
    return standings.note(str(seconds), found, standings.plain, passed=1.0)


def leaders(standings: Standings) -> list[str]:
    return [it.recipe for it in standings.finalists()]


def test_the_fastest_leads() -> None:
    standings = stand(0.9, 0.7, 0.8)
    assert standings.best.recipe == "0.7"
    assert standings.fastest == 0.7
    assert leaders(standings) == ["0.7", "0.8", "0.9"]


def test_one_that_is_wrong_leads_no_more() -> None:
    standings = stand(0.9, 0.7, 0.8)
    standings.judge("0.7", is_right=False)
    assert standings.best.recipe == "0.8"
    assert leaders(standings) == ["0.8", "0.9"]
    assert standings.counts["wrong"] == 1
    for name in ("0.8", "0.9"):
        standings.judge(name, is_right=False)
    assert standings.best.recipe is None


def test_what_was_given_up_has_a_score_but_never_leads() -> None:
    standings = stand()
    assert note(standings, 0.5, "slow") == 0.5
    assert standings.best.recipe is None
    assert standings.finals == 0
    assert standings.fastest is None


def test_one_that_is_known_to_be_right_is_among_the_last() -> None:
    scores = [0.5 + place / 100 for place in range(FINALISTS + 3)]
    standings = stand(*scores)
    known = str(scores[-1])
    assert known not in leaders(standings)
    standings.judge(known, is_right=True)
    assert leaders(standings) == [*map(str, scores[: FINALISTS - 1]), known]


def test_those_that_are_clearly_slower_than_the_plain_program_have_no_last_race() -> None:
    standings = stand(1.02, 1.5)
    assert (leaders(standings), standings.finals) == (["1.02"], 1)


def test_the_fastest_run_is_what_a_program_takes() -> None:
    standings = stand()
    found = Measurement("measured", "", Times((2.0,)), Times((0.8,)))
    standings.note("slower", found, standings.plain, passed=1.0)
    assert standings.plain.seconds == standings.best.seconds == 0.8


def test_one_that_beats_a_rival_that_was_disturbed_does_not_lead() -> None:
    standings = stand()
    disturbed = Measurement("measured", "", Times((1.5,) * 3), Times((3.0,) * 3))
    assert standings.note("other", disturbed, standings.plain, passed=1.0) == 0.5
    assert standings.best.recipe is None
    assert leaders(standings) == ["other"]
