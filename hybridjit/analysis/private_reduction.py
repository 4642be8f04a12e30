"""Find the reductions of a loop that private copies can serve, one for each group of iterations.

    for i in ...:                     copy starts as the identity of +
        s = s + a[i]      is served by      copy = copy + a[i]      in some iterations, then
                                            s = s + copy            for one copy after the other

Where the groups are contiguous and the copies are combined in order, the result is that of the
plain loop: exactly for integers, bool, min and max, up to rounding for sums and products of
floats, which are taken only if the function allows reassociation, or the block that they stand in.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import islice
from typing import Any

from hybridjit.analysis.reduction import (
    Reduction,
    ReductionOp,
    find_guarded_reduction,
    find_reduction,
)
from hybridjit.arith.simplify import simplify
from hybridjit.arith.totality import is_total
from hybridjit.ir.dtype import BOOL, DType
from hybridjit.ir.expr import (
    Add,
    And,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Buffer,
    BufferRef,
    Call,
    Const,
    Expr,
    Le,
    Load,
    Lt,
    Max,
    Min,
    Mul,
    Node,
    Or,
    Sub,
    Var,
)
from hybridjit.ir.stmt import (
    REASSOCIATE,
    Allocate,
    Block,
    For,
    If,
    Iter,
    Let,
    Seq,
    Stmt,
    Store,
    While,
)
from hybridjit.ir.visit import Mutator, children, rewrite, substitute, walk, walk_stmts
from hybridjit.lazy import lazy_module
from hybridjit.record import record

ml_dtypes: Any = lazy_module("ml_dtypes")  # its types are not known

_COMBINE: dict[ReductionOp, type[Binary]] = {
    ReductionOp.ADD: Add,
    ReductionOp.MUL: Mul,
    ReductionOp.MIN: Min,
    ReductionOp.MAX: Max,
    ReductionOp.AND: And,
    ReductionOp.OR: Or,
    ReductionOp.BIT_AND: BitAnd,
    ReductionOp.BIT_OR: BitOr,
    ReductionOp.BIT_XOR: BitXor,
}
# Names of larger expressions are not expanded: names in names would grow without bound.
_MAX_NODES = 64
_SMALLEST = (ReductionOp.MIN, ReductionOp.MINIMUM)
_LARGEST = (ReductionOp.MAX, ReductionOp.MAXIMUM)


@record
class PrivateReduction:
    """`buffer[indices]`, which a loop touches only to combine it with new values by `op`.

    `is_flipped` if the element is the second operand: on equal floats (0.0 and -0.0) NumPy's
    minimum and maximum tell the two apart.
    """

    op: ReductionOp
    buffer: Buffer
    indices: tuple[Expr, ...]
    is_flipped: bool = False

    def identity(self, fastmath: Sequence[str] = ()) -> Const:
        """The value that changes nothing."""
        return find_identity(self.op, self.buffer.dtype, fastmath)

    def redirect(self, stmt: Stmt, copy: Buffer, indices: tuple[Expr, ...] = ()) -> Stmt:
        """`stmt` with every access to the element going to an element of `copy` instead."""
        return _Redirect(self.buffer, copy, indices).rewrite(stmt)

    def combine(self, value: Expr) -> Stmt:
        """Combine the element with what a copy has come to.

        Updates that are proved to stay inside the array need not run at all: guarded ones may
        name an element that does not exist.
        """
        joined = self.join(Load(self.buffer, self.indices), value)
        store = Store(self.buffer, self.indices, joined)
        exists = simplify(reduce(And, self._limits(), Const(True, BOOL)))
        match exists:
            case Const(value=is_true):
                return store if is_true else Seq(())
            case _:
                return If(exists, store)

    def _limits(self) -> Iterator[Expr]:
        for index, extent in zip(self.indices, self.buffer.shape, strict=True):
            yield And(Le(Const(0), index), Lt(index, extent))

    def join(self, earlier: Expr, later: Expr) -> Expr:
        """What two partial results come to."""
        operands = (later, earlier) if self.is_flipped else (earlier, later)
        kind = _COMBINE.get(self.op)
        return Call(self.op.value, operands) if kind is None else kind(*operands)


def find_identity(op: ReductionOp, dtype: DType, fastmath: Sequence[str] = ()) -> Const:
    """The value that `op` combines with any other one to that other one."""
    match op:
        case ReductionOp.ADD:
            return Const(_typed(-0.0, dtype), dtype)  # 0.0 would turn -0.0 into 0.0
        case ReductionOp.MUL:
            return Const(_typed(1.0, dtype), dtype)
        case ReductionOp.OR | ReductionOp.BIT_OR | ReductionOp.BIT_XOR:
            return Const(_typed(0.0, dtype), dtype)
        case ReductionOp.AND:
            return Const(True, dtype)
        case ReductionOp.BIT_AND:
            low, high = (True, True) if dtype.is_bool else dtype.bounds
            return Const(-1 if low < 0 else high, dtype)
        case _:
            return _extreme(dtype, op in _LARGEST, fastmath)


def _typed(value: float, dtype: DType) -> bool | int | float | complex:
    if dtype.is_complex:
        return complex(value, -0.0 if value == 0 else 0.0)
    return value if dtype.is_float else bool(value) if dtype.is_bool else int(value)


def _extreme(dtype: DType, is_low: bool, fastmath: Sequence[str]) -> Const:
    """The lowest or the highest value; an infinity must not occur where fastmath says so."""
    if dtype.is_bool:
        return Const(not is_low, dtype)
    if dtype.is_integer:
        return Const(dtype.bounds[0 if is_low else 1], dtype)
    largest = float(ml_dtypes.finfo(dtype.numpy).max) if "ninf" in fastmath else math.inf
    return Const(-largest if is_low else largest, dtype)


class _Redirect(Mutator):
    def __init__(self, buffer: Buffer, copy: Buffer, indices: tuple[Expr, ...]) -> None:
        self.buffer, self.copy, self.indices = buffer, copy, indices

    def rewrite_Load(self, node: Load) -> Expr:
        if node.buffer is self.buffer:
            return replace(node, buffer=self.copy, indices=self.indices)
        return self.generic(node)

    def rewrite_Store(self, node: Store) -> Stmt:
        if node.buffer is not self.buffer:
            return self.generic(node)
        value = self.rewrite(node.value)
        return replace(node, buffer=self.copy, indices=self.indices, value=value)


# Finding them


def find_private_reductions(
    loop: For, fastmath: Sequence[str], unset: Collection[Buffer] = ()
) -> tuple[PrivateReduction, ...]:
    """The reductions over the iterations of `loop` that private copies can serve.

    `unset` are variables that may have no value: if no iteration updates them, they are not to
    be read.
    """
    updates: dict[Buffer, list[Update]] = {}
    for update in find_updates(loop.body, is_open=bool(loop.hint(REASSOCIATE))):
        updates.setdefault(update.reduction.buffer, []).append(update)
    touched = _count_touches(loop.body)
    inside = _Inside(loop)
    found: list[PrivateReduction] = []
    for buffer, those in updates.items():
        served = [_serve(update, inside, fastmath) for update in those]
        covered = sum(_count_touches(update.stmt).get(buffer, 0) for update in those)
        first = served[0]
        if first is None or any(other != first for other in served):
            continue
        if buffer not in (*inside.declared, *unset) and covered == touched[buffer]:
            found.append(first)
    return tuple(found)


def find_single_reductions(
    loop: For, fastmath: Sequence[str], unset: Collection[Buffer] = ()
) -> tuple[PrivateReduction, ...]:
    """Those that an iteration of `loop` adds one value to, or multiplies with one, at most.

    A copy for each single iteration gives the very same result, floats included: the identity
    joined with a value is the value, and copies are combined in order.
    """
    updates = list(find_updates(loop.body))
    loops = [node for node in walk_stmts(loop.body) if isinstance(node, For | While)]
    inner = {id(node) for each in loops for node in walk(each)}
    single = {
        update.reduction.buffer
        for update in updates
        if id(update.store) not in inner and _joins_one_value(update.store)
    }
    count = Counter(update.reduction.buffer for update in updates)
    found = find_private_reductions(loop, (*fastmath, "reassoc"), unset)
    return tuple(each for each in found if each.buffer in single and count[each.buffer] == 1)


def _joins_one_value(store: Store) -> bool:
    """True if what is stored is the element plus or minus one value, or times one."""
    element = Load(store.buffer, store.indices)
    match store.value:
        case Add(x, y):
            return element in (x, y)
        case Sub(x, _):
            return element == x
        case Mul(x, y):
            return element in (x, y) and not store.buffer.dtype.is_complex
        case _:
            return False


def find_scattered_reductions(loop: For, fastmath: Sequence[str]) -> tuple[PrivateReduction, ...]:
    """The arrays that iterations of `loop` only combine values into, wherever: `h[a[i]] += 1`.

    One reduction for each; its indices are those of one of the updates.
    """
    touched = _count_touches(loop.body)
    updates: dict[Buffer, list[Update]] = {}
    for update in find_updates(loop.body):
        updates.setdefault(update.reduction.buffer, []).append(update)
    found: list[PrivateReduction] = []
    for buffer, those in updates.items():
        covered = sum(_count_touches(update.stmt).get(buffer, 0) for update in those)
        first = those[0].reduction
        is_one = all(_is_scattered(update, first.op, fastmath) for update in those)
        if is_one and covered == touched[buffer] and not buffer.is_register:
            found.append(PrivateReduction(first.op, buffer, first.indices))
    return tuple(found)


def _is_scattered(update: Update, op: ReductionOp, fastmath: Sequence[str]) -> bool:
    reduction = update.reduction
    if op in (ReductionOp.AND, ReductionOp.OR) or find_flipped(update) is not False:
        return False
    return reduction.op is op and may_regroup(reduction, fastmath)


@record
class Update:
    """A statement that performs a reduction."""

    stmt: Stmt
    reduction: Reduction

    @property
    def store(self) -> Store:
        return next(node for node in walk_stmts(self.stmt) if isinstance(node, Store))


def find_updates(stmt: Stmt, *, is_open: bool = False) -> Iterator[Update]:
    """The statements in `stmt` that perform reductions; `is_open` if their order is."""
    reduction = None
    is_open = stmt.is_open if isinstance(stmt, Block) else is_open
    if isinstance(stmt, Store):
        reduction = find_reduction(stmt)
    elif isinstance(stmt, If):
        reduction = find_guarded_reduction(stmt)
    if reduction is not None:
        yield Update(stmt, replace(reduction, is_open=is_open))
        return
    for child in children(stmt):
        if isinstance(child, Stmt):
            yield from find_updates(child, is_open=is_open)


class _Inside:
    """What a loop binds: its own variable, and everything in its body."""

    def __init__(self, loop: For) -> None:
        self.loops = {loop.var: loop}
        self.names: dict[Var, Expr] = {}
        self.varying: set[Var] = {loop.var}
        self.declared: set[Buffer] = set()
        for node in walk(loop.body):
            if isinstance(node, For):
                self.loops[node.var] = node
                self.varying.add(node.var)
            elif isinstance(node, Let | Iter):
                self._name(node.var, self.expand(node.value))
            elif isinstance(node, Allocate):
                self.declared.add(node.buffer)

    def _name(self, var: Var, value: Expr) -> None:
        if sum(1 for _ in islice(walk(value), _MAX_NODES + 1)) > _MAX_NODES:
            self.varying.add(var)
        else:
            self.names[var] = value

    def expand(self, expr: Expr) -> Expr:
        """`expr` with values in the place of the names that the body gives them."""
        return substitute(expr, self.names)

    def is_invariant(self, expr: Expr) -> bool:
        """True if `expr`, expanded, is the same in all iterations, and cannot fail."""
        variables = {node for node in walk(expr) if isinstance(node, Var)}
        return is_total(expr) and variables.isdisjoint(self.varying)


def _serve(update: Update, inside: _Inside, fastmath: Sequence[str]) -> PrivateReduction | None:
    reduction = update.reduction
    indices = tuple(inside.expand(index) for index in reduction.indices)
    if not all(inside.is_invariant(index) for index in indices):
        return None
    is_flipped = find_flipped(update)
    if is_flipped is None or not may_regroup(reduction, fastmath):
        return None
    if reduction.op in (ReductionOp.AND, ReductionOp.OR):
        skipped = inside.expand(reduction.update)
        if not _is_harmless(skipped, inside.loops):
            return None
    return PrivateReduction(reduction.op, reduction.buffer, indices, is_flipped)


def find_flipped(update: Update) -> bool | None:
    """Whether the element is the second operand, where that matters; None for longer chains."""
    store = update.store
    if not isinstance(store.value, Call) or not store.value.dtype.is_float:
        return False
    element = Load(store.buffer, store.indices)
    return store.value.args.index(element) == 1 if element in store.value.args else None


def may_regroup(reduction: Reduction, fastmath: Sequence[str]) -> bool:
    """Whether updates give the same result in contiguous groups that are combined in order."""
    is_any = reduction.is_open or "reassoc" in fastmath
    is_extremum = reduction.op in _SMALLEST + _LARGEST
    return is_any or is_extremum or not reduction.buffer.dtype.is_inexact


def _is_harmless(expr: Expr, loops: Mapping[Var, For]) -> bool:
    """True if `expr`, the second operand of `and`, may be evaluated where it would be skipped."""

    def without_safe_loads(node: Node) -> Node | None:
        if isinstance(node, Load) and not node.buffer.is_register and _is_inside(node, loops):
            return Const(0, node.dtype)
        return None

    return is_total(rewrite(expr, without_safe_loads))


def _is_inside(load: Load, loops: Mapping[Var, For]) -> bool:
    """True if each index runs over its axis, from 0 to the end."""
    for index, extent in zip(load.indices, load.buffer.shape, strict=True):
        loop = loops.get(index) if isinstance(index, Var) else None
        if loop is None or loop.start != Const(0) or loop.stop != extent:
            return False
        if not (isinstance(loop.step, Const) and loop.step.value.real > 0):
            return False
    return True


def _count_touches(stmt: Stmt) -> dict[Buffer, int]:
    """How often `stmt` mentions each buffer."""
    counts: dict[Buffer, int] = {}
    for node in walk(stmt):
        if isinstance(node, Load | Store | BufferRef):
            counts[node.buffer] = counts.get(node.buffer, 0) + 1
    return counts
