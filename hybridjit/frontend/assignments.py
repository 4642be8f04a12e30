"""Assignments: to names, to elements of arrays, and to several targets at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from hybridjit.arith.ranges import ZERO, constant
from hybridjit.errors import HybridError, ParseError
from hybridjit.frontend.arrays.memory import (
    check_writable,
    has_effect,
    in_order,
    then,
    whole,
)
from hybridjit.frontend.arrays.stores import (
    Target,
    named,
    note_part,
    store_values,
    target_in,
    target_of,
    update,
)
from hybridjit.frontend.arrays.subscripts import element_or_part, row_as_it_was, shown
from hybridjit.frontend.builder import Builder, Never
from hybridjit.frontend.expressions import evaluate_operand
from hybridjit.frontend.frame import Pending, Skip, Variable
from hybridjit.frontend.library.table import is_in_library
from hybridjit.frontend.noted_names import note_name
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    ElementType,
    GrowingList,
    Items,
    Place,
    PythonType,
    Records,
    Value,
    View,
    buffers_of,
    describe,
)
from hybridjit.frontend.variables import Web
from hybridjit.ir.dtype import DTYPES, ScalarType
from hybridjit.ir.expr import Buffer, Const, Load
from hybridjit.ir.stmt import Store
from hybridjit.lazy import lazy_module
from hybridjit.scalars.conversion import store_value
from hybridjit.scalars.operators import BINARY, binary
from hybridjit.scalars.scalar import Scalar
from hybridjit.scalars.suggest import did_you_mean

if TYPE_CHECKING:
    from hybridjit.frontend import aliases, list_methods, records, refusals, tuple_variables
    from hybridjit.frontend.arrays import lists as array_lists
    from hybridjit.frontend.arrays import names as array_names
    from hybridjit.frontend.arrays import refusals as array_refusals
else:
    aliases = lazy_module("hybridjit.frontend.aliases")
    array_lists = lazy_module("hybridjit.frontend.arrays.lists")
    array_names = lazy_module("hybridjit.frontend.arrays.names")
    array_refusals = lazy_module("hybridjit.frontend.arrays.refusals")
    list_methods = lazy_module("hybridjit.frontend.list_methods")
    records = lazy_module("hybridjit.frontend.records")
    refusals = lazy_module("hybridjit.frontend.refusals")
    tuple_variables = lazy_module("hybridjit.frontend.tuple_variables")


def declare(build: Builder, web: Web, stmt: ast.stmt) -> None:
    """Make the mutable variable of `web`, which lives from here to the end of the block."""
    variable = Variable((build.frame.path, web), web.name, _annotated_type(build, web.name))
    build.frame.bindings[web] = variable
    variable.block = build.body
    build.homes[build.frame.path, web] = build.body
    if web in build.knowledge.spread:
        tuple_variables.declare_tuple(build, web, stmt)
    else:
        build.emit(Pending(variable=variable, span=build.span(stmt)))
    for definition in web.definitions:
        value = build.frame.fixed.get(definition.node)
        if not isinstance(definition.node, ast.arg) or value is None:
            continue
        if isinstance(value, Scalar):
            build.assign_variable(variable, value, build.span(definition.node))
        elif web in build.knowledge.spread:
            tuple_variables.assign_tuple(build, web, value, definition.node)
        else:
            build.frame.bindings[web] = value


def _annotated_type(build: Builder, name: str) -> ScalarType | None:
    annotation = build.frame.annotations.get(name)
    return None if annotation is None else type_in(build, annotation)


def type_in(build: Builder, annotation: ast.expr) -> ScalarType | None:
    """The scalar type that an annotation names, or None if it means nothing to the language."""
    if isinstance(annotation, ast.Constant) and annotation.value in DTYPES:
        return ScalarType(DTYPES[annotation.value])
    try:
        value = build.evaluate(annotation)
    except (HybridError, Skip):
        return None
    match value:
        case ElementType(dtype):
            return ScalarType(dtype)
        case PythonType(type):
            return type
        case _:
            return None


def assign(build: Builder, stmt: ast.Assign) -> None:
    """`x = value`, `a[i] = value`, `x, y = values`, `x = y = value`."""
    value = _right_hand_side(build, stmt.targets[0], stmt.value)
    if len(stmt.targets) > 1:
        value = frozen(build, value, "t", stmt)
    for target in stmt.targets:
        _assign_to(build, target, value, stmt)


def _right_hand_side(build: Builder, target: ast.expr, value: ast.expr) -> Value:
    build.hint = target.id if isinstance(target, ast.Name) else None
    try:
        return build.evaluate(value)
    finally:
        build.hint = None


def _assign_to(build: Builder, target: ast.expr, value: Value, stmt: ast.stmt) -> None:
    match target:
        case ast.Name():
            assign_name(build, target, value, stmt)
        case ast.Subscript():
            _store(build, target, value, stmt)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            _unpack(build, elts, value, stmt)
        case ast.Attribute():
            raise _refuse_attribute(build, target)
        case _:
            raise refusals.refusal(target, build.span(target))


def _unpack(build: Builder, targets: Sequence[ast.expr], value: Value, stmt: ast.stmt) -> None:
    node, names = _value_node(stmt), array_refusals.count(len(targets), "name")
    if isinstance(value, AnyArray) and value.shape and constant(value.shape[0]) is not None:
        value = Items(tuple(rows_of(build, value, node)))
    if isinstance(value, Records) and not value.ndim:
        value = records.numbers_of(build, value, node)
    if isinstance(value, GrowingList) and not any(isinstance(t, ast.Starred) for t in targets):
        value = array_lists.unpacked_list(build, value, len(targets), node)
    if not isinstance(value, Items):
        raise build.mismatch(
            f"cannot unpack {describe(value)} into {names}",
            node,
            help=f"assign one element at a time, as in x = {array_refusals.element_of(value)}"
            if isinstance(value, Array)
            else "give a value for each name, as in x, y = 1.0, 2.0",
        )
    targets, value = _spread_out(build, targets, value)
    if len(value.items) != len(targets):
        raise build.mismatch(
            f"cannot unpack {array_refusals.count(len(value.items), 'value')} into {names}",
            node,
            help="give as many values as there are names",
        )
    # The whole right side is computed before any target changes: `x, y = y, x`.
    computed = frozen(build, value, "t", stmt)
    assert isinstance(computed, Items)
    for target, item in zip(targets, computed.items, strict=True):
        _assign_to(build, target, item, stmt)


def _spread_out(
    build: Builder, targets: Sequence[ast.expr], value: Items
) -> tuple[Sequence[ast.expr], Items]:
    """Targets and values with `*rest` as one name for all the values that are left over."""
    starred = [k for k, target in enumerate(targets) if isinstance(target, ast.Starred)]
    left_over = len(value.items) - len(targets) + 1
    if len(starred) != 1 or left_over < 0:
        return targets, value
    first, last = starred[0], starred[0] + left_over
    rest, star = Items(value.items[first:last], is_list=True), targets[first]
    assert isinstance(star, ast.Starred)
    items = (*value.items[:first], rest, *value.items[last:])
    return [*targets[:first], star.value, *targets[first + 1 :]], Items(items)


def rows_of(build: Builder, value: AnyArray, node: ast.AST) -> list[Value]:
    """The elements or rows of an array whose length is known now."""
    size = constant(value.shape[0])
    assert size is not None
    rest = tuple(Place(ZERO, 1, axis) for axis in range(len(value.shape) - 1))
    places = [(Place(Const(k)), *rest) for k in range(size)]
    rows = [shown(build, value, place, value.shape[1:], node) for place in places]
    return [element_or_part(build, row, node) for row in rows]


def frozen(build: Builder, value: Value, name: str, stmt: ast.AST) -> Value:
    """`value` as it is now, whatever is stored afterwards."""
    span = build.span(stmt)
    match value:
        case Scalar():
            return build.let(value, name, span)
        case Items(items):
            kept_items = tuple(frozen(build, item, name, stmt) for item in items)
            return replace(value, items=kept_items)
        case Array(buffer, indices) if indices:
            kept = (build.let(Scalar(i, ScalarType(i.dtype)), name, span).expr for i in indices)
            return Array(buffer, tuple(kept))
        case ArrayExpr():
            made = named(build, value, name, stmt)
            if value.part_of is not None and isinstance(made, Array) and not build.stack:
                note_part(build, value, made, name, stmt)
            return made
        case _:
            return value


def assign_name(build: Builder, target: ast.Name, value: Value, stmt: ast.stmt) -> None:
    """Give a name its value: a plain value, or a store to its variable."""
    web = build.frame.variables.writes[target]
    bound = build.frame.bindings.get(web)
    span = build.span(stmt)
    if isinstance(value, ArrayExpr):
        value = whole(build, value, span)
    if isinstance(value, Records) and not value.ndim and web.is_mutable:
        value = _copied_record(build, value, target, stmt)
    if web in build.frame.tuples:
        tuple_variables.assign_tuple(build, web, frozen(build, value, target.id, stmt), target)
        if isinstance(bound, Variable):
            raise Skip  # what the variables hold is known from the next round on
        return
    if isinstance(bound, Variable) and isinstance(value, Scalar):
        build.assign_variable(bound, value, span)
        return
    if web.is_mutable and isinstance(value, ArrayExpr):
        array_names.assign_array(build, web, value, target)
        return
    if web.is_mutable:
        # The items of a tuple are computed here, whatever becomes of what they are read from.
        value = frozen(build, value, target.id, stmt) if isinstance(value, Items) else value
        array_names.rebind(build, web, value, target)
        note_name(build, target.id, value, span)
        return
    _bind(build, target, value, stmt)


def _bind(build: Builder, target: ast.Name, value: Value, stmt: ast.stmt) -> None:
    """A name that is given one value only stands for it."""
    span = build.span(stmt)
    if isinstance(value, Scalar):
        declared = _annotated_type(build, target.id)
        if declared is not None and not declared.weak:
            value = Scalar(store_value(value, declared.dtype, span), declared)
    kept = frozen(build, value, target.id, stmt)
    build.frame.bindings[build.frame.variables.writes[target]] = kept
    note_name(build, target.id, kept, span)
    if not is_in_library(build.frame.source.file):
        build.unit.named_arrays.update(_arrays_in(kept))


def _arrays_in(value: Value) -> Iterator[Buffer]:
    """The arrays that a name stands for as wholes, by itself or in a tuple."""
    match value:
        case Items(items):
            for item in items:
                yield from _arrays_in(item)
        case Array(buffer, ()) if buffer.shape:
            yield buffer
        case _:
            return


def _copied_record(build: Builder, value: Records, target: ast.Name, stmt: ast.stmt) -> Items:
    """A record as numbers, for a name that stands for one and another: of which NumPy has a view.

    That is the same as long as its fields are not written to, which is checked at the end.
    """
    script = build.around[0].block if build.around else build.body
    last = script[-1] if script else None
    for buffer in buffers_of(value):
        build.aliases.append(aliases.Alias(buffer, target.id, build.span(stmt), last))
    return records.numbers_of(build, value, stmt)


def _keep(build: Builder, target: ast.Name, value: Array | View | GrowingList) -> None:
    """After `a += b` on an array or a list, the name still stands for it."""
    web = build.frame.variables.writes[target]
    if web.is_mutable:
        array_names.rebind(build, web, value, target)
    else:
        build.frame.bindings[web] = value


def _list_in(build: Builder, target: ast.Subscript) -> GrowingList | None:
    """The list that an item is assigned to, if it is one; from the next round on, it grows."""
    owner = build.evaluate(target.value) if isinstance(target.value, ast.Name) else None
    if isinstance(owner, Items) and owner.origin is not None:
        raise array_lists.grow(build, owner, target)
    return owner if isinstance(owner, GrowingList) else None


def _store(build: Builder, target: ast.Subscript, value: Value, stmt: ast.stmt) -> None:
    node = _value_node(stmt)
    items = _list_in(build, target)
    if items is not None:
        list_methods.store_item(build, items, target, frozen(build, value, "t", stmt))
        return
    if isinstance(value, Items):
        _store_items(build, target, value, stmt)
        return
    if not isinstance(value, AnyArray):
        value = build.as_scalar(value, node)
    # Python computes the right side first, then finds the element.
    value, part = then(build, value, lambda: _target(build, target))
    if part.shape or part.mask is not None:
        store_values(build, part, value, stmt)
        return
    if isinstance(value, AnyArray):
        raise array_refusals.refuse_whole(value, stmt, build.span(node))
    build.emit(_element_store(build, part, build.as_scalar(value, node), target, node))


def _store_items(build: Builder, target: ast.Subscript, value: Items, stmt: ast.stmt) -> None:
    """`a[i:j] = x, y`: each number is converted to the type of the array by itself."""
    node = _value_node(stmt)
    kept = frozen(build, value, "t", stmt)
    part = _target(build, target)
    if not part.shape and part.mask is None:
        build.as_scalar(value, node)  # refuses it
    stored = _stored_items(build, kept, part.buffer, node)
    store_values(build, part, build.language.array_of_items(build, stored, target), stmt)


def _stored_items(build: Builder, value: Value, stored: Buffer, node: ast.AST) -> Value:
    match value:
        case Scalar():
            number = store_value(value, stored.dtype, build.span(node))
            return Scalar(number, ScalarType(stored.dtype))
        case Items(items):
            return Items(tuple(_stored_items(build, item, stored, node) for item in items))
        case Array(buffer) | View(buffer) | ArrayExpr(shown=buffer) if buffer == stored:
            raise build.refuse(
                f"this list holds a part of '{stored.name}', which is being assigned to: NumPy "
                "stores one item before it reads the next",
                node,
                help="copy the parts, as in [x.copy(), y.copy()], or make one array of them "
                "with np.array([x, y])",
            )
        case _:
            return value


def _element_store(
    build: Builder, part: Target, value: Scalar, target: ast.Subscript, node: ast.AST
) -> Store:
    stored = store_value(value, part.buffer.dtype, build.span(node))
    return Store(part.buffer, part.indices, stored, span=build.span(target))


def _target(build: Builder, target: ast.Subscript) -> Target:
    """Evaluate the subscript that is assigned to."""
    owner = build.evaluate(target.value)
    mark = len(build.body)
    with in_order(build, [target.slice]):
        return _target_of(build, row_as_it_was(build, owner, mark, target), target)


def _target_of(build: Builder, owner: Value, target: ast.Subscript) -> Target:
    if isinstance(owner, ArrayExpr) and owner.shown is not None:
        raise build.refuse(
            f"'{ast.unparse(target.value)}' is '{owner.shown.name}' in another shape or "
            "order, which can only be read",
            target,
            help=f"write to '{owner.shown.name}' itself, or make a copy with .copy()",
        )
    if not isinstance(owner, (Array, View)):
        raise build.mismatch(
            f"cannot assign to an item of {describe(owner)}",
            target,
            help=_store_help(owner, target),
        )
    check_writable(build, owner.buffer, target)
    return target_in(build, owner, target)


def _store_help(owner: Value, target: ast.Subscript) -> str | None:
    if isinstance(owner, Records):
        return f"assign to its fields, as in {ast.unparse(target)}[{owner.fields[0]!r}] = value"
    if isinstance(owner, Items) and owner.is_list:
        name = ast.unparse(target.value)
        return f"change a copy, as in {name}_copy = list({name}), or an array: np.array({name})"
    is_tuple = isinstance(owner, Items)
    return "keep the values in an array: allocate(shape, dtype)" if is_tuple else None


def augmented(build: Builder, stmt: ast.AugAssign) -> None:
    """`x += value`; the target is looked at before the value."""
    op = BINARY.get(type(stmt.op))
    if op is None:
        raise refusals.refusal(stmt.op, build.span(stmt))
    if isinstance(stmt.target, ast.Attribute):
        raise _refuse_attribute(build, stmt.target)
    if isinstance(stmt.target, ast.Name):
        current = build.read_name(stmt.target)
        if isinstance(current, (Array, View)):
            check_writable(build, current.buffer, stmt.target)
            update(build, target_of(build, current), stmt)
            _keep(build, stmt.target, current)
            return
        if isinstance(current, (GrowingList, Items)):
            _extend(build, current, stmt)
            return
        current, operand = then(build, current, lambda: evaluate_operand(build, stmt.value))
        old = build.as_scalar(current, stmt.target)
        assign_name(build, stmt.target, binary(op, old, operand, build.span(stmt)), stmt)
    else:
        _augmented_element(build, stmt, stmt.target)


def _extend(build: Builder, current: GrowingList | Items, stmt: ast.AugAssign) -> None:
    """`out += [x, y]`, of a list."""
    if isinstance(current, Items) and current.origin is not None:
        raise array_lists.grow(build, current, stmt)
    if isinstance(current, Items) or not isinstance(stmt.op, ast.Add):
        build.as_scalar(current, stmt.target)  # refuses it
        return
    assert isinstance(stmt.target, ast.Name)
    list_methods.extend(build, current, build.evaluate(stmt.value), stmt)
    _keep(build, stmt.target, current)


def _refuse_attribute(build: Builder, target: ast.Attribute) -> ParseError:
    return build.refuse(
        f"cannot assign to the attribute '{target.attr}'",
        target,
        help="assign to a variable, or to the elements of an array",
    )


def _augmented_item(
    build: Builder, stmt: ast.AugAssign, target: ast.Subscript, items: GrowingList
) -> None:
    number = build.let(build.scalar(target.slice, "an index"), "t", build.span(target))
    place = array_lists.checked_index(build, items, number, target.slice)
    old = build.as_scalar(array_lists.item_at(build, items, place, target), target)
    mark = len(build.body)
    operand = evaluate_operand(build, stmt.value)
    if any(map(has_effect, build.body[mark:])):  # by now, -1 may mean another item
        place = array_lists.checked_index(build, items, number, target.slice)
    new = binary(BINARY[type(stmt.op)], old, operand, build.span(stmt))
    array_lists.set_item(build, items, place, new, target)


def _augmented_element(build: Builder, stmt: ast.AugAssign, target: ast.Subscript) -> None:
    items = _list_in(build, target)
    if items is not None:
        _augmented_item(build, stmt, target, items)
        return
    part = _target(build, target)
    if part.shape or part.mask is not None:
        update(build, part, stmt)
        return
    operand, needed = build.reached(partial(evaluate_operand, build, stmt.value), is_sure=True)
    indices = part.indices
    if needed:  # the element is found before the right side runs
        span = build.span(stmt)
        kept = (build.let(Scalar(i, ScalarType(i.dtype)), "t", span).expr for i in indices)
        indices = tuple(kept)
    element = Load(part.buffer, indices, span=build.span(target))
    old = Scalar(element, ScalarType(part.buffer.dtype))
    if needed:
        old = build.let(old, "t", build.span(target))
        build.body.extend(needed)
    if operand is None:
        raise Never
    new = binary(BINARY[type(stmt.op)], old, operand, build.span(stmt))
    value = store_value(new, part.buffer.dtype, build.span(stmt))
    build.emit(Store(part.buffer, indices, value, span=build.span(target)))


def annotated(build: Builder, stmt: ast.AnnAssign) -> None:
    """`x: float32 = value`, or a declaration without a value."""
    if not isinstance(stmt.target, ast.Name):
        raise build.refuse(
            "only names can be annotated",
            stmt.target,
            help=f"leave out the type: {ast.unparse(stmt.target)} = ...",
        )
    declared = type_in(build, stmt.annotation)
    help = did_you_mean(ast.unparse(stmt.annotation), DTYPES)
    # An annotation that means nothing to the language is left to other tools.
    if declared is None and (stmt.value is None or help is not None):
        raise build.mismatch(
            f"'{ast.unparse(stmt.annotation)}' is not a scalar type",
            stmt.annotation,
            help=help or f"write a scalar type, as in {stmt.target.id}: float32",
        )
    if stmt.value is not None:
        value = _right_hand_side(build, stmt.target, stmt.value)
        _assign_to(build, stmt.target, value, stmt)


def _value_node(stmt: ast.stmt) -> ast.AST:
    """The right side of an assignment."""
    match stmt:
        case ast.Assign(value=value) | ast.AugAssign(value=value):
            return value
        case ast.AnnAssign(value=ast.expr() as value):
            return value
        case _:
            return stmt
