"""Cut loops where an index comes around, so that it goes straight on in each part.

    for j in range(n):                     for j in range(0, 1):
        r[j] = u[(j - 1) % n]                  r[j] = u[(j - 1) % n]
                                   -->     for j in range(1, n):
                                               r[j] = u[j - 1]

Periodic neighbours, by np.roll or by %, then have lanes as others have. Where an index comes around
is known before the loop: it moves by one in each iteration, and what it is compared with stays. If
it may come around anywhere, and is the only one, the parts on both sides go straight as well:

    u[(j - k) % n]                 -->     u[j - k + n], u[j - k], u[j - k - n]

Relies on: indices are checked already, so that they may be written in another way.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import reduce

from hybridjit.arith.linear import linear_form
from hybridjit.arith.simplify import simplify
from hybridjit.arith.totality import is_total
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import And, Const, Expr, Load, Max, Min, Mod, Mul, Sub, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Break, For, If, Let, LoopKind, Stmt, While, seq
from hybridjit.ir.visit import StmtMutator, fresh_copy, walk, walk_stmts
from hybridjit.lowering.replace_divisions import Division, replace_divisions
from hybridjit.lowering.small_sums import SmallSums
from hybridjit.record import record

# More takes long to compile in several copies; less is not worth it.
MAX_NODES = 600
MIN_EXTENT = 8


def unwrap_indices(func: PrimFunc) -> PrimFunc:
    """`func` with innermost loops in parts in which no remainder is taken."""
    body = _Unwrap(func).rewrite(func.body)
    return func if body is func.body else dataclasses.replace(func, body=body)


@record
class _Wrap:
    """A remainder whose dividend is the loop variable and `offset`."""

    mod: Mod
    offset: Expr


class _Unwrap(StmtMutator):
    def __init__(self, func: PrimFunc) -> None:
        self.sums = SmallSums.of(func)

    def rewrite_Let(self, node: Let) -> Stmt:
        self.sums.bind(node)
        return node

    def rewrite_For(self, node: For) -> Stmt:
        self.sums.enter_loop(node)
        if any(isinstance(each, For | While) for each in walk_stmts(node.body)):
            return self.generic(node)
        nodes = list(walk(node.body))
        if any(isinstance(each, Break) for each in nodes):
            return node  # it ends all parts
        if node.kind is not LoopKind.SERIAL or len(nodes) > MAX_NODES or not _is_long(node):
            return node
        wraps = _find_wraps(node, nodes)
        return (self._cut(node, wraps) if wraps else None) or node

    def _cut(self, loop: For, wraps: Sequence[_Wrap]) -> Stmt | None:
        first = wraps[0]
        is_anywhere = not isinstance(first.offset, Const) and len(wraps) == 1
        turns = (-1, 0, 1) if is_anywhere else (0,)
        sums = [wrap.mod.lhs for wrap in wraps]
        sums += [Sub(Mul(wrap.mod.rhs, Const(2)), wrap.offset) for wrap in wraps]
        small = self.sums.find(*sums, loop.start, loop.stop)
        if small is None:
            return None
        parts = _parts(loop, wraps, turns)
        if not small:
            return parts
        return If(reduce(And, small), parts, fresh_copy(loop), span=loop.span)


def _is_long(loop: For) -> bool:
    is_plain = isinstance(loop.step, Const) and loop.step.value == 1
    return is_plain and not _is_short(loop.extent)


def _is_short(extent: Expr) -> bool:
    """True for so few iterations, or from one time that an index comes around to the next."""
    return isinstance(extent, Const) and extent.value.real < MIN_EXTENT


def _find_wraps(loop: For, nodes: Sequence[object]) -> list[_Wrap]:
    inside = {node.var for node in nodes if isinstance(node, Let)}
    found: dict[Mod, _Wrap] = {}
    for node in nodes:
        if not isinstance(node, Mod) or node.dtype is not INT64 or _is_short(node.rhs):
            continue
        form = linear_form(node.lhs)
        if form is None or form.terms.get(loop.var) != 1:
            continue
        offset = simplify(Sub(node.lhs, loop.var))
        used = [*walk(offset), *walk(node.rhs)]
        if any(each is loop.var or each in inside or isinstance(each, Load) for each in used):
            continue
        if is_total(offset) and is_total(node.rhs):
            found[node] = _Wrap(node, offset)
    return list(found.values())


def _parts(loop: For, wraps: Sequence[_Wrap], turns: Sequence[int]) -> Stmt:
    """The parts of `loop`: as it is, then after each number of turns, then as it is."""
    lows = [_first(wrap, turns[0]) for wrap in wraps]
    stmts: list[Stmt] = []
    loop = _with_kept_bounds(loop, stmts)
    low = _bind(stmts, _clamped(reduce(Max, lows), loop.start, loop.stop), "first")
    stmts.append(_part(loop, loop.start, low, loop.body))
    for turn in turns:
        highs = [_first(wrap, turn + 1) for wrap in wraps]
        high = _bind(stmts, _clamped(reduce(Min, highs), low, loop.stop), "last")
        straight: dict[Division, Expr] = {wrap.mod: _turned(wrap.mod, turn) for wrap in wraps}
        stmts.append(_part(loop, low, high, replace_divisions(loop.body, straight)))
        low = high
    stmts.append(_part(loop, low, loop.stop, loop.body))
    return seq(*(stmt for stmt in stmts if not _is_empty(stmt)))


def _first(wrap: _Wrap, turn: int) -> Expr:
    """The loop variable from which on the index has come around so often."""
    return simplify(Sub(Mul(wrap.mod.rhs, Const(turn)), wrap.offset))


def _turned(mod: Mod, turn: int) -> Expr:
    return simplify(Sub(mod.lhs, Mul(mod.rhs, Const(turn))))


def _clamped(value: Expr, low: Expr, high: Expr) -> Expr:
    return simplify(Max(low, Min(value, high)))


def _with_kept_bounds(loop: For, stmts: list[Stmt]) -> For:
    """`loop` with names for bounds that are read: the first parts may change what is read there."""
    if not any(isinstance(node, Load) for node in (*walk(loop.start), *walk(loop.stop))):
        return loop
    start, stop = _bind(stmts, loop.start, "start"), _bind(stmts, loop.stop, "stop")
    return dataclasses.replace(loop, start=start, stop=stop)


def _bind(stmts: list[Stmt], value: Expr, name: str) -> Expr:
    if isinstance(value, Const | Var):
        return value
    var = Var(name)
    stmts.append(Let(var, value))
    return var


def _part(loop: For, start: Expr, stop: Expr, body: Stmt) -> Stmt:
    copied = fresh_copy(dataclasses.replace(loop, body=body))
    assert isinstance(copied, For)
    return dataclasses.replace(copied, start=start, stop=stop)


def _is_empty(stmt: Stmt) -> bool:
    if not isinstance(stmt, For):
        return False
    extent = simplify(Sub(stmt.stop, stmt.start))
    return isinstance(extent, Const) and extent.value.real <= 0
