"""What a statement touches: buffers and variables, and whether it does more than compute."""

from __future__ import annotations

from collections.abc import Iterator

from hybridjit.ir.expr import Buffer, BufferRef, ExternCall, Load, Node, Var
from hybridjit.ir.stmt import (
    Allocate,
    Assert,
    Block,
    Break,
    Continue,
    For,
    Iter,
    Let,
    Print,
    Raise,
    Reserve,
    Return,
    Stmt,
    Store,
    While,
)
from hybridjit.ir.visit import walk
from hybridjit.record import record

Name = Buffer | Var


@record
class Footprint:
    """The names that a statement reads, and those that it writes or binds.

    `acts`: it has an effect besides memory, or may not go on to what follows it. `stops`: it may
    raise an error of its own.
    """

    reads: frozenset[Name]
    writes: frozenset[Name]
    acts: bool = False
    stops: bool = False

    @property
    def names(self) -> frozenset[Name]:
        """All that the statement touches."""
        return self.reads | self.writes

    def touches(self, name: Name) -> bool:
        """True if the statement reads, writes or makes `name`."""
        return name in self.reads or name in self.writes

    def joined(self, other: Footprint) -> Footprint:
        """The footprint of two statements, one after the other."""
        return Footprint(
            self.reads | other.reads,
            self.writes | other.writes,
            self.acts or other.acts,
            self.stops or other.stops,
        )

    def is_independent(self, other: Footprint) -> bool:
        """True if neither of two statements changes what the other one uses."""
        return self.writes.isdisjoint(other.reads | other.writes) and other.writes.isdisjoint(
            self.reads
        )


def find_footprint(stmt: Stmt) -> Footprint:
    """The footprint of `stmt` and everything in it."""
    reads: set[Name] = set()
    writes: set[Name] = set()
    acts = stops = False
    for node in _walk_shapes(stmt):
        match node:
            case Var():
                reads.add(node)
            case Load(buffer):
                reads.add(buffer)
            case BufferRef(buffer):
                reads.add(buffer)
                writes.add(buffer)
            case Store(buffer) | Allocate(buffer):
                writes.add(buffer)
            case For(var) | Let(var) | Iter(var):
                writes.add(var)
            case Raise() | Assert():
                stops = True
            case ExternCall() | Print() | While() | Break() | Continue() | Return() | Block():
                acts = True
            case Reserve():
                acts = True
            case _:
                pass
    return Footprint(frozenset(reads), frozenset(writes), acts, stops)


def _walk_shapes(stmt: Stmt) -> Iterator[Node]:
    """Everything in `stmt`, the sizes of the arrays that it makes included."""
    for node in walk(stmt):
        yield node
        if isinstance(node, Allocate):
            yield from (inner for size in node.buffer.shape for inner in walk(size))
