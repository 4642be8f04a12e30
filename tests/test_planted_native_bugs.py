"""Checks of native code notice bugs: those of tests/planted_native.py and planted_bounds.py."""

from __future__ import annotations

import os

import pytest

from tests import planted_bounds
from tests.planted_native import BUGS, Bug, notices

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="each bug needs its own process")


def test_there_are_enough_bugs() -> None:
    assert len({bug.name for bug in BUGS}) >= 20


@pytest.mark.parametrize("bug", [*BUGS, *planted_bounds.BUGS], ids=str)
def test_bug_is_noticed(bug: Bug) -> None:
    assert notices(bug.check) is None  # without the bug, all is well

    assert notices(bug.check, bug.plants) is not None
