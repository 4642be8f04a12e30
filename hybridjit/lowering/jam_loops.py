"""Run several iterations of a loop side by side: what they read in common is read once.

    for i in range(n):                       for i in range(0, n // 2 * 2, 2):
        acc = 0.0                                acc = 0.0
        for k in range(m):                       acc_1 = 0.0
            acc = acc + a[i, k] * b[k]           for k in range(m):
        c[i] = acc                   -->             acc = acc + a[i, k] * b[k]
                                                     acc_1 = acc_1 + a[i + 1, k] * b[k]
                                                 c[i] = acc
                                                 c[i + 1] = acc_1
                                             for i_1 in range(n // 2 * 2, n):
                                                 ...

Relies on: independent iterations, inside of which nothing fails.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hybridjit.analysis.limits import loop_extent
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Const, Expr, FloorDiv, Load, Var
from hybridjit.ir.stmt import For, If, Let, Seq, Stmt, seq
from hybridjit.ir.visit import FreshCopy, fresh_copy, walk


def can_jam(loop: For) -> bool:
    """True if loops inside run equally often in all iterations: their bounds do not vary."""
    own = _own_variables(loop)
    inner = [node for node in walk(loop.body) if isinstance(node, For)]
    return all(_is_common(bound, own) for each in inner for bound in (each.start, each.stop))


def jam_loop(loop: For, count: int) -> Stmt:
    """`loop`, whose step is 1, with `count` iterations at a time, and the rest."""
    extent = loop_extent(loop)
    trips = loop.safe_extent
    end = simplify(loop.start + FloorDiv(trips, Const(count)) * count)
    names = [] if isinstance(end, Const) else [Let(Var(f"{loop.var.name}_end"), end)]
    end = names[0].var if names else end
    copies = [FreshCopy({loop.var: simplify(loop.var + number)}) for number in range(count)]
    body = _jam(loop.body, copies, _own_variables(loop))
    jammed = dataclasses.replace(loop, stop=end, step=Const(count), body=body)
    if extent is not None and extent % count == 0:
        return seq(*names, jammed)
    return seq(*names, jammed, fresh_copy(dataclasses.replace(loop, start=end)))


def _jam(stmt: Stmt, copies: Sequence[FreshCopy], own: frozenset[Var]) -> Stmt:
    """Copies of `stmt`, side by side; a loop is run once for all of them."""
    match stmt:
        case Seq(stmts):
            return seq(*(_jam(inner, copies, own) for inner in stmts))
        case For():
            return dataclasses.replace(stmt, body=_jam(stmt.body, copies, own))
        case If(cond, then, None) if _is_common(cond, own):
            return dataclasses.replace(stmt, then=_jam(then, copies, own))
        case _:
            return seq(*(copy.rewrite(stmt) for copy in copies))


def _own_variables(loop: For) -> frozenset[Var]:
    """The variables whose values may differ between iterations of `loop`."""
    lets = (node.var for node in walk(loop.body) if isinstance(node, Let))
    return frozenset((loop.var, *lets))


def _is_common(expr: Expr, own: frozenset[Var]) -> bool:
    return not any(node in own or isinstance(node, Load) for node in walk(expr))
