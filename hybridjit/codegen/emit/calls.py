"""Calls of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybridjit.codegen.emit.emitter import Emitter
from hybridjit.codegen.emit.expressions import checked_divisor
from hybridjit.codegen.llvm_types import Value
from hybridjit.ir import expr as tir
from hybridjit.ir.dtype import FLOAT32, FLOAT64
from hybridjit.ir.expr import Expr
from hybridjit.ir.visit import walk
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.codegen.emit import conversions, externs, intrinsics
    from hybridjit.codegen.math import library as math_library
else:
    math_library = lazy_module("hybridjit.codegen.math.library")
    conversions = lazy_module("hybridjit.codegen.emit.conversions")
    externs = lazy_module("hybridjit.codegen.emit.externs")
    intrinsics = lazy_module("hybridjit.codegen.emit.intrinsics")


def emit_call(emitter: Emitter, expr: tir.Call) -> Value:
    """The result of a function of ir/intrinsics.py."""
    if expr.name in math_library.PARTS and expr.dtype in (FLOAT32, FLOAT64):
        return _part(emitter, expr)
    args = emitter.operands(*expr.args)
    dtype = expr.args[0].dtype
    if expr.name == "fmod" and dtype.is_integer:
        args[1] = checked_divisor(emitter, args[1], expr)
    value = intrinsics.emit_intrinsic(emitter.b, expr.name, args, dtype)
    return conversions.settled(emitter, value, expr, dtype)


def _part(emitter: Emitter, expr: tir.Call) -> Value:
    """One result of a function that gives two: who asks for both calls it once."""
    whole, position = math_library.PARTS[expr.name]
    (arg,) = expr.args
    known, both = emitter.pairs.get(arg, ((), None))
    if [id(part) for part in known] != [id(part) for part in _place(emitter)]:
        both = math_library.emit_math(emitter.b, whole, expr.dtype, emitter.operands(arg))
        emitter.pairs[arg] = _place(emitter), both
    return emitter.b.extract_value(both, position)


def _place(emitter: Emitter) -> tuple[Value, ...]:
    """Where a value that is computed now may be used again: in this block, by these lanes."""
    return (emitter.b.block, emitter.mask)


def forget_pairs(emitter: Emitter, stored: tir.Buffer | None = None) -> None:
    """Note that values which depend on what is `stored`, or on anything, are others now."""
    for arg in [arg for arg in emitter.pairs if stored is None or _reads(arg, stored)]:
        del emitter.pairs[arg]


def emit_extern(emitter: Emitter, expr: tir.ExternCall) -> Value:
    """The result of a function out of the kernel, which may change anything."""
    forget_pairs(emitter)
    return externs.call_extern(emitter, expr)


def _reads(expr: Expr, buffer: tir.Buffer) -> bool:
    return any(isinstance(node, tir.Load) and node.buffer is buffer for node in walk(expr))
