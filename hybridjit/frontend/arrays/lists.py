"""Lists that grow: of numbers, or of tuples of numbers.

    out = []                     count = 0;  out = allocate((MANY,), "float64", "growing")
    out.append(x)       -->      reserve(out, count + 1);  out[count] = x;  count = count + 1
    y = out.pop()                if count == 0: raise IndexError(...)
                                 count = count - 1;  y = out[count]

Each number of an item has a growing array of its own, so that a list of (int, float) keeps both
types. What is written as a list is one of items known now (`Items`), until the script is seen to
change it: the next round of the translation makes a growing list of it. Its types are found as
those of variables are, by what is put into it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from hybridjit.arith.ranges import ONE, ZERO, minus, plus, tidy
from hybridjit.arith.ranges import times as times_of
from hybridjit.errors import ParseError, TypeMismatch
from hybridjit.frontend.arrays.memory import elements_of, fixed_index, nest, scratch, whole
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.frame import Frame, Key, ListPlace, Skip
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    Column,
    GrowingList,
    ItemPlace,
    Items,
    Origin,
    Place,
    Value,
    View,
    describe,
)
from hybridjit.ir.dtype import FLOAT64, INT64, WEAK_INT, DType, ScalarType
from hybridjit.ir.expr import (
    Add,
    Buffer,
    BufferRef,
    Const,
    Expr,
    Ge,
    Load,
    Lt,
    Max,
    Min,
    Or,
    Select,
    Var,
)
from hybridjit.ir.signature import IN_LIST
from hybridjit.ir.stmt import Allocate, For, If, Raise, Reserve, Store
from hybridjit.ir.texts import text_of
from hybridjit.scalars.conversion import join_types, store_value
from hybridjit.scalars.scalar import Scalar

# making


def make_list(build: Builder, origin: ast.expr, items: Sequence[Value]) -> GrowingList:
    """A list that the script changes, with its first items."""
    made = empty_list(build, origin)
    for item in items:
        append(build, made, item, origin)
    return made


def empty_list(build: Builder, origin: ast.expr) -> GrowingList:
    """A list without items; its types are those that the round before found."""
    types = dict(sorted(_known_types(build, origin)))
    return _made(build, build.hint or "items", (build.frame.path, origin), types, origin)


def list_like(build: Builder, other: GrowingList, node: ast.AST) -> GrowingList:
    """A list without items, for items such as another has."""
    types = {place: column.type for place, column in other.columns.items()}
    return _made(build, other.name, other.origin, types, node)


def same_items(one: GrowingList, other: GrowingList) -> bool:
    """True if two lists hold the same types at the same places of their items."""
    types = [
        {place: column.type for place, column in each.columns.items()} for each in (one, other)
    ]
    return types[0] == types[1]


def _made(
    build: Builder,
    name: str,
    origin: Origin,
    types: Mapping[ItemPlace, ScalarType],
    node: ast.AST,
) -> GrowingList:
    count, span = Buffer(f"{name}_count", INT64, (), Buffer.REGISTER), build.span(node)
    columns = {place: Column(_growing(name, type), type) for place, type in types.items()}
    for buffer in (count, *(column.buffer for column in columns.values())):
        build.emit(Allocate(buffer, zero=False, span=span))
    build.emit(Store(count, (), ZERO, span=span))
    return GrowingList(name, origin, count, columns)


def repeated_list(
    build: Builder, node: ast.BinOp, items: Sequence[Value], times: Scalar
) -> GrowingList:
    """`[x] * n`: as many times as there are; none if that is negative."""
    made = empty_list(build, node)
    numbers = [_numbers(build, item, node) for item in items]
    for item in numbers:
        _note_types(build, made.origin, _types(item), node)
        _check_places(build, made, item.keys(), node)
    each = Const(len(items))
    rounds = tidy(Max(build.as_index(times, node, "the number of times"), ZERO))
    rounds = build.let(Scalar(rounds, WEAK_INT), "times", build.span(node)).expr
    resize(build, made, times_of(rounds, each), node)

    def body(at: tuple[Expr, ...]) -> None:
        for k, item in enumerate(numbers):
            _set(build, made, plus(times_of(at[0], each), Const(k)), item, node)

    nest(build, (rounds,), body, build.span(node))
    return made


def joined_lists(
    build: Builder, node: ast.BinOp, parts: Sequence[GrowingList | Items]
) -> GrowingList:
    """`a + b`: a new list."""
    made = empty_list(build, node)
    for part in parts:
        if isinstance(part, GrowingList):
            append_all(build, made, part, ZERO, length(build, part, node), node)
            continue
        for item in part.items:
            append(build, made, item, node)
    return made


def _growing(name: str, type: ScalarType) -> Buffer:
    return Buffer(name, type.dtype, (Const(Buffer.MANY),), Buffer.GROWING)


def _key(origin: Origin, place: ItemPlace) -> Key:
    path, node = origin
    return path, ListPlace(node, place)


def _known_types(build: Builder, origin: ast.expr) -> Iterator[tuple[ItemPlace, ScalarType]]:
    """What the round before found to be put into a list."""
    for (path, what), type in build.unit.types.items():
        if isinstance(what, ListPlace) and what.origin is origin and path == build.frame.path:
            yield what.place, type


def grow(build: Builder, items: Items, node: ast.AST) -> ParseError:
    """Make a growing list of what is written as a list, in the next round; or the refusal."""
    if items.origin is None:
        what = "a list" if items.is_list else "a tuple"
        return build.refuse(
            f"{what} that comes from outside of the script, or is put together of others, cannot "
            "be changed",
            node,
            help="make a list here, as in out = [], and append to it; list(x) is a copy of x",
        )
    _, origin = items.origin
    build.knowledge.growing.add(origin)
    build.unit.found_growing = True
    raise Skip


# items


def append(build: Builder, target: GrowingList, item: Value, node: ast.AST) -> None:
    """`out.append(item)`."""
    _check_order(build, target, node)
    numbers = _numbers(build, item, node)
    _note_types(build, target.origin, _types(numbers), node)
    _check_places(build, target, numbers.keys(), node)
    size = length(build, target, node)
    resize(build, target, plus(size, ONE), node)
    _set(build, target, size, numbers, node)


def resize(build: Builder, target: GrowingList, size: Expr, node: ast.AST) -> None:
    """Let a list have so many items; new ones have no value yet."""
    span = build.span(node)
    for column in target.columns.values():
        build.emit(Reserve(BufferRef(column.buffer), size, span=span))
    build.emit(Store(target.count, (), size, span=span))


def _set(
    build: Builder,
    target: GrowingList,
    position: Expr,
    numbers: Mapping[ItemPlace, Scalar],
    node: ast.AST,
) -> None:
    span = build.span(node)
    for place, column in target.columns.items():
        value = store_value(numbers[place], column.buffer.dtype, span)
        build.emit(Store(column.buffer, (position,), value, span=span))


def set_item(
    build: Builder, target: GrowingList, position: Expr, item: Value, node: ast.AST
) -> None:
    """`out[i] = item`, at an index that was checked."""
    _check_order(build, target, node)
    numbers = _numbers(build, item, node)
    _note_types(build, target.origin, _types(numbers), node)
    _check_places(build, target, numbers.keys(), node)
    _set(build, target, position, numbers, node)


def item_at(build: Builder, owner: GrowingList, position: Expr, node: ast.AST) -> Value:
    """The item at an index that was checked, as it is now."""
    if not owner.columns:
        raise Skip(refuse_empty(build, owner, node))
    span = build.span(node)
    numbers = {
        place: build.let(
            Scalar(Load(column.buffer, (position,), span=span), column.type), owner.name, span
        )
        for place, column in owner.columns.items()
    }
    return put_together(numbers)


def unpacked_list(build: Builder, owner: GrowingList, count: int, node: ast.AST) -> Items:
    """`x, y = out`: as many items as there are names, or a ValueError."""
    size, span = length(build, owner, node), build.span(node)
    few = (f"not enough values to unpack (expected {count}, got ", size, ")")
    many = (f"too many values to unpack (expected {count})",)
    for test, message in ((Lt(size, Const(count)), few), (Lt(Const(count), size), many)):
        error = Raise("ValueError", text_of(*message), is_text=True, span=span)
        build.emit(If(test, error, span=span))
    return Items(tuple(item_at(build, owner, Const(k), node) for k in range(count)))


def put_together(numbers: Mapping[ItemPlace, Value]) -> Value:
    """An item from the numbers in it."""
    if () in numbers:
        return numbers[()]
    parts: dict[int, dict[ItemPlace, Value]] = {}
    for place, number in numbers.items():
        parts.setdefault(place[0], {})[place[1:]] = number
    return Items(tuple(map(put_together, parts.values())), is_list=min(parts) >= IN_LIST)


def _from_start(build: Builder, value: Scalar, size: Expr, node: ast.expr) -> Expr:
    """An index counted from the beginning of a list, as it is now; it may be outside of it."""
    span = build.span(node)
    at = build.let(Scalar(build.as_index(value, node, "an index"), WEAK_INT), "at", span).expr
    if isinstance(at, Const):
        return plus(at, size) if at.value.real < 0 else at
    counted = Select(Lt(at, ZERO), Add(at, size), at)
    return build.let(Scalar(counted, WEAK_INT), "at", span).expr


def checked_index(build: Builder, owner: GrowingList, value: Scalar, node: ast.expr) -> Expr:
    """An index into a list, counted from its beginning; outside of it, that is an IndexError."""
    size, span = length(build, owner, node), build.span(node)
    at = _from_start(build, value, size, node)
    outside: Expr = Ge(at, size)
    if isinstance(value.constant, int) and value.constant < 0:
        outside = Lt(at, ZERO)
    elif not isinstance(at, Const):
        outside = Or(Lt(at, ZERO), outside)
    build.emit(If(outside, Raise("IndexError", ("list index out of range",), span=span)))
    return at


def clipped(build: Builder, value: Scalar, size: Expr, node: ast.expr) -> Expr:
    """A bound in a list, counted from its beginning; one beyond an end is that end."""
    at = tidy(Min(_from_start(build, value, size, node), size))
    return build.let(Scalar(tidy(Max(at, ZERO)), WEAK_INT), "at", build.span(node)).expr


def pop(build: Builder, owner: GrowingList, at: Scalar | None, node: ast.expr) -> Value:
    """`out.pop()`, `out.pop(i)` or `del out[i]`: an item, and the list without it."""
    _check_order(build, owner, node)
    span = build.span(node)
    size = length(build, owner, node)
    empty = Raise("IndexError", ("pop from empty list",), span=span)
    build.emit(If(Lt(size, ONE), empty, span=span))
    last = minus(size, ONE)
    place = last if at is None else checked_index(build, owner, at, node)
    item = item_at(build, owner, place, node)
    if at is not None:
        _move_down(build, owner, place, last)
    build.emit(Store(owner.count, (), last, span=span))
    return item


def _move_down(build: Builder, owner: GrowingList, start: Expr, stop: Expr) -> None:
    """Let every item from `start` on take the place of the one before it."""
    for column in owner.columns.values():
        var = _counted(build, minus(stop, start))
        at = plus(start, var)
        moved = Store(column.buffer, (at,), Load(column.buffer, (plus(at, ONE),)))
        build.emit(For(var, ZERO, minus(stop, start), ONE, moved))


def insert(build: Builder, owner: GrowingList, at: Scalar, item: Value, node: ast.Call) -> None:
    """`out.insert(i, item)`: an index beyond an end is that end."""
    size = length(build, owner, node)
    place = clipped(build, at, size, node.args[0])
    append(build, owner, item, node)
    for column in owner.columns.values():
        var = _counted(build, minus(size, place))
        to = minus(size, var)
        moved = Store(column.buffer, (to,), Load(column.buffer, (minus(to, ONE),)))
        build.emit(For(var, ZERO, minus(size, place), ONE, moved))
    _set(build, owner, place, _numbers(build, item, node), node)


def _counted(build: Builder, extent: Expr) -> Var:
    """The variable of a loop that counts up to `extent`."""
    var = Var("k")
    build.unit.loop_ranges[var] = ZERO, extent, ONE
    return var


def copied_list(
    build: Builder, owner: GrowingList, start: Expr, stop: Expr, node: ast.expr
) -> GrowingList:
    """A new list of the items from `start` up to `stop`, which are inside of the list."""
    made = empty_list(build, node)
    append_all(build, made, owner, start, stop, node)
    return made


def append_all(
    build: Builder,
    target: GrowingList,
    source: GrowingList,
    start: Expr,
    stop: Expr,
    node: ast.AST,
) -> None:
    """Add the items of another list from `start` up to `stop`."""
    parts = {
        place: ArrayExpr((), column.buffer.dtype, partial(_moved, column, start))
        for place, column in source.columns.items()
    }
    types = {place: column.type for place, column in source.columns.items()}
    count = build.let(Scalar(tidy(Max(minus(stop, start), ZERO)), WEAK_INT), "more", None).expr
    _append_columns(build, target, parts, types, count, node)


def _moved(column: Column, start: Expr, at: Sequence[Expr]) -> Scalar:
    return Scalar(Load(column.buffer, (plus(start, at[0]),)), column.type)


def append_array(build: Builder, target: GrowingList, array: AnyArray, node: ast.AST) -> None:
    """Add the elements of an array."""
    source = elements_of(build, whole(build, array, build.span(node)))
    types = {(): ScalarType(source.dtype)}
    size = fixed_index(build, source.shape[0], "more")
    _append_columns(build, target, {(): source}, types, size, node)


def _append_columns(
    build: Builder,
    target: GrowingList,
    parts: Mapping[ItemPlace, ArrayExpr],
    types: Mapping[ItemPlace, ScalarType],
    count: Expr,
    node: ast.AST,
) -> None:
    _check_order(build, target, node)
    _note_types(build, target.origin, types, node)
    _check_places(build, target, parts.keys(), node)
    first = length(build, target, node)
    resize(build, target, plus(first, count), node)

    def body(at: tuple[Expr, ...]) -> None:
        numbers = {place: part.element(at) for place, part in parts.items()}
        _set(build, target, plus(first, at[0]), numbers, node)

    nest(build, (count,), body, build.span(node))


def length(build: Builder, owner: GrowingList, node: ast.AST) -> Expr:
    """How many items there are now."""
    span = build.span(node)
    return build.let(Scalar(Load(owner.count, (), span=span), WEAK_INT), "size", span).expr


# arrays


def column_view(column: Column, size: Expr) -> View:
    """The numbers at one place of the items, as an array."""
    return View(column.buffer, (Place(ZERO, 1, 0),), (size,))


def array_of_list(build: Builder, owner: GrowingList, node: ast.expr) -> ArrayExpr:
    """A list as an array: of tuples, one with a row for each."""
    size, span = length(build, owner, node), build.span(node)
    if not owner.columns:
        raise Skip(refuse_empty(build, owner, node))
    _check_rows(build, owner, node)
    dtype = _common_type(owner, node, build)
    columns = list(owner.columns.values())
    shape = (size,) if () in owner.columns else (size, Const(len(columns)))
    buffer = scratch(build, owner.name, ArrayExpr(shape, dtype, _no_element), span)
    for position, column in enumerate(columns):
        _copy_column(build, column, buffer, position, size)
    array = View(buffer, tuple(Place(ZERO, 1, axis) for axis in range(len(shape))), shape)
    return ArrayExpr(shape, dtype, lambda at: _element(array, at), buffer)


def _no_element(at: Sequence[Expr]) -> Scalar:
    raise AssertionError("an array that is only made")


def _element(array: View, at: Sequence[Expr]) -> Scalar:
    return Scalar(Load(array.buffer, tuple(at)), ScalarType(array.dtype))


def _copy_column(build: Builder, column: Column, to: Buffer, position: int, size: Expr) -> None:
    def body(at: tuple[Expr, ...]) -> None:
        number = Scalar(Load(column.buffer, at), ScalarType(column.buffer.dtype))
        place = (*at, Const(position)) if to.ndim > 1 else at
        build.emit(Store(to, place, store_value(number, to.dtype, None)))

    nest(build, (size,), body, None)


def _common_type(owner: GrowingList, node: ast.expr, build: Builder) -> DType:
    types = [ScalarType(column.buffer.dtype) for column in owner.columns.values()]
    common = types[0] if types else ScalarType(FLOAT64)
    for type in types[1:]:
        common = join_types(common, type, build.span(node))
    return common.dtype


# what fits


def _numbers(build: Builder, item: Value, node: ast.AST) -> dict[ItemPlace, Scalar]:
    """The numbers in an item, by their places."""
    match item:
        case Scalar():
            return {(): item}
        case Items(items, is_list, None) if items:
            parts = [_numbers(build, part, node) for part in items]
            places = enumerate(parts, IN_LIST if is_list else 0)
            return {(k, *p): number for k, part in places for p, number in part.items()}
        case Items(fields=tuple() as fields):
            raise build.mismatch(
                "a list holds numbers, or tuples of numbers, found an object with fields",
                node,
                help=f"put its fields into a tuple: ({', '.join(f'x.{name}' for name in fields)})",
            )
        case Array() | View() | ArrayExpr() | GrowingList() | Items():
            raise build.mismatch(
                f"a list holds numbers, or tuples of numbers, found {describe(item)}",
                node,
                help="keep the rows in an array of two dimensions, or the numbers one after the "
                "other in one list, and where each part begins in another",
            )
        case _:
            return {(): build.as_scalar(item, node, "a number, or a tuple of numbers")}


def _note_types(
    build: Builder, origin: Origin, types: Mapping[ItemPlace, ScalarType], node: ast.AST
) -> None:
    """Take the types of what is put into a list, which must be of one kind."""
    for place, type in types.items():
        key = _key(origin, place)
        found = build.unit.found.get(key)
        if found is not None and not _agree(found, type):
            raise _refuse_types(build, found, type, node)
        build.join_type(key, type, build.span(node))


def _types(numbers: Mapping[ItemPlace, Scalar]) -> dict[ItemPlace, ScalarType]:
    return {place: number.type for place, number in numbers.items()}


def _agree(one: ScalarType, other: ScalarType) -> bool:
    """True for types whose numbers are the same in one list as in Python's."""
    if not one.weak and not other.weak:
        return one.dtype is other.dtype
    both_integers = one.dtype.is_integer and other.dtype.is_integer
    return both_integers or one.dtype.kind is other.dtype.kind


