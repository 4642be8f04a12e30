"""Subscripts that give arrays: slices, new axes, ellipsis, masks and arrays of indices."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from types import EllipsisType
from typing import TYPE_CHECKING

from hybridjit.arith.ranges import ONE, ZERO, constant, minus, plus
from hybridjit.arith.simplify import simplify
from hybridjit.errors import BoundsError, Span
from hybridjit.frontend.arrays.memory import (
    as_it_was,
    at,
    before,
    compose,
    elements_of,
    fixed_index,
    has_effect,
    settled,
    view_of,
)
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    Items,
    Nothing,
    Place,
    SliceValue,
    Value,
    View,
)
from hybridjit.ir.dtype import INT64, WEAK_BOOL, ScalarType
from hybridjit.ir.expr import Buffer, Const, Eq, Expr, Ge, Load, Lt, Node, Or, Select, Var
from hybridjit.ir.stmt import Allocate, If, Raise, Store
from hybridjit.ir.texts import text_of
from hybridjit.ir.visit import walk
from hybridjit.lazy import lazy_module
from hybridjit.record import record
from hybridjit.scalars.conversion import truth
from hybridjit.scalars.operators import logical_not
from hybridjit.scalars.scalar import Scalar

if TYPE_CHECKING:
    from hybridjit.frontend.arrays import extents, refusals
    from hybridjit.frontend.arrays.extents import Span1D
else:
    extents = lazy_module("hybridjit.frontend.arrays.extents")
    refusals = lazy_module("hybridjit.frontend.arrays.refusals")


@record
class Selection:
    """What a subscript takes: a place for each axis of the array, and the shape that is left."""

    places: tuple[Place, ...]
    shape: tuple[Expr, ...]


_GIVE_TUPLES = ("nonzero", "where", "unravel_index")


def written_out(build: Builder, node: ast.Subscript) -> ast.Subscript:
    """`a[places]` with the items of a tuple in its place, each a name that stands for one."""
    if isinstance(node.slice, ast.Tuple) and any(_is_slice_name(build, e) for e in node.slice.elts):
        places = [_place_of(build, entry) for entry in node.slice.elts]
        return _subscript(node, ast.Tuple(places))
    match node.slice:
        case ast.Name():
            value = build.evaluate(node.slice)
        case ast.Call(func=ast.Attribute(attr=name)) if name in _GIVE_TUPLES:
            value = build.evaluate(node.slice)
        case ast.Call(ast.Name("slice")):
            value = build.evaluate(node.slice)
        case _:
            return node
    if isinstance(value, SliceValue):
        return _subscript(node, _slice_of(build, value, node.slice))
    if isinstance(node.slice, ast.Name) and (not isinstance(value, Items) or value.is_list):
        return node
    items = value.items if isinstance(value, Items) else (value,)
    return _subscript(node, ast.Tuple([_standing_for(build, item, node.slice) for item in items]))


def _subscript(node: ast.Subscript, place: ast.expr) -> ast.Subscript:
    places = ast.copy_location(place, node.slice)
    return ast.copy_location(ast.Subscript(node.value, places), node)


def _standing_for(build: Builder, value: Value, place: ast.expr) -> ast.expr:
    """A name that stands for a value; a slice is written as one."""
    if isinstance(value, SliceValue):
        return _slice_of(build, value, place)
    name = ast.copy_location(ast.Name("place"), place)
    build.frame.fixed[name] = value
    return name


def _slice_of(build: Builder, value: SliceValue, place: ast.expr) -> ast.expr:
    parts = (value.start, value.stop, value.step)
    bounds = [
        None if isinstance(part, Nothing) else _standing_for(build, part, place) for part in parts
    ]
    return ast.copy_location(ast.Slice(*bounds), place)


def _is_slice_name(build: Builder, node: ast.expr) -> bool:
    """Whether an entry of a subscript is a slice that has a name, or is made by `slice(...)`."""
    match node:
        case ast.Name():
            web = build.frame.variables.reads.get(node)
            return web is not None and isinstance(build.frame.bindings.get(web), SliceValue)
        case ast.Call(ast.Name("slice")):
            return True
        case _:
            return False


def _place_of(build: Builder, node: ast.expr) -> ast.expr:
    if not _is_slice_name(build, node):
        return node
    return _standing_for(build, build.evaluate(node), node)


def entries(build: Builder, nodes: Sequence[ast.expr]) -> list[Value | EllipsisType | None]:
    """The values of the entries of a subscript; slices have none."""
    return [None if isinstance(node, ast.Slice) else _entry(build, node) for node in nodes]


def element_or_part(build: Builder, part: AnyArray, node: ast.AST) -> Value:
    """An array without dimensions is its only element."""
    if part.shape or (isinstance(part, ArrayExpr) and part.mask is not None):
        return part
    element = elements_of(build, part).element(())
    if isinstance(element.expr, Load):
        return Scalar(replace(element.expr, span=build.span(node)), element.type)
    return element


def is_slice(node: ast.expr) -> bool:
    """True for an entry that is not an index: a slice, `...`, None, or a list of indices."""
    is_marker = isinstance(node, ast.Constant) and node.value in (None, ...)
    return isinstance(node, (ast.Slice, ast.List)) or is_marker


def _entry(build: Builder, node: ast.expr) -> Value | EllipsisType:
    """The value of an index; `...` stands for itself, a list for an array of indices."""
    if isinstance(node, ast.Constant) and node.value is ...:
        return ...
    value = build.evaluate(node)
    return (
        build.language.array_of_items(build, value, node) if isinstance(node, ast.List) else value
    )


def shown(
    build: Builder,
    owner: AnyArray,
    places: tuple[Place, ...],
    shape: tuple[Expr, ...],
    node: ast.AST,
) -> View | ArrayExpr:
    """A view of an array; an array that is computed is computed there."""
    if not isinstance(owner, ArrayExpr):
        view = view_of(build, owner)
        return View(view.buffer, compose(view.places, places), shape)
    if owner.mask is not None:
        raise build.refuse(
            "this is not known of elements that a mask selects before they have a name",
            node,
            help="give them a name first, as in x = a[m]",
        )

    def element(indices: Sequence[Expr]) -> Scalar:
        return owner.element([at(place, indices) for place in places])

    made = ArrayExpr(shape, owner.dtype, element, shown=owner.shown, may_be_copy=owner.may_be_copy)
    return replace(made, part_of=owner.part_of)


# slices and single indices


def select(
    build: Builder,
    owner: AnyArray,
    values: Sequence[Value | EllipsisType | None],
    nodes: Sequence[ast.expr],
    node: ast.Subscript,
) -> Selection:
    """The places that slices, new axes and single indices take."""
    entries = spread(build, owner, values, nodes, node)
    places: list[Place] = []
    shape: list[Expr] = []
    for value, entry in entries:
        if isinstance(value, Nothing):
            shape.append(ONE)
            continue
        axis = len(places)
        if entry is None or isinstance(entry, ast.Slice):
            place, size = sliced(build, entry, owner.shape[axis], len(shape))
            places.append(place)
            shape.append(size)
        else:
            assert value is not None
            index = build.as_scalar(value, entry, "an index")
            places.append(Place(single_index(build, index, owner, axis, entry)))
    return Selection(tuple(places), tuple(shape))


def spread(
    build: Builder,
    owner: AnyArray,
    values: Sequence[Value | EllipsisType | None],
    nodes: Sequence[ast.expr],
    node: ast.Subscript,
) -> list[tuple[Value | None, ast.expr | None]]:
    """The entries of a subscript, one for each axis and each new axis: `...` is filled in."""
    ndim = len(owner.shape)
    given = sum(not isinstance(value, (EllipsisType, Nothing)) for value in values)
    if given > ndim:
        raise build.mismatch(
            f"too many indices: `{ast.unparse(node.value)}` has "
            f"{refusals.count(ndim, 'dimension')}, "
            f"found {refusals.count(given, 'index', 'indices')}",
            node,
        )
    dots = sum(value is ... for value in values)
    if dots > 1:
        raise build.refuse("an index can have only one '...'", node)
    rest: list[tuple[Value | None, ast.expr | None]] = [(None, None)] * (ndim - given)
    entries: list[tuple[Value | None, ast.expr | None]] = []
    for value, entry in zip(values, nodes, strict=True):
        if isinstance(value, EllipsisType):
            entries += rest
        else:
            entries.append((value, entry))
    return entries if dots else entries + rest


def sliced(build: Builder, entry: ast.Slice | None, size: Expr, axis: int) -> tuple[Place, Expr]:
    """What a slice takes of a dimension, shown as an axis of the result: where, how many."""
    if entry is None:
        return Place(ZERO, 1, axis), size
    found = _slice(build, entry, size)
    return Place(found.start, found.step, axis), found.extent


def _slice(build: Builder, node: ast.Slice, size: Expr) -> Span1D:
    step = 1 if node.step is None else _step(build, node.step)
    ends: tuple[Expr | None, ...] = (None, None)
    if isinstance(step, int):  # what a bound that may be None is then
        ends = (ZERO, size) if step > 0 else (minus(size, ONE), minus(Const(-1), size))
    bounds = _bound(build, node.lower, ends[0]), _bound(build, node.upper, ends[1])
    if isinstance(step, int):
        return extents.slice_span(size, bounds, step, build.ranges)
    found = extents.slice_at_run_time(size, bounds, step, build.ranges)
    start, extent = (_kept(build, part, node) for part in (found.start, found.extent))
    return extents.Span1D(start, step, extent)


def _kept(build: Builder, expr: Expr, node: ast.AST) -> Expr:
    """A number that is computed here, once."""
    return build.let(Scalar(expr, ScalarType(expr.dtype)), "t", build.span(node)).expr


def _step(build: Builder, node: ast.expr) -> int | Expr:
    value = build.evaluate(node)
    if isinstance(value, Nothing):
        return 1
    found = build.as_index(build.as_scalar(value, node), node, "the step of a slice")
    step = constant(found)
    if step == 0:
        raise build.refuse("the step of a slice must not be zero", node, help="use 1 or -1")
    if step is not None:
        return step
    span, kept = build.span(node), _kept(build, found, node)
    failure = Raise("ValueError", ("slice step cannot be zero",), span=span)
    build.emit(If(Eq(kept, ZERO), failure, span=span))
    return kept


def _bound(build: Builder, node: ast.expr | None, end: Expr | None) -> Expr | None:
    """A bound of a slice; one that is None if a condition holds is the `end` then."""
    if node is None:
        return None
    chosen = None if end is None else _bound_or_end(build, node, end)
    if chosen is not None:
        return fixed_index(build, chosen)
    value = build.evaluate(node)
    if isinstance(value, Nothing):
        return None
    bound = build.as_index(build.as_scalar(value, node, "a bound"), node, "a bound of a slice")
    return fixed_index(build, bound)


def _bound_or_end(build: Builder, node: ast.expr, end: Expr) -> Expr | None:
    """`n or None`, or `n if c else None`, where the condition is known only at run time."""
    match node:
        case ast.BoolOp(ast.Or(), [ast.expr() as value, ast.Constant(None)]):
            test = value
        case ast.IfExp(test, ast.Constant(None), value) | ast.IfExp(
            test, value, ast.Constant(None)
        ):
            pass
        case _:
            return None
    cond = truth(build.scalar(test, "a condition"), build.span(test))
    if isinstance(cond, Const) and not isinstance(node, ast.BoolOp):
        return None
    cond = build.let(Scalar(cond, WEAK_BOOL), "is_set", build.span(test)).expr
    with build.collect_lazily() as stmts:
        bound = _bound(build, value, end)
    if bound is None:
        return end
    if isinstance(node, ast.IfExp) and isinstance(node.body, ast.Constant):
        cond = logical_not(Scalar(cond, WEAK_BOOL), build.span(test)).expr
    if not stmts:
        return Select(cond, bound, end)
    found = Buffer("bound", INT64, (), Buffer.REGISTER)
    build.emit(Allocate(found, zero=False))
    build.emit(Store(found, (), end))
    build.emit(If(cond, build.close([*stmts, Store(found, (), bound)]), span=build.span(node)))
    return Load(found)


def single_index(build: Builder, value: Scalar, owner: AnyArray, axis: int, node: ast.expr) -> Expr:
    """One index into an axis. A whole axis of a buffer checks it itself when it is used."""
    position = fixed_index(build, build.as_index(value, node, "an index"))
    size = owner.shape[axis]
    known, extent = constant(position), constant(size)
    if known is not None and extent is not None:
        if not -extent <= known < extent:
            raise _sure_outside(build, position, size, axis, node)
        return Const(known % extent)
    if isinstance(owner, Array):
        require_inside(build, position, owner.buffer, len(owner.indices) + axis, node)
        return position
    if _is_inside(build, position, size):
        return position
    return checked(build, position, size, axis, node)


def _sure_outside(
    build: Builder, position: Expr, size: Expr, axis: int, node: ast.expr
) -> BoundsError:
    """The error for an index that is outside; at run time, if its statement may not be reached."""
    if build.depth and build.is_in_statement:
        build.fail(_outside(position, size, axis, build.span(node)))
    where = f"axis {axis} with size {constant(size)}"
    return BoundsError(f"index {constant(position)} is out of bounds for {where}", build.span(node))


def _is_inside(build: Builder, position: Expr, size: Expr) -> bool:
    is_natural = build.ranges.is_natural(position)
    return is_natural and build.ranges.is_at_most(plus(position, ONE), size)


def row_as_it_was(build: Builder, owner: Value, mark: int, node: ast.Subscript) -> Value:
    """What a subscript is of, as it was before the statements from `mark` on, its index.

    If these have effects, a row that is outside fails before them.
    """
    if not isinstance(owner, Array) or not any(map(has_effect, build.body[mark:])):
        return as_it_was(build, owner, mark)
    with before(build, mark):
        owner = settled(build, owner)
        for axis, position in enumerate(owner.indices):
            require_inside(build, position, owner.buffer, axis, node, at_once=True)
    return owner


def require_inside(
    build: Builder,
    position: Expr,
    buffer: Buffer,
    axis: int,
    node: ast.AST,
    *,
    at_once: bool = False,
) -> None:
    """An error at run time for an index that leaves an axis of a buffer, by which a part of
    it is taken: where the part is used for no element, nothing else would see it.

    An index that varies in a loop around is left to the accesses of the part, if it has any, unless
    the error must come `at_once`.
    """
    size = buffer.shape[axis]
    if _is_inside(build, position, size):
        return
    is_empty = any(constant(extent) == 0 for extent in buffer.shape)
    if not (is_empty or at_once) and any(_varies(build, part) for part in walk(position)):
        return
    key = position, size
    blocks = [build.body, *(enclosing.block for enclosing in build.around)]
    if any(old == key and any(b is block for b in blocks) for block, old in build.checked_rows):
        return
    build.checked_rows.append((build.body, key))
    span = build.span(node)
    low = minus(ZERO, size)
    outside = simplify(Or(Lt(position, low), Ge(position, size)))
    failure = _outside(position, size, axis, span)
    if constant(outside) is None:
        build.emit(If(outside, failure, span=span))
    # Of arrays with elements, the access itself is refuted. Elsewhere than before a statement
    # others may follow, which must not stand after an error.
    elif constant(outside) == 1 and is_empty and build.is_in_statement:
        build.fail(failure)


def _varies(build: Builder, part: Node) -> bool:
    """True for what need not be the same in each iteration of the loops around."""
    if isinstance(part, Var):
        return part in build.unit.loop_ranges or part in build.unit.let_values
    return isinstance(part, Load)


def checked(build: Builder, position: Expr, size: Expr, axis: int, node: ast.AST) -> Expr:
    """An index into an axis that is part of a larger one: it must not leave the part."""
    span = build.span(node)
    if not build.ranges.is_natural(position):
        wrapped = simplify(Select(Lt(position, ZERO), plus(position, size), position))
        position = build.let(Scalar(wrapped, ScalarType(wrapped.dtype)), "t", span).expr
    outside = simplify(Or(Lt(position, ZERO), Ge(position, size)))
    build.emit(If(outside, _outside(position, size, axis, span), span=span))
    return position


# arrays as indices


def _outside(position: Expr, size: Expr, axis: int, span: Span | None) -> Raise:
    """The error for an index outside its axis."""
    message = text_of("index ", position, f" is out of bounds for axis {axis} with size ", size)
    return Raise("IndexError", message, is_text=True, span=span)
