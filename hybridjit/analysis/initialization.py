"""Which scalar variables may be read before they are assigned."""

from __future__ import annotations

from hybridjit.ir.expr import Buffer, Const, Expr, Load
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import (
    Allocate,
    Break,
    Continue,
    For,
    If,
    Raise,
    Return,
    Stmt,
    Store,
    While,
    flat_stmts,
)
from hybridjit.ir.visit import children, walk, walk_stmts

Assigned = frozenset[Buffer]


def find_unassigned_reads(func: PrimFunc) -> frozenset[Buffer]:
    """The registers of `func` with a read that some path reaches without an assignment."""
    analysis = _Analysis()
    analysis.run(func.body, frozenset())
    return frozenset(analysis.doubtful)


def find_assignments(body: Stmt) -> tuple[frozenset[Buffer], frozenset[Buffer]]:
    """What an iteration of `body`, that of a loop, does to registers: those that it may read before
    it assigns them; and those that it surely assigns, if it gets to its end.
    """
    analysis = _Analysis()
    analysis.breaks.append([])
    assigned = analysis.run(body, frozenset())
    return frozenset(analysis.doubtful), assigned or frozenset()


class _Analysis:
    """Follows the set of registers that are surely assigned; None where nothing gets."""

    def __init__(self) -> None:
        self.doubtful: set[Buffer] = set()
        self.breaks: list[list[Assigned]] = []

    def run(self, stmt: Stmt, assigned: Assigned) -> Assigned | None:
        is_left = False
        for inner in flat_stmts(stmt):
            state = self.statement(inner, assigned)
            if state is None:
                # What is never run is read all the same, once it has a name in front of a loop.
                is_left = True
            else:
                assigned = state
        return None if is_left else assigned

    def statement(self, stmt: Stmt, assigned: Assigned) -> Assigned | None:
        for child in children(stmt):
            if isinstance(child, Expr):
                self.read(child, assigned)
        match stmt:
            case Store(buffer) if buffer.is_register:
                return assigned | {buffer}
            case Allocate(buffer):
                return assigned - {buffer}  # a new one in every round
            case If(_, then, otherwise):
                sides = [self.run(then, assigned)]
                sides.append(assigned if otherwise is None else self.run(otherwise, assigned))
                return _meet(sides)
            case For() | While():
                return self.loop(stmt, assigned)
            case Break():
                self.breaks[-1].append(assigned)
                return None
            case Continue() | Return() | Raise():
                return None
            case _:
                return assigned

    def loop(self, loop: For | While, assigned: Assigned) -> Assigned | None:
        self.breaks.append([])
        end = self.run(loop.body, assigned)
        exits: list[Assigned | None] = [*self.breaks.pop()]
        match loop:
            case While(Const(True)):
                pass
            case For() if _runs(loop) and not _has_continue(loop):
                exits.append(end)
            case _:
                exits.append(assigned)
        return _meet(exits)

    def read(self, expr: Expr, assigned: Assigned) -> None:
        for node in walk(expr):
            if isinstance(node, Load) and node.buffer.is_register and node.buffer not in assigned:
                self.doubtful.add(node.buffer)


def _meet(states: list[Assigned | None]) -> Assigned | None:
    live = [state for state in states if state is not None]
    return live[0].intersection(*live[1:]) if live else None


def _runs(loop: For) -> bool:
    """True if the loop is sure to have an iteration."""
    extent = loop.extent
    return isinstance(extent, Const) and extent.value.real > 0


def _has_continue(loop: For) -> bool:
    return any(isinstance(stmt, Continue) for stmt in walk_stmts(loop.body))
