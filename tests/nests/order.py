"""The order oracle: run a small program, note who touches what when, and compare two orders.

It shares no code with the analysis that it judges: it executes the program, iteration by
iteration, over plain integers, and never looks at an index expression but by computing it.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hybridjit.analysis.reduction import find_reduction
from hybridjit.ir import expr as ir
from hybridjit.ir.expr import Buffer, Expr, Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, Block, For, If, Let, Seq, Stmt, Store
from hybridjit.ir.visit import walk

Instance = tuple[str, tuple[int, ...], int]
"""A run of a store: the name of its block, the values of the iters, and its place in the block."""


@dataclass(frozen=True, slots=True)
class Touch:
    """One access. `path` are the iterations of the loops around, outermost first."""

    instance: Instance
    is_write: bool
    commutes: str | None
    path: tuple[tuple[Var, int], ...]


@dataclass(slots=True)
class Record:
    """Every access of a run, by element, in order."""

    touches: dict[tuple[Any, ...], list[Touch]] = field(
        default_factory=dict[tuple[Any, ...], list[Touch]]
    )


class UnsupportedError(Exception):
    """The oracle does not know this kind of program."""


def record(func: PrimFunc, args: Sequence[Any], *, grouped: bool = False) -> Record:
    """Run `func` and note its accesses. Values are computed as Python integers.

    With `grouped`, updates commute that may be done in groups, which are then combined in order:
    of equal floats, a minimum keeps the first then, too.
    """
    return _Run(func, args, grouped).record


_EXTREMA = ("MIN", "MAX", "MINIMUM", "MAXIMUM")
_BINARY: dict[type[Expr], Any] = {
    ir.Add: operator.add,
    ir.Sub: operator.sub,
    ir.Mul: operator.mul,
    ir.FloorDiv: int.__floordiv__,
    ir.Mod: operator.mod,
    ir.Min: min,
    ir.Max: max,
    ir.Eq: operator.eq,
    ir.Ne: operator.ne,
    ir.Lt: operator.lt,
    ir.Le: operator.le,
    ir.Gt: operator.gt,
    ir.Ge: operator.ge,
}


class _Run:
    def __init__(self, func: PrimFunc, args: Sequence[Any], grouped: bool) -> None:
        self.record = Record()
        self.grouped = grouped
        self.values: dict[Var, Any] = {}
        self.arrays: dict[Buffer, Any] = {}
        self.lives: dict[Buffer, int] = {}
        self.commuting: dict[Store, str | None] = {}
        self.path: list[tuple[Var, int]] = []
        self.block: tuple[str, tuple[int, ...]] = ("", ())
        for param, arg in zip(func.params, args, strict=True):
            if isinstance(param, Buffer):
                self.arrays[param] = arg.astype(object)
                sizes = zip(param.shape, arg.shape, strict=True)
                self.values |= {size: n for size, n in sizes if isinstance(size, Var)}
            else:
                self.values[param.var] = arg
        self.counter = itertools.count()
        self.run(func.body)

    def run(self, stmt: Stmt) -> None:
        match stmt:
            case Seq(stmts):
                for inner in stmts:
                    self.run(inner)
            case For():
                self._loop(stmt)
            case If(cond, then, otherwise):
                side = then if self.value(cond) else otherwise
                if side is not None:
                    self.run(side)
            case Block():
                self._block(stmt)
            case Let(var, value):
                self.values[var] = self.value(value)
            case Allocate(buffer):
                shape = tuple(int(self.value(extent)) for extent in buffer.shape)
                self.arrays[buffer] = np.zeros(shape, dtype=object)
                self.lives[buffer] = next(self.counter)
            case Store():
                self._store(stmt)
            case _:
                raise UnsupportedError(type(stmt).__name__)

    def _loop(self, loop: For) -> None:
        bounds = [int(self.value(bound)) for bound in (loop.start, loop.stop, loop.step)]
        for value in range(*bounds):
            self.values[loop.var] = value
            self.path.append((loop.var, value))
            self.run(loop.body)
            self.path.pop()

    def _block(self, block: Block) -> None:
        outer = self.block
        for item in block.iters:
            self.values[item.var] = self.value(item.value)
        self.block = (block.name, tuple(self.values[item.var] for item in block.iters))
        if block.init is not None:
            raise UnsupportedError("init")
        self.run(block.body)
        self.block = outer

    def _store(self, store: Store) -> None:
        if store not in self.commuting:
            self.commuting[store] = self._commutes(store)
        commutes = self.commuting[store]
        value = self.value(store.value, (store.buffer, commutes))
        element = self._element(store.buffer, store.indices)
        self._touch(store.buffer, element, True, commutes)
        self.arrays[store.buffer][element] = _wrapped(value)

    def _commutes(self, store: Store) -> str | None:
        """The operator of an update that may be done in another order."""
        reduction = find_reduction(store)
        if reduction is None:
            return None
        is_exact = not store.buffer.dtype.is_inexact
        may = is_exact or (self.grouped and reduction.op.name in _EXTREMA)
        return reduction.op.name if may else None

    def _touch(
        self, buffer: Buffer, element: tuple[int, ...], is_write: bool, commutes: str | None
    ) -> None:
        key = (buffer.name, self.lives.get(buffer), element)
        touch = Touch((*self.block, 0), is_write, commutes, tuple(self.path))
        self.record.touches.setdefault(key, []).append(touch)

    def _element(self, buffer: Buffer, indices: Sequence[Expr]) -> tuple[int, ...]:
        found = [int(self.value(index)) for index in indices]
        shape = self.arrays[buffer].shape
        return tuple(i + n if i < 0 else i for i, n in zip(found, shape, strict=True))

    def value(self, expr: Expr, updated: tuple[Buffer, str | None] | None = None) -> Any:
        match expr:
            case ir.Const(value):
                return value
            case Var():
                return self.values[expr]
            case Load(buffer, indices):
                element = self._element(buffer, indices)
                is_own = updated is not None and updated[0] is buffer
                self._touch(buffer, element, False, updated[1] if is_own and updated else None)
                return self.arrays[buffer][element]
            case ir.And(x, y):
                return self.value(x, updated) and self.value(y, updated)
            case ir.Or(x, y):
                return self.value(x, updated) or self.value(y, updated)
            case ir.Not(x):
                return not self.value(x, updated)
            case ir.Neg(x):
                return -self.value(x, updated)
            case ir.Cast(_, x):
                return self.value(x, updated)
            case ir.Binary(x, y):
                return _BINARY[type(expr)](self.value(x, updated), self.value(y, updated))
            case _:
                raise UnsupportedError(type(expr).__name__)


def _wrapped(value: Any) -> Any:
    """The value in 64 bits: Python's integers would grow with every product."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63) if type(value) is int else value


