"""Calls of C functions and Python callbacks."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hybridjit.frontend.arrays.refusals import count
from hybridjit.frontend.casts import CastTranslator
from hybridjit.frontend.conversion import convert
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    Items,
    Nothing,
    Place,
    Scalar,
    Value,
    View,
    describe,
)
from hybridjit.ir.dtype import DType, ScalarType
from hybridjit.ir.expr import BufferRef, Expr, ExternCall
from hybridjit.ir.extern import Extern, Pointer
from hybridjit.ir.stmt import Evaluate


class ExternTranslator(CastTranslator):
    """Calls that leave the script."""

    def call_extern(self, extern: Extern, node: ast.Call) -> Value:
        """The value of a call to a C function or a callback, made here and now."""
        if node.keywords:
            raise self.refuse_keyword(ast.unparse(node.func), node.keywords[0])
        if extern.params is not None and len(node.args) != len(extern.params):
            raise self.refuse(
                f"{ast.unparse(node.func)} takes {count(len(extern.params), 'argument')}, "
                f"found {len(node.args)}",
                node,
            )
        values = self.evaluate_all(node.args)
        params: Sequence[DType | Pointer | None] = extern.params or [None] * len(values)
        args = tuple(
            self._extern_argument(value, param, arg)
            for value, param, arg in zip(values, params, node.args, strict=True)
        )
        call = ExternCall(extern, args, span=self.span(node))
        if extern.result is None:
            self.emit(Evaluate(call, span=self.span(node)))
            return Nothing()
        return self.let(Scalar(call, ScalarType(extern.result)), extern.name, self.span(node))

    def _extern_argument(self, value: Value, param: DType | Pointer | None, node: ast.expr) -> Expr:
        match value, param:
            case ((Array() | View()), None):
                return self._array_argument(value, node)
            case ((Array() | View()), Pointer(dtype)) if value.buffer.dtype is dtype:
                return self._array_argument(value, node)
            case Scalar(), None:
                return convert(value, value.type.dtype, self.span(node))
            case Scalar(), DType():
                return self._converted_argument(value, param, node)
            case _:
                needed = "an array or a number" if param is None else _parameter_text(param)
                raise self.mismatch(
                    f"an argument of this call must be {needed}, found {describe(value)}", node
                )

    def _array_argument(self, value: Array | View, node: ast.expr) -> BufferRef:
        """An array, or a part of one that lies in it as it is."""
        if isinstance(value, Array) and not value.indices:
            return BufferRef(value.buffer, span=self.span(node))
        view = self.view(value)
        axes = [place.axis for place in view.places if place.axis is not None]
        if axes != list(range(len(view.shape))) or any(place.step != 1 for place in view.places):
            raise self.mismatch(
                "an argument of this call must be an array or a part of one with its axes in order "
                f"and without steps, found `{ast.unparse(node)}`",
                node,
                help=f"pass a copy, as in {ast.unparse(node)}.copy()",
            )
        starts = tuple(place.start for place in view.places)
        extents = tuple(
            None if place.axis is None else view.shape[place.axis] for place in view.places
        )
        return BufferRef(view.buffer, starts, extents, span=self.span(node))

    def part_from(self, node: ast.Call) -> Value:
        """`part(a, starts, shape)`: elements of an array from some indices on."""
        args = self.arguments(node, "array", "starts", "shape", required=3)
        array, starts, shape = (self.evaluate(arg) for arg in args.values())
        if not isinstance(array, AnyArray) or not isinstance(starts, Items):
            raise self.mismatch(
                f"part takes an array and tuples, found {describe(array)} and {describe(starts)}",
                node,
                help="as in part(a, (i, 0), (4, 16)); None leaves a dimension out",
            )
        extents = shape.items if isinstance(shape, Items) else ()
        if not len(starts.items) == len(extents) == len(array.shape):
            raise self.mismatch(
                f"part needs a start and an extent for each of {len(array.shape)} dimensions, "
                f"found {len(starts.items)} and {len(extents)}",
                node,
            )
        places: list[Place] = []
        kept: list[Expr] = []
        for start, extent in zip(starts.items, extents, strict=True):
            first = self.fixed_index(self._entry_index(start, node))
            places.append(Place(first, 1, None if isinstance(extent, Nothing) else len(kept)))
            if not isinstance(extent, Nothing):
                kept.append(self.fixed_index(self._entry_index(extent, node)))
        return self.shown(array, tuple(places), tuple(kept), node)

    def _entry_index(self, value: Value, node: ast.AST) -> Expr:
        return self.as_index(self.as_scalar(value, node, "an index"), node, "an index")

    def _converted_argument(self, value: Scalar, dtype: DType, node: ast.expr) -> Expr:
        if value.type.dtype.is_complex and not dtype.is_complex:
            raise self.mismatch(
                f"an argument of this call must be {dtype}, found {value.type}", node
            )
        return convert(value, dtype, self.span(node))


def _parameter_text(param: DType | Pointer) -> str:
    return f"an array of {param.dtype}" if isinstance(param, Pointer) else param.name
