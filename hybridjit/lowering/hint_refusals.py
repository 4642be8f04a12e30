"""Why a hint of a loop could not be carried out, as an error for who gave it."""

from __future__ import annotations

from hybridjit.analysis.concurrency import find_obstacle
from hybridjit.errors import ScheduleError
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import IN_LANES, ORIGIN, For
from hybridjit.lowering.lane_reasons import UNPROVED, find_lane_reasons
from hybridjit.schedule.refusal import describe
from hybridjit.target import Target

HELP = "with if_possible=True the compiler chooses where it cannot be"


def refuse_lanes(func: PrimFunc, loop: For, target: Target) -> ScheduleError:
    """The error for a loop of the lowered `func` that was to run in lanes."""
    reason = find_lane_reasons(func, target).get(loop.hint(ORIGIN), UNPROVED)
    lanes = f"{loop.hint(IN_LANES)} lanes"
    return ScheduleError(
        f"in_lanes: loop '{loop.var.name}' cannot run in {lanes}: {reason}", loop.span, help=HELP
    )


def refuse_threads(func: PrimFunc, loop: For) -> ScheduleError:
    """The error for a loop of the lowered `func` that was to run on threads."""
    obstacle = find_obstacle(func, loop)
    reason, help = UNPROVED, HELP
    if obstacle is not None:
        conflict = obstacle.conflict
        reason = obstacle.reason if conflict is None else describe(conflict)
        help = obstacle.help or HELP
    return ScheduleError(
        f"on_threads: loop '{loop.var.name}' cannot run on threads: {reason}", loop.span, help=help
    )
