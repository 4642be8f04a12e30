"""Whether the iterations of a loop can be the lanes of vector code, and what each lane owns.

The iterations are known to be independent, except that several may update one element in a way
that `find_reduction` recognises. What is left is the shape of the body: effects outside of the
program, and control that differs from lane to lane, other than `if`, have no vector code.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field

from hybridjit.analysis.packing import Packing, find_packing
from hybridjit.analysis.plain import is_plain
from hybridjit.analysis.private_reduction import PrivateReduction, find_private_reductions
from hybridjit.ir.dtype import FLOAT32
from hybridjit.ir.expr import (
    Add,
    Bounded,
    Buffer,
    BufferRef,
    Const,
    Expr,
    ExternCall,
    Load,
    Mul,
    Node,
    Sub,
    Var,
)
from hybridjit.ir.stmt import (
    REASSOCIATE,
    Allocate,
    Assert,
    For,
    If,
    Let,
    LoopKind,
    Raise,
    Seq,
    Stmt,
    Store,
    While,
    flat_stmts,
)
from hybridjit.ir.visit import children, walk
from hybridjit.record import record

# Loops of these kinds run inside a vector loop as they are, once for all lanes.
_INNER = (LoopKind.SERIAL, LoopKind.UNROLLED, LoopKind.SCAN, LoopKind.BOUND)


@record(frozen=False)
class Lanes:
    """What is known about the body of a vector loop.

    `obstacle` says why it has no vector code. `shared` are the elements that all lanes update,
    `arrays` those that each iteration makes for itself, in some of which lanes go to different
    places where it `picks`. `packing` is what goes to the next free
    place. `first_zeros` are extrema of floats: where one is zero, its sign is that of the first
    zero, and lanes do not know which that was.
    """

    loop: For
    shared: tuple[PrivateReduction, ...] = ()
    arrays: list[Allocate] = field(default_factory=list[Allocate])
    picks: bool = False
    obstacle: str | None = None
    packing: Packing | None = None
    first_zeros: tuple[PrivateReduction, ...] = ()

    @property
    def plain(self) -> For:
        """The loop, without what lanes do together when they pack."""
        return self.loop if self.packing is None else self.packing.plain

    @property
    def needs_number(self) -> bool:
        """True if lanes must know which of them they are."""
        return bool(self.shared or self.arrays)


def find_lanes(loop: For, fastmath: Sequence[str] = (), unset: Collection[Buffer] = ()) -> Lanes:
    """What the lanes of `loop` do, or why it has none; `unset` variables may have no value."""
    found = Lanes(loop, packing=find_packing(loop))
    found.shared, found.first_zeros = _find_shared(found.plain, fastmath, unset)
    try:
        _Body(found).run()
    except _NoLanes as error:
        found.obstacle = str(error)
    if found.packing is not None and found.needs_number:
        found.obstacle = "it packs, and more: lanes have numbers of their own"
    return found


def _find_shared(
    loop: For, fastmath: Sequence[str], unset: Collection[Buffer]
) -> tuple[tuple[PrivateReduction, ...], tuple[PrivateReduction, ...]]:
    """What lanes take turns to update, and what of it is an extremum that is the first of its
    zeros: in a loop that does nothing else, which can be run again.
    """
    is_open = loop.hint(REASSOCIATE) or "reassoc" in fastmath
    found = find_private_reductions(loop, fastmath, unset)
    free = [each for each in found if not each.buffer.dtype.is_inexact or is_open]
    extrema = [each for each in found if each not in free and _is_extremum(each)]
    if not extrema or not _only_folds(loop, [*free, *extrema]):
        return tuple(free), ()
    return (*free, *extrema), tuple(extrema)


def _is_extremum(reduction: PrivateReduction) -> bool:
    """True for Python's min and max of floats that vectors have."""
    dtype = reduction.buffer.dtype
    return reduction.op.is_python_extremum and dtype.is_float and dtype.bits >= FLOAT32.bits


def _only_folds(loop: For, folds: Sequence[PrivateReduction]) -> bool:
    """True if a loop computes values and folds them into variables, and that is all."""
    variables = {fold.buffer for fold in folds if fold.buffer.is_register}
    stmts = (node for node in walk(loop.body) if isinstance(node, Stmt))
    return all(
        stmt.buffer in variables if isinstance(stmt, Store) else isinstance(stmt, Seq | Let | If)
        for stmt in stmts
    )


class _NoLanes(Exception):
    """The loop has no vector code."""


