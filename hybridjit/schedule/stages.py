"""Stages: the nests that compute a buffer, beside a statement that uses it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hybridjit.analysis.coverage import is_exact
from hybridjit.analysis.instances import infer_instances
from hybridjit.arith.polyhedra import AffineNames
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import Buffer, BufferRef, Const, ExternCall, Load, Node
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import (
    Allocate,
    Assert,
    Block,
    Break,
    Continue,
    For,
    If,
    Let,
    LoopKind,
    Print,
    Raise,
    Reserve,
    Return,
    Seq,
    Stmt,
    Store,
    While,
)
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.record import record
from hybridjit.schedule.program import path_to, replace_stmt, variables_in, variables_used
from hybridjit.schedule.refusal import refuse

_NOT_MOVED = (ExternCall, Print, Raise, Assert, Return, Break, Continue, While, Reserve)


@record(eq=False)
class Stage:
    """`nests`, statements of the sequence `scope`, compute `buffers` and nothing else.

    `loop` is in `target`, another statement of the sequence.
    """

    buffers: tuple[Buffer, ...]
    scope: Seq
    nests: tuple[Stmt, ...]
    target: Stmt
    loop: For

    @property
    def names(self) -> str:
        """The buffers, for messages."""
        return " and ".join(f"'{buffer.name}'" for buffer in self.buffers)

    def after(self, nest: Stmt) -> list[Stmt]:
        """The statements between `nest` and the target, other nests left out."""
        stmts = self.scope.stmts
        between = stmts[stmts.index(nest) + 1 : stmts.index(self.target)]
        return [stmt for stmt in between if stmt not in self.nests]


def is_certain(func: PrimFunc, stage: Stage) -> bool:
    """Whether isl knows exactly which iterations of the loop run once the sequence has begun."""
    stmts = stage.scope.stmts
    first = min(stmts.index(nest) for nest in (*stage.nests, stage.target))
    last = max(stmts.index(nest) for nest in (*stage.nests, stage.target))
    if any(map(jumps_anywhere, stmts[first : last + 1])):
        return False
    names = infer_instances(func, stage.scope).names
    path = path_to(func, stage.loop)
    return all(is_known(stmt, names) for stmt in path[path.index(stage.target) :])


def jumps_anywhere(stmt: Stmt) -> bool:
    """Whether something in `stmt` may be left out or repeated in a way that no loop tells."""
    return any(isinstance(node, Return | Break | Continue | While) for node in walk_stmts(stmt))


def is_known(stmt: Stmt, names: AffineNames) -> bool:
    """Whether isl knows exactly how often `stmt` runs what is in it."""
    match stmt:
        case For(_, start, stop, Const(int())):
            return names.affine(start) is not None and names.affine(stop) is not None
        case If(cond):
            return is_exact(cond, names)
        case _:
            return isinstance(stmt, Seq)


def find_stage(func: PrimFunc, block: Block, loop: For, step: str) -> Stage:
    """The stage that `block` belongs to: it and all nests beside it that write its buffers."""
    buffers = written_buffers(block)
    if not buffers:
        raise refuse(func, f"{step}: block '{block.name}' writes nothing", [block])
    found = _find_nest(func, block, loop, step, buffers)
    nests = tuple(
        stmt
        for stmt in found.scope.stmts
        if stmt is not found.target and any(writes(stmt, buffer) for buffer in found.buffers)
    )
    for stmt in nests:
        check_nest(func, stmt, found.buffers, step)
    return dataclasses.replace(found, nests=nests)


def find_nest(func: PrimFunc, block: Block, loop: For, step: str) -> Stage:
    """The nest of `block` alone, which writes one buffer, as a stage."""
    return _find_nest(func, block, loop, step, (written_buffer(func, block, step),))


def _find_nest(
    func: PrimFunc, block: Block, loop: For, step: str, buffers: tuple[Buffer, ...]
) -> Stage:
    scope, nest, target = _find_fork(func, block, loop, step)
    check_nest(func, nest, buffers, step)
    return Stage(buffers, scope, (nest,), target, loop)


def with_names_first(func: PrimFunc, stage: Stage, step: str) -> tuple[PrimFunc, Stage]:
    """Make the buffers that the nests use before the target, so that the nests can move there.

    Refuse where they use something else that is bound after the target.
    """
    stmts = stage.scope.stmts
    later = stmts[stmts.index(stage.target) :]
    made = [
        stmt
        for stmt in later
        if isinstance(stmt, Allocate) and any(touches(nest, stmt.buffer) for nest in stage.nests)
    ]
    sizes = [extent for stmt in made for extent in stmt.buffer.shape]
    used = {var for nest in stage.nests for var in variables_used(nest)}
    used.update(var for extent in sizes for var in variables_in(extent))
    is_bound_late = any(isinstance(stmt, Let) and stmt.var in used for stmt in later)
    if is_bound_late or not all(is_total(extent) for extent in sizes):
        raise refuse(func, f"{step}: the block uses what is bound after the loop", [stage.loop])
    if not made:
        return func, stage
    kept = [stmt for stmt in stmts if stmt not in made]
    position = kept.index(stage.target)
    scope = Seq((*kept[:position], *made, *kept[position:]), span=stage.scope.span)
    return replace_stmt(func, stage.scope, scope), dataclasses.replace(stage, scope=scope)


def written_buffer(func: PrimFunc, block: Block, step: str) -> Buffer:
    """The one buffer that `block` writes, its own scratch aside."""
    found = written_buffers(block)
    if len(found) != 1:
        names = ", ".join(f"'{buffer.name}'" for buffer in found) or "none"
        raise refuse(
            func, f"{step}: block '{block.name}' must write one buffer, it writes {names}", [block]
        )
    return found[0]


def written_buffers(block: Block) -> tuple[Buffer, ...]:
    """The buffers that `block` writes, its own scratch aside."""
    own = allocated_in(block)
    found = (buffer for node in walk(block) for buffer in _written_by(node) if buffer not in own)
    return tuple(dict.fromkeys(found))


def _find_fork(func: PrimFunc, block: Block, loop: For, step: str) -> tuple[Seq, Stmt, Stmt]:
    """The sequence in which the ways to block and loop part, and the two statements of it."""
    to_block, to_loop = path_to(func, block), path_to(func, loop)
    if loop in to_block:
        raise refuse(
            func, f"{step}: block '{block.name}' is in loop '{loop.var.name}' already", [loop]
        )
    depth = sum(1 for a, b in zip(to_block, to_loop, strict=False) if a is b)
    scope = to_block[depth - 1]
    if not isinstance(scope, Seq) or depth in (len(to_block), len(to_loop)):
        raise refuse(
            func,
            f"{step}: block '{block.name}' and loop '{loop.var.name}' do not stand one after the "
            "other",
            [block, loop],
        )
    _check_way_in(func, to_loop[depth:], step)
    return scope, to_block[depth], to_loop[depth]


def _check_way_in(func: PrimFunc, path: tuple[Stmt, ...], step: str) -> None:
    for stmt in path:
        match stmt:
            case Block(name):
                raise refuse(func, f"{step}: the loop is inside of block '{name}'", [stmt])
            case While():
                raise refuse(func, f"{step}: the loop is inside of a while loop", [stmt])
            case For(var, kind=LoopKind.VECTORIZED):
                raise refuse(
                    func,
                    f"{step}: loop '{var.name}' is vectorized already",
                    [stmt],
                    help="move the block first, then vectorize",
                )
            case _:
                pass


def check_nest(func: PrimFunc, nest: Stmt, buffers: Sequence[Buffer], step: str) -> None:
    """Refuse to move a statement that does more than to compute `buffers`."""
    own = {*allocated_in(nest), *buffers}
    names = " and ".join(f"'{buffer.name}'" for buffer in buffers)
    for node in walk(nest):
        if isinstance(node, _NOT_MOVED):
            raise refuse(
                func,
                f"{step}: what computes {names} holds {_describe(node)}, which cannot move",
                [nest],
            )
        if isinstance(node, Store) and node.buffer not in own:
            raise refuse(
                func,
                f"{step}: what computes {names} writes '{node.buffer.name}', too",
                [nest],
                help="s.fission separates the statements of a loop",
            )


def _describe(node: Node) -> str:
    words: dict[type[Node], str] = {ExternCall: "an external call", While: "a while loop"}
    word = type(node).__name__.lower()
    return words.get(type(node), f"'{word}'")


def writes(stmt: Stmt, buffer: Buffer) -> bool:
    """Whether `stmt` writes to `buffer`, or hands it to a callee that may."""
    return any(found is buffer for node in walk(stmt) for found in _written_by(node))


def _written_by(node: Node) -> list[Buffer]:
    """The buffers that `node` itself, its children aside, may write to."""
    match node:
        case Store(buffer):
            return [buffer]
        case ExternCall(callee, args):
            places = enumerate(args)
            return [a.buffer for k, a in places if isinstance(a, BufferRef) and callee.writes(k)]
        case _:
            return []


def touches(stmt: Stmt, buffer: Buffer) -> bool:
    """Whether `stmt` reads or writes `buffer`."""
    return count_accesses(stmt, buffer) > 0


def count_accesses(stmt: Stmt, buffer: Buffer) -> int:
    """How many nodes of `stmt` touch `buffer`."""
    return sum(
        isinstance(node, Load | Store | BufferRef) and node.buffer is buffer for node in walk(stmt)
    )


def allocated_in(stmt: Stmt) -> set[Buffer]:
    """The buffers that `stmt` makes."""
    return {node.buffer for node in walk_stmts(stmt) if isinstance(node, Allocate)}
