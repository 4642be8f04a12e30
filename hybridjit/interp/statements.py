"""Statements as closures: `compile_stmt` turns each into a function that runs it in a frame.

A closure returns None, or a `Signal` when control leaves the statement other than at its end.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from itertools import chain, count, takewhile
from operator import itemgetter
from typing import Any

import numpy as np

from hybridjit.errors import InternalError, mark_foreign
from hybridjit.interp.expressions import compile_expr, compile_index
from hybridjit.interp.scalars import TRUE
from hybridjit.interp.scope import RESULTS, UNSET, Eval, Frame, Scope
from hybridjit.interp.stepping import find_step
from hybridjit.ir import stmt as ir
from hybridjit.ir.expr import BufferRef, Expr, Var
from hybridjit.ir.raisable import ERRORS, RAISABLE
from hybridjit.ir.stmt import Stmt
from hybridjit.ir.texts import filled


class Signal(Enum):
    """How control leaves a statement other than at its end."""

    BREAK = "break"
    CONTINUE = "continue"
    RETURN = "return"


Run = Callable[[Frame], Signal | None]


def compile_stmt(stmt: Stmt, scope: Scope) -> Run:
    """The function that runs `stmt` in a frame."""
    compiler = _COMPILERS.get(type(stmt))
    if compiler is None:
        name = type(stmt).__name__
        raise InternalError(f"the interpreter cannot run {name}", "interp", stmt.span)
    step = find_step(stmt.span, scope) if scope.has_steps else None
    with scope.at(stmt.span):
        run = compiler(stmt, scope)
    return run if step is None else _with_step(step, run)


def _with_step(step: Callable[[Frame], None], run: Run) -> Run:
    def run_with_step(frame: Frame) -> Signal | None:
        step(frame)
        return run(frame)

    return run_with_step


# Control


def _compile_seq(stmt: ir.Seq, scope: Scope) -> Run:
    stmts = tuple([compile_stmt(child, scope) for child in stmt.stmts])

    def run(frame: Frame) -> Signal | None:
        for child in stmts:
            signal = child(frame)
            if signal is not None:
                return signal
        return None

    return run


def _compile_if(stmt: ir.If, scope: Scope) -> Run:
    cond, then = compile_expr(stmt.cond, scope), compile_stmt(stmt.then, scope)
    otherwise = _compile_optional(stmt.otherwise, scope)
    return lambda frame: then(frame) if cond(frame) else otherwise(frame)


def _compile_optional(stmt: Stmt | None, scope: Scope) -> Run:
    return compile_stmt(ir.Seq(()) if stmt is None else stmt, scope)


def _compile_for(stmt: ir.For, scope: Scope) -> Run:
    bounds = [compile_expr(bound, scope) for bound in (stmt.start, stmt.stop, stmt.step)]
    site = scope.site(stmt)
    (slot, number_slot), start_slot = scope.bind_number(stmt.var), scope.reserve()
    scope.starts[stmt.var] = lambda frame: frame[start_slot]
    with scope.inside_loop(stmt.var, stmt.span):
        body = compile_stmt(stmt.body, scope)

    def run(frame: Frame) -> Signal | None:
        start, stop, step = [bound(frame) for bound in bounds]
        try:
            iterations = range(start, stop, step)
        except ValueError as error:  # the step is zero
            raise site.annotated(error, frame) from None
        frame[start_slot] = start
        for number, value in zip(iterations, _int64_scalars(iterations), strict=True):
            frame[number_slot] = number
            frame[slot] = value
            signal = body(frame)
            if signal is None:
                continue
            if signal is Signal.BREAK:
                break
            if signal is Signal.RETURN:
                return signal
        return None

    return run


# np.int64(n) takes longer than most statements; these make loop variables at a tenth of that.
_SMALL = tuple(np.arange(1024))
_CHUNK = 1024


def _int64_scalars(numbers: range) -> Iterable[np.int64]:
    """The numbers as NumPy scalars, made a few at a time: the range may be huge."""
    if not numbers:
        return ()
    if min(numbers[0], numbers[-1]) >= 0 and max(numbers[0], numbers[-1]) < len(_SMALL):
        return map(_SMALL.__getitem__, numbers)
    parts = (numbers[at : at + _CHUNK] for at in count(0, _CHUNK))
    return chain.from_iterable(
        np.arange(len(part)) * part.step + part.start for part in takewhile(bool, parts)
    )


def _compile_while(stmt: ir.While, scope: Scope) -> Run:
    cond, body = compile_expr(stmt.cond, scope), compile_stmt(stmt.body, scope)

    def run(frame: Frame) -> Signal | None:
        while cond(frame):
            signal = body(frame)
            if signal is None:
                continue
            if signal is Signal.BREAK:
                break
            if signal is Signal.RETURN:
                return signal
        return None

    return run


def _compile_break(stmt: ir.Break, scope: Scope) -> Run:
    return lambda frame: Signal.BREAK


def _compile_continue(stmt: ir.Continue, scope: Scope) -> Run:
    return lambda frame: Signal.CONTINUE


def _compile_return(stmt: ir.Return, scope: Scope) -> Run:
    values = [_compile_result(value, scope) for value in stmt.values]

    def run(frame: Frame) -> Signal:
        frame[RESULTS] = [value(frame) for value in values]
        return Signal.RETURN

    return run


def _compile_result(value: Expr, scope: Scope) -> Eval:
    """A number, or the array itself that is given away."""
    if isinstance(value, BufferRef):
        return itemgetter(scope.slot(value.buffer))
    return compile_expr(value, scope)


# Blocks


def _compile_block(stmt: ir.Block, scope: Scope) -> Run:
    bindings = [binding for item in stmt.iters for binding in _compile_iter(item, scope)]
    init = _compile_init(stmt, scope)
    body = compile_stmt(stmt.body, scope)

    def run(frame: Frame) -> Signal | None:
        for slot, number_slot, evaluate in bindings:
            value = evaluate(frame)
            frame[slot] = value
            frame[number_slot] = int(value)
        return init(frame) or body(frame)

    return run


def _compile_iter(item: ir.Iter, scope: Scope) -> Iterator[tuple[int, int, Eval]]:
    """The slots that an iteration variable sets, and its value; none if it renames a variable."""
    start = None if item.domain is None else compile_expr(item.domain[0], scope)
    if isinstance(item.value, Var):
        scope.bind_alias(item.var, item.value)
    else:
        value = compile_expr(item.value, scope)
        yield (*scope.bind_number(item.var), value)
    if start is not None:
        scope.starts[item.var] = start


def _compile_init(block: ir.Block, scope: Scope) -> Run:
    """The function that runs the init of `block` when every REDUCE iter is at its start."""
    if block.init is None:
        return lambda frame: None
    reduced = [item.var for item in block.iters if item.kind is ir.IterKind.REDUCE]
    for var in reduced:
        if var not in scope.starts:
            raise InternalError(
                f"reduce iter '{var.name}' of block '{block.name}' has no range",
                "interp",
                block.span,
            )
    checks = [(scope.slot(var), scope.starts[var]) for var in reduced]
    init = compile_stmt(block.init, scope)

    def run(frame: Frame) -> Signal | None:
        if all(frame[slot] == start(frame) for slot, start in checks):
            return init(frame)
        return None

    return run


# Data


def _compile_store(stmt: ir.Store, scope: Scope) -> Run:
    buffer, value = stmt.buffer, compile_expr(stmt.value, scope)
    index = compile_index(stmt.indices, buffer, scope)
    slot, mask, site = scope.slot(buffer), scope.masks.get(buffer), scope.site(stmt)

    def run(frame: Frame) -> None:
        element = value(frame)
        position = index(frame)
        array = frame[slot]
        try:
            array[position] = element
        except IndexError:
            raise site.bounds_error(frame, buffer, array.shape, position) from None
        if mask is not None:
            frame[mask][position] = TRUE

    return _compile_set(slot, value) if buffer.is_register else run


def _compile_let(stmt: ir.Let, scope: Scope) -> Run:
    value = compile_expr(stmt.value, scope)
    return _compile_set(scope.bind(stmt.var), value)


def _compile_set(slot: int, value: Eval) -> Run:
    def run(frame: Frame) -> None:
        frame[slot] = value(frame)

    return run


def _compile_allocate(stmt: ir.Allocate, scope: Scope) -> Run:
    buffer, site = stmt.buffer, scope.site(stmt)
    extents = [compile_expr(extent, scope) for extent in buffer.shape]
    slot, dtype = scope.bind(buffer), buffer.dtype.numpy
    if buffer.is_register:
        initial = dtype.type(0) if stmt.zero else UNSET
        return _compile_set(slot, lambda frame: initial)
    mask = None if stmt.zero else scope.reserve()
    if mask is not None:
        scope.masks[buffer] = mask

    def run(frame: Frame) -> None:
        shape = [int(extent(frame)) for extent in extents]
        if buffer.is_growing:
            shape[0] = 0
        try:
            frame[slot] = np.zeros(shape, dtype)
        except ValueError as error:  # a negative extent
            raise site.annotated(error, frame) from None
        if mask is not None:
            frame[mask] = np.zeros(shape, np.bool_)

    return run


def _compile_reserve(stmt: ir.Reserve, scope: Scope) -> Run:
    assert isinstance(stmt.array, BufferRef)
    buffer, size = stmt.array.buffer, compile_expr(stmt.size, scope)
    slots = [scope.slot(buffer), scope.masks[buffer]]

    def run(frame: Frame) -> None:
        missing = int(size(frame)) - len(frame[slots[0]])
        for slot in slots if missing > 0 else ():
            old = frame[slot]
            new = np.zeros((max(missing, len(old)), *old.shape[1:]), old.dtype)
            frame[slot] = np.concatenate((old, new))

    return run


def _compile_evaluate(stmt: ir.Evaluate, scope: Scope) -> Run:
    value = compile_expr(stmt.value, scope)

    def run(frame: Frame) -> None:
        value(frame)

    return run


# Messages


def _compile_assert(stmt: ir.Assert, scope: Scope) -> Run:
    cond, arguments = compile_expr(stmt.cond, scope), _compile_arguments(stmt, scope)
    site = scope.site(stmt)

    def run(frame: Frame) -> None:
        if not cond(frame):
            raise site.annotated(AssertionError(*arguments(frame)), frame)

    return run


def _compile_raise(stmt: ir.Raise, scope: Scope) -> Run:
    if stmt.error not in RAISABLE:
        raise InternalError(f"'{stmt.error}' cannot be raised", "interp", stmt.span)
    error = ERRORS[stmt.error]
    arguments, site = _compile_arguments(stmt, scope), scope.site(stmt)

    def run(frame: Frame) -> None:
        raise site.annotated(error(*arguments(frame)), frame)

    return run


def _compile_arguments(
    stmt: ir.Assert | ir.Raise, scope: Scope
) -> Callable[[Frame], Sequence[object]]:
    """The function that gives the arguments of an exception."""
    message = _compile_message(stmt.message, scope)
    if isinstance(stmt, ir.Raise) and stmt.is_text:
        return lambda frame: [_filled(message(frame))]
    return (lambda frame: [tuple(message(frame))]) if stmt.is_tuple else message


def _compile_print(stmt: ir.Print, scope: Scope) -> Run:
    message = _compile_message(stmt.message, scope)

    def run(frame: Frame) -> None:
        print_message(stmt, message(frame))

    return run


def _filled(parts: Sequence[object]) -> str:
    return filled(parts[0], parts[1:])


def print_message(stmt: ir.Print, parts: Sequence[object]) -> None:
    """Print the parts of a message, which may fail."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]  (as under pythonw)
        return
    try:
        text = _filled(parts) if stmt.is_text else " ".join(map(str, parts)) + "\n"
        sys.stdout.write(text)
        sys.stdout.flush()
    except BaseException as error:
        mark_foreign(error)
        raise


