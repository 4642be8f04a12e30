"""Products of matrices that stand as loops, in packed tiles, where the optimiser left them alone.

    for i in range(n):                           s.gemm("c")
        for j in range(m):                 -->   s.gemm("c", rows=8, vectors=2, depth=512)
            for k in range(l):                   ...
                c[i, j] += a[i, k] * b[k, j]

So are convolutions. The likeliest tile is the one that suits the machine.
"""

from __future__ import annotations

from typing import Any

from hybridjit.analysis.reduction import find_reduction
from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import Mul
from hybridjit.ir.stmt import Store
from hybridjit.schedule.program import the_block
from hybridjit.schedule.schedule import Schedule
from hybridjit.target import Target
from hybridjit.tuning.receipts import other_numbers, pick


def choose_packing(schedule: Schedule, block: str, target: Target) -> bool:
    """True if the block is a product that is computed in packed tiles now."""
    body = the_block(schedule.func, block).body
    found = find_reduction(body) if isinstance(body, Store) else None
    if found is None or not isinstance(found.update, Mul) or pick(schedule, [0.51, 0.49]) == 0:
        return False
    numbers = other_numbers(schedule, "gemm", dict[str, Any](), target)
    try:
        schedule.gemm(block, **numbers)
    except ScheduleError:  # of other axes, say, or no zeros before the sums
        return False
    return True
