"""Find and replace loops, blocks and statements in a function.

A loop is named by its variable and a block by its name: both are unique and survive rewriting.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import Any

from hybridjit.arith.substitution import FoldingSubstitute
from hybridjit.errors import InternalError
from hybridjit.ir.expr import And, Const, Expr, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import (
    Allocate,
    Block,
    Break,
    Continue,
    For,
    If,
    Iter,
    Return,
    Seq,
    Stmt,
    While,
    flat_stmts,
)
from hybridjit.ir.visit import Mutator, children, walk, walk_stmts


def loops_of(func: PrimFunc) -> list[For]:
    """Every loop, outer ones before inner ones, in the order of the text."""
    return [stmt for stmt in walk_stmts(func.body) if isinstance(stmt, For)]


def blocks_of(func: PrimFunc) -> list[Block]:
    """Every block, in the order of the text."""
    return [stmt for stmt in walk_stmts(func.body) if isinstance(stmt, Block)]


def find_loop(func: PrimFunc, var: Var) -> For | None:
    """The loop over `var`, if there is one."""
    return next((loop for loop in loops_of(func) if loop.var is var), None)


def the_loop(func: PrimFunc, var: Var) -> For:
    """The loop over `var`."""
    loop = find_loop(func, var)
    if loop is None:
        raise InternalError(f"there is no loop over '{var.name}'", "schedule")
    return loop


def the_block(func: PrimFunc, name: str) -> Block:
    """The block called `name`."""
    block = next((block for block in blocks_of(func) if block.name == name), None)
    if block is None:
        raise InternalError(f"there is no block '{name}'", "schedule")
    return block


def path_to(func: PrimFunc, target: Stmt) -> tuple[Stmt, ...]:
    """The statements from the body of `func` down to `target`, both included."""
    found = _find_path(func.body, target)
    if found is None:
        raise InternalError("the statement is not part of the function", "schedule")
    return tuple(found)


def _find_path(stmt: Stmt, target: Stmt) -> list[Stmt] | None:
    if stmt is target:
        return [stmt]
    for child in children(stmt):
        if isinstance(child, Stmt):
            below = _find_path(child, target)
            if below is not None:
                return [stmt, *below]
    return None


def loops_around(func: PrimFunc, target: Stmt) -> list[For]:
    """The loops that `target` stands in, outermost first; a loop does not stand in itself."""
    return [stmt for stmt in path_to(func, target)[:-1] if isinstance(stmt, For)]


def replace_stmt(func: PrimFunc, old: Stmt, new: Stmt) -> PrimFunc:
    """`func` with `new` in the place of `old`. A sequence joins the sequence that it stands in."""
    return dataclasses.replace(func, body=_Replace({old: new}).rewrite(func.body))


def replace_stmts(func: PrimFunc, changes: dict[Stmt, Stmt]) -> PrimFunc:
    """`func` with each of the statements replaced; none of them stands inside another."""
    return dataclasses.replace(func, body=_Replace(changes).rewrite(func.body))


def replace_inside(stmt: Stmt, changes: dict[Stmt, Stmt]) -> Stmt:
    """`stmt` with statements in it replaced; none of them stands inside another."""
    changed: Any = _Replace(changes).rewrite(stmt)
    return changed


class _Replace(Mutator):
    def __init__(self, changes: dict[Stmt, Stmt]) -> None:
        self.changes = changes

    def rewrite(self, node: Node) -> Node:  # type: ignore[override]
        if isinstance(node, Expr):
            return node
        if isinstance(node, Stmt) and node in self.changes:
            return self.changes[node]
        return super().rewrite(node)


class _SubstituteLoop(FoldingSubstitute):
    """Replace a loop's variable, and keep what the iters bound to it range over."""

    def __init__(self, variables: dict[Var, Expr], ranges: dict[Var, tuple[Expr, Expr]]) -> None:
        super().__init__(variables)
        self.ranges = ranges

    def rewrite_Iter(self, node: Iter) -> Node:
        made: Iter = self.generic(node)
        if made is node:
            return node
        domain = made.domain
        if isinstance(node.value, Var):
            domain = self.ranges.get(node.value, domain)
        # A value that has become a loop variable ranges over that loop.
        return dataclasses.replace(made, domain=None if isinstance(made.value, Var) else domain)


def substitute_loop(body: Stmt, loop: For, value: Expr) -> Stmt:
    """`body` of `loop` with `value` for the variable of the loop."""
    ranges = {loop.var: (loop.start, loop.stop)}
    return _SubstituteLoop({loop.var: value}, ranges).rewrite(body)


def only_stmt(stmt: Stmt) -> Stmt:
    """The statement that `stmt` amounts to: the one in a sequence of one, or itself."""
    stmts = flat_stmts(stmt)
    return stmts[0] if len(stmts) == 1 else stmt


def is_left_early(loop: For) -> bool:
    """Whether a `break` or a `return` may end `loop` before its last iteration."""
    return any(isinstance(stmt, Return) for stmt in walk_stmts(loop.body)) or jumps(
        loop.body, Break
    )


def jumps(stmt: Stmt, *kinds: type[Stmt]) -> bool:
    """Whether `stmt` holds a `break` or a `continue`, whichever is asked for, of a loop around."""
    match stmt:
        case Break() | Continue():
            return isinstance(stmt, kinds)
        case For() | While():
            return False
        case _:
            return any(jumps(child, *kinds) for child in children(stmt) if isinstance(child, Stmt))


def variables_in(expr: Expr) -> Iterator[Var]:
    """The variables that `expr` mentions."""
    return (node for node in walk(expr) if isinstance(node, Var))


def variables_used(stmt: Stmt) -> Iterator[Var]:
    """The variables that `stmt` mentions, those in the shapes of the buffers it makes included."""
    for node in walk(stmt):
        match node:
            case Var():
                yield node
            case Allocate(buffer):
                for extent in buffer.shape:
                    yield from variables_in(extent)
            case _:
                pass


def guarded(conditions: Sequence[Expr], body: Stmt) -> Stmt:
    """`body` where all conditions hold. The IR has no `if` of a constant."""
    left = [cond for cond in conditions if not (isinstance(cond, Const) and cond.value)]
    if any(isinstance(cond, Const) for cond in left):
        return Seq(())
    return If(functools.reduce(And, left), body) if left else body
