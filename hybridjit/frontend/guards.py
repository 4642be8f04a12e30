"""Statements in which errors are caught: every operation that may fail is looked at before.

    x = a[i] // n                 if i < -m or i >= m:
                                      caught = 1; break          # an IndexError
                         -->      if n == 0:
                                      caught = 2; break          # a ZeroDivisionError
                                  x = a[i] // n

The statements stand in a loop of one round (frontend/tries.py), which an error leaves by `break`;
`caught` says which one it was, and loops around it in which it happened are left by asking that.
Which class an error is of is known of each operation, so only those that somebody catches are
guarded; the others fail as they would without. What comes of it is a plain program, that nothing
behind the front end has to know of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from hybridjit.arith.simplify import simplify
from hybridjit.errors import Span
from hybridjit.frontend.returns import InlineReturn
from hybridjit.frontend.values import Items, Value
from hybridjit.ir.dtype import INT64, DType
from hybridjit.ir.expr import (
    And,
    Buffer,
    BufferRef,
    Call,
    Cast,
    Const,
    Eq,
    Expr,
    ExternCall,
    FloorDiv,
    Ge,
    Load,
    Lt,
    Mod,
    Ne,
    Neg,
    Node,
    Not,
    Or,
    Pow,
    Select,
)
from hybridjit.ir.stmt import (
    Allocate,
    Assert,
    Block,
    Break,
    Continue,
    For,
    If,
    Raise,
    Return,
    Seq,
    Stmt,
    Store,
    While,
    flat_stmts,
)
from hybridjit.ir.texts import Message, text_of
from hybridjit.ir.visit import children, walk, walk_stmts
from hybridjit.record import record
from hybridjit.scalars.scalar import Scalar

ZERO = Const(0)
Jumps = Mapping[type[Break | Continue], int]
JUMPS: Jumps = {Break: -1, Continue: -2}
"""Numbers of what leaves the statements for a loop around them."""
LAST_JUMPS: Jumps = {Break: -3, Continue: -4}
"""Numbers of what leaves a `finally` so, in the place of a return."""


@record(eq=False)
class Fault:
    """An error that is raised where `cond` holds, or, without, for sure."""

    error: str
    cond: Expr | None
    message: Message
    is_tuple: bool = False
    is_text: bool = False
    span: Span | None = None

    @property
    def values(self) -> list[Expr]:
        """What is in the message and known only where the error is raised."""
        return [part for part in self.message if not isinstance(part, (str, Const))]


@record(eq=False)
class Kept:
    """Keeps the values in the message of an error that is caught, to be raised again."""

    registers: dict[tuple[int, DType], Buffer] = field(default_factory=dict[Any, Buffer])

    def store(self, fault: Fault) -> list[Stmt]:
        """Keep what is in the message of an error."""
        return [Store(self._register(place, v), (), v) for place, v in enumerate(fault.values)]

    def raise_again(self, fault: Fault) -> Raise:
        """The error once more."""
        loads = (Load(self._register(*each)) for each in enumerate(fault.values))
        message = tuple(
            part if isinstance(part, (str, Const)) else next(loads) for part in fault.message
        )
        return Raise(fault.error, message, fault.is_tuple, fault.is_text, span=fault.span)

    def _register(self, place: int, value: Expr) -> Buffer:
        name = f"kept{place}"
        made = Buffer(name, value.dtype, (), Buffer.REGISTER)
        return self.registers.setdefault((place, value.dtype), made)


class Unguarded(Exception):
    """Something whose errors cannot be foreseen; the arguments are its place and what it is."""

    def __init__(self, span: Span | None, what: str) -> None:
        super().__init__(what)
        self.span, self.what = span, what


@record(eq=False)
class Guards:
    """Guards statements. `catch` gives the number of an error, or None for one that nobody catches;
    `leave` what a return becomes; `kept` is there if errors are raised again. `jumps` are the
    numbers of jumps to a loop around.
    """

    caught: Buffer
    catch: Callable[[Fault], int | None]
    close: Callable[[Sequence[Stmt]], Stmt]
    leave: Callable[[Stmt], list[Stmt]] = field(default=lambda stmt: [stmt])
    kept: Kept | None = None
    jumps: Jumps = JUMPS

    def block(self, stmt: Stmt | None, *, depth: int = 0) -> list[Stmt]:
        """The statements with their guards; what follows an error that is sure is left out."""
        done: list[Stmt] = []
        for inner in flat_stmts(stmt):
            guarded = self._stmt(inner, depth)
            done += guarded
            if guarded and isinstance(guarded[-1], (Break, Continue, Return, InlineReturn)):
                break
        return done

    def _stmt(self, stmt: Stmt, depth: int) -> list[Stmt]:
        match stmt:
            case If():
                return [*self._before(stmt.cond), self._branch(stmt, depth)]
            case For():
                return self._for(stmt, depth)
            case While():
                return self._while(stmt, depth)
            case Block():
                body = self.block(stmt.body, depth=depth)
                return [replace(stmt, body=self.close(body))]
            case Break() | Continue() if depth == 0:
                return self._set(self.jumps[type(stmt)])
            case Return() | InlineReturn():
                return [*self._faults(statement_faults(stmt)), *self.leave(stmt)]
            case Assert():
                faults = [*faults_of(stmt.cond), assertion(stmt)]
                return self._guarded(faults, stmt)
            case Raise():
                return self._guarded([*_children_faults(stmt), raised(stmt)], stmt)
            case _:
                return self._guarded(statement_faults(stmt), stmt)

    def _branch(self, stmt: If, depth: int) -> Stmt:
        then = self.close(self.block(stmt.then, depth=depth))
        if stmt.otherwise is None:
            return replace(stmt, then=then)
        otherwise = self.close(self.block(stmt.otherwise, depth=depth))
        return replace(stmt, then=then, otherwise=otherwise)

    def _for(self, loop: For, depth: int) -> list[Stmt]:
        bounds = [
            fault for bound in (loop.start, loop.stop, loop.step) for fault in faults_of(bound)
        ]
        if not isinstance(loop.step, Const):
            is_zero = Eq(loop.step, ZERO)
            bounds.append(Fault("ValueError", is_zero, ("range() arg 3 must not be zero",)))
        body = self.block(loop.body, depth=depth + 1)
        before = self._faults(bounds)
        if not _may_leave(body, self.caught):
            return [*before, replace(loop, body=self.close(body)) if _returns(loop) else loop]
        if loop.kind.is_concurrent:
            raise Unguarded(loop.span, f"a {loop.kind.value} loop")
        return [*before, replace(loop, body=self.close(body)), self._go_on_leaving()]

    def _while(self, loop: While, depth: int) -> list[Stmt]:
        body = self.block(loop.body, depth=depth + 1)
        before = self._before(loop.cond)
        if before:
            body = [*before, If(Not(loop.cond), Break()), *body]
            loop = replace(loop, cond=Const(True, loop.cond.dtype))
        if not _may_leave(body, self.caught):
            return [replace(loop, body=self.close(body)) if _returns(loop) else loop]
        return [replace(loop, body=self.close(body)), self._go_on_leaving()]

    def _go_on_leaving(self) -> Stmt:
        return If(Ne(Load(self.caught), ZERO), Break())

    # -- errors --------------------------------------------------------------------------------

    def _guarded(self, faults: Sequence[Fault], stmt: Stmt) -> list[Stmt]:
        found = self._faults(faults)
        if found and isinstance(found[-1], Break):
            return found
        is_caught = isinstance(stmt, Assert) and self.catch(faults[-1]) is not None
        return found if is_caught else [*found, stmt]

    def _before(self, expr: Expr) -> list[Stmt]:
        return self._faults(faults_of(expr))

    def _faults(self, faults: Sequence[Fault]) -> list[Stmt]:
        found: list[Stmt] = []
        for fault in faults:
            cond = None if fault.cond is None else simplify(fault.cond)
            if isinstance(cond, Const) and not cond.value:
                continue
            number = self.catch(fault)
            if number is None:
                continue
            if cond is None or isinstance(cond, Const):
                return [*found, *self._keep(fault), *self._set(number)]
            found.append(If(cond, Seq((*self._keep(fault), *self._set(number)))))
        return found

    def _keep(self, fault: Fault) -> list[Stmt]:
        return [] if self.kept is None else self.kept.store(fault)

    def _set(self, number: int) -> list[Stmt]:
        return [Store(self.caught, (), Const(number)), Break()]


def _may_leave(body: Sequence[Stmt], caught: Buffer) -> bool:
    return any(
        isinstance(node, Store) and node.buffer is caught for stmt in body for node in walk(stmt)
    )


def _returns(loop: For | While) -> bool:
    return any(isinstance(stmt, (Return, InlineReturn)) for stmt in walk_stmts(loop.body))


# what may fail


def statement_faults(stmt: Stmt) -> list[Fault]:
    """The errors of the operations of a statement that has no others in it."""
    found = list(_children_faults(stmt))
    match stmt:
        case Store(buffer, indices):
            found += (replace(fault, span=stmt.span) for fault in _outside(buffer, indices))
        case Allocate(buffer) if not buffer.is_register and not buffer.is_growing:
            found += [fault for size in buffer.shape for fault in _negative(size)]
        case InlineReturn(value=value):
            found += [fault for expr in _exprs_of(value) for fault in faults_of(expr)]
        case _:
            pass
    return found


def _exprs_of(value: Value) -> Iterator[Expr]:
    match value:
        case Scalar(expr):
            yield expr
        case Items(items):
            for item in items:
                yield from _exprs_of(item)
        case _:
            pass


def _negative(size: Expr) -> list[Fault]:
    if isinstance(size, Const):
        return []
    message = "negative dimensions are not allowed"
    return [*faults_of(size), Fault("ValueError", Lt(size, ZERO), (message,))]


def _children_faults(node: Node) -> list[Fault]:
    return [
        fault for child in children(node) if isinstance(child, Expr) for fault in faults_of(child)
    ]


def faults_of(expr: Expr) -> list[Fault]:
    """The errors of an expression, in the order in which they would be raised."""
    match expr:
        case Select(cond, then, otherwise):
            sides = [*_only_if(cond, then), *_only_if(Not(cond), otherwise)]
            return [*faults_of(cond), *sides]
        case And(lhs, rhs):
            return [*faults_of(lhs), *_only_if(lhs, rhs)]
        case Or(lhs, rhs):
            return [*faults_of(lhs), *_only_if(Not(lhs), rhs)]
        case _:
            own = (replace(fault, span=expr.span) for fault in _own_faults(expr))
            return [*_children_faults(expr), *own]


def _only_if(cond: Expr, expr: Expr) -> list[Fault]:
    return [
        replace(fault, cond=cond if fault.cond is None else And(cond, fault.cond))
        for fault in faults_of(expr)
    ]


def _own_faults(expr: Expr) -> list[Fault]:
    match expr:
        case Load(buffer, indices):
            return _outside(buffer, indices)
        case BufferRef(buffer, starts, extents) if starts:
            whole = [start for start, extent in zip(starts, extents, strict=True) if extent is None]
            if len(whole) != len(starts):
                raise Unguarded(expr.span, "a call on a part of an array")
            return _outside(buffer, starts)
        case FloorDiv(_, divisor) | Mod(_, divisor) if expr.dtype.is_integer:
            return [_by_zero(divisor)]
        case Call("fmod", (_, divisor)) if expr.dtype.is_integer:
            return [_by_zero(divisor)]
        case Pow(_, exponent) if expr.dtype.is_integer:
            text = "Integers to negative integer powers are not allowed."
            return [Fault("ValueError", Lt(exponent, Const(0, exponent.dtype)), (text,))]
        case Cast(to, value, checked=True):
            text = f"Python integer out of bounds for {to.name}"
            return [Fault("OverflowError", Ne(Cast(value.dtype, Cast(to, value)), value), (text,))]
        case ExternCall():
            raise Unguarded(expr.span, f"a call of '{expr.callee.name}'")
        case _:
            return []


def _by_zero(divisor: Expr) -> Fault:
    cond = Eq(divisor, Const(0, divisor.dtype))
    return Fault("ZeroDivisionError", cond, ("integer division or modulo by zero",))


def _outside(buffer: Buffer, indices: Sequence[Expr]) -> list[Fault]:
    first = 1 if buffer.is_growing else 0
    found: list[Fault] = []
    for axis, (index, size) in list(enumerate(zip(indices, buffer.shape, strict=True)))[first:]:
        where = f" is out of bounds for axis {axis} of '{buffer.name}' with size "
        message = text_of("index ", index, where, size)
        found.append(Fault("IndexError", _is_outside(index, size), message, is_text=True))
    return found


def _is_outside(index: Expr, size: Expr) -> Expr:
    return Or(Lt(index, Neg(size)), Ge(index, size))


def assertion(stmt: Assert) -> Fault:
    return Fault("AssertionError", Not(stmt.cond), stmt.message, stmt.is_tuple, span=stmt.span)


def raised(stmt: Raise) -> Fault:
    return Fault(stmt.error, None, stmt.message, stmt.is_tuple, stmt.is_text, stmt.span)


def new_number(name: str) -> Buffer:
    return Buffer(name, INT64, (), Buffer.REGISTER)
