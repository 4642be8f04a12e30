"""Staging: a part of a program works on a copy of a box of a buffer, its *scratch*.

The part is the body of a loop, or the statement of the function (or of the scope of the buffer)
that holds a block. The scratch has a constant size where the box has a greatest size; what is
then left over of it is never touched.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hybridjit.analysis.coverage import Coverage
from hybridjit.analysis.elements import where
from hybridjit.analysis.inside import find_outside
from hybridjit.analysis.instances import Instances, Part
from hybridjit.analysis.regions import AxisRange, box_around, touched_elements
from hybridjit.arith.linear import expr_of_form, linear_form
from hybridjit.arith.polyhedra import load_isl
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Buffer, Const, Expr, Ge, Load, Lt, Max, Min, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block, For, If, Iter, Stmt, Store
from hybridjit.ir.visit import substitute
from hybridjit.record import record
from hybridjit.schedule.bind_loops import values_of_iters
from hybridjit.schedule.program import blocks_of, path_to, variables_in
from hybridjit.schedule.reindex import Indices, Reindexing


@record(eq=False)
class Scratch:
    """A copy of the box of `buffer` that is `axes`; `made` holds it from its corner on."""

    buffer: Buffer
    made: Buffer
    axes: tuple[AxisRange, ...]

    def redirect(self, func: PrimFunc, stmt: Stmt, change: Reindexing) -> Stmt:
        """`stmt`, a part of `func`, with its accesses going to the scratch.

        Blocks may then use loops directly: `bind_loops` makes them iters.
        """
        values = values_of_iters(func)

        def move(indices: Indices) -> Indices:
            return tuple(
                index if axis.is_whole else _offset(substitute(index, values), axis.start)
                for index, axis in zip(indices, self.axes, strict=True)
            )

        return change(stmt, self.buffer, self.made, move)


def _offset(index: Expr, start: Expr) -> Expr:
    """`index - start`, multiplied out where that can be."""
    forms = linear_form(index), linear_form(start)
    if forms[0] is None or forms[1] is None:
        return simplify(index - start)
    return expr_of_form(forms[0].plus(forms[1], -1))


def make_scratch(
    part: Part, buffer: Buffer, scope: str, statements: Sequence[Instances], *, whole: bool
) -> Scratch:
    """A scratch for what `statements` of `part` touch of `buffer`, or with `whole` for all of it.

    An axis with an index that may be negative or out of bounds is copied from end to end, so that
    the index means the same there.
    """
    whole_axes = tuple(_whole_axis(extent) for extent in buffer.shape)
    touched = None if whole else touched_elements(part, buffer, statements=statements)
    axes = whole_axes
    if touched is not None:
        box = box_around(part, buffer, touched).axes
        axes = tuple(
            whole_axes[axis] if find_outside(part, buffer, [axis], statements) else box[axis]
            for axis in range(buffer.ndim)
        )
    shape = tuple(_size(part, axis) for axis in axes)
    made = Buffer(f"{buffer.name}_{scope}", buffer.dtype, shape, scope)
    return Scratch(buffer, made, axes)


def is_overwritten(part: Part, place: Stmt, scratch: Scratch) -> bool:
    """Whether `place` needs nothing of what the box of the buffer held before.

    It writes every element of the box, and reads none that it has not written.
    """
    names, box = part.names, list[str]()
    for axis, extent in enumerate(scratch.buffer.shape):
        for bound, comparison in _limits(scratch.axes[axis], extent):
            text = names.affine(bound)
            if text is None:
                return False
            box.append(f"x{axis} {comparison} {text}")
    coverage = Coverage(part, place, scratch.buffer)
    return coverage.prove_written(box) and coverage.prove_read_after_write()


def _limits(axis: AxisRange, extent: Expr) -> list[tuple[Expr, str]]:
    whole = [(Const(0), ">="), (extent, "<")]
    return whole if axis.is_whole else [*whole, (axis.start, ">="), (axis.stop, "<")]


def _whole_axis(extent: Expr) -> AxisRange:
    return AxisRange(Const(0), extent, extent, None, is_whole=True)


def _size(part: Part, axis: AxisRange) -> Expr:
    if axis.limit is not None:
        return Const(axis.limit)
    # Where nothing is touched the range means nothing, but a size must not be negative.
    is_size = axis.is_whole or not _may_fail(part, [], [], Ge(axis.extent, Const(0)))
    return axis.extent if is_size else simplify(Max(axis.extent, Const(0)))


def _may_fail(part: Part, dims: Sequence[str], facts: Sequence[str], wanted: Expr) -> bool:
    """Whether `wanted` is not known to hold where the facts and those about `part` do."""
    fails = part.names.condition(wanted, holds=False)
    constraints = [*part.context, *facts, "true" if fails is None else fails]
    text = f"{part.parameters} -> {{ [{', '.join(dims)}] {where(constraints)} }}"
    return not load_isl().Set(text).is_empty()


def fresh_block_name(func: PrimFunc, base: str, others: Collection[str] = ()) -> str:
    """`base`, or else the first of `base_1`, `base_2` ... that is not taken."""
    taken = {block.name for block in blocks_of(func)} | set(others)
    name, count = base, 0
    while name in taken:
        count += 1
        name = f"{base}_{count}"
    return name


def make_copy(
    func: PrimFunc, part: Part, place: Stmt, scratch: Scratch, name: str, *, back: bool
) -> Stmt:
    """The loops that fill the scratch, or with `back` those that write it back.

        for ax0 in range(8):
            if i_0 * 8 + ax0 < n:
                with block("a_local", i_0, ax0):
                    a_local[ax0] = a[i_0 * 8 + ax0]

    They stand where `place` stands, a statement of `func` that `part` is about.
    """
    loops = [Var(f"ax{axis}") for axis in range(len(scratch.axes))]
    here = [simplify(axis.start + var) for axis, var in zip(scratch.axes, loops, strict=True)]
    inner, outer = Load(scratch.made, tuple(loops)), Load(scratch.buffer, tuple(here))
    target, value = (outer, inner) if back else (inner, outer)
    store = Store(target.buffer, target.indices, value)
    body: Stmt = _block(name, store, [*_loops_seen(func, place), *loops])
    for guard in reversed(_guards(part, scratch, loops, here)):
        body = If(guard, body)
    for var, extent in zip(reversed(loops), reversed(scratch.made.shape), strict=True):
        body = For(var, Const(0), extent, Const(1), body)
    return body


def _loops_seen(func: PrimFunc, place: Stmt) -> list[Var]:
    """The loops around `place` that a block there sees only through iters of its own."""
    seen: list[Var] = []
    for stmt in path_to(func, place)[:-1]:
        match stmt:
            case For(var):
                seen.append(var)
            case Block():
                seen = []
            case _:
                pass
    return seen


def _block(name: str, store: Store, loops: Sequence[Var]) -> Block:
    used = {var for expr in (store.value, *store.indices) for var in variables_in(expr)}
    iters = tuple(Iter(Var(var.name), var) for var in loops if var in used)
    inside: dict[Var, Expr] = {it.value: it.var for it in iters if isinstance(it.value, Var)}
    return Block(name, iters, substitute(store, inside))


def _guards(part: Part, scratch: Scratch, loops: Sequence[Var], here: Sequence[Expr]) -> list[Expr]:
    """The conditions, those that can fail, under which an element is in the box and the buffer."""
    names = part.names
    dims = [names.fresh(var) for var in loops]
    facts: list[str] = []
    for dim, extent in zip(dims, scratch.made.shape, strict=True):
        stop = names.affine(extent)
        facts.append(f"0 <= {dim}" if stop is None else f"0 <= {dim} < {stop}")
    guards: list[Expr] = []
    for axis, index, extent in zip(scratch.axes, here, scratch.buffer.shape, strict=True):
        if axis.is_whole:
            continue
        stops = [*_operands(axis.stop), extent]
        for wanted in (*(Lt(index, stop) for stop in stops), Ge(index, Const(0))):
            if _may_fail(part, dims, facts, wanted):
                guards.append(simplify(wanted))
                facts += filter(None, [names.condition(wanted)])
    return guards


def _operands(stop: Expr) -> list[Expr]:
    """The bounds that `stop` is the least of: each may be known to hold by itself."""
    return [*_operands(stop.lhs), *_operands(stop.rhs)] if isinstance(stop, Min) else [stop]
