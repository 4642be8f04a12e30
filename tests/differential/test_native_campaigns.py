"""A fixed slice of the native campaigns; tests/campaigns runs more of them."""

from __future__ import annotations

from importlib import import_module

import pytest

from tests.campaigns.__main__ import CAMPAIGNS
from tests.campaigns.drawn import Drawn
from tests.campaigns.machines import try_on_machine

# Programs of each kind, in chunks that are one test each.
SLICES = {
    "loops": 60,
    "programs": 40,
    "schedules": 8,
    "scripts": 10,
    "arrays": 20,
    "graphs": 6,
    "ufuncs": 20,
    "bounds": 10,
    "shared": 10,
    "brought": 20,
    "operators": 6,
    "exports": 3,
    "gradients": 10,
    "records": 10,
    "callers": 6,
    "effects": 40,
}
CHUNK = 10
SEED = 2026


def _chunks() -> list[tuple[str, int]]:
    return [(kind, first) for kind, count in SLICES.items() for first in range(0, count, CHUNK)]


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("kind", "first"), _chunks())
def test_slice(kind: str, first: int) -> None:
    try_number = import_module(CAMPAIGNS[kind]).try_number
    drawn = Drawn()
    for number in range(first, min(first + CHUNK, SLICES[kind])):
        drawn.add(try_on_machine(try_number, SEED, number))
    assert drawn.failures == []
    # A slice that is refused, or only interpreted, shows nothing.
    assert drawn.counts["native"] >= drawn.counts["programs"] // 3
    is_small = kind in ("programs", "shared")  # few of them are long, perhaps none of so few
    assert is_small or {"8-16", "17-64"} & set(drawn.tables["sizes"])


def test_every_campaign_has_a_slice() -> None:
    assert set(SLICES) == set(CAMPAIGNS)
