"""Statements other than loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from llvmlite import ir

from hybridjit.analysis.limits import Limits, find_limits
from hybridjit.codegen.emit.calls import forget_pairs
from hybridjit.codegen.emit.elements import access_lanes, emit_indices, is_own_row
from hybridjit.codegen.emit.emitter import Emitter
from hybridjit.codegen.emit.expression_facts import is_free, varies
from hybridjit.codegen.emit.expressions import begin_if_any, choice
from hybridjit.codegen.emit.index_factors import find_factor
from hybridjit.codegen.emit.memory import Register
from hybridjit.codegen.emit.vector_indices import emit_index
from hybridjit.codegen.emit.vector_values import has_lanes
from hybridjit.codegen.llvm_types import I64, Value
from hybridjit.codegen.sites import Failure
from hybridjit.errors import InternalError
from hybridjit.ir import expr as tir
from hybridjit.ir import stmt as tis
from hybridjit.ir.dtype import INT64, DType
from hybridjit.ir.expr import BufferRef, Expr, Var
from hybridjit.ir.stmt import Stmt, flat_stmts
from hybridjit.ir.visit import walk
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.codegen.emit import externs, packed_stores
else:
    externs = lazy_module("hybridjit.codegen.emit.externs")
    packed_stores = lazy_module("hybridjit.codegen.emit.packed_stores")


def run_let(emitter: Emitter, stmt: tis.Let) -> None:
    """Give a name to a value."""
    note_limits(emitter, stmt.var, find_limits(stmt.value, emitter.limits))
    emitter.values[stmt.var] = emit_index(emitter, stmt.value)
    if stmt.var.dtype is INT64:
        emitter.factors[stmt.var] = find_factor(stmt.value, emitter.factors)
        emitter.meanings[stmt.var] = stmt.value


def note_limits(emitter: Emitter, var: Var, limits: Limits | None) -> None:
    """Remember between which values a variable lies, if that is known."""
    if limits is not None:
        emitter.limits[var] = limits


def run_store(emitter: Emitter, stmt: tis.Store) -> None:
    """Set an element or a variable, in the active lanes."""
    if _run_packed(emitter, stmt):
        forget_pairs(emitter, stmt.buffer)
        return
    value = emitter.emit(stmt.value)
    register = emitter.registers.get(stmt.buffer)
    if register is None:
        _store_element(emitter, stmt, value)
    elif emitter.lanes is None:
        register.store(emitter.b, value)
    elif register.lanes > 1:
        _assign(emitter, register, emitter.whole(value))
    else:
        raise InternalError("all lanes set one variable", "codegen", stmt.span)
    forget_pairs(emitter, stmt.buffer)


def _run_packed(emitter: Emitter, stmt: tis.Store) -> bool:
    """Emit a store of a loop that packs what passes a test; give False if it is none."""
    lanes = emitter.lanes
    if lanes is None or lanes.packing is None:
        return False
    return packed_stores.run_packed(emitter, lanes, stmt)


def _store_element(emitter: Emitter, stmt: tis.Store, value: Value) -> None:
    array, lanes = emitter.arrays[stmt.buffer], emitter.lanes
    if lanes is None:
        array.store(emitter.b, emit_indices(emitter, stmt.indices), value)
        return
    access = access_lanes(emitter, lanes, array, stmt.indices)
    access.store(value, past_caches=stmt is emitter.streamed)
    lanes.has_stored = True


def _assign(emitter: Emitter, register: Register, value: Value) -> None:
    if emitter.mask is None:
        register.store(emitter.b, value)
        return
    was_set = None if register.is_set is None else emitter.b.load(register.is_set)
    register.store(emitter.b, choice(emitter, emitter.mask, value, register.load(emitter.b)))
    if was_set is not None:
        emitter.b.store(emitter.b.or_(was_set, emitter.mask), register.is_set)


def run_if(emitter: Emitter, stmt: tis.If) -> None:
    """Run one side of `stmt`, or each in the lanes that want it."""
    cond = emitter.emit(stmt.cond)
    if has_lanes(cond):
        _choose_lanes(emitter, cond, stmt)
    else:
        _choose(emitter, cond, stmt)


def _choose(emitter: Emitter, cond: Value, stmt: tis.If) -> None:
    then, otherwise, join = (
        emitter.function.append_basic_block(name) for name in ("then", "else", "join")
    )
    branch = emitter.b.cbranch(cond, then, otherwise)
    if _tests_bits(stmt.cond):
        branch.set_metadata("unpredictable", emitter.b.module.add_metadata([]))
    for block, side in ((then, stmt.then), (otherwise, stmt.otherwise)):
        emitter.b.position_at_end(block)
        if side is not None:
            emitter.run(side)
        emitter.jump(join)
    emitter.b.position_at_end(join)


def _tests_bits(cond: Expr) -> bool:
    """True if some bits of data decide, which no processor foresees.

    Where LLVM is told, it computes both sides, if they are short, and takes one. A checksum that
    goes bit by bit took 2.6 times as long with a branch.
    """
    return any(
        isinstance(node, tir.BitAnd | tir.Mod)
        and _is_of_bits(node)
        and any(isinstance(part, tir.Load) for part in walk(node))
        for node in walk(cond)
    )


def _is_of_bits(node: tir.BitAnd | tir.Mod) -> bool:
    sides = (node.lhs, node.rhs) if isinstance(node, tir.BitAnd) else (node.rhs,)
    known = [side.value.real for side in sides if isinstance(side, tir.Const)]
    return bool(known) and (isinstance(node, tir.BitAnd) or known == [2])


def _choose_lanes(emitter: Emitter, cond: Value, stmt: tis.If) -> None:
    for flags, side in ((cond, stmt.then), (None, stmt.otherwise)):
        if side is None:
            continue
        with emitter.active(emitter.b.not_(cond) if flags is None else flags):
            if _is_harmless(emitter, side):
                emitter.run(side)
            else:
                _run_if_any(emitter, side)


def _run_if_any(emitter: Emitter, stmt: Stmt) -> None:
    join = begin_if_any(emitter)
    emitter.run(stmt)
    emitter.jump(join)
    emitter.b.position_at_end(join)


def _is_harmless(emitter: Emitter, stmt: Stmt) -> bool:
    """True if nothing in `stmt` can fail or touch memory when no lane is active."""
    return all(_is_harmless_step(emitter, inner) for inner in flat_stmts(stmt))


def _is_harmless_step(emitter: Emitter, stmt: Stmt) -> bool:
    if isinstance(stmt, tis.Let):
        return _reads_own(emitter, stmt.value) and _is_harmless_value(emitter, stmt.value)
    return (
        isinstance(stmt, tis.Store)
        and _is_masked(emitter, stmt.buffer, stmt.indices)
        and _is_harmless_value(emitter, stmt.value)
        and all(_is_harmless_value(emitter, index) for index in stmt.indices)
    )


def _reads_own(emitter: Emitter, expr: Expr) -> bool:
    """True for no more than an element of an array that lanes keep in registers, perhaps."""
    return isinstance(expr, tir.Load) and is_own_row(emitter, expr)


def _is_harmless_value(emitter: Emitter, expr: Expr) -> bool:
    return is_free(emitter, expr) and all(
        _is_masked(emitter, node.buffer, node.indices)
        for node in walk(expr)
        if isinstance(node, tir.Load)
    )


def _is_masked(emitter: Emitter, buffer: tir.Buffer, indices: Sequence[Expr]) -> bool:
    """Whether an access leaves memory alone when no lane is active."""
    return buffer.is_register or any(varies(emitter, index) for index in indices)


def leave_loop(emitter: Emitter, stmt: tis.Break | tis.Continue) -> None:
    """Go where `break` or `continue` go."""
    target = emitter.loops[-1]
    emitter.free_from(target.live)
    emitter.b.branch(target.leave if isinstance(stmt, tis.Break) else target.again)


def run_return(emitter: Emitter, stmt: tis.Return) -> None:
    """Leave the kernel with its results."""
    values = [word for value in stmt.values for word in _result_words(emitter, value)]
    for value, address in zip(values, emitter.results, strict=True):
        address.store(emitter.b, [], value)
    kept = [value.buffer for value in stmt.values if isinstance(value, BufferRef)]
    emitter.leave(0, kept)


def _result_words(emitter: Emitter, value: Expr) -> list[Value]:
    """A number; of an array that is given away, its address and its sizes."""
    if not isinstance(value, BufferRef):
        return [emitter.emit(value)]
    memory, shape = emitter.made[value.buffer]
    return [emitter.b.ptrtoint(memory, I64), *shape]


def run_evaluate(emitter: Emitter, stmt: tis.Evaluate) -> None:
    """Evaluate an expression for what it does."""
    emitter.emit(stmt.value)


def run_assert(emitter: Emitter, stmt: tis.Assert) -> None:
    """An assertion, in every active lane: its message is computed only when it is needed."""
    holds = emitter.emit(stmt.cond)
    if has_lanes(holds):
        with emitter.failing(holds):
            _fail_with(emitter, "AssertionError", stmt)
        return
    passed, failed = emitter.fork(holds)
    emitter.b.position_at_end(failed)
    _fail_with(emitter, "AssertionError", stmt)
    emitter.b.position_at_end(passed)


def run_raise(emitter: Emitter, stmt: tis.Raise) -> None:
    """Leave the kernel with an exception."""
    _fail_with(emitter, stmt.error, stmt)


def _fail_with(emitter: Emitter, error: str, stmt: tis.Assert | tis.Raise) -> None:
    """Leave the kernel with an exception that the script raises."""
    failure = Failure.RAISE_TUPLE if stmt.is_tuple else Failure.RAISE
    if isinstance(stmt, tis.Raise) and stmt.is_text:
        failure = Failure.RAISE_TEXT
    emitter.fail(failure, stmt.span, [error, *_message(emitter, stmt.message)])


def _message(emitter: Emitter, message: Sequence[str | Expr]) -> list[str | tuple[Value, DType]]:
    """The parts of a message, computed."""
    return [part if isinstance(part, str) else (emitter.emit(part), part.dtype) for part in message]


def run_print(emitter: Emitter, stmt: tis.Print) -> None:
    """Let Python print."""
    values = [part for part in _message(emitter, stmt.message) if isinstance(part, tuple)]
    externs.call_python(emitter, stmt, values, ir.Constant(I64.as_pointer(), None))
