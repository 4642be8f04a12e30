"""Refusals: a ScheduleError that shows the program, the loops at fault, and two iterations.

And what steps of all kinds check.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import BufferRef, Load, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.header import MAX_EXTENT
from hybridjit.ir.printer import format_expr, print_func
from hybridjit.ir.stmt import For, LoopKind, Store
from hybridjit.lazy import lazy_module
from hybridjit.schedule.program import the_loop
from hybridjit.schedule.witness import End, Witness, known_ranges

if TYPE_CHECKING:
    from hybridjit.analysis import concurrency, dependence
else:
    concurrency = lazy_module("hybridjit.analysis.concurrency")
    dependence = lazy_module("hybridjit.analysis.dependence")


def refuse(
    func: PrimFunc,
    message: str,
    marks: Iterable[Node] = (),
    *,
    help: str | None = None,
    notes: Sequence[str] = (),
) -> ScheduleError:
    """The error that says `message`, with the program and `marks` underlined in it."""
    marked = [node.var if isinstance(node, For) else node for node in marks]
    program = f"the program at this step:\n{print_func(func, marked)}"
    return ScheduleError(message, help=help, notes=(*notes, program))


def refuse_conflict(
    func: PrimFunc,
    message: str,
    conflict: dependence.Conflict,
    marks: Iterable[Node] = (),
    *,
    help: str | None = None,
) -> ScheduleError:
    """The error for a step that would turn two conflicting iterations around."""
    help = _find_help(conflict) if help is None else help
    if not conflict.is_example:
        message += ", as far as is known"
    error = refuse(func, f"{message}: {describe(conflict)}", marks, help=help)
    error.witness = find_witness(conflict) if conflict.is_example else None
    return error


def _find_help(conflict: dependence.Conflict) -> str | None:
    """What would allow it, if the two are updates of one sum."""
    updates = [conflict.first.statement.reduction, conflict.later.statement.reduction]
    if not all(update is not None and update.buffer is conflict.buffer for update in updates):
        return None
    if conflict.buffer is None or not conflict.buffer.dtype.is_inexact:
        return None
    return (
        'fastmath={"reassoc"} of @hybrid.script or te.create_schedule allows any order of updates'
    )


_KINDS = {
    LoopKind.PARALLEL: "parallel",
    LoopKind.VECTORIZED: "vectorized",
    LoopKind.BOUND: "bound to threads",
}


def refuse_obstacle(func: PrimFunc, loop: For, obstacle: concurrency.Obstacle) -> ScheduleError:
    """The error for a loop that cannot run as its kind says."""
    message = f"loop '{loop.var.name}' cannot be {_KINDS[loop.kind]}"
    if obstacle.conflict is not None:
        return refuse_conflict(func, message, obstacle.conflict, [loop.var], help=obstacle.help)
    return refuse(func, f"{message}: {obstacle.reason}", [loop.var], help=obstacle.help)


def describe(conflict: dependence.Conflict) -> str:
    """`a[1]` written at line 7 in iteration i=1 is read at line 8 in iteration i=2."""
    witness = find_witness(conflict)
    if not conflict.is_example:
        return f"it could not be proved that {witness.unproved}"
    text = str(witness)
    if conflict.parameters:
        values = ", ".join(f"{name}={value}" for name, value in conflict.parameters)
        text += f" (for example with {values})"
    return text


def find_witness(conflict: dependence.Conflict) -> Witness:
    """The two iterations of a conflict, as far as people want to know."""
    first, later = conflict.first, conflict.later
    element = ", ".join(map(str, conflict.element))
    name = "" if conflict.buffer is None else conflict.buffer.name
    text = f"{name}[{element}]" if name and element else name
    ranges = known_ranges([*first.statement.loops, *later.statement.loops])
    return Witness(_end(first), _end(later), text, ranges)


def _end(end: dependence.Endpoint) -> End:
    span = end.node.span or end.statement.node.span
    line = None if span is None else span.line
    return End(_text(end.node), line, end.is_write, end.iteration)


def _text(node: Node) -> str:
    match node:
        case Store(buffer, indices):
            return format_expr(Load(buffer, indices))
        case Load():
            return format_expr(node)
        case BufferRef(buffer):
            return buffer.name
        case _:
            return type(node).__name__.lower()


def names(loops: Sequence[Var | For]) -> str:
    """'i', 'j' and 'k'."""
    quoted = [f"'{(loop.var if isinstance(loop, For) else loop).name}'" for loop in loops]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def check_int(value: object, what: str, most: int | None = MAX_EXTENT) -> None:
    """Refuse anything but an integer, and one that is farther from 0 than `most`.

    `what` names the step and the argument.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise ScheduleError(f"{what} must be an integer, got {value!r}")
    if most is not None and abs(value) > most:
        raise ScheduleError(f"{what} must be {most} at most, got {value}")


def check_concurrent(func: PrimFunc, loops: Iterable[For], step: str) -> None:
    """Refuse what made the iterations of a concurrent loop of `func` depend on each other.

    `loops` may be as they were before the step: their variables count.
    """
    for loop in loops:
        if not loop.kind.is_concurrent:
            continue
        obstacle = concurrency.find_obstacle(func, the_loop(func, loop.var))
        if obstacle is not None and obstacle.conflict is not None:
            raise refuse_conflict(
                func,
                f"{step} would make iterations of the {loop.kind.value} loop '{loop.var.name}' "
                "depend on each other",
                obstacle.conflict,
                [loop],
            )
