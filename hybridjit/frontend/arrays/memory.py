"""Arrays in memory: loop nests over their elements, scratch arrays, and stores of whole arrays."""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from hybridjit.analysis.distances import Order
from hybridjit.arith.ranges import ONE, ZERO, constant, plus, tidy, times
from hybridjit.arith.totality import is_total
from hybridjit.errors import ParseError, Span
from hybridjit.frontend.builder import Builder, Never
from hybridjit.frontend.hoisting import may_have_effect
from hybridjit.frontend.values import (
    INDEX_NAMES,
    AnyArray,
    Array,
    ArrayExpr,
    Items,
    Mask,
    Place,
    Value,
    View,
)
from hybridjit.ir.dtype import INT64, WEAK_INT, ScalarType
from hybridjit.ir.expr import Add, Buffer, Const, Expr, ExternCall, Load, Node, Pow, Select, Var
from hybridjit.ir.stmt import Allocate, For, If, Let, Stmt, Store
from hybridjit.ir.visit import walk
from hybridjit.lazy import lazy_module
from hybridjit.scalars.conversion import store_value
from hybridjit.scalars.scalar import Scalar

if TYPE_CHECKING:
    from hybridjit.analysis import order as orders
    from hybridjit.analysis.order import Iterations
else:
    orders = lazy_module("hybridjit.analysis.order")


T = TypeVar("T")


def fixed_index(build: Builder, expr: Expr, name: str = "t") -> Expr:
    """An index as it is now: memory that it reads may change before it is used."""
    nodes = list(walk(expr))
    if any(isinstance(node, Load) for node in nodes):
        return build.let(Scalar(expr, WEAK_INT), name, expr.span).expr
    if any(isinstance(node, Pow) for node in nodes):
        return _computed_once(build, tidy(expr), name)
    return tidy(expr)


def _computed_once(build: Builder, expr: Expr, name: str) -> Expr:
    """An index that takes long to compute, as a variable; the same one for equal indices."""
    blocks = [build.body, *(enclosing.block for enclosing in build.around)]
    for block, old, found in build.computed_indices:
        if old == expr and any(block is around for around in blocks):
            return found
    found = build.let(Scalar(expr, WEAK_INT), name, expr.span).expr
    build.computed_indices.append((build.body, expr, found))
    return found


# reading


def view_of(build: Builder, value: Array | View) -> View:
    """An array, or a part of one, as a view of its buffer."""
    if isinstance(value, View):
        return value
    note_sizes(build, value.buffer)
    fixed = tuple(Place(fixed_index(build, index)) for index in value.indices)
    free = tuple(Place(ZERO, 1, axis) for axis in range(len(value.shape)))
    return View(value.buffer, fixed + free, value.shape)


def elements_of(build: Builder, value: AnyArray) -> ArrayExpr:
    """Any array as one whose elements are computed: those of a view are loaded."""
    if isinstance(value, ArrayExpr):
        return value
    view = view_of(build, value)
    type = ScalarType(view.dtype)

    def element(indices: Sequence[Expr]) -> Scalar:
        return Scalar(Load(view.buffer, locate(view, indices)), type)

    return ArrayExpr(view.shape, view.dtype, element)


def is_changed(build: Builder, value: ArrayExpr, later: Sequence[Stmt]) -> bool:
    """True if statements may change memory that the elements of `value` are read from."""
    nodes = [node for stmt in later for node in walk(stmt)]
    if any(isinstance(node, ExternCall) for node in nodes):
        return True
    written = {node.buffer for node in nodes if isinstance(node, Store)}
    if build.unit.shares_memory and written:
        return True
    places = [Var(f"i{axis}") for axis in range(len(value.shape))]
    nodes = _element_nodes(build, value, places)
    return any(isinstance(node, Load) and node.buffer in written for node in nodes)


def may_read(build: Builder, value: ArrayExpr, buffer: Buffer) -> bool:
    """True if the elements of `value` may be read from `buffer`."""
    places = [Var(f"i{axis}") for axis in range(len(value.shape))]
    loads = [node for node in _element_nodes(build, value, places) if isinstance(node, Load)]
    if build.unit.shares_memory and any(not load.buffer.is_register for load in loads):
        return True
    return any(load.buffer is buffer for load in loads)


