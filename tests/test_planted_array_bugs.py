"""Random array scripts notice bugs: each of those planted by tests/planted_arrays.py."""

from __future__ import annotations

import os

import pytest

from tests.planted_arrays import BUGS, RandomArrays
from tests.planted_native import Bug, notices

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="each bug needs its own process")


def test_all_is_well_without_bugs() -> None:
    assert notices(RandomArrays(count=20)) is None


@pytest.mark.parametrize("bug", BUGS, ids=str)
def test_bug_is_noticed(bug: Bug) -> None:
    assert notices(bug.check, bug.plants) is not None
