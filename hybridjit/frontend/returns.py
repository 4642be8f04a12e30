"""Turn the returns of an inlined function into structured control flow.

    if c:                     if c:
        return x                  r = x
    rest              -->     else:
    return y                      rest
                                  r = y

A return inside a loop sets a flag and leaves the loop; what follows looks at the flag.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace

from hybridjit.frontend.values import Value
from hybridjit.ir.dtype import BOOL
from hybridjit.ir.expr import Buffer, Const, Load, Not
from hybridjit.ir.stmt import Allocate, Block, Break, For, If, Seq, Stmt, Store, While
from hybridjit.ir.visit import walk_stmts
from hybridjit.record import record


@record(eq=False)
class InlineReturn(Stmt):
    """A `return` of an inlined function, until it is known what all of them look like."""

    value: Value = field(kw_only=True)


def find_returns(stmts: Sequence[Stmt]) -> list[InlineReturn]:
    """Every inlined return in `stmts`, in order."""
    return [node for stmt in stmts for node in walk_stmts(stmt) if isinstance(node, InlineReturn)]


def structure_returns(
    stmts: Sequence[Stmt],
    assign: Callable[[InlineReturn], list[Stmt]],
    close: Callable[[Sequence[Stmt]], Stmt],
) -> list[Stmt]:
    """`stmts` with every return replaced by what `assign` makes of it, and the rest skipped."""
    structure = _Structure(assign, close)
    body = structure.block(list(stmts), in_loop=False, set_flag=False)
    if not structure.flag_is_used:
        return body
    return [Allocate(structure.flag, zero=False), structure.set_flag(False), *body]


class _Structure:
    def __init__(
        self,
        assign: Callable[[InlineReturn], list[Stmt]],
        close: Callable[[Sequence[Stmt]], Stmt],
    ) -> None:
        self.assign = assign
        self.close = close
        self.flag = Buffer("returned", BOOL, (), Buffer.REGISTER)
        self.flag_is_used = False

    def set_flag(self, value: bool) -> Stmt:
        self.flag_is_used = True
        return Store(self.flag, (), Const(value, BOOL))

    def block(self, stmts: list[Stmt], *, in_loop: bool, set_flag: bool) -> list[Stmt]:
        done: list[Stmt] = []
        for position, stmt in enumerate(stmts):
            if not find_returns([stmt]):
                done.append(stmt)
                continue
            rest = stmts[position + 1 :]
            match stmt:
                case InlineReturn():
                    return [*done, *self.leave(stmt, in_loop=in_loop, set_flag=set_flag)]
                case If() if not in_loop:
                    return [*done, *self.branch(stmt, rest, set_flag=set_flag)]
                case For() | While():
                    body = self.nested(stmt.body, in_loop=True, set_flag=True)
                    done.append(replace(stmt, body=body))
                    after = self.after(rest, in_loop=in_loop, set_flag=set_flag)
                    return [*done, *after]
                case If() | Block() | Seq():
                    done.append(self.inside(stmt, in_loop=in_loop))
                    if not in_loop:
                        return [*done, *self.after(rest, in_loop=False, set_flag=set_flag)]
                case _:
                    raise AssertionError(type(stmt).__name__)
        return done

    def leave(self, stmt: InlineReturn, *, in_loop: bool, set_flag: bool) -> list[Stmt]:
        flag = [self.set_flag(True)] if set_flag or in_loop else []
        return [*self.assign(stmt), *flag, *([Break(span=stmt.span)] if in_loop else [])]

    def branch(self, stmt: If, rest: list[Stmt], *, set_flag: bool) -> list[Stmt]:
        """A branch that returns: what follows belongs to the other branch."""
        then, otherwise = _statements(stmt.then), _statements(stmt.otherwise)
        if _always_returns(stmt.then):
            otherwise = [*otherwise, *rest]
        elif _always_returns(stmt.otherwise):
            then = [*then, *rest]
        else:
            both = self.inside(stmt, in_loop=False)
            return [both, *self.after(rest, in_loop=False, set_flag=set_flag)]
        sides = [
            self.close(self.block(side, in_loop=False, set_flag=set_flag))
            for side in (then, otherwise)
        ]
        return [replace(stmt, then=sides[0], otherwise=sides[1])]

    def after(self, rest: list[Stmt], *, in_loop: bool, set_flag: bool) -> list[Stmt]:
        """What follows a statement that may have returned."""
        returned = Load(self.flag)
        if in_loop:
            rest = self.block(rest, in_loop=True, set_flag=set_flag)
            return [If(returned, Break()), *rest]
        if not rest:
            return []
        body = self.close(self.block(rest, in_loop=False, set_flag=set_flag))
        return [If(Not(returned), body)]

    def inside(self, stmt: If | Block | Seq, *, in_loop: bool) -> Stmt:
        match stmt:
            case If():
                otherwise = stmt.otherwise
                if otherwise is not None:
                    otherwise = self.nested(otherwise, in_loop=in_loop, set_flag=True)
                then = self.nested(stmt.then, in_loop=in_loop, set_flag=True)
                return replace(stmt, then=then, otherwise=otherwise)
            case Block():
                return replace(stmt, body=self.nested(stmt.body, in_loop=in_loop, set_flag=True))
            case Seq():
                return self.nested(stmt, in_loop=in_loop, set_flag=True)

    def nested(self, stmt: Stmt, *, in_loop: bool, set_flag: bool) -> Stmt:
        return self.close(self.block(_statements(stmt), in_loop=in_loop, set_flag=set_flag))


def _statements(stmt: Stmt | None) -> list[Stmt]:
    if stmt is None:
        return []
    return list(stmt.stmts) if isinstance(stmt, Seq) else [stmt]


def _always_returns(stmt: Stmt | None) -> bool:
    match stmt:
        case InlineReturn():
            return True
        case Seq(stmts):
            return any(_always_returns(inner) for inner in stmts)
        case If(_, then, otherwise):
            return _always_returns(then) and _always_returns(otherwise)
        case _:
            return False
