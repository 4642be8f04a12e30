"""Random small programs of every statement and type, natively against plain Python.

See tests/campaigns.
"""

from __future__ import annotations

from hybridjit import config
from hybridjit.errors import ParseError, ScheduleError
from tests.campaigns.drawn import Drawn, size_class
from tests.differential.test_native import is_exact
from tests.programs.program import Program, forget_sources, program_from_seed
from tests.support.oracle import assert_same_outcome, run_once, run_plain
from tests.support.poisoned import run_poisoned

# Every so many programs may index out of bounds.
WILD_EVERY = 4


def try_number(seed: int, number: int) -> Drawn:
    """One program; those that use functions which may differ in their last bits are left out."""
    program = program_from_seed(
        (seed << 32) + number, wild=number % WILD_EVERY == 0, rewritten=number % 3 == 1
    )
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
    arrays = [arg for arg in program.args if hasattr(arg, "shape")]
    drawn.count("types", [str(array.dtype) for array in arrays])
    drawn.count("sizes", [size_class(size) for array in arrays for size in array.shape])
    return drawn


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
