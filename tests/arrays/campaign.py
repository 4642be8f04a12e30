"""Random scripts of whole arrays against NumPy: see tests/campaigns."""

from __future__ import annotations

from hybridjit import config
from tests.arrays.check import Refused, check_program
from tests.arrays.generate import make_program
from tests.campaigns.drawn import Drawn

# Every so many scripts are translated for sizes that are known at run time only.
SYMBOLIC_EVERY = 4


def try_number(seed: int, number: int) -> Drawn:
    """One script in every way."""
    program = make_program(f"{seed}/{number}")
    drawn = Drawn()
    drawn.counts["programs"] += 1
    drawn.count("kinds", [program.kind])
    try:
        with config.scope(cache_enabled=False):
            check_program(program, is_native=True, is_symbolic=number % SYMBOLIC_EVERY == 1)
    except Refused as refusal:
        drawn.count("refused", [str(refusal)])
    except Exception as error:
        raise AssertionError(f"{error}\n{program.kind}\n{program.text}{program.calls}") from error
    else:
        drawn.counts["native"] += 1
        drawn.counts["native calls"] += len(program.calls)
        drawn.counts["statements of arrays"] += program.statements.total()
        drawn.count("statements", program.statements)
        for arguments in program.calls:
            drawn.count_arrays(arguments.make().values())
    return drawn
