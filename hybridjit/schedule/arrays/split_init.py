"""Take a reduction for two statements on whole arrays.

    for i in range(n):                        for i in range(n):
        for j in range(m):                        for j in range(m):
            for k in range(l):                        c[i, j] = 0
                with block("c", i, j,         -->  for i in range(n):
                           reduce(k)):                for j in range(m):
                    with init():                          for k in range(l):
                        c[i, j] = 0                           c[i, j] += a[i, k] * b[k, j]
                    c[i, j] += a[i, k] * b[k, j]

It is declared as one, such as te.sum, or written in loops, with what it begins with in front of the
loop over its terms, in the array or in a variable. What else stands there runs before all terms, if
it has to do with none but those of the same iteration:

    for i in range(n):                        for i in range(n):
        for j in range(m):                        for j in range(m):
            c[i, j] *= beta                           c[i, j] *= beta
        for k in range(l):              -->   for i in range(n):
            for j in range(m):                    for k in range(l):
                c[i, j] += a[i, k] * b[k, j]          for j in range(m):
                                                          c[i, j] += a[i, k] * b[k, j]

Their blocks say so (`array`), so that steps on array statements know them. Loops over terms that
run once go. Relies on nothing; what is not proved here (indices that are inside of their arrays,
loops that run) makes no array statement of a block.
"""

from __future__ import annotations

from dataclasses import replace

from hybridjit.analysis.accesses import Scope, find_accesses, scope_of
from hybridjit.analysis.inside import facts_in, prove_inside
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.arith.ranges import ONE, ZERO, constant
from hybridjit.arith.substitution import FoldingSubstitute
from hybridjit.arith.totality import operation_may_fail
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Lt, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import (
    ARRAY,
    Allocate,
    Block,
    For,
    Iter,
    IterKind,
    LoopKind,
    Seq,
    Stmt,
    Store,
    flat_stmts,
    seq,
)
from hybridjit.ir.visit import Mutator, fresh_copy, walk
from hybridjit.record import record
from hybridjit.schedule.program import loops_around, replace_stmt
from hybridjit.schedule.staging import fresh_block_name


@record
class _Sum:
    """The `loops` around a sum, what sets an element to begin with, and what adds a term to it.

    Both are in terms of the iterations of its block, of which only those inside of the `init` are
    over terms. Without `init`, elements are what they are, or what the nest `before` leaves.
    """

    loops: list[For]
    iters: tuple[Iter, ...]
    init: Store | None
    store: Store
    before: For | None = None


def split_init(func: PrimFunc, block: Block) -> PrimFunc:
    """`func` with `block` and its loops as array statements; as it is if they are no such."""
    found = _find_declared(func, block) or _find_by_hand(func, block)
    if found is None or not _starts_its_own(found.init, found.store):
        return func
    if any(map(operation_may_fail, walk(found.store))):
        return func  # all terms are seen up to one that fails
    around = scope_of(func.body, found.loops[0])
    if not _is_inside(func, around, found.loops, block, found.store):
        return func
    found = _without_outer(found)
    loops, block = found.loops, replace(block, iters=found.iters, init=None, body=found.store)
    if not all(map(_is_plain, loops)) or not _has_terms(func, around, loops, block):
        return func
    if not all(item.var in _indexed(found.store) for item in _spatial(block)):
        return func
    second = _nest(*_without_single(loops, block))
    if found.before is not None:
        return replace_stmt(func, loops[0], seq(fresh_copy(found.before), second))
    if found.init is None:
        return replace_stmt(func, loops[0], second)
    name = fresh_block_name(func, f"{block.name}_init")
    spatial = _spatial(block)
    kept = [loop for loop in loops if any(item.value is loop.var for item in spatial)]
    first = _nest(kept, _as_array(Block(name, tuple(spatial), found.init, span=block.span)))
    return replace_stmt(func, loops[0], seq(fresh_copy(first), second))


def _spatial(block: Block) -> list[Iter]:
    return [item for item in block.iters if item.kind is IterKind.SPATIAL]


def _indexed(store: Store) -> set[Node]:
    """What the indices of the element depend on."""
    return {node for index in store.indices for node in walk(index)}


