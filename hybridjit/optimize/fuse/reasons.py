"""Why an array that a script gave a name is still in memory, in words."""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.analysis.accesses import find_accesses
from hybridjit.errors import Span, line_in
from hybridjit.ir.expr import Buffer, BufferRef, ExternCall, Node
from hybridjit.ir.stmt import Allocate, For, If, Reserve, Return, Stmt, While
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.optimize.fuse.cost import is_chain, is_innermost
from hybridjit.schedule.arrays.fusion import Fusion


def explain(fusion: Fusion, stmts: Sequence[Stmt], buffer: Buffer) -> str:
    """What keeps `buffer`, which a list of statements makes, from being fused away."""
    users = [
        stmt
        for stmt in stmts
        if not isinstance(stmt, Allocate) and fusion.footprint(stmt).touches(buffer)
    ]
    for stmt in users:
        if not fusion.is_nest(stmt):
            return _outside(stmt, buffer, fusion.spans.get(buffer))
    changed = _changed_source(fusion, users)
    if changed is not None:
        return f"it is computed from elements of '{changed}' that are overwritten with it"
    if len({stmt.stop for stmt in users if isinstance(stmt, For)}) > 1:
        return "the loops that write and read it run over different ranges"
    inner = [s for stmt in users for s in walk_stmts(stmt) if isinstance(s, For)]
    if any(is_innermost(loop) and is_chain(loop) for loop in inner):
        return "a loop reads it that runs one element after the other; it is computed in vectors"
    written = _places(fusion, users, buffer, is_write=True)
    if _places(fusion, users, buffer, is_write=False) != written:
        return "its elements are read at other places than they are written"
    return "what stands between the loops that use it must stay there"


def _changed_source(fusion: Fusion, users: Sequence[Stmt]) -> str | None:
    """An array that is read where the temporary is written, and changed where it is read."""
    if len(users) < 2:
        return None
    first, last = fusion.footprint(users[0]), fusion.footprint(users[-1])
    found = [name.name for name in first.reads & last.writes if isinstance(name, Buffer)]
    return min(found, default=None)


def _places(
    fusion: Fusion, users: Sequence[Stmt], buffer: Buffer, *, is_write: bool
) -> set[tuple[bool, ...]]:
    """For the accesses of a kind, along which axes the index is just the variable of a loop."""
    return {
        tuple(index in fusion.loops for index in found.node.indices)
        for found in find_accesses(*users)
        if found.buffer is buffer and found.is_write is is_write
    }


def _outside(stmt: Stmt, buffer: Buffer, made: Span | None) -> str:
    span = stmt.span
    file = "" if span is None or made is None or span.file == made.file else span.file
    line = "" if span is None else f" in {line_in(file, span.line)}"
    use = _use_as_a_whole(stmt, buffer)
    if use is not None:
        return f"{use}{line}"
    match stmt:
        case For() | While():
            return f"the loop{line} uses it in every iteration"
        case If():
            return f"only one side of the if{line} uses it"
        case _:
            return f"single elements of it are used{line}"


def _use_as_a_whole(stmt: Stmt, buffer: Buffer) -> str | None:
    """What is done with all of `buffer`, rather than with elements, in `stmt`."""
    found: str | None = None
    for node in walk(stmt):
        match node:
            case Return(values) if any(_is_ref(value, buffer) for value in values):
                return "it is returned"
            case Reserve(array) if _is_ref(array, buffer):
                found = "it grows"
            case ExternCall(args=args) if any(_is_ref(arg, buffer) for arg in args):
                return "it is passed to a function"
            case _:
                pass
    return found


def _is_ref(node: Node, buffer: Buffer) -> bool:
    return isinstance(node, BufferRef) and node.buffer is buffer