def _compile_message(parts: Sequence[str | Expr], scope: Scope) -> Callable[[Frame], list[object]]:
    """The function that gives the parts of a message: strings and values."""
    evals = [_compile_part(part, scope) for part in parts]
    return lambda frame: [part(frame) for part in evals]


# A value of one of these types may be a Python number in the script; as one it also shows well.
_PYTHON_TYPES = ("bool", "int64", "float64", "complex128")


def _compile_part(part: str | Expr, scope: Scope) -> Eval:
    if isinstance(part, str):
        return lambda frame: part
    value = compile_expr(part, scope)
    if part.dtype.name in _PYTHON_TYPES:
        return lambda frame: value(frame).item()
    return value


_COMPILERS: dict[type[Stmt], Callable[[Any, Scope], Run]] = {
    ir.Seq: _compile_seq,
    ir.If: _compile_if,
    ir.For: _compile_for,
    ir.While: _compile_while,
    ir.Break: _compile_break,
    ir.Continue: _compile_continue,
    ir.Return: _compile_return,
    ir.Block: _compile_block,
    ir.Store: _compile_store,
    ir.Let: _compile_let,
    ir.Allocate: _compile_allocate,
    ir.Reserve: _compile_reserve,
    ir.Evaluate: _compile_evaluate,
    ir.Assert: _compile_assert,
    ir.Raise: _compile_raise,
    ir.Print: _compile_print,
}

COMPILED_STMTS: frozenset[type[Stmt]] = frozenset(_COMPILERS)
