"""`try`: what is caught is known before it happens.

    try:                           caught = 0
        x = a[i]                   while True:
    except IndexError:                 <x = a[i], guarded: caught = 1; break>
        x = 0.0           -->          break
    else:                          if caught == 1:
        n += 1                         x = 0.0
    finally:                       if caught == 0:
        k += 1                         n += 1
                                   k += 1

With `finally`, all errors of what stands before it are caught, and raised again after it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from hybridjit.errors import ParseError
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.guards import (
    JUMPS,
    LAST_JUMPS,
    ZERO,
    Fault,
    Guards,
    Jumps,
    Kept,
    Unguarded,
    new_number,
)
from hybridjit.frontend.returns import InlineReturn
from hybridjit.frontend.statements import nested
from hybridjit.frontend.values import Array, Foreign, Items, Value
from hybridjit.ir.dtype import BOOL
from hybridjit.ir.expr import And, Buffer, BufferRef, Const, Eq, Expr, Ge, Le, Load, Var, const
from hybridjit.ir.raisable import ERRORS
from hybridjit.ir.stmt import (
    Allocate,
    Break,
    If,
    Let,
    Raise,
    Return,
    Seq,
    Stmt,
    Store,
    While,
)
from hybridjit.ir.visit import FreshCopy, N, walk_stmts
from hybridjit.record import record
from hybridjit.scalars.scalar import Scalar
from hybridjit.syntax import nodes_of

Kinds = tuple[type[BaseException], ...]


def run_try(build: Builder, stmt: ast.Try) -> bool:
    """`try` with `except`, `else` and `finally`."""
    try:
        if stmt.finalbody:
            return _with_finally(build, stmt)
        return _with_handlers(build, stmt)
    except Unguarded as found:
        raise ParseError(
            f"{found.what} inside try is not supported: how it fails is not known before",
            found.span or build.span(stmt),
            help="put it before or after the try",
        ) from None


# except


@record(eq=False, frozen=False)
class _Caught:
    """The errors that were caught. Those of one handler have numbers one after the other."""

    handlers: Sequence[Kinds]
    faults: Sequence[dict[int, Fault]]

    def number(self, fault: Fault) -> int | None:
        error = ERRORS[fault.error]
        for place, kinds in enumerate(self.handlers):
            if issubclass(error, kinds):
                return _number_in(self.faults[place], fault, 1 + place * _MANY)
        return None


_MANY = 1 << 20  # more than one handler catches


def _number_in(known: dict[int, Fault], fault: Fault, first: int) -> int:
    """The number of an error; those that would be raised again alike have one."""
    for number, other in known.items():
        if _again(other) == _again(fault):
            return number
    known[first + len(known)] = fault
    return first + len(known) - 1


def _with_handlers(build: Builder, stmt: ast.Try) -> bool:
    for handler in stmt.handlers:
        _check_handler(build, handler)
    kinds = [_kinds(build, handler.type) for handler in stmt.handlers]
    caught = _Caught(kinds, [{} for _ in kinds])
    with build.trying():
        body, body_goes_on = nested(build, stmt.body)
    register = new_number("caught")
    kept = Kept() if any(map(_may_raise_again, stmt.handlers)) else None
    leaving = _emit_guarded(build, Guards(register, caught.number, build.close, kept=kept), body)
    goes_on = False
    for handler, faults in zip(stmt.handlers, caught.faults, strict=True):
        build.handled.append((register, faults, kept))
        handled, handler_goes_on = nested(build, handler.body)
        build.handled.pop()
        if faults:
            build.emit(If(_is_among(register, faults), handled))
            goes_on = goes_on or handler_goes_on
    if stmt.orelse and body_goes_on:
        otherwise, else_goes_on = nested(build, stmt.orelse)
        build.emit(If(Eq(Load(register), ZERO), otherwise))
        body_goes_on = else_goes_on
    _emit_jumps(build, register, leaving, JUMPS)
    return goes_on or body_goes_on


def _may_raise_again(handler: ast.ExceptHandler) -> bool:
    """Whether there is a bare `raise` in a handler, or a call of what may have one."""
    nodes = (node for part in handler.body for node in nodes_of(part))
    return any(
        isinstance(node, ast.Call) or (isinstance(node, ast.Raise) and node.exc is None)
        for node in nodes
    )


def _is_among(register: Buffer, faults: Mapping[int, Fault]) -> Expr:
    low, high = Const(min(faults)), Const(max(faults))
    return And(Ge(Load(register), low), Le(Load(register), high))


def _check_handler(build: Builder, handler: ast.ExceptHandler) -> None:
    used = (node for part in handler.body for node in nodes_of(part))
    for node in used:
        if isinstance(node, ast.Name) and node.id == handler.name:
            raise build.refuse(
                f"the error '{node.id}' cannot be used inside a script",
                node,
                help="raise an error of your own in its place",
            )


def _kinds(build: Builder, node: ast.expr | None) -> Kinds:
    """The classes that a handler names."""
    if node is None:
        return (BaseException,)
    value = build.evaluate(node)
    values = value.items if isinstance(value, Items) else (value,)
    found = [item.value for item in values if isinstance(item, Foreign)]
    kinds = [kind for kind in found if isinstance(kind, type) and issubclass(kind, BaseException)]
    if len(kinds) != len(values):
        raise build.refuse("except needs classes of errors, such as IndexError", node)
    return tuple(kinds)


def _emit_guarded(build: Builder, guards: Guards, body: Stmt) -> set[int]:
    """The statements in a loop of one round; which jumps leave it for a loop around."""
    stmts = guards.block(body)
    build.emit(Allocate(guards.caught, zero=False))
    build.emit(Store(guards.caught, (), ZERO))
    for register in guards.kept.registers.values() if guards.kept is not None else ():
        build.emit(Allocate(register, zero=False))
        build.emit(Store(register, (), const(0, register.dtype)))
    numbers = {
        stmt.value.value
        for outer in stmts
        for stmt in walk_stmts(outer)
        if isinstance(stmt, Store)
        and stmt.buffer is guards.caught
        and isinstance(stmt.value, Const)
    }
    if not numbers:  # nothing in it is caught
        build.body.extend(stmts)
        return set()
    if not stmts or not _ends(stmts[-1], (Break, *_ENDS)):
        stmts.append(Break())
    build.emit(While(Const(True, BOOL), build.close(stmts)))
    return {jump for jump in (*JUMPS.values(), *LAST_JUMPS.values()) if jump in numbers}


def _emit_jumps(build: Builder, register: Buffer, leaving: set[int], jumps: Jumps) -> None:
    for jump, number in jumps.items():
        if number in leaving:
            build.emit(If(Eq(Load(register), Const(number)), jump()))


def raise_again(build: Builder, stmt: ast.Raise) -> bool:
    """A bare `raise`: what the handler around it has caught."""
    if not build.handled:
        raise build.refuse(
            "a bare raise outside of except is not supported",
            stmt,
            help='write it as in raise ValueError("...")',
        )
    register, faults, kept = build.handled[-1]
    _emit_raises(build, register, faults, kept or Kept(), is_raised=True)
    return False


def _emit_raises(
    build: Builder, register: Buffer, faults: Mapping[int, Fault], kept: Kept, *, is_raised: bool
) -> None:
    """Raise one of the errors again, by its number; if one `is_raised`, the last needs no test."""
    for number, fault in faults.items():
        is_last = is_raised and number == max(faults)
        raised = kept.raise_again(fault)
        build.emit(raised if is_last else If(Eq(Load(register), Const(number)), raised))


def _again(fault: Fault) -> tuple[object, ...]:
    """What tells errors apart that are raised again; their values are kept."""
    message = tuple(
        part.value if isinstance(part, Const) else getattr(part, "dtype", part)
        for part in fault.message
    )
    return fault.error, fault.span, fault.is_tuple, message


# finally


def _with_finally(build: Builder, stmt: ast.Try) -> bool:
    with build.collect() as stmts:
        build.depth += 1
        with build.trying():
            goes_on = _with_handlers(build, stmt)
        build.depth -= 1
    register, faults, kept = new_number("raised"), dict[int, Fault](), Kept()
    last, last_goes_on = nested(build, stmt.finalbody)

    in_place = Guards(register, lambda _: None, build.close, jumps=LAST_JUMPS)

    def leave(leaving: Stmt) -> list[Stmt]:
        lets, kept = _computed(leaving)
        ended = in_place.block(_CopyOfLast({}).rewrite(last))
        return [*lets, *ended, kept] if last_goes_on else [*lets, *ended]

    guards = Guards(register, lambda fault: _number_in(faults, fault, 1), build.close, leave, kept)
    leaving = _emit_guarded(build, guards, build.close(stmts))
    if _ends(build.body[-1]):
        return False
    _emit_jumps(build, register, leaving, LAST_JUMPS)
    build.emit(last)
    if last_goes_on:
        is_raised = not goes_on and leaving.isdisjoint(JUMPS.values())  # what is left has no end
        _emit_raises(build, register, faults, kept, is_raised=is_raised)
        _emit_jumps(build, register, leaving, JUMPS)
    return goes_on and last_goes_on


class _CopyOfLast(FreshCopy):
    """Returns in it give what the copy makes."""

    def generic(self, node: N) -> N:
        made = super().generic(node)
        if isinstance(made, InlineReturn):
            return replace(made, value=self._copied(made.value))
        return made

    def _copied(self, value: Value) -> Value:
        if isinstance(value, Array):
            indices = tuple(map(self.rewrite, value.indices))
            return Array(self.buffers.get(value.buffer, value.buffer), indices)
        if isinstance(value, Items):
            return replace(value, items=tuple(map(self._copied, value.items)))
        return _kept_value(value, self.rewrite)


_ENDS = (Return, InlineReturn, Raise)


def _ends(stmt: Stmt, ends: tuple[type[Stmt], ...] = _ENDS) -> bool:
    """Whether nothing after a statement can be reached."""
    match stmt:
        case Seq(stmts):
            return bool(stmts) and _ends(stmts[-1], ends)
        case If(_, then, otherwise):
            return otherwise is not None and _ends(then, ends) and _ends(otherwise, ends)
        case _:
            return isinstance(stmt, ends)


def _computed(leaving: Stmt) -> tuple[list[Stmt], Stmt]:
    """A return whose values are computed before what comes last."""
    lets: list[Stmt] = []

    def kept(expr: Expr) -> Expr:
        if isinstance(expr, (Const, Var, BufferRef)):
            return expr
        var = Var("result", expr.dtype, span=expr.span)
        lets.append(Let(var, expr))
        return var

    match leaving:
        case Return(values):
            values = tuple(kept(value) for value in values)
            return lets, replace(leaving, values=values)
        case InlineReturn(value=value):
            return lets, replace(leaving, value=_kept_value(value, kept))
        case _:
            raise AssertionError(type(leaving).__name__)


def _kept_value(value: Value, kept: Callable[[Expr], Expr]) -> Value:
    match value:
        case Scalar(expr):
            return replace(value, expr=kept(expr))
        case Items(items):
            return replace(value, items=tuple(_kept_value(item, kept) for item in items))
        case _:
            return value
