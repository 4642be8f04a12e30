"""`for` loops over arrays: their elements or rows, also with enumerate, zip and reversed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from hybridjit.arith.ranges import ONE, ZERO, constant, minus, plus, tidy, times
from hybridjit.errors import ShapeMismatch
from hybridjit.frontend.arrays.elementwise import require_size
from hybridjit.frontend.arrays.lists import item_at, length, refuse_empty
from hybridjit.frontend.arrays.memory import (
    elements_of,
    evaluate_all,
    first_store,
    fixed_index,
    in_order,
    materialize,
    settled,
)
from hybridjit.frontend.arrays.subscripts import element_or_part, shown
from hybridjit.frontend.assignments import assign_name, frozen, rows_of
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import arguments, refuse_keyword
from hybridjit.frontend.expansion import check_rounds, expand, loop_bounds, refuse_items
from hybridjit.frontend.frame import LoopScope
from hybridjit.frontend.item_arrays import stored_items
from hybridjit.frontend.loops import is_iterator, run_counted
from hybridjit.frontend.plain_syntax import has_jump
from hybridjit.frontend.records import record_at
from hybridjit.frontend.refusals import refusal
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    Builtin,
    Foreign,
    GrowingList,
    Items,
    Place,
    Records,
    Value,
    describe,
)
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import (
    Add,
    Buffer,
    Const,
    Expr,
    FloorDiv,
    Load,
    Lt,
    Max,
    Min,
    Mod,
    Sub,
    Var,
)
from hybridjit.ir.stmt import Allocate, For, Let, LoopKind, Stmt, Store, While, seq
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.record import record
from hybridjit.scalars.scalar import Scalar, index


@record
class Walk:
    """What a loop goes through: how many items there are, and the one at a position.

    With `is_tuple`, the items are of several kinds, and the position must be a constant. `lists`
    are those that may be changed meanwhile; one that is gone through alone `grows`. Of `copied`
    arrays, NumPy would go through a view.
    """

    extent: Expr
    item: Callable[[Expr], Value]
    is_tuple: bool = False
    lists: tuple[GrowingList, ...] = ()
    grows: bool = False
    copied: tuple[Buffer, ...] = ()


def run_items(build: Builder, stmt: ast.For) -> bool:
    """A loop over a tuple is expanded, one over an array runs; whether its end is reached."""
    found = _walk(build, stmt.iter, runs=any(map(has_jump, stmt.body)))
    unknown = next((each for each in found.lists if not each.columns), None)
    if unknown is not None:
        # Nothing was put into it so far: no rounds. What comes later may tell its types, so names
        # that the body assigns must keep their values.
        build.unit.skipped += 1
        build.unit.unresolved = build.unit.unresolved or refuse_empty(build, unknown, stmt.iter)
        return True
    if not found.is_tuple:
        _run_walk(build, found, stmt)
        return True
    size = constant(found.extent)
    if size is None:
        raise build.refuse(
            "a tuple and an array of a size that is not known now cannot be looped over together",
            stmt.iter,
            help="loop over const_range(len(...)) and index both",
        )
    check_rounds(build, stmt, size)
    return expand(build, stmt, [found.item(Const(k)) for k in range(size)])


def _run_walk(build: Builder, found: Walk, stmt: ast.For) -> None:
    span = build.span(stmt)
    var = Var(_loop_name(stmt), span=build.span(stmt.target))
    # A list may get more items in the loop: nothing is known of how many there will be.
    build.unit.loop_ranges[var] = ZERO, Var("size") if found.grows else found.extent, ONE
    build.frame.loops.append(LoopScope(LoopKind.SERIAL, "for"))

    def bind() -> None:
        _bind_item(build, stmt.target, found.item(var), stmt)

    def make(body: Stmt) -> Stmt:
        _check_copied(build, found, body, stmt)
        changed = _changed(body, found.lists)
        if changed is not None:
            return _while_there_are(build, found, var, body, changed, stmt)
        return For(var, ZERO, found.extent, ONE, body, span=span)

    run_counted(build, stmt, [var], bind, make)
    build.frame.loops.pop()


def _loop_name(stmt: ast.For) -> str:
    """What the loop is called in schedules: as the script counts, if it does."""
    match stmt:
        case ast.For(target=ast.Name(id=name)):
            return f"{name}_index"
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(id=name), *_]),
            iter=ast.Call(func=ast.Name(id="enumerate"), args=[_]),
        ):
            return name
        case _:
            return "item_index"


def _check_copied(build: Builder, found: Walk, body: Stmt, stmt: ast.For) -> None:
    """Refuse to write, in a loop over a copy, to what NumPy would go through a view of."""
    store = first_store(build, found.copied, [body])
    if store is not None:
        raise build.refuse(
            f"the loop goes through `{ast.unparse(stmt.iter)}`, which may be a view of "
            f"'{found.copied[0].name}', and writes to it meanwhile",
            stmt.iter,
            help="go through a copy, with .copy(), or index the array itself",
        )


def _changed(body: Stmt, lists: Sequence[GrowingList]) -> GrowingList | None:
    """A list that has more or fewer items after a round."""
    stored = {node.buffer for node in walk_stmts(body) if isinstance(node, Store)}
    return next((found for found in lists if found.count in stored), None)


def _while_there_are(
    build: Builder, found: Walk, var: Var, body: Stmt, changed: GrowingList, stmt: ast.For
) -> Stmt:
    """A loop over a list that is changed meanwhile: it looks at the length before each round."""
    if not found.grows:
        raise build.refuse(
            f"the list '{changed.name}' is changed in a loop over it and others",
            stmt.iter,
            help="count the rounds, and index the list",
        )
    at = Buffer(var.name, INT64, (), Buffer.REGISTER)
    build.emit(Allocate(at, zero=False))
    build.emit(Store(at, (), ZERO))
    step = [Let(var, Load(at)), Store(at, (), Add(var, ONE))]
    return While(Lt(Load(at), Load(changed.count)), seq(*step, body), span=build.span(stmt))


def _bind_item(build: Builder, target: ast.expr, value: Value, stmt: ast.For) -> None:
    """Give a target of the loop its value for this round."""
    match target:
        case ast.Name():
            if isinstance(value, Scalar):
                value = build.let(value, target.id, build.span(stmt))
            build.frame.fixed[target] = value
            assign_name(build, target, value, stmt)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            for part, item in zip(elts, _parts(build, value, target, len(elts)), strict=True):
                _bind_item(build, part, item, stmt)
        case _:
            raise refusal(target, build.span(target))


def _parts(build: Builder, value: Value, target: ast.expr, wanted: int) -> Sequence[Value]:
    """The items that a tuple of targets is given."""
    items: Sequence[Value] = ()
    if isinstance(value, Items):
        items = value.items
    elif isinstance(value, AnyArray) and constant(value.shape[0]) is not None:
        items = rows_of(build, value, target)
    if len(items) != wanted:
        raise build.mismatch(f"cannot unpack {describe(value)} into {wanted} names", target)
    return items


# what can be looped over


def _walk(build: Builder, node: ast.expr, *, runs: bool = False) -> Walk:
    """What is gone through; with `runs`, tuples of numbers are put into arrays: loops that are left
    in the middle are not expanded.
    """
    called = [node.func] if isinstance(node, ast.Call) else []
    with in_order(build, called):  # which is looked at here, and by the call
        return _walk_called(build, node, runs)


def _walk_called(build: Builder, node: ast.expr, runs: bool) -> Walk:
    if isinstance(node, ast.Call) and not isinstance(node.func, ast.Subscript):
        callee = build.evaluate(node.func)
        if isinstance(callee, Foreign) and is_iterator(callee.value):
            return _combined(build, callee.value, node, runs)
        if isinstance(callee, Builtin) and callee.name in ("range", "serial"):
            return _range(build, node)
    value = build.evaluate(node)
    if isinstance(value, Items):
        # All items are computed before the first round, which may change what they are read from.
        items = tuple(frozen(build, item, "item", node) for item in value.items)
        stored = stored_items(build, replace(value, items=items), node) if runs else None
        if stored is not None:
            return Walk(Const(len(items)), stored)
        return Walk(Const(len(items)), lambda at: items[constant(at) or 0], is_tuple=True)
    if isinstance(value, GrowingList):
        size = length(build, value, node)
        return Walk(size, lambda at: item_at(build, value, at, node), lists=(value,), grows=True)
    if isinstance(value, AnyArray):
        return _rows(build, value, node)
    if isinstance(value, Records) and value.ndim:
        return Walk(value.shape[0], lambda at: record_at(build, value, at, node))
    raise refuse_items(build, value, node)


def _combined(build: Builder, function: object, node: ast.Call, runs: bool) -> Walk:
    if function is enumerate:
        return _enumerated(build, node, runs)
    if function is np.ndenumerate:
        return _elements(build, node)
    if function is np.ndindex:
        return _places(build, node)
    args, keywords = node.args, [keyword.arg for keyword in node.keywords]
    if keywords and (function is not zip or keywords != ["strict"]):
        raise refuse_keyword(build, ast.unparse(node.func), node.keywords[0])
    if not args:
        raise build.refuse(f"{ast.unparse(node.func)} needs something to loop over", node)
    walks = [_walk(build, arg, runs=runs) for arg in args]
    if function is zip:
        is_strict = bool(keywords) and build.scalar(node.keywords[0].value).constant
        return _zipped(build, walks, node if is_strict else None)
    first, last = walks[0], minus(walks[0].extent, ONE)

    def item(at: Expr) -> Value:
        return first.item(minus(last, at))

    return replace(first, item=item, grows=False)


def _enumerated(build: Builder, node: ast.Call, runs: bool) -> Walk:
    args = arguments(build, node, "iterable", "start", required=1)
    found = _walk(build, args["iterable"], runs=runs)
    start = fixed_index(build, build.index(args["start"], "start")) if "start" in args else ZERO

    def item(at: Expr) -> Value:
        return Items((index(plus(at, start)), found.item(at)))

    return replace(found, item=item)


def _elements(build: Builder, node: ast.Call) -> Walk:
    """The elements of an array of any rank, each with the tuple of its indices."""
    (arg,) = arguments(build, node, "arr", required=1).values()
    value = build.evaluate(arg)
    if not isinstance(value, AnyArray):
        raise refuse_items(build, value, node)
    kept = elements_of(build, _steady(build, value, arg))

    def item(at: Expr) -> Value:
        indices = _unravelled(kept.shape, at)
        return Items((Items(tuple(map(index, indices))), kept.element(indices)))

    return Walk(_product(build, kept.shape), item, copied=_copied(build, value))


def _places(build: Builder, node: ast.Call) -> Walk:
    """`np.ndindex(n, m)` or `np.ndindex(a.shape)`: the indices of every place, in tuples."""
    nodes = [arg.value if isinstance(arg, ast.Starred) else arg for arg in node.args]
    values = evaluate_all(build, nodes)
    if len(values) == 1 and isinstance(values[0], Items):
        values = list(values[0].items)
    what = "the sizes of np.ndindex"
    shape = [
        fixed_index(build, build.as_index(build.as_scalar(value, node, what), node, what))
        for value in values
    ]
    return Walk(_product(build, shape), lambda at: Items(tuple(map(index, _unravelled(shape, at)))))


def _product(build: Builder, shape: Sequence[Expr]) -> Expr:
    extent: Expr = ONE
    for size in shape:
        extent = times(extent, tidy(Max(size, ZERO)))
    return fixed_index(build, extent)


def _unravelled(shape: Sequence[Expr], at: Expr) -> list[Expr]:
    """The index of each axis, from how many places come before."""
    indices: list[Expr] = []
    for size in reversed(shape):
        indices.insert(0, tidy(Mod(at, size)))
        at = tidy(FloorDiv(at, size))
    return indices


def _zipped(build: Builder, walks: Sequence[Walk], strict: ast.Call | None) -> Walk:
    """Items side by side, as many as the shortest has; `strict` says that all have as many."""
    extent = walks[0].extent
    for other in walks[1:]:
        if build.ranges.same(extent, other.extent):
            continue
        if strict is not None:
            _require_length(build, extent, other.extent, strict)
        extent = tidy(Min(extent, other.extent))

    def item(at: Expr) -> Value:
        return Items(tuple(part.item(at) for part in walks))

    lists = tuple(changing for part in walks for changing in part.lists)
    copied = tuple(buffer for part in walks for buffer in part.copied)
    return Walk(extent, item, any(part.is_tuple for part in walks), lists, copied=copied)


def _require_length(build: Builder, extent: Expr, other: Expr, node: ast.Call) -> None:
    if isinstance(extent, Const) and isinstance(other, Const):
        raise ShapeMismatch(
            f"`{ast.unparse(node)}` goes through {extent.value} and {other.value} items",
            build.span(node),
        )
    require_size(build, extent, other, node)


def _range(build: Builder, node: ast.Call) -> Walk:
    start, stop, step = (fixed_index(build, b) for b in loop_bounds(build, node, node.args))
    # ceil((stop - start) / step) by floor division, right for either sign of step
    extent = tidy(Max(Sub(ZERO, FloorDiv(minus(start, stop), step)), ZERO))
    return Walk(extent, lambda at: index(plus(start, times(at, step))))


def _rows(build: Builder, value: AnyArray, node: ast.expr) -> Walk:
    if not value.shape:
        raise build.mismatch("an array without dimensions cannot be looped over", node)
    kept = _steady(build, value, node)
    rest = tuple(Place(ZERO, 1, axis) for axis in range(len(kept.shape) - 1))

    def item(at: Expr) -> Value:
        row = shown(build, kept, (Place(at), *rest), kept.shape[1:], node)
        return element_or_part(build, row, node)

    return Walk(kept.shape[0], item, copied=_copied(build, value))


def _copied(build: Builder, value: AnyArray) -> tuple[Buffer, ...]:
    """The arrays that NumPy would show a part of, where this is gone through as a copy."""
    if not isinstance(value, ArrayExpr):
        return ()
    chosen = build.unit.copied_from.get(value.buffer, ()) if value.buffer is not None else ()
    return tuple(it for it in (*chosen, value.shown, value.part_of) if it is not None)


def _steady(build: Builder, value: AnyArray, node: ast.expr) -> AnyArray:
    """An array whose items are found again in every round of the loop."""
    if isinstance(value, ArrayExpr):
        if value.mask is None and not _reads_memory(build, value):
            return value
        return materialize(build, value, "items", build.span(node))
    if value.buffer in build.unit.rebound:  # the name may get another array meanwhile
        return materialize(build, elements_of(build, value), "items", build.span(node))
    return settled(build, value) if isinstance(value, Array) else value


def _reads_memory(build: Builder, value: ArrayExpr) -> bool:
    with build.collect() as stmts:
        found = value.element([Var(f"i{axis}") for axis in range(len(value.shape))]).expr
    return bool(stmts) or any(isinstance(node, Load) for node in walk(found))
