"""Random programs: plain Python, the interpreter and the program read back from its text agree."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.programs.check import check_program
from tests.programs.kinds import WILD
from tests.programs.program import Program, forget_sources, program_from_seed
from tests.support.strategies import programs, wild_programs

# Where a run of the suite starts; the programs of a long run are made by hypothesis.
SEEDS = range(100)
CHUNK = 5
# A program is some hundred draws.
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@pytest.mark.sampled(7)
@pytest.mark.parametrize("first", SEEDS[::CHUNK])
def test_programs_of_the_first_seeds_agree(first: int) -> None:
    """Each program follows from its number: `program_from_seed(17)`."""
    for seed in range(first, first + CHUNK):
        _check(program_from_seed(seed), f"seed {seed}")
        _check(program_from_seed(seed, WILD), f"seed {seed}, wild")
    forget_sources()


def _check(program: Program, label: str) -> None:
    try:
        check_program(program)
    except Exception as error:
        raise AssertionError(f"{label}: {error}\n{program!r}") from error


@given(program=programs())
@settings(suppress_health_check=SLOW)
def test_programs_agree(program: Program) -> None:
    check_program(program)


@given(program=wild_programs())
@settings(suppress_health_check=SLOW)
def test_programs_that_may_leave_their_arrays_agree(program: Program) -> None:
    """Both ways raise IndexError, with what was stored before it, or both agree."""
    check_program(program)
