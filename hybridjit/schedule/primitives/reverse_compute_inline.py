"""reverse_compute_inline: let the nest that computes a buffer finish the work of its reader."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from hybridjit.analysis.accesses import find_accesses, scope_of
from hybridjit.analysis.coverage import Coverage
from hybridjit.analysis.elements import Elements
from hybridjit.analysis.folding import find_hindrance
from hybridjit.analysis.footprint import find_footprint
from hybridjit.analysis.independence import has_effects
from hybridjit.analysis.inside import find_outside, prove_inside
from hybridjit.analysis.instances import AffineAccess, Instances, Part, infer_instances
from hybridjit.arith.linear import linear_form
from hybridjit.arith.simplify import simplify
from hybridjit.arith.substitution import FoldingSubstitute
from hybridjit.arith.totality import operation_may_fail
from hybridjit.ir.expr import Buffer, Const, Expr, Ge, Load, Lt, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, Block, For, Iter, Let, LoopKind, Seq, Stmt, Store, seq
from hybridjit.ir.visit import substitute, walk, walk_stmts
from hybridjit.record import record
from hybridjit.schedule.bind_loops import bind_loops
from hybridjit.schedule.buffers import check_not_passed, find_allocation
from hybridjit.schedule.primitives.array_fusion import find_with_epilogue
from hybridjit.schedule.primitives.reverse_compute_at import reverse_compute_at
from hybridjit.schedule.program import guarded, loops_around, replace_stmts, the_block
from hybridjit.schedule.refusal import check_concurrent, refuse, refuse_conflict
from hybridjit.schedule.restriction import prove
from hybridjit.schedule.stages import Stage, count_accesses, find_nest, with_names_first

STEP = "reverse_compute_inline"


@record(eq=False)
class Fold:
    """`store` computes an element of `buffer`, and the nest of `stage` is what reads it.

    `loops` are those of the nest that the indices of the element tell: axis, offset and sign.
    """

    buffer: Buffer
    allocation: Allocate
    store: Store
    stage: Stage
    loops: Mapping[For, tuple[int, Expr, int]]

    @property
    def nest(self) -> Stmt:
        """What reads the buffer."""
        return self.stage.nests[0]


def reverse_compute_inline(func: PrimFunc, block_name: str) -> PrimFunc:
    """Let the block that computes a buffer do what `block_name` makes of its elements.

        for i in range(n):
            with block("t", i):                   for i in range(n):
                t[i] = f(a[i])         -->            with block("t", i):
        for i in range(n):                                x = f(a[i])
            with block("c", i):                           c[i] = x + 1
                c[i] = t[i] + 1

    The buffer is read nowhere else, each element is stored once, and the reader may run as soon as
    the element is there, as for `reverse_compute_at`.
    """
    made = find_with_epilogue(func, block_name)
    if made is not None:
        return made
    fold = _find_fold(func, the_block(func, block_name))
    func, stage = with_names_first(func, fold.stage, STEP)
    fold = dataclasses.replace(fold, stage=stage)
    goes_along = _prove_goes_along(func, fold)
    _check(func, fold, block_name, goes_along=goes_along)

    value = fold.store.value
    is_simple = isinstance(value, Const | Var)
    element = value if is_simple else Var(fold.buffer.name, fold.buffer.dtype)
    guards = [] if goes_along else _find_guards(func, fold)
    folded = guarded(guards, _Unwrap(fold, element).rewrite(fold.nest))
    if isinstance(element, Var) and not is_simple:
        folded = seq(Let(element, value, span=fold.store.span), folded)
    changes: dict[Stmt, Stmt] = {
        fold.store: folded,
        fold.nest: Seq(()),
        fold.allocation: Seq(()),
    }
    made = bind_loops(replace_stmts(func, changes))
    check_concurrent(made, loops_around(func, fold.store), STEP)
    return made


# -- check -----------------------------------------------------------------------------------------


def _find_fold(func: PrimFunc, block: Block) -> Fold:
    found = [
        (buffer, allocation)
        for buffer in dict.fromkeys(node.buffer for node in walk(block) if isinstance(node, Load))
        if not buffer.is_register and (allocation := find_allocation(func, buffer)) is not None
    ]
    if len(found) != 1:
        names = ", ".join(f"'{buffer.name}'" for buffer, _ in found) or "none"
        raise refuse(
            func, f"{STEP}: block '{block.name}' must read one scratch buffer, not {names}", [block]
        )
    buffer, allocation = found[0]
    check_not_passed(func, buffer, STEP)
    stores = [n for n in walk_stmts(func.body) if isinstance(n, Store) and n.buffer is buffer]
    around = loops_around(func, stores[0]) if len(stores) == 1 else []
    if not around or any(isinstance(n, Load) and n.buffer is buffer for n in walk(stores[0])):
        raise refuse(
            func,
            f"{STEP}: '{buffer.name}' is not computed by one store, in a loop, that does not read "
            "it",
            [block, *stores],
        )
    stage = find_nest(func, block, around[-1], STEP)
    return Fold(buffer, allocation, stores[0], stage, _find_loops(func, stage.nests[0], buffer))


def _find_loops(func: PrimFunc, nest: Stmt, buffer: Buffer) -> Mapping[For, tuple[int, Expr, int]]:
    values = _values(nest)
    loads = [node for node in walk(nest) if isinstance(node, Load) and node.buffer is buffer]
    indices = {tuple(simplify(substitute(i, values)) for i in load.indices) for load in loads}
    loops = {node.var: node for node in walk_stmts(nest) if isinstance(node, For)}
    found: dict[For, tuple[int, Expr, int]] = {}
    for axis, index in enumerate(next(iter(indices)) if len(indices) == 1 else ()):
        form = linear_form(index)
        own = [var for var in (form.terms if form else ()) if var in loops]
        if form is not None and len(own) == 1 and abs(form.terms[own[0]]) == 1:
            sign = form.terms[own[0]]
            found[loops[own[0]]] = (axis, simplify(index - own[0] * sign), sign)
    if len(found) != buffer.ndim:
        raise refuse(
            func,
            f"{STEP}: '{buffer.name}' must be read at one place, at variables of the loops around",
            [nest],
        )
    return found


def _values(nest: Stmt) -> dict[Var, Expr]:
    values: dict[Var, Expr] = {}
    for node in walk(nest):
        if isinstance(node, Iter | Let):
            values[node.var] = substitute(node.value, values)
    return values


def _prove_goes_along(func: PrimFunc, fold: Fold) -> bool:
    """The quick proof of what `_check` asks isl for: both nests go through the same elements.

    They are one store each, in the same loops, right after each other; nothing in them can fail,
    and the reader writes to nothing that the other one touches.
    """
    target, nest, stmts = fold.stage.target, fold.nest, fold.stage.scope.stmts
    between = stmts[stmts.index(target) + 1 : stmts.index(nest)]
    if not all(isinstance(stmt, Allocate) for stmt in between):
        return False
    made, read = _find_rectangle(target), _find_rectangle(nest)
    if made is None or read is None or len(made) != len(read):
        return False
    places = [fold.loops.get(loop) for loop in read]
    if places != [(axis, Const(0), 1) for axis in range(fold.buffer.ndim)]:
        return False
    values = _values(target)
    stored = tuple(simplify(substitute(index, values)) for index in fold.store.indices)
    same_ranges = all(
        (a.start, a.stop) == (b.start, b.stop) for a, b in zip(made, read, strict=True)
    )
    if stored != tuple(loop.var for loop in made) or not same_ranges:
        return False
    return _prove_apart(func, fold)


def _prove_apart(func: PrimFunc, fold: Fold) -> bool:
    """True if nests can run in any order but for the buffer, and whatever happens in them."""
    nests = (fold.stage.target, fold.nest)
    if any(operation_may_fail(node) for nest in nests for node in walk(nest)):
        return False
    if any(map(has_effects, nests)):
        return False
    around = scope_of(func.body, fold.stage.scope)
    if not all(prove_inside(func, around, access) for access in find_accesses(*nests)):
        return False
    first, second = map(find_footprint, nests)
    return set(second.writes).isdisjoint((*first.reads, *first.writes))


def _find_rectangle(nest: Stmt) -> list[For] | None:
    """The loops around one store, which is all that they run; None if it is not just that."""
    loops: list[For] = []
    while not isinstance(nest, Store):
        match nest:
            case For(kind=LoopKind.SERIAL, step=step) if step == Const(1):
                loops.append(nest)
            case Block(init=None):
                pass
            case _:
                return None
        nest = nest.body
    own = {loop.var for loop in loops}
    bounds = (node for loop in loops for end in (loop.start, loop.stop) for node in walk(end))
    return None if any(node in own or isinstance(node, Load) for node in bounds) else loops


def _check(func: PrimFunc, fold: Fold, block_name: str, *, goes_along: bool) -> None:
    buffer, loop = fold.buffer, fold.stage.loop
    if count_accesses(func.body, buffer) != 1 + count_accesses(fold.nest, buffer):
        raise refuse(func, f"{STEP}: '{buffer.name}' is used elsewhere, too", [fold.nest])
    others = [n for n in walk_stmts(loop.body) if isinstance(n, Store) and n is not fold.store]
    if others:
        raise refuse(
            func,
            f"{STEP}: loop '{loop.var.name}' does more than to compute '{buffer.name}'",
            [loop, *others],
        )
    if any(inner.step != Const(1) for inner in fold.loops):
        raise refuse(func, f"{STEP}: the loops of the reader must have step 1", [*fold.loops])
    if goes_along:
        return
    part = infer_instances(func, fold.stage.scope)
    (store,) = (found for found in part.statements if found.node is fold.store)
    (access,) = (found for found in store.accesses if found.is_write)
    is_injective = Elements(part).touched(store, access).is_injective()
    if find_outside(part, buffer) is not None or not is_injective:
        raise refuse(
            func, f"{STEP}: not proved: each element of '{buffer.name}' is stored once", [loop]
        )
    _check_every_iteration_reads(func, fold, part)
    reverse_compute_at(func, block_name, loop.var)  # refuses if the reader cannot run there
    _check_order(func, fold, part, (store, access))


def _check_every_iteration_reads(func: PrimFunc, fold: Fold, part: Part) -> None:
    """Refuse unless all that the nest does goes with an element that is surely stored."""
    inside = part.inside(fold.nest)
    readers = [
        statement
        for statement in inside
        for access in statement.accesses
        if access.buffer is fold.buffer and not access.condition
    ]
    is_certain = Coverage(part, fold.stage.scope, fold.buffer).prove_read_after_write()
    is_everywhere = bool(readers) and all(
        set(fold.loops) <= set(other.loops) and _is_within(other.domain, readers[0].domain)
        for other in inside
    )
    if not is_certain or not is_everywhere:
        raise refuse(
            func,
            f"{STEP}: not every iteration is sure to read an element of '{fold.buffer.name}' that "
            "was stored",
            [fold.nest],
        )


def _check_order(
    func: PrimFunc, fold: Fold, part: Part, store: tuple[Instances, AffineAccess]
) -> None:
    """The reader does not only run in some iteration after the store, but right after it."""
    indices: list[Expr] = [Const(0)] * fold.buffer.ndim
    for loop, (axis, offset, sign) in fold.loops.items():
        indices[axis] = simplify(offset + loop.var * sign)
    element = [text for index in indices if (text := part.names.affine(index)) is not None]
    users = part.inside(fold.nest)
    if len(element) == len(indices):
        conflict = find_hindrance(part, store, users, element, func.fastmath)
        if conflict is None:
            return
        raise refuse_conflict(
            func, f"{STEP} would turn a dependence around", conflict, [fold.stage.loop]
        )
    raise refuse(func, f"{STEP}: not known which element an iteration reads", [fold.nest])


def _is_within(domain: str, outer: str) -> bool:
    """Whether one domain is another with conditions added; conditions are written in order."""
    return not outer or domain == outer or domain.startswith(f"{outer} and ")


# -- build -----------------------------------------------------------------------------------------


def _find_guards(func: PrimFunc, fold: Fold) -> list[Expr]:
    """The conditions, those that can fail, under which the element that is stored is read."""
    part = infer_instances(func, fold.store)
    names = _values(fold.nest)  # bounds of a loop may be told by iters of a block around it
    values = {loop.var: _value_of(fold, place) for loop, place in fold.loops.items()}
    guards = [
        simplify(substitute(substitute(guard, names), values))
        for loop in fold.loops
        for guard in (Ge(loop.var, loop.start), Lt(loop.var, loop.stop))
    ]
    return [guard for guard in guards if not prove(part, guard)]


def _value_of(fold: Fold, place: tuple[int, Expr, int]) -> Expr:
    """The value of a loop of the reader, from the index of the element that is stored."""
    axis, offset, sign = place
    index = fold.store.indices[axis]
    return simplify(index - offset if sign > 0 else offset - index)


class _Unwrap(FoldingSubstitute):
    """The reader for one element: without its loops over elements, and without its block."""

    def __init__(self, fold: Fold, element: Expr) -> None:
        super().__init__({loop.var: _value_of(fold, at) for loop, at in fold.loops.items()})
        self.fold = fold
        self.element = element

    def rewrite_Load(self, node: Load) -> Expr:
        return self.element if node.buffer is self.fold.buffer else self.generic(node)

    def rewrite_For(self, node: For) -> Stmt:
        return self.rewrite(node.body) if node in self.fold.loops else self.generic(node)

    def rewrite_Block(self, node: Block) -> Stmt:
        for item in node.iters:
            self.variables[item.var] = simplify(self.rewrite(item.value))
        return self.rewrite(node.body)
