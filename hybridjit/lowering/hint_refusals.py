"""Why a hint of a loop could not be carried out, as an error for who gave it."""

from __future__ import annotations

from hybridjit.analysis.concurrency import find_obstacle
from hybridjit.arith.failures import find_failure
from hybridjit.errors import ScheduleError
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import ORIGIN, For, LoopKind
from hybridjit.lowering.lane_reasons import UNPROVED, find_lane_reasons
from hybridjit.schedule.refusal import describe
from hybridjit.target import Target

HELP = "with if_possible=True the compiler chooses where it cannot be"


_SUMS = "its sums are not proved to be apart"
_ON_THREADS = (
    "it runs on threads inside of the loop over their terms",
    "s.parallel of a loop outside of that leaves the lanes in each thread",
)
_REGISTER = "it is not proved to update one element only"
_AFTER = ", or an iteration that fails would leave another value there: "


def refuse_hint(func: PrimFunc, loop: For, name: str, target: Target) -> ScheduleError:
    """The error for a loop of the lowered `func` that was to run as hint `name` says."""
    called = f"loop '{loop.var.name}'"
    match name:
        case "on_threads":
            return _refuse_threads(func, loop)
        case "in_register":
            what = f"{name}: {called} cannot keep what it updates"
            failure = find_failure(loop, func.span)
            return _refuse(loop, what, _REGISTER + (f"{_AFTER}{failure}" if failure else ""))
        case "sums_in_lanes":
            what = f"{name}: sums in {called} cannot run in {loop.hint(name)} lanes"
            if loop.kind is LoopKind.PARALLEL:
                return _refuse(loop, what, *_ON_THREADS)
            return _refuse(loop, what, find_failure(loop, func.span) or _SUMS)
        case _:
            reason = find_lane_reasons(func, target).get(loop.hint(ORIGIN), UNPROVED)
            what = f"{name}: {called} cannot run in {loop.hint(name)} lanes"
            return _refuse(loop, what, reason)


def _refuse(loop: For, what: str, reason: str, help: str = HELP) -> ScheduleError:
    return ScheduleError(f"{what}: {reason}", loop.span, help=help)


def _refuse_threads(func: PrimFunc, loop: For) -> ScheduleError:
    obstacle = find_obstacle(func, loop)
    reason, help = UNPROVED, HELP
    if obstacle is not None:
        conflict = obstacle.conflict
        reason = obstacle.reason if conflict is None else describe(conflict)
        help = obstacle.help or HELP
    return _refuse(loop, f"on_threads: loop '{loop.var.name}' cannot run on threads", reason, help)
