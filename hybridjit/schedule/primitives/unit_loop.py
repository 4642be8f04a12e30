"""add_unit_loop: a loop of one iteration around a block, to be bound or fused."""

from __future__ import annotations

from hybridjit.ir.expr import Const, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Break, Continue, For
from hybridjit.schedule.program import jumps, replace_stmt, the_block
from hybridjit.schedule.refusal import refuse


def add_unit_loop(func: PrimFunc, block: str) -> tuple[PrimFunc, Var]:
    """Put a loop of one iteration around `block`.

    with block("c"):       -->     for u in range(1):
        body                           with block("c"):
                                           body
    """
    check_add_unit_loop(func, block)
    return make_unit_loop(func, block)


def check_add_unit_loop(func: PrimFunc, block: str) -> None:
    """Refuse a block that leaves a loop: it would leave the new one only."""
    found = the_block(func, block)
    if jumps(found, Break, Continue):
        raise refuse(
            func,
            f"add_unit_loop: break or continue in block '{block}' would leave the new loop only",
            [found],
        )


def make_unit_loop(func: PrimFunc, block: str) -> tuple[PrimFunc, Var]:
    """`func` with a loop around a block, and its variable."""
    found, var = the_block(func, block), Var("u")
    loop = For(var, Const(0), Const(1), Const(1), found, span=found.span)
    return replace_stmt(func, found, loop), var
