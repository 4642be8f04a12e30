"""Checks of tensor expressions notice bugs: each of those planted by tests/planted_te.py."""

from __future__ import annotations

import dataclasses
import os

import pytest

from tests.planted_native import Bug, notices
from tests.planted_te import BUGS, RandomGraphs

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="each bug needs its own process")


@pytest.mark.parametrize("bug", BUGS, ids=str)
def test_bug_is_noticed(bug: Bug) -> None:
    check = bug.check
    once = dataclasses.replace(check, count=1) if isinstance(check, RandomGraphs) else check
    assert notices(once) is None  # without the bug, all is well

    assert notices(check, bug.plants) is not None
