"""Which function emits which kind of node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybridjit.codegen.emit.allocation import allocate, reserve
from hybridjit.codegen.emit.calls import emit_call, emit_extern
from hybridjit.codegen.emit.elements import emit_bounded, emit_load
from hybridjit.codegen.emit.emitter import Emitter, Language
from hybridjit.codegen.emit.expressions import (
    emit_constant,
    emit_logical,
    emit_operator,
    emit_select,
    emit_unary,
    emit_variable,
)
from hybridjit.codegen.emit.loops import run_while
from hybridjit.codegen.emit.statements import (
    leave_loop,
    run_assert,
    run_evaluate,
    run_if,
    run_let,
    run_print,
    run_raise,
    run_return,
    run_store,
)
from hybridjit.codegen.emit.stream_stores import run_loop
from hybridjit.codegen.llvm_types import Value
from hybridjit.ir import expr as tir
from hybridjit.ir import stmt as tis
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.codegen.emit import conversions, parallel
else:
    conversions = lazy_module("hybridjit.codegen.emit.conversions")
    parallel = lazy_module("hybridjit.codegen.emit.parallel")  # for loops on threads


def _run_for(emitter: Emitter, loop: tis.For) -> None:
    timers = emitter.options.timers
    run = parallel.run_parallel if loop.kind is tis.LoopKind.PARALLEL else run_loop
    with emitter.timed(None if timers is None else timers.slots.get(loop)):
        run(emitter, loop)


def _convert(emitter: Emitter, expr: tir.Cast) -> Value:
    return conversions.convert(emitter, expr)


_OPERATORS = (
    *(tir.Add, tir.Sub, tir.Mul, tir.Div, tir.FloorDiv, tir.Mod, tir.Pow, tir.Min, tir.Max),
    *(tir.BitAnd, tir.BitOr, tir.BitXor, tir.ShiftLeft, tir.ShiftRight),
    *(tir.Eq, tir.Ne, tir.Lt, tir.Le, tir.Gt, tir.Ge),
)

LANGUAGE = Language(
    expressions={
        tir.Const: emit_constant,
        tir.Var: emit_variable,
        tir.And: emit_logical,
        tir.Or: emit_logical,
        **dict.fromkeys(_OPERATORS, emit_operator),
        **dict.fromkeys((tir.Not, tir.Invert, tir.Neg), emit_unary),
        tir.Select: emit_select,
        tir.Cast: _convert,
        tir.Load: emit_load,
        tir.Bounded: emit_bounded,
        tir.Call: emit_call,
        tir.ExternCall: emit_extern,
    },
    statements={
        tis.Store: run_store,
        tis.Let: run_let,
        tis.Allocate: allocate,
        tis.Reserve: reserve,
        tis.For: _run_for,
        tis.While: run_while,
        tis.If: run_if,
        tis.Break: leave_loop,
        tis.Continue: leave_loop,
        tis.Return: run_return,
        tis.Evaluate: run_evaluate,
        tis.Assert: run_assert,
        tis.Raise: run_raise,
        tis.Print: run_print,
    },
)
