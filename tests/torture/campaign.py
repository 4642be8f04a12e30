"""Random programs that may leave their arrays, between pages that nobody may touch.

Every second one has axes of several vectors.
"""

from __future__ import annotations

from dataclasses import replace

from hybridjit import config
from hybridjit.errors import ParseError, ScheduleError
from tests.campaigns.drawn import Drawn
from tests.programs.kinds import WILD
from tests.programs.program import forget_sources, program_from_seed
from tests.support.guarded import check_program


def try_number(seed: int, number: int) -> Drawn:
    """One program: natively, it does what it does in the interpreter, and touches nothing else."""
    style = replace(WILD, is_long=number % 2 == 0)
    program = program_from_seed((seed << 36) + number, style)
    drawn = Drawn()
    drawn.counts["programs"] += 1
    try:
        with config.scope(cache_enabled=False, verify=False):
            drawn.counts["left their arrays"] += check_program(program)
        drawn.counts["native"] += 1
    except (ParseError, ScheduleError) as error:
        drawn.count("refused", [type(error).__name__])
    except Exception as error:
        raise AssertionError(f"{error}\n{program!r}") from error
    finally:
        forget_sources()
    drawn.count_arrays(program.args)
    return drawn
