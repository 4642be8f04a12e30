"""Fold what a packed array is made of, and not the packed array.

    for i in range(n):                            for i in range(n):
        count = count + (1 if m[i] else 0)            count = count + (1 if m[i] else 0)
    selected = allocate((count,), ...)
    for i in range(n):                     -->
        if m[i]:
            selected[position] = b[i]
            position = position + 1
    for p in range(count):                        for i in range(n):
        s = s + selected[p]                           s = s + (b[i] if m[i] else -0.0)

The elements come in the same order as before, and what stands in the place of those that were left
out changes no bit of a fold. The loop that counts tells that each element of the array is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hybridjit.analysis.faults import Fault
from hybridjit.analysis.packing import Group, find_packing
from hybridjit.analysis.private_reduction import find_identity
from hybridjit.analysis.reduction import Reduction, find_reduction
from hybridjit.arith.ranges import ONE, ZERO
from hybridjit.ir.expr import Add, Buffer, Call, Const, Expr, Load, Max, Min, Mul, Select, Var
from hybridjit.ir.stmt import Allocate, For, If, Let, LoopKind, Stmt, Store, flat_stmts, seq
from hybridjit.ir.visit import substitute, walk
from hybridjit.record import record
from hybridjit.schedule.arrays.fusion import Fusion
from hybridjit.schedule.arrays.replace_loads import ReplaceLoads, element_at


@record(eq=False)
class Packed:
    """A packed array that is folded, and nothing else: `value` of the iterations of `loop` that
    `condition` lets through. `needless` are all statements that only make it.
    """

    buffer: Buffer
    loop: For
    condition: Expr
    lets: tuple[Let, ...]
    value: Expr
    needless: list[Stmt]
    users: list[For]

    @property
    def roots(self) -> list[Expr]:
        """What an element is computed by, the condition included."""
        return [self.condition, *(let.value for let in self.lets), self.value]


def find_packed(fusion: Fusion, stmts: Sequence[Stmt], allocation: Allocate) -> Packed | None:
    """What the array of `allocation` packs, if every use of it is a fold of all its elements."""
    buffer = allocation.buffer
    touching = [s for s in stmts if s is not allocation and fusion.footprint(s).touches(buffer)]
    if buffer.ndim != 1 or buffer.is_register or len(touching) < 2:
        return None
    loop, *users = touching
    group = _find_group(loop, buffer)
    if group is None or not isinstance(loop, For):
        return None
    condition, lets = _parts(loop, group)
    (store,) = group.stores
    folds = [user for user in users if isinstance(user, For)]
    needless = [allocation, *_bookkeeping(fusion, stmts, group), loop]
    found = Packed(buffer, loop, condition, lets, store.value, needless, folds)
    counter = _find_counter(fusion, stmts, found)
    is_known = counter is not None and len(needless) == 4 and len(folds) == len(users)
    if not is_known or not all(_is_fold(fusion, user, buffer) for user in folds):
        return None
    is_safe = all(_is_inside(fusion, root) for root in found.roots)
    return found if is_safe and _sources_stay(fusion, stmts, counter, found) else None


def make_unpacked(fusion: Fusion, stmts: Sequence[Stmt], packed: Packed) -> list[Stmt] | None:
    """`stmts` without a packed array; None if what is made of its elements may fail."""
    made: dict[Stmt, For] = {user: _Unpack(fusion, packed).fold(user) for user in packed.users}
    if any(fusion.fault(fold) is not Fault.NEVER for fold in made.values()):
        return None
    needless = {id(stmt) for stmt in packed.needless}
    return [made.get(stmt, stmt) for stmt in stmts if id(stmt) not in needless]


# -- the loop that packs -------------------------------------------------------------------------


def _find_group(loop: Stmt, buffer: Buffer) -> Group | None:
    """The stores of a loop that packs `buffer` under one condition, and does nothing else."""
    if not isinstance(loop, For) or (loop.start, loop.step) != (ZERO, ONE):
        return None
    match flat_stmts(loop.body):
        case [If(_, then, None)] if loop.kind is LoopKind.SERIAL:
            pass
        case _:
            return None
    packing = find_packing(loop)
    if packing is None or len(packing.groups) != 1 or len(packing.stores) != 1:
        return None
    (group,) = packing.groups
    known = {id(stmt) for stmt in (*group.names, *group.stores, group.step)}
    others = [stmt for stmt in flat_stmts(then) if id(stmt) not in known]
    is_plain = not group.is_checked and all(isinstance(stmt, Let) for stmt in others)
    return group if is_plain and group.stores[0].buffer is buffer else None


def _parts(loop: For, group: Group) -> tuple[Expr, tuple[Let, ...]]:
    """The condition of a loop that packs, and the names that the value it packs needs."""
    (guard,) = flat_stmts(loop.body)
    assert isinstance(guard, If)
    names = {id(name) for name in group.names}
    stmts = (stmt for stmt in flat_stmts(guard.then) if id(stmt) not in names)
    return guard.cond, tuple(stmt for stmt in stmts if isinstance(stmt, Let))


def _bookkeeping(fusion: Fusion, stmts: Sequence[Stmt], group: Group) -> list[Stmt]:
    """The statements that make the next free place, 0 to begin with, for this loop alone."""
    users = [stmt for stmt in stmts if fusion.footprint(stmt).touches(group.count)]
    match users:
        case [Allocate() as made, Store(_, (), Const(0)) as start, For()]:
            return [made, start]
        case _:
            return []


def _find_counter(fusion: Fusion, stmts: Sequence[Stmt], packed: Packed) -> int | None:
    """Where the iterations are counted that are let through, if the size of the array is that."""
    (size,) = packed.buffer.shape
    lets = [k for k, s in enumerate(stmts) if isinstance(s, Let) and s.var is size]
    if len(lets) != 1:
        return None
    named = stmts[lets[0]]
    assert isinstance(named, Let)
    if not isinstance(named.value, Load) or not named.value.buffer.is_register:
        return None
    count = named.value.buffer
    writers = [k for k, s in enumerate(stmts) if count in fusion.footprint(s).writes]
    match [stmts[k] for k in writers]:
        case [Allocate(), Store(_, (), Const(0)), For(var, body=Store() as step) as loop]:
            pass
        case _:
            return None
    one = Select(substitute(packed.condition, {packed.loop.var: var}), ONE, ZERO)
    is_count = step.buffer is count and step.value == Add(Load(count, ()), one)
    is_whole = fusion.is_nest(loop) and fusion.ranges.same(loop.stop, packed.loop.stop)
    return writers[-1] if is_count and is_whole and writers[-1] < lets[0] else None


def _is_inside(fusion: Fusion, root: Expr) -> bool:
    """True if everything that is read is there, for all iterations of the loop."""
    loads = (node for node in walk(root) if isinstance(node, Load))
    pairs = ((load.indices, load.buffer.shape) for load in loads)
    return all(
        fusion.faults.is_inside(index, size)
        for indices, shape in pairs
        for index, size in zip(indices, shape, strict=True)
    )


def _sources_stay(
    fusion: Fusion, stmts: Sequence[Stmt], counter: int | None, packed: Packed
) -> bool:
    """True if what is packed is the same from where it is counted to where it is folded."""
    sources = {name for name in fusion.footprint(packed.loop).reads if isinstance(name, Buffer)}
    last = max(k for k, stmt in enumerate(stmts) if any(stmt is user for user in packed.users))
    between = [
        fusion.footprint(stmt) for stmt in stmts[0 if counter is None else counter : last + 1]
    ]
    own = {packed.buffer, *(s.buffer for s in packed.needless if isinstance(s, Allocate))}
    return not any((sources - own) & found.writes or found.acts for found in between)


# -- the loops that fold -------------------------------------------------------------------------


def _is_fold(fusion: Fusion, user: For, buffer: Buffer) -> bool:
    """True for a loop over all elements of `buffer` that folds them into a variable."""
    if not fusion.is_nest(user) or not fusion.ranges.same(user.stop, buffer.shape[0]):
        return False
    *lets, last = flat_stmts(user.body)
    if not all(isinstance(let, Let) for let in lets) or not isinstance(last, Store):
        return False
    nodes = list(walk(user.body))
    loads = [node for node in nodes if isinstance(node, Load) and node.buffer is buffer]
    is_each = all(load.indices == (user.var,) for load in loads)
    is_all = sum(node is user.var for node in nodes) == len(loads)
    return is_each and is_all and last.buffer.is_register and _direct(last) is not None


def _direct(store: Store) -> Reduction | None:
    """The fold of a store that is written as `s op update`."""
    element = Load(store.buffer, store.indices)
    match store.value:
        case Add(lhs, _) | Mul(lhs, _) | Min(lhs, _) | Max(lhs, _) if lhs == element:
            return find_reduction(store)
        case Call(_, (lhs, _)) if lhs == element:
            return find_reduction(store)
        case _:
            return None


class _Unpack(ReplaceLoads):
    """Put what a packed array is made of in the place of its elements."""

    def __init__(self, fusion: Fusion, packed: Packed) -> None:
        super().__init__(packed.buffer)
        self.packed = packed
        loop = packed.loop
        self.var = Var(loop.var.name, loop.var.of, span=loop.var.span)
        fusion.add_loop(self.var, loop.stop)

    def value_of(self, load: Load) -> Expr:
        places: dict[Var, Expr] = {self.packed.loop.var: self.var}
        lets, value = element_at(places, self.packed.lets, self.packed.value)
        self.lets += lets
        return value

    def fold(self, user: For) -> For:
        """The loop over all iterations for one over the elements that were packed."""
        *lets, last = flat_stmts(self.rewrite(user.body))
        assert isinstance(last, Store)
        fold = _direct(last)
        assert fold is not None
        condition = substitute(self.packed.condition, {self.packed.loop.var: self.var})
        nothing = find_identity(fold.op, last.buffer.dtype)
        update = Select(condition, fold.update, nothing)
        match last.value:
            case Call(_, (element, _)):
                value: Expr = replace(last.value, args=(element, update))
            case binary:
                value = replace(binary, rhs=update)
        body = seq(*lets, replace(last, value=value))
        return replace(user, var=self.var, stop=self.packed.loop.stop, body=body)
