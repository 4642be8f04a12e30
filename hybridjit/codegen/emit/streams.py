"""Which loops write so much that the caches are of no use to them.

    for i in range(n):
        c[i] = a[i] * 2.0 + b[i]        # three arrays of many megabytes

A store brings the memory that it goes to into the caches first, and later back. Stores past the
caches save the way in: a quarter of the traffic here.

Relies on: checked indices, so that different ones are different elements; arrays that share no
memory. An index that had to be checked at run time has no linear form, and counts for nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from hybridjit.analysis import traffic
from hybridjit.analysis.accesses import Access
from hybridjit.analysis.bounds import Facts
from hybridjit.analysis.cost import is_dear
from hybridjit.analysis.independence import Independence
from hybridjit.analysis.traffic import bytes_touched
from hybridjit.arith.linear import linear_form
from hybridjit.arith.totality import may_fail
from hybridjit.codegen.emit.memory import ArrayAddress
from hybridjit.codegen.llvm_types import find_constant
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Node, Var
from hybridjit.ir.stmt import Allocate, For, Let, LoopKind, Stmt, Store, flat_stmts
from hybridjit.ir.visit import walk
from hybridjit.record import record

_KINDS = (LoopKind.SERIAL, LoopKind.PARALLEL, LoopKind.VECTORIZED)


@record
class Streamed:
    """An innermost loop, and its one store, which goes to one element after the other."""

    loop: For
    store: Store


def find_streamed(
    nest: For, arrays: Mapping[Buffer, ArrayAddress], doubtful: Collection[Buffer]
) -> Streamed | None:
    """The innermost loop of a large nest that stores to each element of a part of an array once.

    It reads none of that array. `doubtful` are variables that may be read before they are
    assigned. Loops whose ranges are not constants count as small: code for both cases would take
    2.6 times as long to compile.
    """
    loops = _perfect_nest(nest)
    body = flat_stmts(loops[-1].body)
    if bytes_touched(loops, loops[-1].body) < traffic.STREAM_BYTES:
        return None
    stores = [stmt for stmt in body if isinstance(stmt, Store) and not stmt.buffer.is_register]
    if len(stores) != 1 or not _is_plain(body, stores[0].buffer, doubtful):
        return None
    if any(loop.kind not in _KINDS or loop.step != Const(1) for loop in loops):
        return None
    store, last = stores[0], loops[-1]
    if not _has_own_elements(store, loops) or not is_row(store, last, arrays):
        return None
    return None if is_dear([last.body], divisions=False) else Streamed(last, store)


def _perfect_nest(nest: For) -> list[For]:
    loops = [nest]
    while isinstance(inner := loops[-1].body, For):
        loops.append(inner)
    return loops


def _is_plain(body: Sequence[Stmt], target: Buffer, doubtful: Collection[Buffer]) -> bool:
    """True if nothing in `body` can fail, and nothing reads the array that it writes."""
    return all(_is_plain_statement(stmt) for stmt in body) and all(
        _is_plain_node(node, target, doubtful) for stmt in body for node in walk(stmt)
    )


def _is_plain_statement(stmt: Stmt) -> bool:
    if isinstance(stmt, Allocate):
        return stmt.buffer.is_register
    return isinstance(stmt, Let | Store)


def _is_plain_node(node: Node, target: Buffer, doubtful: Collection[Buffer]) -> bool:
    if isinstance(node, Load):
        return node.buffer is not target and node.buffer not in doubtful
    return not may_fail(node)


def _has_own_elements(store: Store, loops: Sequence[For]) -> bool:
    """True if no two iterations store to the same element."""
    access = Access(store, tuple(loops))
    independence = Independence.within(Facts(), (), is_checked=True)
    return independence.meet(access, access, loops).is_same


def is_row(access: Load | Store, loop: For, arrays: Mapping[Buffer, ArrayAddress]) -> bool:
    """True if the elements that an access in the body of `loop` goes to are next to each other."""
    array = arrays[access.buffer]
    varying = {stmt.var for stmt in flat_stmts(loop.body) if isinstance(stmt, Let)}
    if any(node in varying for index in access.indices for node in walk(index)):
        return False
    return find_step(array, access.indices, loop.var) == array.dtype.bits // 8


def find_step(array: ArrayAddress, indices: Sequence[Expr], var: Var) -> int | None:
    """How many bytes an element moves when a variable grows by one; None if that is not known."""
    step = 0
    for index, stride in zip(indices, array.strides, strict=True):
        form, known = linear_form(index), find_constant(stride)
        factor = 0 if form is None else form.terms.get(var, 0)
        if form is None or (factor and known is None):
            return None
        step += factor * (known or 0)
    return step
