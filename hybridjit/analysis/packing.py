"""Loops that pack: what is let through goes to the next free place.

    for i in range(n):                     for i in range(n):
        if a[i] > 0.5:                         if a[i] > 0.5:
            out[k] = a[i]           -->            packed[i] = a[i]         (what `plain` is)
            k = k + 1

The iterations hand on nothing but `k`, and each writes to another place. So they can be lanes as
those of the loop on the right can, if the lanes that are let through write side by side: vectors
have an instruction for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Add, Bounded, Buffer, Const, Expr, Load, Node, Var
from hybridjit.ir.stmt import For, If, Let, Seq, Stmt, Store, flat_stmts, seq
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.record import record


@record
class Group:
    """The stores to the next free place that one count stands for, and the one that counts."""

    count: Buffer
    stores: tuple[Store, ...]
    names: tuple[Let, ...]  # `at = k`
    step: Store

    @property
    def is_checked(self) -> bool:
        """Whether some of the places are checked."""
        return any(isinstance(store.indices[-1], Bounded) for store in self.stores)


@record
class Packing:
    """The groups of a loop, at least one."""

    loop: For
    groups: tuple[Group, ...]
    # The loop with arrays of their own for what is packed: each iteration has its place.
    plain: For

    @property
    def stores(self) -> list[Store]:
        """All stores to next free places."""
        return [store for group in self.groups for store in group.stores]


def _make_plain(loop: For, groups: Sequence[Group]) -> For:
    changed: dict[int, Stmt] = {}
    for group in groups:
        changed |= {id(stmt): Seq(()) for stmt in (*group.names, group.step)}
        changed |= {id(store): _in_its_place(store, loop) for store in group.stores}
    return dataclasses.replace(loop, body=_with(loop.body, changed))


def _in_its_place(store: Store, loop: For) -> Store:
    like = store.buffer
    own = Buffer(like.name, like.dtype, (loop.stop,), like.scope)
    return dataclasses.replace(store, buffer=own, indices=(loop.var,))


def _with(stmt: Stmt, changed: dict[int, Stmt]) -> Stmt:
    """`stmt` with others in the place of some of the statements in it, by identity."""
    if id(stmt) in changed:
        return changed[id(stmt)]
    match stmt:
        case Seq(stmts):
            return seq(*(_with(each, changed) for each in stmts))
        case If(_, then, otherwise):
            then = _with(then, changed)
            other = None if otherwise is None else _with(otherwise, changed)
            return dataclasses.replace(stmt, then=then, otherwise=other)
        case _:
            return stmt


def find_packing(loop: For) -> Packing | None:
    """What `loop` packs; None if nothing, or if it does anything else with what it packs."""
    candidates = [
        node for node in walk_stmts(loop.body) if isinstance(node, Store) and _counts(node)
    ]
    if not candidates:
        return None
    nodes = list(walk(loop.body))
    lists = list(_straight(loop.body))
    groups = [_find_group(step, nodes, lists) for step in candidates]
    found = tuple(group for group in groups if group is not None)
    packing = Packing(loop, found, _make_plain(loop, found))
    can = bool(found) and _is_apart(packing, nodes) and _is_checked_first(packing, nodes)
    return packing if can else None


def _counts(store: Store) -> bool:
    """True for `k = ... + 1` of a variable."""
    is_variable = store.buffer.is_register and store.buffer.dtype is INT64
    return is_variable and isinstance(store.value, Add) and store.value.rhs == Const(1)


def _straight(stmt: Stmt) -> Iterator[list[Stmt]]:
    """The lists of statements that run one after the other, once in each iteration at most."""
    stmts = flat_stmts(stmt)
    yield stmts
    for each in stmts:
        if isinstance(each, If):
            yield from _straight(each.then)
            if each.otherwise is not None:
                yield from _straight(each.otherwise)


def _find_group(step: Store, nodes: list[Node], lists: list[list[Stmt]]) -> Group | None:
    count = step.buffer
    stmts = next((stmts for stmts in lists if any(each is step for each in stmts)), None)
    if stmts is None or sum(isinstance(n, Store) and n.buffer is count for n in nodes) != 1:
        return None
    before = stmts[: next(k for k, each in enumerate(stmts) if each is step)]
    names = [stmt for stmt in before if isinstance(stmt, Let) and _is_load(stmt.value, count)]
    ways = {name.var for name in names}
    stores = [s for s in before if isinstance(s, Store) and _is_next(s, count, ways)]
    assert isinstance(step.value, Add)
    uses = len(names) + len(stores) + 1  # every use of `k` and `at` there is
    mentions = sum(_mentions(node, count, ways) for node in nodes)
    if not stores or not _stands_for(step.value.lhs, count, ways) or mentions != uses:
        return None
    return Group(count, tuple(stores), tuple(names), step)


def _mentions(node: Node, count: Buffer, ways: set[Var]) -> bool:
    return (isinstance(node, Load) and node.buffer is count) or node in ways


def _is_load(expr: Expr, count: Buffer) -> bool:
    return isinstance(expr, Load) and expr.buffer is count


def _stands_for(expr: Expr, count: Buffer, ways: set[Var]) -> bool:
    return _is_load(expr, count) or expr in ways


def _is_next(store: Store, count: Buffer, ways: set[Var]) -> bool:
    """True for `out[k] = ...`."""
    if len(store.indices) != 1:
        return False
    (index,) = store.indices
    place = index.index if isinstance(index, Bounded) else index
    return _stands_for(place, count, ways)


def _is_checked_first(packing: Packing, nodes: list[Node]) -> bool:
    """Whether places are checked, if at all, before anything is stored in an iteration.

    Lanes that run into an error leave it to the iterations in their order to get there.
    """
    checked = [group for group in packing.groups if group.is_checked]
    stores = (node for node in nodes if isinstance(node, Store) and not node.buffer.is_register)
    first = next(stores)
    return not checked or (len(checked) == 1 and any(first is s for s in checked[0].stores))


def _is_apart(packing: Packing, nodes: list[Node]) -> bool:
    """Whether nothing else in the loop touches the arrays that are packed, and sizes stay."""
    stores = packing.stores
    buffers = [store.buffer for store in stores]
    touched = [node.buffer for node in nodes if isinstance(node, Load | Store)]
    bound = {node.var for node in nodes if isinstance(node, Let | For)} | {packing.loop.var}
    extents = [i.extent for store in stores for i in store.indices if isinstance(i, Bounded)]
    is_fixed = not any(
        isinstance(node, Load) or node in bound for extent in extents for node in walk(extent)
    )
    return is_fixed and all(
        touched.count(buffer) == 1 and not buffer.dtype.is_complex for buffer in buffers
    )
