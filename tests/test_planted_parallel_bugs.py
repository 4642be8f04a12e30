"""Checks of parallel loops notice bugs: each of those planted by tests/planted_parallel.py."""

from __future__ import annotations

import os

import pytest

from tests.planted_native import Bug, notices
from tests.planted_parallel import BUGS

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="each bug needs its own process")


@pytest.mark.parametrize("bug", BUGS, ids=str)
def test_bug_is_noticed(bug: Bug) -> None:
    assert notices(bug.check) is None  # without the bug, all is well

    assert notices(bug.check, bug.plants) is not None
