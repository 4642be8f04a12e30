"""Assignments to whole arrays and to parts of them, and names for arrays that are computed."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hybridjit.arith.ranges import ONE, ZERO, constant
from hybridjit.errors import ParseError, Span, TypeMismatch
from hybridjit.frontend.arrays.memory import (
    as_it_was,
    copied,
    count_chosen,
    each_selected,
    elements_of,
    evaluate_all,
    kept_mask,
    locate,
    materialize,
    may_read,
    nest,
    store_array,
    view_of,
    whole,
)
from hybridjit.frontend.arrays.subscripts import entries, is_slice, written_out
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.expressions import combined
from hybridjit.frontend.subscripts import indexed
from hybridjit.frontend.values import AnyArray, Array, ArrayExpr, Mask, Nothing, Value, View
from hybridjit.ir.dtype import DType
from hybridjit.ir.expr import Buffer, Const, Expr
from hybridjit.ir.stmt import Store
from hybridjit.lazy import lazy_module
from hybridjit.record import record
from hybridjit.scalars.conversion import store_value
from hybridjit.scalars.operators import BINARY, SYMBOLS
from hybridjit.scalars.scalar import Scalar

if TYPE_CHECKING:
    from hybridjit.frontend import aliases
    from hybridjit.frontend.arrays import elementwise as elementwise_arrays
    from hybridjit.frontend.arrays import gather
    from hybridjit.frontend.arrays.gather import Entry, Gathered
else:
    aliases = lazy_module("hybridjit.frontend.aliases")
    elementwise_arrays = lazy_module("hybridjit.frontend.arrays.elementwise")
    gather = lazy_module("hybridjit.frontend.arrays.gather")


@record
class Target:
    """What is assigned to: elements of a buffer, all of a view or those where a mask is true.

    Those that arrays of indices name are `scattered`.
    """

    view: View
    mask: Mask | None = None
    exact: tuple[Expr, ...] | None = None
    scattered: Gathered | None = None

    @property
    def buffer(self) -> Buffer:
        """The memory that is written to."""
        return self.view.buffer

    @property
    def shape(self) -> tuple[Expr, ...]:
        """The shape of the elements."""
        return self.view.shape if self.scattered is None else self.scattered.shape

    @property
    def indices(self) -> tuple[Expr, ...]:
        """Where a single element is."""
        return locate(self.view, ()) if self.exact is None else self.exact


def target_of(build: Builder, owner: Array | View) -> Target:
    """All of an array as the target of an assignment."""
    return Target(view_of(build, owner))


def target_in(build: Builder, owner: Array | View, node: ast.Subscript) -> Target:
    """The part of an array that a subscript on the left side names."""
    node = written_out(build, node)
    nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if isinstance(owner, Array) and not any(map(is_slice, nodes)):
        values: Sequence[Value] = evaluate_all(build, nodes)
        if not any(isinstance(value, (AnyArray, Nothing)) for value in values):
            part = indexed(build, owner, values, nodes, node)
            if not part.shape:
                return Target(View(part.buffer, (), ()), exact=part.indices)
            return Target(view_of(build, part))
        return _target_at(build, owner, values, node)
    return _target_at(build, owner, entries(build, nodes), node)


def _target_at(
    build: Builder, owner: Array | View, values: Sequence[Entry], node: ast.Subscript
) -> Target:
    """The target for entries whose values are given; slices have none."""
    if gather.has_mask(values):
        part, mask = gather.masked_part(build, owner, values, node)
        assert isinstance(part, View)
        return Target(part, mask)
    if any(isinstance(value, AnyArray) for value in values):
        found = gather.scattered(build, owner, values, node)
        return Target(found.view, scattered=found)
    part = gather.part_at(build, owner, values, node)
    assert not isinstance(part, ArrayExpr)
    return Target(view_of(build, part))


def store_values(build: Builder, target: Target, value: Value, stmt: ast.stmt) -> None:
    """`target[...] = value`, as if `value` were computed first."""
    if isinstance(value, AnyArray):
        array = elements_of(build, value)
    else:
        array = _filled(build, build.as_scalar(value, stmt), target.shape, stmt)
    _put_fitted(build, target, array, stmt)


def _put_fitted(build: Builder, target: Target, value: ArrayExpr, stmt: ast.stmt) -> None:
    """Store an array, or as many elements as there are."""
    if target.mask is None:
        value = elements_of(build, whole(build, value, build.span(stmt)))
        _put(build, target, _fitted(build, value, target, stmt), build.span(stmt))
    elif _is_selected_alike(build, value, target, target.mask):
        _put(build, target, replace(value, mask=target.mask, buffer=None), build.span(stmt))
    else:
        _put_selected(build, target, target.mask, value, stmt)


def _is_selected_alike(build: Builder, value: ArrayExpr, target: Target, mask: Mask) -> bool:
    """Whether each element that a mask selects has its own at the same place of `value`."""
    if value.mask is None:
        return value.shape is target.shape  # one number everywhere
    return elementwise_arrays.same_mask(build, value.mask, mask)


def _put_selected(
    build: Builder, target: Target, mask: Mask, value: ArrayExpr, stmt: ast.stmt
) -> None:
    """`a[m] = v`: the elements of `v`, one after the other, go where the mask is true."""
    span = build.span(stmt)
    value = elements_of(build, whole(build, value, span))
    mask = kept_mask(build, mask, span)
    shape = mask.without(target.shape, count_chosen(build, mask, span))
    value = _broadcast(build, value, shape, stmt)
    if may_read(build, value, target.buffer):
        value = elements_of(build, Array(copied(build, value, "t", span)))

    def store(indices: tuple[Expr, ...], position: Expr) -> None:
        element = value.element(mask.without(indices, position))
        stored = store_value(element, target.view.dtype, span)
        build.emit(Store(target.buffer, locate(target.view, indices), stored, span=span))

    each_selected(build, mask, store, span)


def _put(build: Builder, target: Target, value: ArrayExpr, span: Span) -> None:
    """Store each element of `value` at its place, as if all were computed first."""
    if target.scattered is None:
        store_array(build, target.view, value, span)
    else:
        _scatter(build, target.scattered, value, span)


def _scatter(build: Builder, target: Gathered, value: ArrayExpr, span: Span) -> None:
    """Where indices are equal, the last element stays, as in NumPy."""
    if may_read(build, value, target.view.buffer):
        value = elements_of(build, Array(copied(build, value, "t", span)))

    def body(indices: tuple[Expr, ...]) -> None:
        place = gather.place_in(target, indices)
        stored = store_value(value.element(indices), target.view.dtype, span)
        build.emit(Store(target.view.buffer, place, stored, span=span))

    nest(build, target.shape, body, span)


def _filled(build: Builder, value: Scalar, shape: tuple[Expr, ...], node: ast.AST) -> ArrayExpr:
    """An array with one number everywhere."""
    kept = build.let(value, "t", build.span(node))
    return ArrayExpr(shape, value.type.dtype, lambda _: kept)


def _fitted(build: Builder, value: ArrayExpr, target: Target, stmt: ast.stmt) -> ArrayExpr:
    """`value` with the shape of what it is assigned to."""
    return _broadcast(build, value, target.shape, stmt)


def _broadcast(
    build: Builder, value: ArrayExpr, shape: tuple[Expr, ...], stmt: ast.stmt
) -> ArrayExpr:
    """`value` with a shape; it may have more axes, of size one, in front."""
    extra = len(value.shape) - len(shape)
    if extra > 0:
        for size in value.shape[:extra]:
            if constant(size) is None:
                elementwise_arrays.require_size(build, size, ONE, stmt)
            elif constant(size) != 1:
                raise elementwise_arrays.refuse_shapes(build, [shape, value.shape], stmt)
        value = _without_leading(value, extra)
    return elementwise_arrays.broadcast_to(build, value, shape, stmt)


def _without_leading(value: ArrayExpr, extra: int) -> ArrayExpr:
    zeros = [ZERO] * extra
    return ArrayExpr(
        value.shape[extra:], value.dtype, lambda indices: value.element([*zeros, *indices])
    )


def update(build: Builder, target: Target, stmt: ast.AugAssign) -> None:
    """`target += value` on an array, in place."""
    op = BINARY[type(stmt.op)]
    span = build.span(stmt)
    target, old, operand = _before(build, target, stmt.value)
    node = ast.BinOp(stmt.target, stmt.op, stmt.value)
    ast.copy_location(node, stmt)
    new = elementwise_arrays.elementwise(
        build, [old, operand], lambda parts: combined(build, op, parts, span), node
    )
    if isinstance(new, Scalar):  # of an array without dimensions
        number = new
        new = ArrayExpr((), number.type.dtype, lambda _: number)
    _check_in_place(build, new.dtype, target.buffer.dtype, SYMBOLS[op], span)
    if target.mask is None and len(new.shape) > len(target.shape):
        raise elementwise_arrays.refuse_shapes(build, [target.shape, new.shape], stmt)
    _put_fitted(build, target, new, stmt)


def _before(build: Builder, target: Target, operand: ast.expr) -> tuple[Target, AnyArray, Value]:
    """What is updated and what it holds, as both are before the operand is computed; and that."""
    old, mark = _old(build, target), len(build.body)
    value = build.evaluate(operand)
    if target.mask is not None:
        chosen = as_it_was(build, target.mask.chosen, mark)
        if chosen is not target.mask.chosen:
            assert isinstance(chosen, ArrayExpr)
            target = replace(target, mask=replace(target.mask, chosen=chosen))
    kept = as_it_was(build, old, mark)
    assert isinstance(kept, AnyArray)
    return target, kept, value


def _old(build: Builder, target: Target) -> AnyArray:
    """What the elements are before they are updated."""
    if target.scattered is None:
        return (
            replace(elements_of(build, target.view), mask=target.mask)
            if target.mask
            else target.view
        )
    found, source = target.scattered, elements_of(build, target.view)
    return ArrayExpr(
        found.shape, source.dtype, lambda indices: source.element(found.locate(indices))
    )


def _check_in_place(build: Builder, dtype: DType, stored: DType, symbol: str, span: Span) -> None:
    """NumPy's rule for in-place operators: the result must be of the same kind."""
    if not np.can_cast(dtype.numpy, stored.numpy, "same_kind"):
        raise TypeMismatch(
            f"the result of '{symbol}=' is {dtype}, which NumPy does not store in {stored}",
            span,
            help=f"convert it first, as with .astype({stored}), or assign with a[:] = ...",
        )


