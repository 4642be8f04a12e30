"""Random small programs of every statement and type, natively against plain Python.

See tests/campaigns.
"""

from __future__ import annotations

import re
from dataclasses import replace

from hybridjit import config
from hybridjit.errors import ParseError, ScheduleError
from tests.campaigns.drawn import Drawn
from tests.differential.test_native import is_exact
from tests.programs.kinds import REWRITTEN, TAME
from tests.programs.program import Program, forget_sources, program_from_seed
from tests.support.oracle import assert_same_outcome, run_once, run_plain
from tests.support.poisoned import run_poisoned

# One program in so many may index out of bounds, or has statements that may be refused.
WILD_EVERY = 4
REWRITTEN_EVERY = 3
# Two in so many have axes of several vectors and a rest.
LONG_EVERY = 5
# Programs that call what may differ in its last bits are not compared: so many draws avoid them,
# and copysign, which shows the sign of a NaN.
DRAWS = 4
_INEXACT = re.compile(
    r"\b(exp[2m1]*|log\w*|rsqrt|cbrt|a?(sin|cos|tan)h?|arctan2?|atan2|hypot"
    r"|sigmoid|erfc?|l?gamma|copysign)\("
)


def try_number(seed: int, number: int) -> Drawn:
    """One program; what calls functions that may differ in their last bits is only parsed."""
    program = draw_program(seed, number)
    drawn = Drawn()
    drawn.counts["programs"] += 1
    try:
        with config.scope(cache_enabled=False, verify=False):
            drawn.counts["native"] += _check(program)
    except ScheduleError:
        # Of the loops that say `parallel`, not all that are independent can be proved to be.
        drawn.count("refused", ["parallel"])
    except Exception as error:
        raise AssertionError(f"{error}\n{program!r}") from error
    finally:
        forget_sources()
    drawn.count_arrays(program.args)
    drawn.count("statements", program.kinds)
    return drawn


def has_inexact_calls(source: str) -> bool:
    """Whether a program calls what may differ in its last bits, or may show how NaNs are made."""
    return _INEXACT.search(source) is not None


def draw_program(seed: int, number: int) -> Program:
    """The first of some programs that does not call functions which may differ; or just one."""
    style = replace(
        REWRITTEN if number % REWRITTEN_EVERY == 1 else TAME,
        wild=number % WILD_EVERY == 0,
        is_long=number % LONG_EVERY < 2,
    )
    draws = (
        program_from_seed((seed << 36) + (draw << 32) + number, style) for draw in range(DRAWS)
    )
    exact = (program for program in draws if not has_inexact_calls(program.source))
    return next(exact, None) or program_from_seed((seed << 36) + number)


def _check(program: Program) -> bool:
    """Whether the program could be held against plain Python."""
    kernel = program.kernel
    try:
        if not is_exact(kernel.prim_func(*program.args)):
            return False
    except ParseError:
        return False
    plain = run_once(run_plain, kernel, program.args)
    found = run_once(run_poisoned, kernel, program.args)
    if isinstance(found.error, ScheduleError):
        raise found.error
    assert_same_outcome(found, plain)
    return True
