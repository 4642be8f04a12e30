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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hybridjit.frontend.frame import Carry, LoopScope, Path, Variable
from hybridjit.frontend.messages import MessageTranslator
from hybridjit.frontend.values import Value
from hybridjit.frontend.variables import Web
from hybridjit.ir.expr import Buffer, Const, Var
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
    homes: dict[tuple[Path, Web], list[Stmt]]
    carries: tuple[Carry, ...]
    maybe_unbound: dict[Web, Buffer]


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
            dict(self.homes),
            tuple(self.carries),
            dict(frame.maybe_unbound),
        )

    def go_back(self, moment: _Moment) -> None:
        """Forget what was translated since then."""
        self.body[:] = moment.body
        self.frame.bindings = dict(moment.bindings)
        self.frame.loops[:] = moment.loops
        self.unit.open_loops, self.depth = moment.open_loops, moment.depth
        del self.unit.errors[moment.errors :]
        self.homes, self.carries[:] = dict(moment.homes), moment.carries
        self.frame.maybe_unbound = dict(moment.maybe_unbound)
        self.computed_indices.clear()
        self.checked_rows.clear()

    def divide(self, stmt: ast.If | ast.With, rest: Sequence[Segment], web: Web) -> bool:
        """Translate an `if`, and what follows it, for each branch on its own."""
        if isinstance(stmt, ast.With):
            return self._run_chain([(stmt.body, 0), *rest])
        cond = self.condition(stmt.test)
        if isinstance(cond, Const):  # what is to be divided stands in the branch that is taken
            return self._run_chain([(stmt.body if cond.value else stmt.orelse, 0), *rest])
        bindings, homes, home = self.frame.bindings, dict(self.homes), self.body
        blocks = self.carries[-1].blocks if self.carries else []
        ends_round = any(block is home for block in blocks)
        sides: list[Stmt] = []
        goes_on = False
        for branch in (stmt.body, stmt.orelse):
            self.frame.bindings, self.homes = dict(bindings), dict(homes)
            with self.collect() as stmts:
                self.depth += 1
                self._settle(web, home, stmt)
                if ends_round:
                    blocks.append(stmts)
                side_goes_on = self._run_chain([(branch, 0), *rest])
                if side_goes_on and ends_round:
                    self.leave_round()
                    side_goes_on = False
                goes_on = goes_on or side_goes_on
                self.depth -= 1
                sides.append(self.close(stmts))
                self._keep_first_arrays(bindings, homes, home)
        self.frame.bindings, self.homes = bindings, homes
        self.emit(If(cond, sides[0], sides[1], span=self.span(stmt)))
        return goes_on

    def _keep_first_arrays(
        self,
        bindings: dict[Web, Value | Variable],
        homes: Mapping[tuple[Path, Web], list[Stmt]],
        home: list[Stmt],
    ) -> None:
        """Names from further out that got their first array in a branch have it after it, too."""
        for web, bound in bindings.items():
            is_new = isinstance(bound, Variable) and self.frame.bindings[web] is not bound
            if is_new and homes.get((self.frame.path, web)) is not home:
                bindings[web] = self.frame.bindings[web]

    def leave_round(self, *, and_loop: bool = False) -> None:
        """Note where a round of a loop ends; provided by the layer above."""
        raise NotImplementedError

    def _settle(self, web: Web, home: list[Stmt], stmt: ast.stmt) -> None:
        """Make names live in the branch that is being translated; they keep what they stand for."""
        for key, block in self.homes.items():
            if block is home:
                self.homes[key] = self.body
        bound = self.frame.bindings[web]
        if isinstance(bound, Variable) and bound.buffer is None:
            self.declare(web, stmt)

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