def _without_outer(found: _Sum) -> _Sum:
    """The sum without the loops around it that do the same again, such as steps of time."""
    used = _indexed(found.store)
    own = {it.value for it in found.iters if it.var in used or it.kind is IterKind.REDUCE}
    count = next((at for at, loop in enumerate(found.loops) if loop.var in own), 0)
    outer = {loop.var for loop in found.loops[:count]}
    places = {item.var: item.value for item in found.iters if item.value in outer}
    fix = FoldingSubstitute(places).rewrite
    init = None if found.init is None else fix(found.init)
    iters = tuple(item for item in found.iters if item.value not in outer)
    return _Sum(found.loops[count:], iters, init, fix(found.store), found.before)


def _find_declared(func: PrimFunc, block: Block) -> _Sum | None:
    store, init = block.body, block.init
    if not isinstance(store, Store) or not isinstance(init, Store):
        return None
    loops = loops_of_block(func, block)
    is_perfect = all(
        loop.body is body for loop, body in zip(loops, _inside(loops, block), strict=True)
    )
    return _Sum(loops, block.iters, init, store) if loops and is_perfect else None


def _find_by_hand(func: PrimFunc, block: Block) -> _Sum | None:
    """A sum in loops that are written out."""
    if not isinstance(block.body, Store) or block.init is not None:
        return None
    loops = loops_of_block(func, block)
    inner = _inside(loops, block)
    bodies = [flat_stmts(loop.body) for loop in loops]
    around = [at for at, body in enumerate(bodies) if len(body) > 1]
    if (
        not loops
        or len(around) > 1
        or not all(stmt in body for stmt, body in zip(inner, bodies, strict=True))
    ):
        return None
    if not around:
        return _Sum(loops, block.iters, None, block.body)
    outside = {loop.var for loop in loops[: around[0] + 1]}
    iters = tuple(
        replace(item, kind=IterKind.SPATIAL) if item.value in outside else item
        for item in block.iters
    )
    stmts = bodies[around[0]]
    started = _with_start(replace(block, iters=iters), loops, stmts, inner[around[0]])
    return started or _with_others(func, block, loops, around[0])


def _with_others(func: PrimFunc, block: Block, loops: list[For], at: int) -> _Sum | None:
    """The sum with what stands in front of its terms, in loop number `at`, as a nest of its own."""
    assert isinstance(block.body, Store)
    *others, terms = flat_stmts(loops[at].body)
    outer = loops[: at + 1]
    if at + 1 == len(loops) or terms is not loops[at + 1] or not all(map(_is_plain, outer)):
        return None
    places = {item.var: item.value for item in block.iters}
    term = FoldingSubstitute(places).rewrite(block.body)
    before = _nest(outer, seq(*others))
    around = scope_of(func.body, outer[0])
    if not _is_apart(func, around, outer, lower_blocks(replace(func, body=before)).body, term):
        return None
    assert isinstance(before, For)
    return _Sum(loops, block.iters, None, block.body, before)


def _is_apart(func: PrimFunc, around: Scope, outer: list[For], before: Stmt, term: Store) -> bool:
    """Whether the nest `before` may run before the terms of earlier iterations, too.

    It never fails; of the sums, it touches only those of its own iteration, which are found by the
    variables of the `outer` loops; and it changes nothing that the terms are made of.
    """
    plain = (Seq, For, Store, Expr)
    if not all(isinstance(node, plain) and not operation_may_fail(node) for node in walk(before)):
        return False
    factors = {node.buffer for node in walk(term.value) if isinstance(node, Load)} - {term.buffer}
    own = [(place, loop.var) for loop in outer for place in _places_of(loop.var, term.indices)]
    if {var for _, var in own} != {loop.var for loop in outer}:
        return False
    for access in find_accesses(before):
        if not prove_inside(func, around, access):
            return False
        if access.buffer is term.buffer:
            if any(access.indices[place] is not var for place, var in own):
                return False
        elif isinstance(access.node, Store) and access.buffer in factors:
            return False
    return True