def named(build: Builder, value: ArrayExpr, name: str, stmt: ast.AST) -> Array | ArrayExpr:
    """What a name stands for that is given a computed array: the array in memory.

    One that is reshaped is read where it is: a view. Where NumPy may have to make a copy, that
    makes no difference as long as the memory is not written to, which is checked at the end.
    """
    _note_copies(build, value)
    if value.shown is None:
        return materialize(build, value, name, build.span(stmt))
    if value.may_be_copy:
        script = build.around[0].block if build.around else build.body
        last = script[-1] if script else None
        build.aliases.append(aliases.Alias(value.shown, name, build.span(stmt), last))
    return value


def note_part(build: Builder, value: ArrayExpr, made: Array, name: str, stmt: ast.AST) -> None:
    """Remember that a name stands for a copy where NumPy has a view.

    Whether that makes a difference is seen at the end. In a loop, the copy may be written to
    because it is made again.
    """
    assert value.part_of is not None
    span = build.span(stmt)
    script = build.around[0].block if build.around else build.body
    last = script[-1] if script else None
    is_once = script is build.body
    alias = aliases.PartAlias(value.part_of, name, span, last, made.buffer, is_once)
    build.aliases.append(alias)


def own_array(build: Builder, value: ArrayExpr, name: str, stmt: ast.AST) -> Array:
    """A computed array in memory that may be overwritten later."""
    if value.shown is not None:
        raise refuse_alias(build, name, value.shown, build.span(stmt))
    _note_copies(build, value)
    made = materialize(build, replace(value, buffer=None), name, build.span(stmt))
    if value.buffer in build.unit.standins:
        build.unit.standins[made.buffer] = build.unit.standins[value.buffer]
    return made


