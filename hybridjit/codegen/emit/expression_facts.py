"""What is known of an expression without its value: whether it is free, whether it has lanes."""

from __future__ import annotations

from hybridjit.codegen.emit.emitter import Emitter
from hybridjit.codegen.emit.vector_values import has_lanes
from hybridjit.ir import expr as tir
from hybridjit.ir.expr import Expr
from hybridjit.ir.visit import children, walk


def is_free(emitter: Emitter, expr: Expr) -> bool:
    """True if `expr` may be evaluated although it is not needed: cheap, and it cannot fail.

    An index that is not `Bounded` was proved without looking at conditions inside the
    expression, so its load is safe wherever the statement is.
    """
    match expr:
        case tir.Const() | tir.Var():
            return True
        case tir.FloorDiv() | tir.Mod() if expr.dtype.is_integer:
            is_known = isinstance(expr.rhs, tir.Const) and expr.rhs.value != 0
            return is_known and _are_free(emitter, expr)
        case tir.Pow() | tir.Bounded() | tir.ExternCall() | tir.Cast(checked=True):
            return False
        case tir.Load(buffer):
            register = emitter.registers.get(buffer)
            return (register is None or register.is_set is None) and _are_free(emitter, expr)
        case tir.Call(name="fmod"):
            return False
        case _:
            return _are_free(emitter, expr)


def _are_free(emitter: Emitter, expr: Expr) -> bool:
    return all(is_free(emitter, child) for child in children(expr) if isinstance(child, Expr))


def varies(emitter: Emitter, expr: Expr) -> bool:
    """Whether `expr` may differ from lane to lane."""
    for node in walk(expr):
        match node:
            case tir.Var():
                varies = has_lanes(emitter.values[node])
            case tir.Load(buffer):
                register = emitter.registers.get(buffer)
                varies = register is not None and register.lanes > 1
            case _:
                varies = False
        if varies:
            return True
    return False