class _Body:
    """One walk through the body, in order: what varies is known before it is used."""

    def __init__(self, found: Lanes) -> None:
        self.found = found
        self.shared = {reduction.buffer for reduction in found.shared}
        # How a variable steps from lane to lane; None if not evenly. The others do not vary.
        self.steps: dict[Var, int | None] = {found.loop.var: 1}
        self.bound: set[Node] = {found.loop.var}
        self.own: set[Buffer] = set()
        self.irregular: set[Buffer] = set()
        self.loaded: set[Buffer] = set()
        self.stored: set[Buffer] = set()

    def run(self) -> None:
        for stmt in flat_stmts(self.found.plain.body):
            if isinstance(stmt, Allocate) and not stmt.buffer.is_register:
                self._array(stmt)
            else:
                self.statement(stmt)
        for buffer in self.irregular & self.loaded & self.stored:
            raise _NoLanes(f"lanes may meet in '{buffer.name}'")

    # -- statements ----------------------------------------------------------------------------

    def statement(self, stmt: Stmt) -> None:
        self._expressions(stmt)
        match stmt:
            case Seq() | If():
                self._inner(stmt)
            case Let(var, value):
                self._let(var, value)
            case Allocate(buffer) if buffer.is_register:
                self.own.add(buffer)
            case Store():
                self._store(stmt)
            case For():
                self._loop(stmt)
            case While():
                self._while(stmt)
            case Assert() | Raise():
                pass
            case _:
                raise _NoLanes(f"it has a {type(stmt).__name__} inside")

    def _expressions(self, stmt: Stmt) -> None:
        for child in children(stmt):
            if isinstance(child, Expr):
                self.expression(child)

    def _inner(self, stmt: Stmt) -> None:
        for child in children(stmt):
            if isinstance(child, Stmt):
                self.statement(child)

    def _let(self, var: Var, value: Expr) -> None:
        self.bound.add(var)
        step = self.step(value)
        if step != 0:
            self.steps[var] = step

    def _array(self, stmt: Allocate) -> None:
        nodes = [node for extent in stmt.buffer.shape for node in walk(extent)]
        if any(isinstance(node, Load) or node in self.bound for node in nodes):
            raise _NoLanes(f"the size of '{stmt.buffer.name}' is not known before the loop")
        self.own.add(stmt.buffer)
        self.found.arrays.append(stmt)

    def _store(self, stmt: Store) -> None:
        buffer = stmt.buffer
        if buffer in self.own:
            self._note_own(buffer, stmt.indices)
            return
        if buffer not in self.shared and all(self.step(index) == 0 for index in stmt.indices):
            raise _NoLanes(f"all lanes set the same element of '{buffer.name}'")
        self.stored.add(buffer)
        self._note(buffer, stmt.indices)

    def _loop(self, loop: For) -> None:
        if loop.kind not in _INNER:
            raise _NoLanes(f"there is a {loop.kind.value} loop inside")
        if any(self.varies(bound) for bound in (loop.start, loop.stop, loop.step)):
            raise _NoLanes(f"the range of loop '{loop.var.name}' differs from lane to lane")
        self.statement(loop.body)

    def _while(self, loop: While) -> None:
        """Rounds of lanes that wait for the one with most of them, and set variables meanwhile."""
        if not is_plain(loop, {*self.own, *self.shared}, may_wait=True):
            raise _NoLanes("a while loop in it may fail, or be left")
        if any(isinstance(node, Store) and node.indices for node in walk(loop.body)):
            raise _NoLanes("a while loop in it sets elements")
        self.statement(loop.body)

    # -- expressions ---------------------------------------------------------------------------

    def expression(self, expr: Expr) -> None:
        for node in walk(expr):
            match node:
                case ExternCall() | BufferRef():
                    raise _NoLanes("it calls a function outside")
                case Load(buffer, indices):
                    self.loaded.add(buffer)
                    self._note(buffer, indices)
                    self._note_own(buffer, indices)
                case _:
                    pass

    def _note(self, buffer: Buffer, indices: Sequence[Expr]) -> None:
        if any(self.step(index) is None for index in indices):
            self.irregular.add(buffer)

    def _note_own(self, buffer: Buffer, indices: Sequence[Expr]) -> None:
        self.found.picks |= buffer in self.own and any(map(self.varies, indices))

    def varies(self, expr: Expr) -> bool:
        """Whether `expr` may differ from lane to lane."""
        return any(self._is_source(node) for node in walk(expr))

    def _is_source(self, node: Node) -> bool:
        if isinstance(node, Load):
            return node.buffer in self.own
        return isinstance(node, Var) and node in self.steps

    def step(self, expr: Expr) -> int | None:
        """How much larger `expr` is in the next lane, in steps of the loop; None if not evenly."""
        match expr:
            case Var():
                return self.steps.get(expr, 0)
            case Add(x, y):
                return _plus(self.step(x), self.step(y), 1)
            case Sub(x, y):
                return _plus(self.step(x), self.step(y), -1)
            case Mul(x, Const(int(factor))) | Mul(Const(int(factor)), x):
                return _plus(0, self.step(x), factor)
            case Bounded(x):
                return self.step(x)
            case _:
                return None if self.varies(expr) else 0


def _plus(x: int | None, y: int | None, factor: int) -> int | None:
    return None if x is None or y is None else x + factor * y
