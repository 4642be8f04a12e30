"""Take a reduction that is declared as one, such as te.sum, for two statements on whole arrays.

    for i in range(n):                        for i in range(n):
        for j in range(m):                        for j in range(m):
            for k in range(l):                        c[i, j] = 0
                with block("c", i, j,         -->  for i in range(n):
                           reduce(k)):                for j in range(m):
                    with init():                          for k in range(l):
                        c[i, j] = 0                           c[i, j] += a[i, k] * b[k, j]
                    c[i, j] += a[i, k] * b[k, j]

Their blocks say so (`array`), so that steps on array statements know them. Loops over terms that
run once go. Relies on nothing; what is not proved here (indices that are inside of their arrays,
loops that run) makes no array statement of a block.
"""

from __future__ import annotations

from dataclasses import replace

from hybridjit.analysis.accesses import find_accesses
from hybridjit.analysis.inside import prove_inside
from hybridjit.arith.ranges import ONE, ZERO, constant
from hybridjit.arith.substitution import FoldingSubstitute
from hybridjit.ir.expr import Const, Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import ARRAY, Block, For, Iter, IterKind, LoopKind, Stmt, Store, seq
from hybridjit.ir.visit import fresh_copy, walk
from hybridjit.schedule.program import path_to, replace_stmt
from hybridjit.schedule.staging import fresh_block_name


def split_init(func: PrimFunc, block: Block) -> PrimFunc:
    """`func` with `block` and its loops as two array statements; as it is if they are no such."""
    store, init = block.body, block.init
    if not isinstance(store, Store) or not isinstance(init, Store):
        return func
    loops = _find_loops(func, block)
    if loops is None or not _starts_its_own(init, store) or not _is_inside(func, loops, block):
        return func
    name = fresh_block_name(func, f"{block.name}_init")
    spatial = [item for item in block.iters if item.kind is IterKind.SPATIAL]
    kept = [loop for loop in loops if any(item.value is loop.var for item in spatial)]
    first = _nest(kept, _as_array(Block(name, tuple(spatial), init, span=block.span)))
    second = _nest(*_without_single(loops, replace(block, init=None)))
    return replace_stmt(func, loops[0], seq(fresh_copy(first), second))


def _find_loops(func: PrimFunc, block: Block) -> list[For] | None:
    """The loops around `block`, all that it runs over, plain ones around nothing else."""
    path = [stmt for stmt in path_to(func, block)[:-1] if isinstance(stmt, For)]
    loops = path[len(path) - len(block.iters) :]
    if not loops or {loop.var for loop in loops} != {item.value for item in block.iters}:
        return None
    inner: list[Stmt] = [*loops[1:], block]
    is_perfect = all(loop.body is body for loop, body in zip(loops, inner, strict=True))
    return loops if is_perfect and all(map(_is_plain, loops)) and _has_terms(loops, block) else None


def _is_plain(loop: For) -> bool:
    is_range = loop.kind is LoopKind.SERIAL and (loop.start, loop.step) == (ZERO, ONE)
    return is_range and not loop.has_own_annotations


def _has_terms(loops: list[For], block: Block) -> bool:
    """True if there are terms to add: a sum of none leaves its element as it is."""
    kinds = {item.value: item.kind for item in block.iters}
    if any(kind not in (IterKind.SPATIAL, IterKind.REDUCE) for kind in kinds.values()):
        return False
    reduced = (loop for loop in loops if kinds[loop.var] is IterKind.REDUCE)
    return all((constant(loop.stop) or 0) > 0 for loop in reduced)


def _starts_its_own(init: Store, store: Store) -> bool:
    """True if the init sets the element that the body updates, which reads no other one of it."""
    is_same = init.buffer is store.buffer and init.indices == store.indices
    loads = (node for node in walk(store.value) if isinstance(node, Load))
    others = [load for load in loads if load.buffer is store.buffer]
    is_own = all(load.indices == store.indices for load in others)
    return is_same and is_own and isinstance(init.value, Const)


def _is_inside(func: PrimFunc, loops: list[For], block: Block) -> bool:
    places = {item.var: item.value for item in block.iters}
    body = FoldingSubstitute(places).rewrite(block.body)
    return all(prove_inside(func, tuple(loops), access) for access in find_accesses(body))


def _without_single(loops: list[For], block: Block) -> tuple[list[For], Block]:
    """Without the loops over terms that run once."""
    kinds = {item.value: item for item in block.iters}
    single: dict[Var, Iter] = {}
    for loop in loops:
        item = kinds[loop.var]
        if item.kind is IterKind.REDUCE and constant(loop.stop) == 1:
            single[loop.var] = item
    if len(single) == sum(item.kind is IterKind.REDUCE for item in block.iters):
        single.pop(next(iter(single)), None)  # a sum stays one
    body = FoldingSubstitute({item.var: ZERO for item in single.values()}).rewrite(block.body)
    left = tuple(item for item in block.iters if item not in single.values())
    others = [loop for loop in loops if loop.var not in single]
    return others, _as_array(replace(block, iters=left, body=body))


def _as_array(block: Block) -> Block:
    marks = tuple(mark for mark in block.annotations if mark[0] != ARRAY)
    return replace(block, annotations=((ARRAY, len(block.iters)), *marks))


def _nest(loops: list[For], body: Stmt) -> Stmt:
    for loop in reversed(loops):
        body = replace(loop, body=body)
    return body