def _note_copies(build: Builder, value: ArrayExpr) -> None:
    """What a name is given a copy of must not change as long as the name may be read."""
    if value.buffer is not None and value.buffer in build.unit.copied_from:
        for source in build.unit.copied_from[value.buffer]:
            build.unit.standins[source] = build.unit.standins[value.buffer]


def refuse_alias(
    build: Builder, name: str, shown: Buffer, span: Span, *, is_written: bool = False
) -> ParseError:
    """The error for a view that NumPy may have to make a copy of."""
    written = ", and one of the two is written to while the other is used" if is_written else ""
    return ParseError(
        f"'{name}' would be another view of the elements of '{shown.name}'{written}",
        span,
        help="make it an array of its own with .copy()",
    )


def replace_array(build: Builder, old: Array, value: ArrayExpr, target: ast.Name) -> None:
    """Give a name a new array, in the memory of the one that it had."""
    if value.dtype is not old.buffer.dtype:
        raise build.refuse(
            f"'{target.id}' is an array of {old.buffer.dtype}, and cannot become one of "
            f"{value.dtype} here",
            target,
            help=f"convert it with .astype({old.buffer.dtype}), or use another name",
        )
    if len(value.shape) != len(old.shape):
        raise _refuse_other_shape(build, old, value, target)
    for size, wanted in zip(value.shape, old.shape, strict=True):
        if build.ranges.same(size, wanted):
            continue
        if isinstance(size, Const) and isinstance(wanted, Const):
            raise _refuse_other_shape(build, old, value, target)
        elementwise_arrays.require_size(build, size, wanted, target)
    store_array(build, view_of(build, old), value, build.span(target))


def _refuse_other_shape(
    build: Builder, old: Array, value: ArrayExpr, target: ast.Name
) -> Exception:
    return build.refuse(
        f"'{target.id}' has the shape {elementwise_arrays.shape_text(old.shape)}, and cannot "
        f"become an array of shape {elementwise_arrays.shape_text(value.shape)} here",
        target,
        help="use another name",
    )