def _element_nodes(build: Builder, value: ArrayExpr, indices: Sequence[Expr]) -> list[Node]:
    """Everything that is needed to compute an element."""
    with build.collect() as stmts:
        found = [value.element(indices).expr]
        if value.mask is not None:
            found.append(value.mask.element(indices).expr)
    roots: list[Node] = [*found, *stmts]
    return [node for root in roots for node in walk(root)]


# writing


def check_writable(build: Builder, buffer: Buffer, node: ast.AST) -> None:
    """Note that an array is written to in place; refuse one that is part of the code, or a copy."""
    build.unit.updated.add(buffer)
    if buffer in build.unit.standins:
        why, help = build.unit.standins[buffer]
        raise build.refuse(why, node, help=help)
    if build.unit.shares_memory and build.unit.standins and buffer not in build.unit.made:
        why, help = next(iter(build.unit.standins.values()))
        raise build.refuse(
            f"'{buffer.name}' shares memory with other arguments, and {why}", node, help=help
        )
    if any(constant.buffer is buffer for constant in build.unit.constants):
        raise build.mismatch(
            f"'{buffer.name}' comes from outside the script and cannot be written to",
            node,
            help="pass the array as an argument",
        )


def nest(
    build: Builder,
    shape: Sequence[Expr],
    body: Callable[[tuple[Expr, ...]], None],
    span: Span | None,
    order: Sequence[int] | None = None,
    *,
    counts: bool = False,
) -> None:
    """Emit a loop over the elements of `shape`; `order` lists the axes from the outside in.

    One that `counts` what it meets is no loop over elements that could come in another order.
    """
    names = [_index_name(axis, len(shape)) for axis in range(len(shape))]
    indices = tuple(
        ZERO if constant(extent) == 1 else Var(name)
        for name, extent in zip(names, shape, strict=True)
    )
    with build.collect() as stmts:
        body(indices)
    inner = build.close(stmts)
    for axis in reversed(order or range(len(shape))):
        var = indices[axis]
        if isinstance(var, Var):
            if not counts:
                build.unit.array_loops.add(var)
            build.unit.loop_ranges[var] = ZERO, shape[axis], ONE
            inner = For(var, ZERO, shape[axis], ONE, inner, span=span)
    build.emit(inner)


def scratch(
    build: Builder, name: str, value: ArrayExpr, span: Span | None, *, zero: bool = False
) -> Buffer:
    """A new array in memory with the shape and type of `value`."""
    shape = tuple(fixed_index(build, extent, "size") for extent in value.shape)
    buffer = Buffer(name, value.dtype, shape, "global")
    build.emit(Allocate(buffer, zero, span=span))
    note_sizes(build, buffer)
    return buffer


def note_sizes(build: Builder, buffer: Buffer) -> None:
    """The sizes of an array that there is are not negative."""
    build.unit.sizes |= {size for size in buffer.shape if not isinstance(size, Const)}


def materialize(build: Builder, value: ArrayExpr, name: str, span: Span | None) -> Array:
    """`value` in memory that belongs to nobody else."""
    if value.mask is not None:
        return Array(_packed(build, value, value.mask, name, span))
    return Array(copied(build, value, name, span) if value.buffer is None else value.buffer)


# elements that a mask selects


def whole(build: Builder, value: AnyArray, span: Span | None) -> AnyArray:
    """An array with a shape: elements that a mask selects become one of their own."""
    if isinstance(value, ArrayExpr) and value.mask is not None:
        packed = _packed(build, value, value.mask, "selected", span)
        return replace(elements_of(build, Array(packed)), buffer=packed)
    return value


