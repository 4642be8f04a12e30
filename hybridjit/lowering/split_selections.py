"""Give chunks of a loop variables of their own for an extremum, and for where it is.

    for i in range(n):             for chunk in parallel(chunks):
        if a[i] < best:                best_copy, where_copy = inf, 0
            best = a[i]                for i in range(...):
            where = i       -->            if a[i] < best_copy: ...
                                       best_partial[chunk], where_partial[chunk] = ...
                                   for chunk in range(chunks):
                                       if best_partial[chunk] < best:
                                           best = best_partial[chunk]
                                           where = where_partial[chunk]

Why that is the same: a chunk that starts from the identity ends with the first of its extrema, if
it has a value that is better than the identity; else the comparison with whatever has been found is
false. Chunks are combined in order by the same strict comparison, so the first extremum of all
wins. That holds for `<` and `>`, which never take a NaN, and for NumPy's rule, by which the first
NaN is what is looked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from hybridjit.analysis.private_reduction import find_identity
from hybridjit.analysis.reduction import ReductionOp
from hybridjit.arith.totality import operation_may_fail
from hybridjit.ir.expr import (
    And,
    Buffer,
    Call,
    Const,
    Expr,
    Gt,
    Load,
    Lt,
    Node,
    Not,
    Or,
    Var,
    const,
)
from hybridjit.ir.stmt import Allocate, For, If, LoopKind, Stmt, Store, flat_stmts, seq
from hybridjit.ir.visit import Mutator, rewrite, walk, walk_stmts
from hybridjit.lowering.chunks import Chunks, make_parallel, unnamed
from hybridjit.record import record


@record
class Selection:
    """`if value < best: best = value; ...`, which is all that a loop does with these variables."""

    op: ReductionOp
    cond: Expr
    value: Expr
    best: Buffer
    others: tuple[Buffer, ...]

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """All variables that the loop sets."""
        return (self.best, *self.others)


def find_selection(loop: For, unset: Collection[Buffer] = ()) -> Selection | None:
    """The one selection of an extremum over the iterations of `loop`, if that can be split."""
    found = [(node, _read(node)) for node in walk_stmts(loop.body) if isinstance(node, If)]
    known = [(node, selection) for node, selection in found if selection is not None]
    if len(known) != 1:
        return None
    guarded, selection = known[0]
    declared = {node.buffer for node in walk_stmts(loop.body) if isinstance(node, Allocate)}
    if not declared.isdisjoint(selection.buffers) or not _are_set(selection, unset):
        return None
    inside = sum(_touches(guarded, buffer) for buffer in selection.buffers)
    return selection if inside == _touches_of(loop, selection) else None


def _are_set(selection: Selection, unset: Collection[Buffer]) -> bool:
    return not any(buffer in unset for buffer in selection.buffers)


def _touches_of(loop: For, selection: Selection) -> int:
    return sum(_touches(loop.body, buffer) for buffer in selection.buffers)


def _touches(stmt: Stmt, buffer: Buffer) -> int:
    return sum(isinstance(n, Load | Store) and n.buffer is buffer for n in walk(stmt))


def _read(stmt: If) -> Selection | None:
    """A selection, if `stmt` is one: variables are set, the first to what was compared."""
    stores = flat_stmts(stmt.then)
    if stmt.otherwise is not None or not all(isinstance(inner, Store) for inner in stores):
        return None
    sets = [inner for inner in stores if isinstance(inner, Store)]
    if not all(inner.buffer.is_register for inner in sets):
        return None
    # What is set with an extremum of a chunk is not asked for if it is none of all.
    if any(map(operation_may_fail, walk(stmt.then))):
        return None
    buffers = [inner.buffer for inner in sets]
    read = {n.buffer for inner in sets for n in walk(inner.value) if isinstance(n, Load)}
    if len(set(buffers)) < len(buffers) or not read.isdisjoint(buffers):
        return None
    for store in sets:
        op = find_order(stmt.cond, store.value, Load(store.buffer))
        if op is not None and (store.buffer.dtype.is_integer or store.buffer.dtype.is_float):
            others = tuple(buffer for buffer in buffers if buffer is not store.buffer)
            return Selection(op, stmt.cond, store.value, store.buffer, others)
    return None


def find_order(cond: Expr, value: Expr, best: Load) -> ReductionOp | None:
    """Which extremum is looked for, if `cond` says that `value` is a better one than `best`."""
    match cond:
        case Or(better, And(Call("isnan", (x,)), Not(Call("isnan", (y,))))):
            return find_order(better, value, best) if (x, y) == (value, best) else None
        case Lt(x, y) if (x, y) == (value, best):
            return ReductionOp.MIN
        case Gt(x, y) if (x, y) == (best, value):
            return ReductionOp.MIN
        case Gt(x, y) if (x, y) == (value, best):
            return ReductionOp.MAX
        case Lt(x, y) if (x, y) == (best, value):
            return ReductionOp.MAX
        case _:
            return None


def split_selection(loop: For, selection: Selection, fastmath: Sequence[str]) -> Stmt:
    """`loop`, of a constant step, in chunks with variables of their own, and their combination."""
    chunks = Chunks.of(loop)
    copies = {each: _register(f"{each.name}_copy", each) for each in selection.buffers}
    partials = {
        each: Buffer(f"{each.name}_partial", each.dtype, (chunks.most,), "local")
        for each in selection.buffers
    }
    body = _Redirect(copies).rewrite(loop.body)
    inner = chunks.inner_loop(replace(loop, body=body, kind=LoopKind.SERIAL))
    keep = (Store(partials[each], (chunks.var,), Load(copies[each])) for each in copies)
    whole = seq(*_starts(selection, copies, fastmath), inner, *keep)
    bounds = Const(0), chunks.count, Const(1)
    outer = For(chunks.var, *bounds, whole, annotations=unnamed(loop.hints), span=loop.span)
    return seq(
        *chunks.lets,
        *(Allocate(partial, zero=False) for partial in partials.values()),
        make_parallel(outer),
        _combine(selection, partials, chunks.count),
    )


def _register(name: str, like: Buffer) -> Buffer:
    return Buffer(name, like.dtype, (), Buffer.REGISTER)


def _starts(
    selection: Selection, copies: dict[Buffer, Buffer], fastmath: Sequence[str]
) -> Iterator[Stmt]:
    for each, copy in copies.items():
        yield Allocate(copy, zero=False)
        is_best = each is selection.best
        identity = find_identity(selection.op, each.dtype, fastmath)
        yield Store(copy, (), identity if is_best else const(0, each.dtype))


def _combine(selection: Selection, partials: dict[Buffer, Buffer], count: Expr) -> For:
    chunk = Var("chunk")
    value = Load(partials[selection.best], (chunk,))

    def rule(node: Node) -> Node | None:
        return value if node == selection.value else None

    sets = [Store(each, (), Load(partial, (chunk,))) for each, partial in partials.items()]
    better = If(rewrite(selection.cond, rule), seq(*sets))
    return For(chunk, Const(0), count, Const(1), better)


class _Redirect(Mutator):
    """Variables become those of a chunk."""

    def __init__(self, copies: dict[Buffer, Buffer]) -> None:
        self.copies = copies

    def rewrite_Load(self, node: Load) -> Expr:
        made: Load = self.generic(node)
        copy = self.copies.get(made.buffer)
        return made if copy is None else replace(made, buffer=copy)

    def rewrite_Store(self, node: Store) -> Stmt:
        made: Store = self.generic(node)
        copy = self.copies.get(made.buffer)
        return made if copy is None else replace(made, buffer=copy)