def _check_places(
    build: Builder, target: GrowingList, places: Collection[ItemPlace], node: ast.AST
) -> None:
    if not target.columns:
        raise Skip
    if target.columns.keys() != set(places):
        raise build.mismatch(
            f"the items of '{target.name}' are not all of one form",
            node,
            help="give each item as many numbers as the others have, in the same places",
        )


def _check_rows(build: Builder, owner: GrowingList, node: ast.AST) -> None:
    if any(len(place) > 1 for place in owner.columns):
        raise build.refuse(
            f"the items of '{owner.name}' are tuples in tuples, which make no array",
            node,
            help="put plain tuples of numbers into the list",
        )


def _check_order(build: Builder, target: GrowingList, node: ast.AST) -> None:
    """Refuse to change a list where iterations have no order."""
    frame: Frame | None = build.frame
    while frame is not None:
        for loop in frame.loops:
            if loop.kind is not None and loop.kind.is_concurrent:
                raise build.refuse(
                    f"the list '{target.name}' is changed in a {loop.word} loop: its iterations "
                    "have no order",
                    node,
                    help="use range(...), or store into an array that is made before the loop",
                )
        frame = frame.caller


def _refuse_types(
    build: Builder, one: ScalarType, other: ScalarType, node: ast.AST
) -> TypeMismatch:
    return build.mismatch(
        f"a list of numbers of one type is given a {other} value; others in it are {one}",
        node,
        help="convert them to one type, as in out.append(float(x)), or write 0.0 for 0",
    )


def refuse_empty(build: Builder, owner: GrowingList, node: ast.AST) -> ParseError:
    """The error for a list whose types nothing tells."""
    return build.refuse(
        f"the list '{owner.name}' is read, and nothing is ever put into it",
        node,
        help="append to it before",
    )