def _packed(build: Builder, value: ArrayExpr, mask: Mask, name: str, span: Span | None) -> Buffer:
    """A new array with the elements that a mask selects, in order."""
    mask = kept_mask(build, mask, span)
    count = count_chosen(build, mask, span)
    packed = ArrayExpr(mask.without(value.shape, count), value.dtype, value.element)
    buffer = scratch(build, name, packed, span)

    def store(indices: tuple[Expr, ...], position: Expr) -> None:
        stored = store_value(value.element(indices), value.dtype, span)
        place = mask.without(indices, position)
        build.emit(Store(buffer, place, stored, span=span))

    each_selected(build, mask, store, span)
    return buffer


def kept_mask(build: Builder, mask: Mask, span: Span | None) -> Mask:
    """A mask in memory of its own: what it is computed from may change, and it is read twice."""
    kept = elements_of(build, Array(copied(build, mask.chosen, "mask", span)))
    return replace(mask, chosen=kept)


def count_chosen(build: Builder, mask: Mask, span: Span | None) -> Expr:
    """How many places a mask selects."""
    total = Buffer("count", INT64, (), Buffer.REGISTER)
    build.emit(Allocate(total, zero=False, span=span))
    build.emit(Store(total, (), ZERO, span=span))
    build.unit.reassociable.add(total)

    def body(indices: tuple[Expr, ...]) -> None:
        one = Select(mask.chosen.element(indices).expr, ONE, ZERO)
        build.emit(Store(total, (), Add(Load(total), one), span=span))

    nest(build, mask.chosen.shape, body, span)
    return build.let(Scalar(Load(total), WEAK_INT), "count", span).expr


def each_selected(
    build: Builder,
    mask: Mask,
    body: Callable[[tuple[Expr, ...], Expr], None],
    span: Span | None,
) -> None:
    """Emit `body` for each element that a mask selects, with the number of its place."""
    position = Buffer("position", INT64, (), Buffer.REGISTER)
    build.emit(Allocate(position, zero=False, span=span))
    build.emit(Store(position, (), ZERO, span=span))

    def one_place(chosen: tuple[Expr, ...]) -> None:
        with build.collect() as stmts:
            at = build.let(Scalar(Load(position), WEAK_INT), "at", span).expr
            nest(
                build,
                mask.without(mask.shape),
                lambda rest: body((*rest[: mask.first], *chosen, *rest[mask.first :]), at),
                span,
            )
            build.emit(Store(position, (), Add(at, ONE), span=span))
        build.emit(If(mask.chosen.element(chosen).expr, build.close(stmts), span=span))

    nest(build, mask.chosen.shape, one_place, span, counts=True)


def copied(build: Builder, value: ArrayExpr, name: str, span: Span | None) -> Buffer:
    """A new array with the elements of `value`, which no mask selects."""
    assert value.mask is None
    return _copied_in_place(build, value, name, span)


def _copied_in_place(build: Builder, value: ArrayExpr, name: str, span: Span | None) -> Buffer:
    """A new array of the whole shape, with the elements where the mask, if any, is true."""
    if _is_zero(build, value):
        return scratch(build, name, value, span, zero=True)
    buffer = scratch(build, name, value, span, zero=value.mask is not None)
    _fill(build, view_of(build, Array(buffer)), value, span)
    return buffer


def _is_zero(build: Builder, value: ArrayExpr) -> bool:
    """True if every element is the constant zero: memory can be made so."""
    with build.collect():
        found = value.element([Var(f"i{axis}") for axis in range(len(value.shape))]).expr
    return isinstance(found, Const) and not any(found.bits)


def _fill(build: Builder, target: View, value: ArrayExpr, span: Span | None) -> None:
    """Store each element of `value` at its place in `target`, in order."""

    def store(indices: tuple[Expr, ...]) -> None:
        stored = store_value(value.element(indices), target.dtype, span)
        build.emit(Store(target.buffer, locate(target, indices), stored, span=span))

    def body(indices: tuple[Expr, ...]) -> None:
        if value.mask is None:
            store(indices)
            return
        chosen = value.mask.element(indices).expr
        with build.collect() as stmts:
            store(indices)
        build.emit(If(chosen, build.close(stmts), span=span))

    nest(build, target.shape, body, span)


