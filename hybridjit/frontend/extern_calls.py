"""Calls of C functions and Python callbacks."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hybridjit.frontend.arrays.memory import evaluate_all, fixed_index, view_of
from hybridjit.frontend.arrays.refusals import count
from hybridjit.frontend.arrays.subscripts import shown
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import arguments, refuse_keyword
from hybridjit.frontend.values import AnyArray, Array, Items, Nothing, Place, Value, View, describe
from hybridjit.ir.dtype import DType, ScalarType
from hybridjit.ir.expr import BufferRef, Expr, ExternCall
from hybridjit.ir.extern import Extern, ExternFamily, Pointer
from hybridjit.ir.stmt import Evaluate
from hybridjit.scalars.conversion import convert
from hybridjit.scalars.scalar import Scalar


def call_extern(build: Builder, callee: Extern | ExternFamily, node: ast.Call) -> Value:
    """The value of a call to a C function or a callback, made here and now."""
    extern = _member(build, callee, node) if isinstance(callee, ExternFamily) else callee
    if node.keywords:
        raise refuse_keyword(build, ast.unparse(node.func), node.keywords[0])
    if extern.params is not None and len(node.args) != len(extern.params):
        raise build.refuse(
            f"{ast.unparse(node.func)} takes {count(len(extern.params), 'argument')}, "
            f"found {len(node.args)}",
            node,
        )
    values = evaluate_all(build, node.args)
    params: Sequence[DType | Pointer | None] = extern.params or [None] * len(values)
    args = tuple(
        _extern_argument(build, value, param, arg)
        for value, param, arg in zip(values, params, node.args, strict=True)
    )
    call = ExternCall(extern, args, span=build.span(node))
    if extern.result is None:
        build.emit(Evaluate(call, span=build.span(node)))
        return Nothing()
    return build.let(Scalar(call, ScalarType(extern.result)), extern.name, build.span(node))


def _member(build: Builder, family: ExternFamily, node: ast.Call) -> Extern:
    first = build.evaluate(node.args[0])
    assert isinstance(first, Array | View)
    return family.members[first.buffer.dtype]


def _extern_argument(
    build: Builder, value: Value, param: DType | Pointer | None, node: ast.expr
) -> Expr:
    match value, param:
        case ((Array() | View()), None):
            return _array_argument(build, value, node)
        case ((Array() | View()), Pointer(dtype)) if value.buffer.dtype is dtype:
            return _array_argument(build, value, node)
        case Scalar(), None:
            return convert(value, value.type.dtype, build.span(node))
        case Scalar(), DType():
            return _converted_argument(build, value, param, node)
        case _:
            needed = "an array or a number" if param is None else _parameter_text(param)
            raise build.mismatch(
                f"an argument of this call must be {needed}, found {describe(value)}", node
            )


def _array_argument(build: Builder, value: Array | View, node: ast.expr) -> BufferRef:
    """An array, or a part of one that lies in it as it is."""
    if isinstance(value, Array) and not value.indices:
        return BufferRef(value.buffer, span=build.span(node))
    view = view_of(build, value)
    axes = [place.axis for place in view.places if place.axis is not None]
    if axes != list(range(len(view.shape))) or any(place.step != 1 for place in view.places):
        raise build.mismatch(
            "an argument of this call must be an array or a part of one with its axes in order "
            f"and without steps, found `{ast.unparse(node)}`",
            node,
            help=f"pass a copy, as in {ast.unparse(node)}.copy()",
        )
    starts = tuple(place.start for place in view.places)
    extents = tuple(None if place.axis is None else view.shape[place.axis] for place in view.places)
    return BufferRef(view.buffer, starts, extents, span=build.span(node))


def part_from(build: Builder, node: ast.Call) -> Value:
    """`part(a, starts, shape)`: elements of an array from some indices on."""
    args = arguments(build, node, "array", "starts", "shape", required=3)
    array, starts, shape = (build.evaluate(arg) for arg in args.values())
    if not isinstance(array, AnyArray) or not isinstance(starts, Items):
        raise build.mismatch(
            f"part takes an array and tuples, found {describe(array)} and {describe(starts)}",
            node,
            help="as in part(a, (i, 0), (4, 16)); None leaves a dimension out",
        )
    extents = shape.items if isinstance(shape, Items) else ()
    if not len(starts.items) == len(extents) == len(array.shape):
        raise build.mismatch(
            f"part needs a start and an extent for each of {len(array.shape)} dimensions, "
            f"found {len(starts.items)} and {len(extents)}",
            node,
        )
    places: list[Place] = []
    kept: list[Expr] = []
    for start, extent in zip(starts.items, extents, strict=True):
        first = fixed_index(build, _entry_index(build, start, node))
        places.append(Place(first, 1, None if isinstance(extent, Nothing) else len(kept)))
        if not isinstance(extent, Nothing):
            kept.append(fixed_index(build, _entry_index(build, extent, node)))
    return shown(build, array, tuple(places), tuple(kept), node)


def _entry_index(build: Builder, value: Value, node: ast.AST) -> Expr:
    return build.as_index(build.as_scalar(value, node, "an index"), node, "an index")


def _converted_argument(build: Builder, value: Scalar, dtype: DType, node: ast.expr) -> Expr:
    if value.type.dtype.is_complex and not dtype.is_complex:
        raise build.mismatch(f"an argument of this call must be {dtype}, found {value.type}", node)
    return convert(value, dtype, build.span(node))


def _parameter_text(param: DType | Pointer) -> str:
    return f"an array of {param.dtype}" if isinstance(param, Pointer) else param.name
