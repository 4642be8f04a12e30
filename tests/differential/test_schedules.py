"""Random programs under random schedules: legal and so equal, or refused for a reason."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings

from tests.differential.test_random_programs import SLOW
from tests.nests.check import Scheduled, check_scheduled, make_scheduled
from tests.nests.judge import JUDGES, Verdict
from tests.support.choices import samples, strategy

SEEDS = range(8)
PROGRAMS = 25


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", SEEDS)
def test_interpreted_programs_of_the_first_seeds(seed: int) -> None:
    for found in samples(make_scheduled, PROGRAMS, seed):
        check_scheduled(found, native=False)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", SEEDS[:4])
def test_native_programs_of_the_first_seeds(seed: int) -> None:
    for found in samples(make_scheduled, PROGRAMS // 2, 1000 + seed):
        check_scheduled(found, native=True)


@given(found=strategy(make_scheduled))
@settings(suppress_health_check=SLOW)
def test_programs(found: Scheduled) -> None:
    check_scheduled(found, native=True)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", JUDGES)
def test_legality_agrees_with_the_order_oracle(name: str) -> None:
    # Parts of the small sizes that are tried are often too small to hold a conflict.
    count, cautious = (40, 0.1) if name.endswith("parts") else (250, 0.05)
    judgements = list(samples(JUDGES[name], count, 5))
    verdicts = Counter(judgement.verdict for judgement in judgements)
    legal = verdicts[Verdict.ACCEPTED] + verdicts[Verdict.OVER_CAUTIOUS]
    assert not [found for found in judgements if found.verdict is Verdict.WRONG]
    assert legal > 10, verdicts
    assert verdicts[Verdict.OVER_CAUTIOUS] <= cautious * legal + 2, verdicts
