"""Checks of schedules notice bugs: each of those planted by tests/planted_schedules.py."""

from __future__ import annotations

import dataclasses
import os

import pytest

from tests.planted_native import Bug, notices
from tests.planted_schedules import BUGS, RandomSchedules

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="each bug needs its own process")


@pytest.mark.parametrize("bug", BUGS, ids=str)
def test_bug_is_noticed(bug: Bug) -> None:
    check = bug.check
    once = dataclasses.replace(check, count=1) if isinstance(check, RandomSchedules) else check
    assert notices(once) is None  # without the bug, all is well

    assert notices(check, bug.plants) is not None
