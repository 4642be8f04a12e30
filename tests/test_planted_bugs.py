"""Random programs notice bugs: each of those planted by tests/planted_bugs.py makes one fail."""

from __future__ import annotations

import pytest

from tests.planted_bugs import BUGS, Bug, programs_to_catch, shown
from tests.programs.check import check_program


@pytest.mark.parametrize("bug", BUGS, ids=str)
def test_random_programs_catch(bug: Bug) -> None:
    check_program(shown(bug))  # without the bug, all is well

    assert programs_to_catch(bug) is not None