def store_array(build: Builder, target: View, value: ArrayExpr, span: Span | None) -> None:
    """Set the elements of `target` to those of `value`, which has its shape.

    As if `value` were computed first: where it reads what is written meanwhile, it is.
    """
    if _needs_copy(build, target, value):
        mask = value.mask
        if mask is not None:
            mask = kept_mask(build, mask, span)
            value = replace(value, mask=mask)
        data = elements_of(build, Array(_copied_in_place(build, value, "t", span)))
        value = replace(data, mask=mask)
    _fill(build, target, value, span)


def _needs_copy(build: Builder, target: View, value: ArrayExpr) -> bool:
    """True if computing an element may read one that was written for an earlier element."""
    indices = tuple(
        ZERO if constant(extent) == 1 else Var(f"i{axis}")
        for axis, extent in enumerate(target.shape)
    )
    nodes = _element_nodes(build, value, indices)
    loops = [index for index in indices if isinstance(index, Var)]
    varying = {node.var for node in nodes if isinstance(node, Let)}
    iterations = orders.Iterations(loops, varying, build.ranges.inside(indices, target.shape))
    place = locate(target, indices)
    loads = [node for node in nodes if isinstance(node, Load)]
    return any(_may_meet(build, load, target.buffer, place, iterations) for load in loads)


def _may_meet(
    build: Builder, load: Load, buffer: Buffer, place: tuple[Expr, ...], iterations: Iterations
) -> bool:
    if load.buffer is not buffer:
        return build.unit.shares_memory and not (load.buffer.is_register or buffer.is_register)
    return Order.AFTER in iterations.meet(load.indices, place)


def evaluate_all(build: Builder, nodes: Sequence[ast.expr]) -> list[Value]:
    """Values of several expressions, evaluated left to right.

    A value that reads memory is set aside when a later expression changes memory.
    """
    values: list[Value] = []
    marks: list[int] = []
    try:
        for node in nodes:
            values.append(build.evaluate(node))
            marks.append(len(build.body))
    except Never:  # what comes before that may end the script in another way
        _set_aside(build, values, marks)
        raise
    _set_aside(build, values, marks)
    return values


def _set_aside(build: Builder, values: list[Value], marks: Sequence[int]) -> None:
    if not marks or marks[0] == len(build.body):
        return
    # Last to first: a statement put in at one mark must not move the marks before it.
    for position in reversed(range(len(values))):
        values[position] = as_it_was(build, values[position], marks[position])


@contextmanager
def in_order(build: Builder, nodes: Sequence[ast.expr]) -> Generator[None]:
    """Inside, parts of an expression stand for what they are now, evaluated left to right, once.

    Whoever translates the expression may then look at them in any order, and more than once. Where
    no part may have an effect, that makes no difference, and they are left alone.
    """
    if not any(map(may_have_effect, nodes)):
        yield
        return
    parts = [part for node in nodes for part in _parts_of(node)]
    outer = build.evaluated
    build.evaluated = outer | dict(zip(parts, evaluate_all(build, parts), strict=True))
    try:
        yield
    finally:
        build.evaluated = outer


def _parts_of(node: ast.expr) -> Iterator[ast.expr]:
    """What is evaluated in an argument or a subscript: tuples and slices may be looked into."""
    match node:
        case ast.Constant() | ast.GeneratorExp():
            return
        case ast.Tuple(elts=inner) | ast.List(elts=inner):
            pass
        case ast.Starred(value=value):
            inner = [value]
        case ast.Slice(lower, upper, step):
            inner = [bound for bound in (lower, upper, step) if bound is not None]
        case _:
            yield node
            return
    for part in inner:
        yield from _parts_of(part)


def then(build: Builder, value: Value, action: Callable[[], T]) -> tuple[Value, T]:
    """Do what comes after `value` was computed; keep its old value if memory changes."""
    mark = len(build.body)
    result = action()
    return as_it_was(build, value, mark), result


