"""Random loop programs, natively against plain Python: see tests/campaigns."""

from __future__ import annotations

import linecache
import random
import re

from tests.campaigns.drawn import Drawn, size_class
from tests.loops.generate import LoopProgram, make_program
from tests.loops.run import Refused, check
from tests.support.choices import Choices


def try_number(seed: int, number: int) -> Drawn:
    """Program number `number` of a seed, at all of its sizes."""
    label = f"{seed}/{number}"
    rng = random.Random(label)
    program = make_program(Choices(rng.randrange), may_share=True)
    drawn = Drawn()
    drawn.counts["programs"] += 1
    try:
        for case in check(program, rng, label):
            drawn.counts["native calls"] += 1
            drawn.count("sizes", [size_class(size) for size in case.sizes.values()])
    except Refused as refusal:
        drawn.count("refused", [re.sub(r"'.*?'|`.*?`|\d+", "_", str(refusal))])
    except Exception as error:
        raise AssertionError(f"{error}\n{program.text}{_described(program)}") from error
    else:
        drawn.counts["native"] += 1
        _count(drawn, program)
    finally:
        linecache.cache.pop(f"<loop program {label}>", None)
    return drawn


def _described(program: LoopProgram) -> str:
    return "\n".join(f"# {param}" for param in program.arrays)


def _count(drawn: Drawn, program: LoopProgram) -> None:
    drawn.count("types", [array.type for array in program.arrays])
    drawn.count("sizes come from", [program.way])
    drawn.count("statements", program.kinds)
