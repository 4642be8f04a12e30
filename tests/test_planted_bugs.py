"""Our tests notice bugs: each of those planted by tests/planted."""

from __future__ import annotations

import dataclasses

import pytest

from tests.planted import arrays, native
from tests.planted.areas import AREAS
from tests.planted.bugs import Bug, always, replaced
from tests.planted.trying import assert_noticed, needs_fork, notices

BUGS = [pytest.param(bug, id=f"{area}: {bug}") for area, bugs in AREAS.items() for bug in bugs]


@pytest.mark.parametrize("bug", BUGS)
@needs_fork
def test_bug_is_noticed(bug: Bug) -> None:
    assert_noticed(bug)


@needs_fork
def test_random_arrays_are_well_without_bugs() -> None:
    """Random arrays start at the same script for each bug, so that one each would be one in all."""
    assert notices(dataclasses.replace(arrays.at_random(), count=20)) is None


@needs_fork
def test_a_bug_that_cannot_be_planted_is_not_noticed() -> None:
    with pytest.raises(LookupError, match="cannot be planted: AttributeError"):
        notices(always(None), [replaced(native, "no such name", None)])


def test_there_are_enough_bugs() -> None:
    assert len({bug.name for bug in native.BUGS}) >= 20