def _places_of(var: Var, indices: tuple[Expr, ...]) -> list[int]:
    return [place for place, index in enumerate(indices) if index is var]


def _with_start(block: Block, loops: list[For], stmts: list[Stmt], terms: Stmt) -> _Sum | None:
    """The sum with what stands around the loop over its terms.

    That is a store to the element, or to a variable that stands for it and is stored in the end.
    """
    assert isinstance(block.body, Store)
    store = block.body
    own: dict[Var, Expr] = {
        item.value: item.var for item in block.iters if isinstance(item.value, Var)
    }
    outside = [_in_terms_of(own, stmt) for stmt in stmts if stmt is not terms]
    match outside:
        case [Store() as init] if stmts[1] is terms:
            return _Sum(loops, block.iters, init, store)
        case [Allocate(variable), Store() as init, Store(result, place, Load(kept, ()))] if (
            stmts[2] is terms and variable is kept is store.buffer is init.buffer
        ):
            if result.dtype != variable.dtype:
                return None
            element = Load(result, place)
            value = _ReplaceVariable(variable, element).rewrite(store.value)
            return _Sum(
                loops,
                block.iters,
                replace(init, buffer=result, indices=place),
                replace(store, buffer=result, indices=place, value=value),
            )
        case _:
            return None


def _in_terms_of(names: dict[Var, Expr], stmt: Stmt) -> Stmt:
    """A statement without its block, in terms of other variables."""
    places: dict[Var, Expr] = {}
    if isinstance(stmt, Block) and stmt.init is None:
        places = {item.var: item.value for item in stmt.iters}
        stmt = FoldingSubstitute(places).rewrite(stmt.body)
    return FoldingSubstitute(names).rewrite(stmt)


class _ReplaceVariable(Mutator):
    def __init__(self, variable: Buffer, element: Load) -> None:
        self.variable, self.element = variable, element

    def rewrite_Load(self, node: Load) -> Expr:
        return self.element if node.buffer is self.variable else self.generic(node)


def _inside(loops: list[For], block: Block) -> list[Stmt]:
    """What stands in each of the loops, if nothing stands beside it."""
    stmts: list[Stmt] = [*loops[1:], block]
    return stmts[: len(loops)]


def loops_of_block(func: PrimFunc, block: Block) -> list[For]:
    """The loops that `block` runs over; none if others are among them."""
    path = loops_around(func, block)
    loops = path[len(path) - len(block.iters) :]
    is_all = {loop.var for loop in loops} == {item.value for item in block.iters}
    return loops if is_all else []


def _is_plain(loop: For) -> bool:
    is_range = loop.kind is LoopKind.SERIAL and (loop.start, loop.step) == (ZERO, ONE)
    return is_range and not loop.has_own_annotations


def _has_terms(func: PrimFunc, around: Scope, loops: list[For], block: Block) -> bool:
    """True if there are terms to add: a sum of none leaves its element as it is."""
    kinds = {item.value: item.kind for item in block.iters}
    if any(kind not in (IterKind.SPATIAL, IterKind.REDUCE) for kind in kinds.values()):
        return False
    reduced = [loop for loop in loops if kinds[loop.var] is IterKind.REDUCE]
    facts = facts_in(func, around)
    return bool(reduced) and all(facts.prove(Lt(ZERO, loop.stop)) for loop in reduced)


def _starts_its_own(init: Store | None, store: Store) -> bool:
    """True if the init sets the element that the body updates, which reads that one, and once."""
    loads = [node for node in walk(store.value) if isinstance(node, Load)]
    if [load.indices for load in loads if load.buffer is store.buffer] != [store.indices]:
        return False
    if init is None:
        return True
    is_same = init.buffer is store.buffer and init.indices == store.indices
    return is_same and isinstance(init.value, Const)


def _is_inside(func: PrimFunc, around: Scope, loops: list[For], block: Block, store: Store) -> bool:
    places = {item.var: item.value for item in block.iters}
    body = FoldingSubstitute(places).rewrite(store)
    scope = (*around, *loops)
    return all(prove_inside(func, scope, access) for access in find_accesses(body))


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
