"""Random scripts of what people bring against plain Python: see tests/campaigns."""

from __future__ import annotations

from hybridjit import config
from tests.brought.check import Refused, check_program
from tests.brought.generate import make_program
from tests.brought.values import memory_of
from tests.campaigns.drawn import Drawn


def try_number(seed: int, number: int) -> Drawn:
    """One script in every way."""
    program, drawn = make_program(f"{seed}/{number}"), Drawn()
    drawn.counts["programs"] += 1
    try:
        with config.scope(cache_enabled=False):
            check_program(program)
    except Refused as refusal:
        drawn.count("refused", [str(refusal)])
    except Exception as error:
        raise AssertionError(f"{error}\n{program.text}{program.plans}") from error
    else:
        drawn.counts["native"] += 1
        drawn.counts["native calls"] += 2 * len(program.sizes)
        drawn.count("arguments", [plan.name for plan in program.plans.values()])
        drawn.count("statements", program.statements)
        for size in program.sizes:
            arrays = memory_of([plan.make(size) for plan in program.plans.values()])
            drawn.count_arrays(array for array in arrays if array.dtype.names is None)
    return drawn
