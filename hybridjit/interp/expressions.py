"""Expressions as closures: `compile_expr` turns each into a function from the frame to its value.

    Add(Load(a, (i,)), Const(1))  -->  lambda frame: add(load(frame), one)

What can fail at run time is compiled with its place, so that the error can say where.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from hybridjit.errors import (
    ArgumentError,
    InternalError,
    UnboundVariable,
    UninitializedRead,
    mark_foreign,
)
from hybridjit.interp.scalars import (
    OPERATORS,
    Function,
    Scalar,
    cast,
    find_function,
    is_number,
    make_cast,
)
from hybridjit.interp.scope import ERROR_STATE, UNSET, Eval, Frame, Position, Scope, Site
from hybridjit.ir import expr as ir
from hybridjit.ir.expr import Expr
from hybridjit.ir.extern import Extern
from hybridjit.ir.intrinsics import INTRINSICS


def compile_expr(expr: Expr, scope: Scope) -> Eval:
    """The function that evaluates `expr` in a frame."""
    compiler = _COMPILERS.get(type(expr))
    if compiler is None:
        name = type(expr).__name__
        raise InternalError(f"the interpreter cannot evaluate {name}", "interp", expr.span)
    return compiler(expr, scope)


def compile_index(
    indices: Sequence[Expr], buffer: ir.Buffer, scope: Scope
) -> Callable[[Frame], Position]:
    """The function that gives the index into the array of `buffer`."""
    if len(indices) != buffer.ndim:
        raise InternalError(
            f"'{buffer.name}' has {buffer.ndim} dimensions but {len(indices)} indices",
            "interp",
            scope.span,
        )
    slots = [slot for index in indices if (slot := scope.find_number(index)) is not None]
    if len(slots) == len(indices) > 1:
        return itemgetter(*slots)
    if len(indices) > 1 and any(isinstance(index, ir.Bounded) for index in indices):
        return _compile_checked_index(indices, scope)
    match [_compile_position(index, scope) for index in indices]:
        case [only]:
            return lambda frame: (only(frame),)
        case [first, second]:
            return lambda frame: (first(frame), second(frame))
        case [first, second, third]:
            return lambda frame: (first(frame), second(frame), third(frame))
        case [first, second, third, last]:
            return lambda frame: (first(frame), second(frame), third(frame), last(frame))
        case several:
            return lambda frame: tuple([index(frame) for index in several])


def _compile_checked_index(indices: Sequence[Expr], scope: Scope) -> Callable[[Frame], Position]:
    """All indices are evaluated before the first of them is checked, as NumPy does it."""
    values = [
        _compile_position(index.index if isinstance(index, ir.Bounded) else index, scope)
        for index in indices
    ]
    checks = [
        _compile_check(index, scope) if isinstance(index, ir.Bounded) else _as_it_is
        for index in indices
    ]

    def position(frame: Frame) -> Position:
        found = [value(frame) for value in values]
        return tuple([check(frame, value) for check, value in zip(checks, found, strict=True)])

    return position


def _as_it_is(frame: Frame, value: Scalar) -> Scalar:
    return value


def _compile_position(index: Expr, scope: Scope) -> Eval:
    slot = scope.find_number(index)
    return compile_expr(index, scope) if slot is None else itemgetter(slot)


# Leaves


def _compile_const(expr: ir.Const, scope: Scope) -> Eval:
    value = cast(expr.value, expr.dtype)
    return lambda frame: value


def _compile_var(expr: ir.Var, scope: Scope) -> Eval:
    return itemgetter(scope.slot(expr))


def _compile_load(expr: ir.Load, scope: Scope) -> Eval:
    if expr.buffer.is_register:
        return _compile_register_load(expr, scope)
    if expr.buffer in scope.masks:
        return _compile_tracked_load(expr, scope)
    index = compile_index(expr.indices, expr.buffer, scope)
    slot, site = scope.slot(expr.buffer), scope.site(expr)

    def load(frame: Frame) -> Scalar:
        position = index(frame)
        array = frame[slot]
        try:
            return array[position]
        except IndexError:
            raise site.bounds_error(frame, expr.buffer, array.shape, position) from None

    return load


def _compile_tracked_load(expr: ir.Load, scope: Scope) -> Eval:
    index = compile_index(expr.indices, expr.buffer, scope)
    slot, mask, site = scope.slot(expr.buffer), scope.masks[expr.buffer], scope.site(expr)

    def load(frame: Frame) -> Scalar:
        position = index(frame)
        is_set = frame[mask]
        try:
            if is_set[position]:
                return frame[slot][position]
        except IndexError:
            raise site.bounds_error(frame, expr.buffer, is_set.shape, position) from None
        raise _uninitialized(expr.buffer, position, site, frame)

    return load


def _compile_register_load(expr: ir.Load, scope: Scope) -> Eval:
    slot, site, name = scope.slot(expr.buffer), scope.site(expr), expr.buffer.name

    def load(frame: Frame) -> Scalar:
        value = frame[slot]
        if value is UNSET:
            raise UnboundVariable(
                f"variable '{name}' is read before it is assigned",
                site.span,
                notes=site.notes(frame),
            )
        return value

    return load


def _uninitialized(buffer: ir.Buffer, position: Position, site: Site, frame: Frame) -> Exception:
    element = ", ".join(str(index) for index in position)
    return UninitializedRead(
        f"element [{element}] of '{buffer.name}' is read before it is written",
        site.span,
        notes=site.notes(frame),
    )


def _compile_bounded(expr: ir.Bounded, scope: Scope) -> Eval:
    index, check = compile_expr(expr.index, scope), _compile_check(expr, scope)
    return lambda frame: check(frame, index(frame))


def _compile_check(expr: ir.Bounded, scope: Scope) -> Callable[[Frame, Scalar], Scalar]:
    """The function that takes an index to its place in the array."""
    extent, site = compile_expr(expr.extent, scope), scope.site(expr)

    def check(frame: Frame, position: Scalar) -> Scalar:
        size = extent(frame)
        if not -size <= position < size:
            raise site.out_of_bounds(frame, expr.buffer, expr.axis, int(position), int(size))
        return position + size if position < 0 else position

    return check


# Operators


def _compile_unary(expr: ir.Unary, scope: Scope) -> Eval:
    value, function = compile_expr(expr.value, scope), OPERATORS[type(expr)]
    return lambda frame: function(value(frame))


def _compile_binary(expr: ir.Binary, scope: Scope) -> Eval:
    lhs, rhs = compile_expr(expr.lhs, scope), compile_expr(expr.rhs, scope)
    function = OPERATORS[type(expr)]
    if isinstance(expr, _PARTIAL) and expr.dtype.is_integer:
        return _located((lhs, rhs), function, scope.site(expr))
    if isinstance(expr.rhs, ir.Const):
        constant = cast(expr.rhs.value, expr.rhs.dtype)
        return lambda frame: function(lhs(frame), constant)
    return lambda frame: function(lhs(frame), rhs(frame))


_PARTIAL = (ir.FloorDiv, ir.Mod, ir.Pow)  # on integers: an error for some operands


def _located(args: Sequence[Eval], function: Function, site: Site) -> Eval:
    """`function` of `args`, where an error of the function itself says where it happened."""

    def evaluate(frame: Frame) -> Scalar:
        values = [arg(frame) for arg in args]
        try:
            return function(*values)
        except (ArithmeticError, ValueError) as error:
            raise site.located(error, frame) from None

    return evaluate


def _compile_and(expr: ir.And, scope: Scope) -> Eval:
    lhs, rhs = compile_expr(expr.lhs, scope), compile_expr(expr.rhs, scope)
    return lambda frame: lhs(frame) and rhs(frame)


def _compile_or(expr: ir.Or, scope: Scope) -> Eval:
    lhs, rhs = compile_expr(expr.lhs, scope), compile_expr(expr.rhs, scope)
    return lambda frame: lhs(frame) or rhs(frame)


def _compile_select(expr: ir.Select, scope: Scope) -> Eval:
    cond = compile_expr(expr.cond, scope)
    then, otherwise = compile_expr(expr.then, scope), compile_expr(expr.otherwise, scope)
    return lambda frame: then(frame) if cond(frame) else otherwise(frame)


def _compile_cast(expr: ir.Cast, scope: Scope) -> Eval:
    value = compile_expr(expr.value, scope)
    convert = make_cast(expr.value.dtype, expr.to, expr.checked)
    if expr.checked:
        return _located((value,), convert, scope.site(expr))
    return lambda frame: convert(value(frame))


def _compile_call(expr: ir.Call, scope: Scope) -> Eval:
    args = [compile_expr(arg, scope) for arg in expr.args]
    function = find_function(INTRINSICS[expr.name], expr.args[0].dtype)
    if expr.name == "fmod" and expr.dtype.is_integer:
        return _located(args, function, scope.site(expr))
    match args:
        case [only]:
            return lambda frame: function(only(frame))
        case [first, second]:
            return lambda frame: function(first(frame), second(frame))
        case [first, second, third]:
            return lambda frame: function(first(frame), second(frame), third(frame))
        case _:
            return lambda frame: function(*[arg(frame) for arg in args])


# Calls out of the IR


def _compile_buffer_ref(expr: ir.BufferRef, scope: Scope) -> Eval:
    if expr.buffer.is_register:
        raise InternalError(f"register '{expr.buffer.name}' has no address", "interp", expr.span)
    slot = scope.slot(expr.buffer)
    if not expr.starts:
        return lambda frame: frame[slot].view()
    places = [
        _compile_place(expr, axis, scope.site(expr), scope) for axis in range(expr.buffer.ndim)
    ]
    return lambda frame: frame[slot][(*[place(frame) for place in places], ...)]


def _compile_place(expr: ir.BufferRef, axis: int, site: Site, scope: Scope) -> Callable[..., Any]:
    """What a part of an array is along one axis: an index, or a slice."""
    slot, start = scope.slot(expr.buffer), compile_expr(expr.starts[axis], scope)
    width = expr.extents[axis]
    extent = None if width is None else compile_expr(width, scope)

    def check(frame: Frame, position: int, count: int) -> int:
        if not 0 <= position < count:
            shown = position if position >= 0 else count
            raise site.out_of_bounds(frame, expr.buffer.name, axis, shown, count)
        return position

    def place(frame: Frame) -> Any:
        size, position = frame[slot].shape[axis], int(start(frame))
        if extent is None:
            return check(frame, position + size if -size <= position < 0 else position, size)
        wide = check(frame, int(extent(frame)), size + 1)
        position = check(frame, position, size - wide + 1)
        return slice(position, position + wide)

    return place


def _compile_extern_call(expr: ir.ExternCall, scope: Scope) -> Eval:
    callee, site = expr.callee, scope.site(expr)
    args = [compile_expr(arg, scope) for arg in expr.args]
    buffers = [arg.buffer for arg in expr.args if isinstance(arg, ir.BufferRef)]
    masks = [scope.masks[buffer] for buffer in buffers if buffer in scope.masks]
    names = [arg.buffer.name if isinstance(arg, ir.BufferRef) else "" for arg in expr.args]

    def call(frame: Frame) -> Scalar:
        values = [arg(frame) for arg in args]
        if not callee.is_packed:
            values = [_c_argument(*item, callee, site) for item in zip(names, values, strict=True)]
        result = _call_outside(callee, values, frame)
        for mask in masks:
            frame[mask][...] = True  # what the callee did not write, it was allowed to
        return _extern_result(result, callee, site, frame)

    return call


def _call_outside(callee: Extern, values: Sequence[object], frame: Frame) -> object:
    try:
        with np.errstate(**frame[ERROR_STATE]):
            return callee.call(*values)
    except BaseException as error:
        mark_foreign(error)
        raise


def _c_argument(name: str, value: Any, callee: Extern, site: Site) -> object:
    """How C gets an argument: an array as its address, a scalar as a Python number."""
    if not name:
        return value.item()
    if not value.flags.c_contiguous:
        raise ArgumentError(
            f"'{name}' must be C-contiguous to be passed to '{callee.name}'", site.span
        )
    return ctypes.c_void_p(value.ctypes.data)


def _extern_result(result: object, callee: Extern, site: Site, frame: Frame) -> Scalar:
    if callee.result is None:
        return np.int64(0)
    if not is_number(result):
        error = TypeError(
            f"'{callee.name}' returned {type(result).__name__}, not a number "
            f"that converts to {callee.result}"
        )
        raise site.annotated(error, frame)
    return cast(result, callee.result)


_COMPILERS: dict[type[Expr], Callable[[Any, Scope], Eval]] = {
    **{cls: _compile_unary if issubclass(cls, ir.Unary) else _compile_binary for cls in OPERATORS},
    ir.Const: _compile_const,
    ir.Var: _compile_var,
    ir.Load: _compile_load,
    ir.Bounded: _compile_bounded,
    ir.And: _compile_and,
    ir.Or: _compile_or,
    ir.Select: _compile_select,
    ir.Cast: _compile_cast,
    ir.Call: _compile_call,
    ir.BufferRef: _compile_buffer_ref,
    ir.ExternCall: _compile_extern_call,
}

COMPILED_EXPRS: frozenset[type[Expr]] = frozenset(_COMPILERS)
