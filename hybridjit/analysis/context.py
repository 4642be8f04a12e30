"""What stands around the statements of a program: one walk, so that a pass pays for it once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from hybridjit.ir.expr import Buffer, Expr, Var
from hybridjit.ir.stmt import (
    Allocate,
    Block,
    Break,
    For,
    If,
    Let,
    Return,
    Seq,
    Stmt,
    While,
)
from hybridjit.record import record


@record(eq=False)
class Binding:
    """An expression, and the variable of the innermost loop around the place it is evaluated."""

    value: Expr
    loop: Var | None


Guards = tuple[Binding, ...]


@record(eq=False)
class Context:
    """Facts about a statement and everything in it.

    `bindings`: the variables bound by a `Let` or as an iter of a block. `allocations`: for each
    buffer allocated, the innermost loop around. `left_early`: the loops that a `break` or a
    `return` may leave. `guards`: for each statement the conditions it is under, outermost first.
    """

    bindings: Mapping[Var, Binding]
    allocations: Mapping[Buffer, Var | None]
    left_early: frozenset[Var]
    guards: Mapping[Stmt, Guards]


def infer_context(root: Stmt) -> Context:
    """The context of `root`. Every Var is bound once, so one table serves all scopes."""
    walker = _Walker()
    walker.visit(root, ())
    return Context(walker.bindings, walker.allocations, frozenset(walker.left_early), walker.guards)


@record(frozen=False)
class _Walker:
    bindings: dict[Var, Binding] = field(default_factory=dict[Var, Binding])
    allocations: dict[Buffer, Var | None] = field(default_factory=dict[Buffer, Var | None])
    left_early: set[Var] = field(default_factory=set[Var])
    guards: dict[Stmt, Guards] = field(default_factory=dict[Stmt, Guards])
    # The loops around, outermost first; None is a `while`.
    loops: list[Var | None] = field(default_factory=list["Var | None"])

    def visit(self, stmt: Stmt, guards: Guards) -> None:
        self.guards[stmt] = guards
        match stmt:
            case Seq():
                for child in stmt.stmts:
                    self.visit(child, guards)
            case For():
                self._visit_body(stmt.var, stmt.body, guards)
            case While():
                self._visit_body(None, stmt.body, (*guards, self._binding(stmt.cond)))
            case If():
                self._visit_if(stmt, guards)
            case Block():
                self._visit_block(stmt, guards)
            case _:
                self._visit_leaf(stmt)

    def _visit_body(self, var: Var | None, body: Stmt, guards: Guards) -> None:
        self.loops.append(var)
        self.visit(body, guards)
        self.loops.pop()

    def _visit_if(self, stmt: If, guards: Guards) -> None:
        inner = (*guards, self._binding(stmt.cond))
        self.visit(stmt.then, inner)
        if stmt.otherwise is not None:
            self.visit(stmt.otherwise, inner)

    def _visit_block(self, block: Block, guards: Guards) -> None:
        for item in block.iters:
            self.bindings[item.var] = self._binding(item.value)
        if block.init is not None:
            self.visit(block.init, guards)
        self.visit(block.body, guards)

    def _visit_leaf(self, stmt: Stmt) -> None:
        match stmt:
            case Let():
                self.bindings[stmt.var] = self._binding(stmt.value)
            case Allocate():
                self.allocations[stmt.buffer] = self._innermost()
            case Break():
                if self.loops and self.loops[-1] is not None:
                    self.left_early.add(self.loops[-1])
            case Return():
                self.left_early.update(var for var in self.loops if var is not None)
            case _:
                pass

    def _binding(self, value: Expr) -> Binding:
        return Binding(value, self._innermost())

    def _innermost(self) -> Var | None:
        return next((var for var in reversed(self.loops) if var is not None), None)
