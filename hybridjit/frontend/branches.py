"""Branches that give one name different arrays: what follows is translated once for each.

    if c:                       if c:
        x = a                       x = a
    else:                           use(x)
        x = b          -->      else:
    use(x)                          x = b
                                    use(x)

A number can be a variable that both branches store to, and so can arrays of one shape and type.
Other arrays cannot: a name stands for one of them when the script is translated.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from hybridjit.frontend.frame import LoopScope, Variable
from hybridjit.frontend.messages import MessageTranslator
from hybridjit.frontend.values import Value
from hybridjit.frontend.variables import Web
from hybridjit.ir.expr import Var
from hybridjit.ir.stmt import If, Stmt


@dataclass(frozen=True, slots=True)
class _Moment:
    """What a statement that is given up leaves as it was."""

    body: tuple[Stmt, ...]
    bindings: dict[Web, Value | Variable]
    loops: tuple[LoopScope, ...]
    open_loops: tuple[Var, ...]
    depth: int
    errors: int


Segment = tuple[Sequence[ast.stmt], int]
"""A block, and the statement of it to begin with."""


class BranchTranslator(MessageTranslator):
    """Statements that are tried, and divided where that is needed."""

    # What follows the block that is being translated, if it belongs to a branch of its own.
    chain: Sequence[Segment] = ()

    def moment(self) -> _Moment:
        """The state before a statement."""
        frame, unit = self.frame, self.unit
        return _Moment(
            tuple(self.body),
            dict(frame.bindings),
            tuple(frame.loops),
            unit.open_loops,
            self.depth,
            len(unit.errors),
        )

    def go_back(self, moment: _Moment) -> None:
        """Forget what was translated since then."""
        self.body[:] = moment.body
        self.frame.bindings = dict(moment.bindings)
        self.frame.loops[:] = moment.loops
        self.unit.open_loops, self.depth = moment.open_loops, moment.depth
        del self.unit.errors[moment.errors :]
        self.computed_indices.clear()

    def divide(self, stmt: ast.If, rest: Sequence[Segment], web: Web) -> bool:
        """Translate an `if`, and what follows it, for each branch on its own."""
        cond = self.condition(stmt.test)
        bindings, home = self.frame.bindings, self.homes[self.frame.path, web]
        sides: list[Stmt] = []
        goes_on = False
        for branch in (stmt.body, stmt.orelse):
            self.frame.bindings = dict(bindings)
            with self.collect() as stmts:
                self.depth += 1
                self._settle(web, stmt)
                goes_on = self._run_chain([(branch, 0), *rest]) or goes_on
                self.depth -= 1
                sides.append(self.close(stmts))
        self.frame.bindings, self.homes[self.frame.path, web] = bindings, home
        self.emit(If(cond, sides[0], sides[1], span=self.span(stmt)))
        return goes_on

    def _settle(self, web: Web, stmt: ast.stmt) -> None:
        """Make a name live in the branch that is being translated; it keeps what it stands for."""
        bound = self.frame.bindings[web]
        if isinstance(bound, Variable) and bound.buffer is None:
            self.declare(web, stmt)
        else:
            self.homes[self.frame.path, web] = self.body

    def _run_chain(self, segments: Sequence[Segment]) -> bool:
        """Translate blocks one after the other; an `if` that is divided takes what follows it."""
        outer, self.chain = self.chain, segments
        goes_on = True
        while goes_on and self.chain:
            (block, first), self.chain = self.chain[0], self.chain[1:]
            goes_on = self.run_block(block, first)
        self.chain = outer
        return goes_on

    def run_block(self, body: Sequence[ast.stmt], first: int = 0) -> bool:
        """Translate the statements of a block; provided by the layer above."""
        raise NotImplementedError
