"""The passes between the front end and LLVM, in order, each verified and timed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from hybridjit import config
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.verify import Stage, verify
from hybridjit.lower.check_bounds import check_bounds
from hybridjit.lower.lower_blocks import lower_blocks
from hybridjit.lower.refute_bounds import refute_bounds
from hybridjit.lower.privatize_reductions import privatize_reductions


@dataclass(frozen=True, slots=True)
class Pass:
    """One step: a pure function, and the stage that its result is at."""

    run: Callable[[PrimFunc], PrimFunc]
    gives: Stage

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.run.__name__


@dataclass(frozen=True, slots=True)
class Step:
    """What one pass did."""

    name: str
    func: PrimFunc
    seconds: float
    changed: bool


PIPELINE: tuple[Pass, ...] = (
    Pass(lower_blocks, gives=Stage.LOOPS),
    Pass(privatize_reductions, gives=Stage.LOOPS),
    Pass(check_bounds, gives=Stage.LOOPS),
    Pass(refute_bounds, gives=Stage.LOOPS),
)


def lower(func: PrimFunc) -> PrimFunc:
    """`func` as plain, checked loops."""
    for step in lower_steps(func):
        func = step.func
    return func


def lower_steps(func: PrimFunc) -> list[Step]:
    """Every step of lowering `func`, for inspection."""
    steps: list[Step] = []
    check = config.current().verify
    for step in PIPELINE:
        start = time.perf_counter()
        result = step.run(func)
        seconds = time.perf_counter() - start
        if check and result is not func:
            verify(result, step.gives, step.name)
        steps.append(Step(step.name, result, seconds, result is not func))
        func = result
    return steps
