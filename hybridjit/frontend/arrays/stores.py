"""Assignments to whole arrays and to parts of them, and names for arrays that are computed."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hybridjit.arith.ranges import ZERO, constant
from hybridjit.errors import ParseError, Span, TypeMismatch
from hybridjit.frontend.aliases import Alias
from hybridjit.frontend.arrays.elementwise import shape_text
from hybridjit.frontend.arrays.gather import Entry, Gathered, place_in
from hybridjit.frontend.arrays.memory import locate
from hybridjit.frontend.calls import CallTranslator
from hybridjit.frontend.conversion import store_value
from hybridjit.frontend.operators import BINARY, SYMBOLS
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    Nothing,
    Scalar,
    Value,
    View,
)
from hybridjit.ir.dtype import DType
from hybridjit.ir.expr import Buffer, Const, Expr
from hybridjit.ir.stmt import Store


@dataclass(frozen=True, slots=True)
class Target:
    """What is assigned to: elements of a buffer, all of a view or those where a mask is true.

    Those that arrays of indices name are `scattered`.
    """

    view: View
    mask: ArrayExpr | None = None
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


class ArrayStores(CallTranslator):
    """What changes many elements at once."""

    def target_of(self, owner: Array | View) -> Target:
        """All of an array as the target of an assignment."""
        return Target(self.view(owner))

    def target_in(self, owner: Array | View, node: ast.Subscript) -> Target:
        """The part of an array that a subscript on the left side names."""
        nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if isinstance(owner, Array) and not any(map(self.is_slice, nodes)):
            values: Sequence[Value] = self.evaluate_all(nodes)
            if not any(isinstance(value, (AnyArray, Nothing)) for value in values):
                part = self.indexed(owner, values, nodes, node)
                if not part.shape:
                    return Target(View(part.buffer, (), ()), exact=part.indices)
                return Target(self.view(part))
            return self._target_at(owner, values, node)
        return self._target_at(owner, self.entries(nodes), node)

    def _target_at(
        self, owner: Array | View, values: Sequence[Entry], node: ast.Subscript
    ) -> Target:
        """The target for entries whose values are given; slices have none."""
        if self.has_mask(values):
            part, mask = self.masked_part(owner, values, node)
            assert isinstance(part, View)
            return Target(part, mask)
        if any(isinstance(value, AnyArray) for value in values):
            found = self.scattered(owner, values, node)
            return Target(found.view, scattered=found)
        part = self.part_at(owner, values, node)
        assert not isinstance(part, ArrayExpr)
        return Target(self.view(part))

    def store_values(self, target: Target, value: Value, stmt: ast.stmt) -> None:
        """`target[...] = value`, as if `value` were computed first."""
        if isinstance(value, AnyArray):
            array = self.array(value)
        else:
            array = self._filled(self.as_scalar(value, stmt), target.shape, stmt)
        self._put(target, self._fitted(array, target, stmt), self.span(stmt))

    def _put(self, target: Target, value: ArrayExpr, span: Span) -> None:
        """Store each element of `value` at its place, as if all were computed first."""
        if target.scattered is None:
            self.store_array(target.view, value, span)
        else:
            self._scatter(target.scattered, value, span)

    def _scatter(self, target: Gathered, value: ArrayExpr, span: Span) -> None:
        """Where indices are equal, the last element stays, as in NumPy."""
        if self.may_read(value, target.view.buffer):
            value = self.array(Array(self.copied(value, "t", span)))

        def body(indices: tuple[Expr, ...]) -> None:
            place = place_in(target, indices)
            stored = store_value(value.element(indices), target.view.dtype, span)
            self.emit(Store(target.view.buffer, place, stored, span=span))

        self.nest(target.shape, body, span)

    def _filled(self, value: Scalar, shape: tuple[Expr, ...], node: ast.AST) -> ArrayExpr:
        """An array with one number everywhere."""
        kept = self.let(value, "t", self.span(node))
        return ArrayExpr(shape, value.type.dtype, lambda _: kept)

    def _fitted(self, value: ArrayExpr, target: Target, stmt: ast.stmt) -> ArrayExpr:
        """`value` with the shape, and the mask, of what it is assigned to."""
        if target.mask is not None:
            return self._fitted_to_mask(value, target, target.mask, stmt)
        if value.mask is not None:
            raise self.refuse(
                "as many elements as a mask selects cannot be assigned to a shape known now",
                stmt,
                help="use the mask on the left side too, as in a[m] = b[m]",
            )
        shape, ndim = value.shape, len(target.shape)
        extra = len(shape) - ndim
        if extra > 0:
            if any(constant(size) != 1 for size in shape[:extra]):
                raise self.refuse_shapes([target.shape, shape], stmt)
            value = self._without_leading(value, extra)
        return self.broadcast_to(value, target.shape, stmt)

    @staticmethod
    def _without_leading(value: ArrayExpr, extra: int) -> ArrayExpr:
        zeros = [ZERO] * extra
        return ArrayExpr(
            value.shape[extra:], value.dtype, lambda indices: value.element([*zeros, *indices])
        )

    def _fitted_to_mask(
        self, value: ArrayExpr, target: Target, mask: ArrayExpr, stmt: ast.stmt
    ) -> ArrayExpr:
        is_filled = value.mask is None and value.shape is target.shape
        if not is_filled and (value.mask is None or not self.same_mask(value.mask, mask)):
            raise self.refuse(
                "what is assigned to the elements that a mask selects must be one number, or "
                "selected by the same mask",
                stmt,
                help="write it as in a[m] = b[m], or a[:] = np.where(m, b, a)",
            )
        return replace(value, mask=mask, buffer=None)

    def update(self, target: Target, operand: Value, stmt: ast.AugAssign) -> None:
        """`target += operand` on an array, in place."""
        op = BINARY[type(stmt.op)]
        span = self.span(stmt)
        old = self._old(target)
        node = ast.BinOp(stmt.target, stmt.op, stmt.value)
        ast.copy_location(node, stmt)
        new = self.elementwise([old, operand], lambda parts: self.combined(op, parts, span), node)
        if isinstance(new, Scalar):  # of an array without dimensions
            number = new
            new = ArrayExpr((), number.type.dtype, lambda _: number)
        self._check_in_place(new.dtype, target.buffer.dtype, SYMBOLS[op], span)
        if target.mask is None and len(new.shape) > len(target.shape):
            raise self.refuse_shapes([target.shape, new.shape], stmt)
        self._put(target, self._fitted(new, target, stmt), span)

    def _old(self, target: Target) -> AnyArray:
        """What the elements are before they are updated."""
        if target.scattered is None:
            return (
                replace(self.array(target.view), mask=target.mask) if target.mask else target.view
            )
        found, source = target.scattered, self.array(target.view)
        return ArrayExpr(
            found.shape, source.dtype, lambda indices: source.element(found.locate(indices))
        )

    def _check_in_place(self, dtype: DType, stored: DType, symbol: str, span: Span) -> None:
        """NumPy's rule for in-place operators: the result must be of the same kind."""
        if not np.can_cast(dtype.numpy, stored.numpy, "same_kind"):
            raise TypeMismatch(
                f"the result of '{symbol}=' is {dtype}, which NumPy does not store in {stored}",
                span,
                help=f"convert it first, as with .astype({stored}), or assign with a[:] = ...",
            )

    def named(self, value: ArrayExpr, name: str, stmt: ast.AST) -> Array | ArrayExpr:
        """What a name stands for that is given a computed array: the array in memory.

        Elements selected by a mask are kept in an array of the whole shape, beside the mask.
        """
        if value.mask is None:
            return self.named_array(value, name, stmt)
        span = self.span(stmt)
        mask = self.array(Array(self.copied(value.mask, f"{name}_mask", span)))
        # What is not selected is never read: it may be computed, too, if that cannot fail.
        chosen = replace(value, mask=None if self.never_fails(value) else mask)
        data = self.array(Array(self.copied(chosen, name, span)))
        return replace(data, mask=mask)

    def named_array(self, value: ArrayExpr, name: str, stmt: ast.AST) -> Array | ArrayExpr:
        """An array that is computed, in memory of its own, for a name.

        One that is reshaped is read where it is: a view. Where NumPy may have to make a copy, that
        makes no difference as long as the memory is not written to, which is checked at the end.
        """
        self._note_copies(value)
        if value.shown is None:
            return self.materialize(value, name, self.span(stmt))
        if value.may_be_copy:
            script = self.around[0][0] if self.around else self.body
            last = script[-1] if script else None
            self.aliases.append(Alias(value.shown, name, self.span(stmt), last))
        return value

    def own_array(self, value: ArrayExpr, name: str, stmt: ast.AST) -> Array:
        """A computed array in memory that may be overwritten later."""
        if value.shown is not None:
            raise self.refuse_alias(name, value.shown, self.span(stmt))
        self._note_copies(value)
        made = self.materialize(replace(value, buffer=None), name, self.span(stmt))
        if value.buffer in self.unit.standins:
            self.unit.standins[made.buffer] = self.unit.standins[value.buffer]
        return made

    def _note_copies(self, value: ArrayExpr) -> None:
        """What a name is given a copy of must not change as long as the name may be read."""
        if value.buffer is not None and value.buffer in self.unit.copied_from:
            for source in self.unit.copied_from[value.buffer]:
                self.unit.standins[source] = self.unit.standins[value.buffer]

    def refuse_alias(self, name: str, shown: Buffer, span: Span) -> ParseError:
        """The error for a view that NumPy may have to make a copy of."""
        return ParseError(
            f"'{name}' would be another view of the elements of '{shown.name}'",
            span,
            help="make it an array of its own with .copy()",
        )

    def replace_array(self, old: Array, value: ArrayExpr, target: ast.Name) -> None:
        """Give a name a new array, in the memory of the one that it had."""
        if value.dtype is not old.buffer.dtype:
            raise self.refuse(
                f"'{target.id}' is an array of {old.buffer.dtype}, and cannot become one of "
                f"{value.dtype} here",
                target,
                help=f"convert it with .astype({old.buffer.dtype}), or use another name",
            )
        if len(value.shape) != len(old.shape):
            raise self._refuse_other_shape(old, value, target)
        for size, wanted in zip(value.shape, old.shape, strict=True):
            if self.ranges.same(size, wanted):
                continue
            if isinstance(size, Const) and isinstance(wanted, Const):
                raise self._refuse_other_shape(old, value, target)
            self.require_size(size, wanted, target)
        self.store_array(self.view(old), value, self.span(target))

    def _refuse_other_shape(self, old: Array, value: ArrayExpr, target: ast.Name) -> Exception:
        return self.refuse(
            f"'{target.id}' has the shape {shape_text(old.shape)}, and cannot become an array of "
            f"shape {shape_text(value.shape)} here",
            target,
            help="use another name",
        )
