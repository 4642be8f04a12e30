"""compute_root: compute a buffer once and for all, before the loops that it is computed in."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from hybridjit.analysis.dependence import Dependences
from hybridjit.analysis.elements import Elements
from hybridjit.analysis.inside import accesses_to
from hybridjit.analysis.instances import Instances, Part, infer_instances
from hybridjit.analysis.regions import context_of
from hybridjit.arith.from_isl import range_of
from hybridjit.arith.polyhedra import Polyhedron, load_isl
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Buffer, Const, Expr, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, Block, For, Iter, IterKind, Let, Seq, Stmt, While, seq
from hybridjit.ir.visit import children, substitute, walk, walk_stmts
from hybridjit.record import record
from hybridjit.schedule.buffers import the_allocation
from hybridjit.schedule.lost_errors import describe_fault, find_failing
from hybridjit.schedule.nest import bounds_of
from hybridjit.schedule.program import (
    path_to,
    replace_inside,
    replace_stmt,
    replace_stmts,
    the_block,
)
from hybridjit.schedule.refusal import names, refuse, refuse_conflict
from hybridjit.schedule.restriction import Slices, find_slices
from hybridjit.schedule.stages import (
    check_nest,
    is_known,
    jumps_anywhere,
    writes,
    written_buffer,
)

STEP = "compute_root"


@record(eq=False)
class Rooted:
    """`nests` compute the buffer of `allocation`, all of them statements of `scope`.

    `path` are the statements from the one beside which they will stand down to the scope.
    """

    allocation: Allocate
    scope: Seq
    nests: tuple[Stmt, ...]
    path: tuple[Stmt, ...]

    @property
    def buffer(self) -> Buffer:
        """What is computed."""
        return self.allocation.buffer

    @property
    def outer(self) -> Stmt:
        """The statement around, beside which the nests will stand."""
        return self.path[0]

    @property
    def crossed(self) -> tuple[For, ...]:
        """The loops that they leave."""
        return tuple(stmt for stmt in self.path if isinstance(stmt, For))


def compute_root(func: PrimFunc, block_name: str) -> PrimFunc:
    """Compute the buffer of a block before the loops that it is computed in.

        for i in range(n - 1):                    t = allocate((n,), "float32")
            t = allocate((n,), "float32")         for j in range(n):
            for j in range(i, i + 2):                 with block("t", j):
                with block("t", j):        -->            t[j] = f(a[j])
                    t[j] = f(a[j])                for i in range(n - 1):
            with block("c", i):                       with block("c", i):
                c[i] = t[i] + t[i + 1]                    c[i] = t[i] + t[i + 1]

    This takes a `compute_at` back. Legal if the same is computed in each iteration that needs an
    element, and what it is computed from does not change.
    """
    if not _find_place(func, the_block(func, block_name)).crossed:
        return func
    func = _without_unused_iters(func, block_name)
    place = _find_place(func, the_block(func, block_name))
    _check(func, place)

    part = infer_instances(func, place.outer)
    nests = tuple(_widened(func, place, nest, part) for nest in place.nests)
    moved = (*place.nests, place.allocation)
    rest = seq(*(stmt for stmt in place.scope.stmts if stmt not in moved))
    outer = replace_inside(place.outer, {place.scope: rest})
    made = replace_stmt(func, place.outer, seq(place.allocation, *nests, outer))

    _check_same_iterations(func, made, place, nests, part)
    return made


# -- check -----------------------------------------------------------------------------------------


def _find_place(func: PrimFunc, block: Block) -> Rooted:
    buffer = written_buffer(func, block, STEP)
    allocation = the_allocation(func, buffer, STEP)
    path = path_to(func, allocation)[:-1]
    scope = path[-1] if path else None
    if not isinstance(scope, Seq) or not any(node is block for node in walk(scope)):
        raise refuse(func, f"{STEP}: '{buffer.name}' is not made where it is computed", [block])
    nests = tuple(stmt for stmt in scope.stmts if writes(stmt, buffer))
    for nest in nests:
        check_nest(func, nest, [buffer], STEP)
    first = next((k for k, stmt in enumerate(path) if not isinstance(stmt, Seq)), len(path) - 1)
    return Rooted(allocation, scope, nests, path[first:])


def _without_unused_iters(func: PrimFunc, block_name: str) -> PrimFunc:
    """`func` with no iters in the blocks to be moved that only name a loop around."""
    changes: dict[Stmt, Stmt] = {}
    for nest in _find_place(func, the_block(func, block_name)).nests:
        for block in walk(nest):
            if isinstance(block, Block):
                kept = tuple(item for item in block.iters if _is_used(item, block))
                changes[block] = dataclasses.replace(block, iters=kept)
    return replace_stmts(func, changes)


def _is_used(item: Iter, block: Block) -> bool:
    if item.kind is IterKind.REDUCE and block.init is not None:
        return True  # it says when the init runs
    stmts = (block.body,) if block.init is None else (block.body, block.init)
    domains = (bound for other in block.iters for bound in other.domain or ())
    return any(node is item.var for root in (*stmts, *domains) for node in walk(root))


def _check(func: PrimFunc, place: Rooted) -> None:
    if any(isinstance(stmt, While) for stmt in place.path):
        raise refuse(func, f"{STEP}: '{place.buffer.name}' is made in a while loop", place.nests)
    crossed = {loop.var for loop in place.crossed}
    named = _named_in(place)
    for extent in place.buffer.shape:
        if any(node in crossed | named for node in walk(extent) if isinstance(node, Var)):
            raise refuse(
                func, f"{STEP}: the size of '{place.buffer.name}' depends on a loop", place.nests
            )
    for nest in place.nests:
        used = [node for node in _used_in_bodies(nest) if node in crossed]
        if used:
            raise refuse(
                func,
                f"{STEP}: what '{place.buffer.name}' is computed from depends on loop "
                f"{names(list(dict.fromkeys(used)))}",
                [nest],
            )
        gone = [node for node in walk(nest) if isinstance(node, Var) and node in named]
        if gone:
            raise refuse(
                func,
                f"{STEP}: what '{place.buffer.name}' is computed from depends on '{gone[0].name}', "
                "which has its value in the loops around",
                [nest],
            )
    _check_inputs(func, place)


def _named_in(place: Rooted) -> set[Var]:
    """The names for values that the nests see and will no longer see."""
    inside = {node for nest in place.nests for node in walk(nest)}
    named = (node for node in walk(place.outer) if isinstance(node, Let | Iter))
    return {node.var for node in named if node not in inside}


def _used_in_bodies(node: Node) -> Iterator[Var]:
    """The variables that a nest uses, except in the bounds of its loops."""
    if isinstance(node, Var):
        yield node
    bounds = bounds_of(node) if isinstance(node, For) else ()
    for child in children(node):
        if not any(child is bound for bound in bounds):
            yield from _used_in_bodies(child)


def _check_inputs(func: PrimFunc, place: Rooted) -> None:
    """Refuse if what the nests read is written in the loops before they run."""
    part = infer_instances(func, place.outer)
    own = [found for nest in place.nests for found in part.inside(nest)]
    others = [found for found in part.statements if found not in own]
    conflict = Dependences(part).find_before(others, own, [place.buffer])
    if conflict is not None:
        raise refuse_conflict(
            func,
            f"{STEP}: what '{place.buffer.name}' is computed from changes in the loops around",
            conflict,
            place.crossed,
        )


# -- build -----------------------------------------------------------------------------------------


def _widened(func: PrimFunc, place: Rooted, nest: Stmt, part: Part) -> Stmt:
    """`nest` with loops that run over all that they do in any iteration of the crossed loops."""
    crossed = {loop.var for loop in place.crossed}
    inside = {node.var for node in walk(nest) if isinstance(node, For | Let | Iter)}
    slices = [find_slices(nest, [place.buffer], axis) for axis in range(place.buffer.ndim)]
    made = nest
    for loop in [node for node in walk_stmts(nest) if isinstance(node, For)]:
        used = {var for bound in bounds_of(loop) for var in walk(bound) if isinstance(var, Var)}
        if not used & crossed:
            continue
        axis = None if used & inside else _axis_of(loop, slices)
        if axis is None or not _reads_own_slices(func, place, loop, slices[axis], axis):
            raise refuse(
                func,
                f"{STEP}: loop '{loop.var.name}' depends on the loops around it, and it is not "
                f"known that they read no more of '{place.buffer.name}' than it computes",
                [loop],
            )
        start, stop = _range_over_all(func, loop, part)
        now = next(
            node for node in walk_stmts(made) if isinstance(node, For) and node.var is loop.var
        )
        made = replace_inside(made, {now: dataclasses.replace(now, start=start, stop=stop)})
    return made


def _axis_of(loop: For, slices: Sequence[Slices | str]) -> int | None:
    """The axis whose index, in all accesses of the nest, is that of `loop` alone."""
    for axis, found in enumerate(slices):
        if isinstance(found, Slices) and found.loops == (loop,) and loop.step == Const(1):
            return axis
    return None


def _reads_own_slices(
    func: PrimFunc, place: Rooted, loop: For, slices: Slices | str, axis: int
) -> bool:
    """Whether what else is in the scope reads only slices that `loop` goes over in its iteration.

    Of these it finds the same afterwards, of others perhaps what another iteration has computed.
    """
    assert isinstance(slices, Slices)
    part = infer_instances(func, place.scope)
    own = {found for nest in place.nests for found in part.inside(nest)}
    ends = [
        part.names.affine(simplify(substitute(slices.index, {loop.var: end})))
        for end in (loop.start, loop.stop - 1)
    ]
    bounds = [part.names.affine(bound) for bound in (loop.start, loop.stop)]
    if None in (*ends, *bounds):
        return False
    low, high = f"min({ends[0]}, {ends[1]})", f"max({ends[0]}, {ends[1]})"
    empty = f"{bounds[0]} >= {bounds[1]}"
    elements = Elements(part)
    for statement, access in accesses_to(part, place.buffer):
        index = access.element[axis]
        outside = f"({empty} or {index} < {low} or {index} > {high})"
        if statement not in own and (
            index is None or elements.may_hold(statement, access, outside)
        ):
            return False
    return True


def _range_over_all(func: PrimFunc, loop: For, part: Part) -> tuple[Expr, Expr]:
    isl = load_isl()
    kind = isl.dim_type.set
    values: Polyhedron = None
    for statement in part.statements:
        if loop in statement.loops:
            axis = statement.loops.index(loop)
            points = _domain(part, statement)
            points = points.project_out(kind, axis + 1, len(statement.dims) - axis - 1)
            points = points.project_out(kind, 0, axis)
            values = points if values is None else values.union(points)
    if not values.dim_is_bounded(kind, 0):
        raise refuse(
            func,
            f"{STEP}: it is not known how far loop '{loop.var.name}' goes in all the iterations of "
            "the loops around it",
            [loop],
        )
    return range_of(values.coalesce(), context_of(part), part.names.parameters)


def _domain(part: Part, statement: Instances) -> Polyhedron:
    condition = f": {statement.domain}" if statement.domain else ""
    text = f"{part.parameters} -> {{ [{', '.join(statement.dims)}] {condition} }}"
    return load_isl().Set(text).intersect_params(context_of(part))


def _check_same_iterations(
    func: PrimFunc, made: PrimFunc, place: Rooted, nests: tuple[Stmt, ...], part: Part
) -> None:
    """Refuse unless the nests run all that some iteration ran before, and no more that may fail."""
    is_certain = not jumps_anywhere(place.outer) and all(
        is_known(stmt, part.names) for stmt in place.path
    )
    for old, new in zip(place.nests, nests, strict=True):
        now = infer_instances(made, new)
        before, after = part.inside(old), now.statements
        is_same = len(before) == len(after) and now.names.parameters == part.names.parameters
        fault = find_failing(now, [new], after)
        if fault is not None and not is_certain:
            raise refuse(
                func,
                f"{STEP}: '{place.buffer.name}' may not be computed at all in the loops around, "
                f"and to compute it may fail: {describe_fault(fault)}",
                [old],
            )
        more = "" if fault is None else f", and more of it may fail: {describe_fault(fault)}"
        if not is_same or not all(
            _covers(part, one, now, other, exactly=fault is not None)
            for one, other in zip(before, after, strict=True)
        ):
            raise refuse(
                func,
                f"{STEP}: all that is computed of '{place.buffer.name}' in the loops around is not "
                f"a box{more}",
                [old],
            )


def _covers(part: Part, before: Instances, now: Part, after: Instances, *, exactly: bool) -> bool:
    """Whether a statement runs now where it ran in any iteration of the crossed loops."""
    crossed = len(before.dims) - len(after.dims)
    union = _domain(part, before).project_out(load_isl().dim_type.set, 0, crossed)
    found = _domain(now, after)
    return bool(union.is_equal(found) if exactly else union.is_subset(found))
