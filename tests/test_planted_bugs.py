"""Our tests notice bugs: each of those planted by tests/planted."""

from __future__ import annotations

import dataclasses
from unittest.mock import patch

import pytest

from tests.planted import areas, arrays, native
from tests.planted.areas import AREAS
from tests.planted.bugs import Bug, Plant, always, entry, replaced
from tests.planted.trying import assert_noticed, needs_fork, notices

BUGS = [pytest.param(bug, id=f"{area}: {bug}") for area, bugs in AREAS.items() for bug in bugs]


@pytest.mark.sampled(20)
@pytest.mark.parametrize("bug", BUGS)
@needs_fork
def test_bug_is_noticed(bug: Bug) -> None:
    if not bug.can_be_seen:
        pytest.skip(f"this processor has no {bug.needs}")
    assert_noticed(bug)


@needs_fork
def test_random_arrays_are_well_without_bugs() -> None:
    """Random arrays start at the same script for each bug, so that one each would be one in all."""
    assert notices(dataclasses.replace(arrays.at_random(), count=8)) is None


def test_a_bug_needs_a_seam() -> None:
    with pytest.raises(LookupError, match=r"planted at tests\.planted\.native\.gone: there is no"):
        replaced(native, "gone", None)
    with pytest.raises(LookupError, match=r"planted at tests\.planted\.areas\.AREAS: .* 'gone'"):
        entry(areas, "AREAS", "gone", None)


@needs_fork
def test_a_bug_that_cannot_be_planted_is_not_noticed() -> None:
    gone = Plant("a seam", lambda: patch.object(native, "gone", None))
    with pytest.raises(LookupError, match="cannot be planted: AttributeError"):
        notices(always(None), [gone])


def test_seams_lie_in_the_compiler() -> None:
    assert {seam.split(".")[0] for seam in areas.seams()} == {"hybridjit"}


def test_there_are_enough_bugs() -> None:
    assert len({bug.name for bug in native.BUGS}) >= 20
