"""Refuse concurrent loops (parallel, vectorize, bind) whose iterations depend on each other, and
unrolled ones that are too long.

Changes nothing. Relies on: blocks are still there, so that errors speak of the program as written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybridjit.analysis.unrolling import find_long_loop
from hybridjit.errors import ScheduleError, Span
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For
from hybridjit.ir.visit import walk
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.analysis import concurrency
    from hybridjit.schedule import refusal
else:
    concurrency = lazy_module("hybridjit.analysis.concurrency")
    refusal = lazy_module("hybridjit.schedule.refusal")


def check_kinds(func: PrimFunc) -> PrimFunc:
    """`func`, if every loop may run as its kind says."""
    check_unrolled(func)
    for node in walk(func.body):
        if isinstance(node, For) and node.kind.is_concurrent and not node.is_unsafe:
            obstacle = concurrency.find_obstacle(func, node)
            if obstacle is not None:
                raise _at_source(refusal.refuse_obstacle(func, node, obstacle), node.span)
    return func


def check_unrolled(func: PrimFunc) -> None:
    """Refuse to unroll what is too long."""
    long = find_long_loop(func.body)
    if long is not None:
        raise _at_source(
            refusal.refuse(func, long.message, [long.loop], help=long.help), long.loop.span
        )


def _at_source(error: ScheduleError, span: Span | None) -> ScheduleError:
    """The error with the line of the script in the place of the program, which has no steps."""
    if span is None:
        return error
    return ScheduleError(error.message, span, help=error.diagnostics[0].help)