def conflicting_pairs(
    touches: Sequence[Touch], *, commuting: bool = True
) -> Iterator[tuple[Touch, Touch]]:
    """The pairs whose order matters, the earlier one first; `commuting` updates do not."""
    for first, later in itertools.combinations(touches, 2):
        if not (first.is_write or later.is_write):
            continue
        if commuting and first.commutes is not None and first.commutes == later.commutes:
            continue
        yield first, later


def keeps_order(before: Record, after: Record) -> bool:
    """Whether every order-sensitive pair of `before` has the same order in `after`."""
    for key in _keys(before) | _keys(after):
        if _pairs(before.touches, key) != _pairs(after.touches, key):
            return False
    return True


def _keys(found: Record) -> set[tuple[Any, ...]]:
    return {(key[0], key[2]) for key in found.touches if key[1] is None}


def _pairs(
    touches: Mapping[tuple[Any, ...], Sequence[Touch]], key: tuple[Any, ...]
) -> set[tuple[Instance, bool, Instance, bool]]:
    found = touches.get((key[0], None, key[1]), ())
    return {
        (first.instance, first.is_write, later.instance, later.is_write)
        for first, later in conflicting_pairs(found)
        if first.instance != later.instance
    }


def is_concurrent(found: Record, loop: Var, *, commuting: bool) -> bool:
    """Whether no two different iterations of `loop` touch an element in a way that matters."""
    return not any(
        _meet(first, later, loop)
        for touches in found.touches.values()
        for first, later in conflicting_pairs(touches, commuting=commuting)
    )


def _meet(first: Touch, later: Touch, loop: Var) -> bool:
    """Whether two accesses are in the same run of `loop`, in different iterations of it."""
    for (a, x), (b, y) in zip(first.path, later.path, strict=False):
        if a is loop and b is loop:
            return x != y
        if a is not b or x != y:
            return False
    return False


def has_scalars(func: PrimFunc) -> bool:
    """Whether the program has variables of its own, whose order the oracle does not compare."""
    return any(isinstance(node, Allocate | Let) for node in walk(func.body))
