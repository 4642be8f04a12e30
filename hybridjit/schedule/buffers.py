"""Find the buffers of a function, and where they are made and used."""

from __future__ import annotations

import dataclasses
import difflib

from hybridjit.analysis.inside import find_outside
from hybridjit.analysis.instances import infer_instances
from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import Buffer, BufferRef, Load
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import format_expr, name_buffers
from hybridjit.ir.stmt import Allocate, Stmt, Store
from hybridjit.ir.visit import substitute, walk
from hybridjit.schedule.program import path_to
from hybridjit.schedule.refusal import refuse


def find_buffer(func: PrimFunc, name: str) -> Buffer:
    """The buffer that prints as `name`; these names are unique."""
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ScheduleError(f"expected the name of a buffer, got {name!r}")
    named = name_buffers(func)
    if name in named:
        return named[name]
    close = difflib.get_close_matches(name, named, n=1)
    help = f"did you mean '{close[0]}'?" if close else f"there are {', '.join(named)}"
    raise refuse(func, f"there is no buffer '{name}'", help=help if named else None)


def find_allocation(func: PrimFunc, buffer: Buffer) -> Allocate | None:
    """The statement that makes `buffer`; None for one that comes from outside."""
    for node in walk(func.body):
        if isinstance(node, Allocate) and node.buffer is buffer:
            return node
    return None


def scope_of(func: PrimFunc, allocation: Allocate) -> Stmt:
    """The smallest statement around `allocation`: where its buffer lives."""
    around = path_to(func, allocation)[:-1]
    return around[-1] if around else allocation


def the_allocation(func: PrimFunc, buffer: Buffer, step: str) -> Allocate:
    """The statement that makes `buffer`, which must be scratch memory."""
    found = find_allocation(func, buffer)
    if buffer.is_growing:
        raise refuse(func, f"{step}: '{buffer.name}' is memory that grows, as lists do")
    if found is not None:
        return found
    kind = "an output" if buffer in func.outputs else "an argument"
    if any(constant.buffer is buffer for constant in func.constants):
        kind = "a constant"
    wanted = "cache_write" if buffer in func.outputs else "cache_read"
    raise refuse(
        func,
        f"{step}: '{buffer.name}' is {kind} of the function, which has the layout that it has",
        help=f"s.{wanted}(block, {buffer.name!r}, scope) makes a copy of it that may change",
    )


def the_scratch_array(func: PrimFunc, buffer: Buffer, step: str) -> Allocate:
    """The statement that makes `buffer`, an array that only the function itself sees."""
    allocation = the_allocation(func, buffer, step)
    if buffer.is_register:
        raise refuse(
            func, f"{step}: '{buffer.name}' is a scalar variable, not an array", [allocation]
        )
    check_not_passed(func, buffer, step)
    return allocation


def check_not_passed(func: PrimFunc, buffer: Buffer, step: str) -> None:
    """Refuse a buffer that is handed to an external function, which knows its layout."""
    for node in walk(func.body):
        if isinstance(node, BufferRef) and node.buffer is buffer:
            raise refuse(func, f"{step}: '{buffer.name}' is passed to an external function")


def check_inside(
    func: PrimFunc, buffer: Buffer, scope: Stmt, step: str, axes: list[int] | None = None
) -> None:
    """Refuse unless all indices of the buffer are proved inside of it, so that they may change.

    `scope` is a statement around all that uses it.
    """
    access = find_outside(infer_instances(func, scope), buffer, axes)
    if access is None:
        return
    match access.node:
        case Load(_, indices) | Store(_, indices):
            text = f"`{format_expr(Load(buffer, indices))}`"
        case _:
            text = f"'{buffer.name}'"
    raise refuse(
        func,
        f"{step}: {text} is not proved to lie inside of '{buffer.name}' "
        f"(a negative index counts from the end)",
        [access.node] if isinstance(access.node, Stmt) else (),
    )


def replace_buffer(func: PrimFunc, old: Buffer, new: Buffer) -> PrimFunc:
    """`func` with `new`, which has the same dimensions, in the place of `old`."""
    return dataclasses.replace(func, body=substitute(func.body, {}, {old: new}))
