"""set_scope: say in which memory a buffer lives."""

from __future__ import annotations

import dataclasses

from hybridjit.ir.expr import Buffer, const
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, Store, seq
from hybridjit.schedule.buffers import check_not_passed, replace_buffer, the_allocation
from hybridjit.schedule.program import replace_stmt
from hybridjit.schedule.refusal import refuse

SCOPES = ("global", "shared", "local", Buffer.REGISTER)


def set_scope(func: PrimFunc, buffer: Buffer, scope: str) -> PrimFunc:
    """Let the scratch buffer `buffer` live in `scope`.

    t = allocate((8,), "float32", "global")   -->   t = allocate((8,), "float32", "local")
    """
    check_set_scope(func, buffer, scope)
    return func if scope == buffer.scope else make_set_scope(func, buffer, scope)


def check_set_scope(func: PrimFunc, buffer: Buffer, scope: str) -> None:
    """Refuse a scope that does not exist, or that is none for this buffer."""
    check_scope(func, scope, "set_scope")
    the_allocation(func, buffer, "set_scope")
    if scope != buffer.scope:
        _check_register(func, buffer, scope)


def make_set_scope(func: PrimFunc, buffer: Buffer, scope: str) -> PrimFunc:
    """`func` with a buffer in another scope; a register starts with the zero that it held."""
    allocation = the_allocation(func, buffer, "set_scope")
    made = dataclasses.replace(buffer, scope=scope)
    if made.is_register and allocation.zero:
        start = Store(buffer, (), const(0, buffer.dtype))
        func = replace_stmt(func, allocation, seq(Allocate(buffer, zero=False), start))
    return replace_buffer(func, buffer, made)


def check_scope(func: PrimFunc, scope: str, step: str) -> None:
    """Refuse a scope that does not exist."""
    if scope not in SCOPES:
        raise refuse(
            func, f"{step}: there is no scope {scope!r}", help=f"there are {', '.join(SCOPES)}"
        )


def _check_register(func: PrimFunc, buffer: Buffer, scope: str) -> None:
    """A register is a scalar variable: read by its bare name, an error before it is assigned."""
    if buffer.is_register:
        raise refuse(func, f"set_scope: '{buffer.name}' is a scalar variable, which is a register")
    check_rank(func, buffer, scope, "set_scope")
    if scope == Buffer.REGISTER:
        check_not_passed(func, buffer, "set_scope")


def check_rank(func: PrimFunc, buffer: Buffer, scope: str, step: str) -> None:
    """Refuse an array as a register, which holds one number."""
    if scope == Buffer.REGISTER and buffer.shape:
        raise refuse(
            func,
            f"{step}: '{buffer.name}' has {buffer.ndim} dimensions, a register has none",
            help='scope "local" is for small arrays; those too end up in registers where they can',
        )