def as_it_was(build: Builder, value: Value, mark: int) -> Value:
    """`value` as it was before the statements from `mark` on."""
    later = build.body[mark:]
    if not later:
        return value
    if isinstance(value, Items):
        return replace(value, items=tuple(as_it_was(build, x, mark) for x in value.items))
    if isinstance(value, ArrayExpr):
        _check_copied(build, value, later)
        if not is_changed(build, value, later) or _is_view(value, later):
            return value
        with before(build, mark):
            return elements_of(build, materialize(build, value, "t", None))
    if isinstance(value, Array) and any(map(has_effect, later)):
        with before(build, mark):
            return settled(build, value)
    if isinstance(value, Scalar) and any(map(has_effect, later)) and not is_total(value.expr):
        with before(build, mark):
            return build.let(value, "t", value.expr.span)
    return value


@contextmanager
def before(build: Builder, mark: int) -> Generator[None]:
    """Inside, what is emitted comes before the statements from `mark` on."""
    later = build.body[mark:]
    del build.body[mark:]
    yield
    build.body.extend(later)


def _check_copied(build: Builder, value: ArrayExpr, later: Sequence[Stmt]) -> None:
    """Refuse statements that change what one of two arrays was copied from when it was chosen."""
    if value.buffer is None or value.buffer not in build.unit.copied_from:
        return
    sources = build.unit.copied_from[value.buffer]
    store = first_store(build, sources, later)
    if store is not None:
        raise ParseError(
            f"'{sources[0].name}' is written to while one of two arrays is used, which may be "
            "a part of it and is a copy here",
            store.span,
            help="choose with if and else on lines of their own, or copy it with .copy()",
        )


def first_store(build: Builder, buffers: Sequence[Buffer], stmts: Sequence[Stmt]) -> Store | None:
    """The first store to one of some arrays, or to what may lie in the same memory."""
    may_share = build.unit.shares_memory and len(buffers) > 0
    for node in (node for stmt in stmts for node in walk(stmt)):
        if isinstance(node, Store) and (
            node.buffer in buffers or (may_share and not node.buffer.is_register)
        ):
            return node
    return None


def _is_view(value: ArrayExpr, later: Sequence[Stmt]) -> bool:
    """True for what NumPy reads from other memory, which statements change, only afterwards."""
    if not value.may_be_copy or value.shown is None:
        return value.shown is not None or value.part_of is not None
    raise ParseError(
        f"'{value.shown.name}' is written to while it is used in another shape or order, which "
        "may be a view of it or a copy",
        next((stmt.span for stmt in later if has_effect(stmt)), None),
        help=f"make it a copy with .copy(), or write to '{value.shown.name}' on a line of its own",
    )


def settled(build: Builder, value: Array) -> Array:
    """A row by its indices as they are now: memory that they are read from may change."""
    return Array(value.buffer, tuple(fixed_index(build, index) for index in value.indices))


def has_effect(stmt: Stmt) -> bool:
    """True if the statement may change memory, print or stop the run."""
    if isinstance(stmt, Let):
        return isinstance(stmt.value, ExternCall)
    return not isinstance(stmt, Allocate)


def locate(view: View, indices: Sequence[Expr]) -> tuple[Expr, ...]:
    """The indices in the buffer of an element of a view."""
    return tuple(at(place, indices) for place in view.places)


def at(place: Place, indices: Sequence[Expr]) -> Expr:
    """The index in one dimension of what is shown, for some indices of the view."""
    if place.axis is None:
        return place.start
    return plus(place.start, times(indices[place.axis], _step(place)))


def _step(place: Place) -> Expr:
    return Const(place.step, INT64) if isinstance(place.step, int) else place.step


def compose(outer: Sequence[Place], inner: Sequence[Place]) -> tuple[Place, ...]:
    """Where a view of a view is: `inner` tells its places in the dimensions of the first view."""
    places: list[Place] = []
    for place in outer:
        if place.axis is None:
            places.append(place)
            continue
        step = inner[place.axis]
        start = plus(place.start, times(step.start, _step(place)))
        both = times(_step(place), _step(step))
        known = constant(both)
        places.append(Place(start, both if known is None else known, step.axis))
    return tuple(places)


def _index_name(axis: int, ndim: int) -> str:
    return INDEX_NAMES[axis] if ndim <= len(INDEX_NAMES) else f"i{axis}"
