"""Refuse concurrent loops (parallel, vectorize, bind) whose iterations depend on each other.

Changes nothing. Relies on: blocks are still there, so that errors speak of the program as written.
"""

from __future__ import annotations

from hybridjit.analysis.concurrency import find_obstacle
from hybridjit.errors import ScheduleError, Span
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For
from hybridjit.ir.visit import walk
from hybridjit.schedule.refusal import refuse_obstacle


def check_kinds(func: PrimFunc) -> PrimFunc:
    """`func`, if every loop may run as its kind says."""
    for node in walk(func.body):
        if isinstance(node, For) and node.kind.is_concurrent and not node.is_unsafe:
            obstacle = find_obstacle(func, node)
            if obstacle is not None:
                raise _at_source(refuse_obstacle(func, node, obstacle), node.span)
    return func


def _at_source(error: ScheduleError, span: Span | None) -> ScheduleError:
    """The error with the line of the script in the place of the program, which has no steps."""
    if span is None:
        return error
    return ScheduleError(error.message, span, help=error.diagnostics[0].help)
