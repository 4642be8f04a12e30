"""Say once what both sides of a condition say, so that less of it needs masks.

    if a[i] > 0.5:                     x = a[i]
        b[i] = a[i] * 2.0       -->    b[i] = x * 2.0 if x > 0.5 else x + 3.0
    else:
        b[i] = a[i] + 3.0

What a condition has loaded is not loaded again, and an element that both sides set is set once; if
its values need loads of their own, they stay under the condition. A variable that has a value keeps
it on the other side: `if x > 0: x = x ** 0.5`. For lanes: a store under a mask,
or two, takes longer than a choice. Relies on: nothing in the body that fails.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterator, Sequence

from hybridjit.arith.totality import operation_may_fail
from hybridjit.ir.expr import And, Buffer, Expr, Load, Node, Or, Select, Var
from hybridjit.ir.stmt import Allocate, If, Let, Seq, Stmt, Store, seq
from hybridjit.ir.visit import StmtMutator, children, rewrite, walk, walk_stmts


def join_branches(body: Stmt) -> Stmt:
    """`body`, that of a loop, with less in its branches; the same object if there are none."""
    return _JoinBranches().rewrite(body)


class _JoinBranches(StmtMutator):
    """`has_value` are the variables that are sure to have one."""

    def __init__(self) -> None:
        self.has_value: set[Buffer] = set()

    def rewrite_Seq(self, node: Seq) -> Stmt:
        before = set(self.has_value)
        done: list[Stmt] = []
        for stmt in node.stmts:
            done.append(self.rewrite(stmt))
            if isinstance(stmt, Store) and stmt.buffer.is_register:
                self.has_value.add(stmt.buffer)
        self.has_value = before
        return node if all(map(operator.is_, done, node.stmts)) else seq(*done)

    def rewrite_If(self, node: If) -> Stmt:
        names = [Let(Var(load.buffer.name, load.dtype), load) for load in _loaded_again(node)]
        branch = self.generic(_with_names(node, names) if names else node)
        match branch:
            case If(cond, Store(buffer, (), value) as then, None) if buffer in self.has_value:
                if not _needs_its_condition(value):
                    chosen = Select(cond, value, Load(buffer), span=branch.span)
                    return seq(*names, dataclasses.replace(then, value=chosen))
            case _:
                pass
        return seq(*names, _join(branch))


def _with_names(branch: If, names: Sequence[Let]) -> If:
    """`branch` with names for values; what had another name for one of them has this one, too."""
    known: dict[Node, Node] = {name.value: name.var for name in names}
    lets = [node for node in walk_stmts(branch) if isinstance(node, Let) and node.value in known]
    known |= {let.var: known[let.value] for let in lets}
    needless = {let.var for let in lets}

    def rule(node: Node) -> Node | None:
        match node:
            case Let(var) if var in needless:
                return Seq(())
            case Seq(stmts):
                return seq(*stmts)
            case _:
                return known.get(node)

    return rewrite(branch, rule)


def _loaded_again(branch: If) -> list[Load]:
    """The elements that the condition loads, and a side of it, too, before it could change them."""
    inside = {node for side in _sides(branch) for node in walk(side) if isinstance(node, Load)}
    set_inside = {buffer for side in _sides(branch) for buffer in _set_early(side)}
    sure = dict.fromkeys(_sure_loads(branch.cond))
    return [load for load in sure if load in inside and set_inside.isdisjoint(_read_for(load))]


def _read_for(load: Load) -> set[Buffer]:
    """What an element depends on: its array, and those that its indices are read from."""
    return {node.buffer for node in walk(load) if isinstance(node, Load)}


def _sides(branch: If) -> list[Stmt]:
    return [branch.then] if branch.otherwise is None else [branch.then, branch.otherwise]


def _set_early(side: Stmt) -> Iterator[Buffer]:
    """The arrays that `side` stores to, but for a store that is all it does."""
    if not isinstance(side, Store):
        yield from (node.buffer for node in walk_stmts(side) if isinstance(node, Store))


def _sure_loads(node: Node) -> Iterator[Load]:
    """What is loaded from arrays whatever the values are; the largest of what is nested."""
    match node:
        case Load() if node.indices:
            yield node
        case And() | Or():
            yield from _sure_loads(node.lhs)
        case Select():
            yield from _sure_loads(node.cond)
        case _:
            for child in children(node):
                yield from _sure_loads(child)


def _join(branch: If) -> Stmt:
    """One store for two of the same element."""
    match branch:
        case If(cond, Store() as then, Store() as otherwise) if _is_same_element(then, otherwise):
            values = then.value, otherwise.value
        case _:
            return branch
    if not any(_loads(value) for value in values):
        return dataclasses.replace(then, value=Select(cond, *values, span=branch.span))
    chosen = Buffer(then.buffer.name, then.buffer.dtype, (), Buffer.REGISTER)
    sides = [Store(chosen, (), value, span=branch.span) for value in values]
    return seq(
        Allocate(chosen, zero=False),
        dataclasses.replace(branch, then=sides[0], otherwise=sides[1]),
        dataclasses.replace(then, value=Load(chosen)),
    )


def _is_same_element(first: Store, second: Store) -> bool:
    is_array = bool(first.indices) and first.buffer is second.buffer
    return is_array and first.indices == second.indices


def _needs_its_condition(value: Expr) -> bool:
    """Whether a value may not be there, or fail, where it is not asked for."""
    return _loads(value) or any(map(operation_may_fail, walk(value)))


def _loads(value: Expr) -> bool:
    """Whether a value needs an element of an array, which may be there under its condition only."""
    return any(isinstance(node, Load) and node.indices for node in walk(value))
