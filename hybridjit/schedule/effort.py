"""A limit on how long the analysis for one step may take."""

from __future__ import annotations

from collections.abc import Callable

from hybridjit.arith.polyhedra import within_limit
from hybridjit.ir.func import PrimFunc
from hybridjit.schedule.refusal import refuse

# Some projections of isl grow without end. Steps on programs of a page take 10,000 operations;
# this many take about five seconds.
MAX_OPERATIONS = 1_500_000


def with_limited_effort(func: PrimFunc, step: str, rewrite: Callable[[], PrimFunc]) -> PrimFunc:
    """What `rewrite` makes of `func`; refused if its analysis takes too long."""
    made = within_limit(rewrite, MAX_OPERATIONS)
    if made is None:
        raise refuse(
            func,
            f"{step}: the analysis of the program takes too long",
            help="take the step before loops are split, or in a simpler program",
        )
    return made
