"""Cut one vector loop into whole vectors and a rest, each with a constant number of lanes."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from hybridjit.analysis.work import loop_extent
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Const, Expr, FloorDiv, Lt, Mod, Sub, Var
from hybridjit.ir.stmt import For, If, Let, Stmt
from hybridjit.ir.visit import fresh_copy

# Above this many vectors, a loop over vectors; below, LLVM cuts one wide vector into registers.
MAX_WHOLE = 4


@dataclass(frozen=True, slots=True)
class Cut:
    """The loops that replace a vector loop; before them, the names of what they use twice."""

    names: tuple[Let, ...]
    loops: tuple[Stmt, ...]
    trips: Expr


def cut(loop: For, width: int) -> Cut:
    """`loop` in vectors of `width` lanes."""
    extent = loop_extent(loop)
    if extent is None:
        return _cut_at_run_time(loop, width)
    trips = Const(extent)
    if extent & (extent - 1) == 0 and extent <= MAX_WHOLE * width:
        return Cut((), (loop,), trips)
    rest = extent % width
    last = simplify(loop.start + (extent - rest) * loop_step(loop))
    strips = _strips(loop, width, last)
    if rest == 0:
        return Cut((), (strips,), trips)
    remaining = _rest(loop, last, _lanes_for(rest), Const(rest))
    return Cut((), (remaining,) if rest == extent else (strips, remaining), trips)


def _cut_at_run_time(loop: For, width: int) -> Cut:
    """The bounds of a loop are evaluated once, before it: what is used twice gets a name."""
    names: list[Let] = []

    def named(suffix: str, value: Expr) -> Expr:
        value = simplify(value)
        if isinstance(value, Const | Var):
            return value
        var = Var(f"{loop.var.name}_{suffix}")
        names.append(Let(var, value, span=loop.span))
        return var

    start = named("start", loop.start)
    trips = named("trips", dataclasses.replace(loop, start=start).extent)
    whole = FloorDiv(trips, Const(width)) * (width * loop_step(loop))
    last = named("last", start + whole)
    loop = dataclasses.replace(loop, start=start)
    rest = _rest(loop, last, width, simplify(Mod(trips, Const(width))))
    return Cut(tuple(names), (_strips(loop, width, last), rest), trips)


def _strips(loop: For, width: int, last: Expr) -> Stmt:
    """Whole vectors, as long as there are any."""
    # No source text says this loop: it has no span, and no error speaks of it.
    strip = Var(f"{loop.var.name}_0")
    stride = width * loop_step(loop)
    vector = dataclasses.replace(loop, start=strip, stop=strip + stride)
    return For(strip, loop.start, last, Const(stride), vector)


def _rest(loop: For, first: Expr, lanes: int, count: Expr) -> Stmt:
    """The last iterations, fewer than a vector has lanes."""
    stop = simplify(first + lanes * loop_step(loop))
    rest = dataclasses.replace(loop, start=first, stop=stop)
    if count != Const(lanes):
        # A distance from the first one does not overflow, where the loop variable might.
        guarded = If(Lt(lane_number(rest), count), loop.body, span=loop.span)
        rest = dataclasses.replace(rest, body=guarded)
    return fresh_copy(rest)


def lane_number(loop: For) -> Expr:
    """Which lane of a vector loop, counted from 0, an iteration is."""
    match loop_step(loop):
        case 1:
            return simplify(Sub(loop.var, loop.start))
        case -1:
            return simplify(Sub(loop.start, loop.var))
        case _:
            return FloorDiv(simplify(Sub(loop.var, loop.start)), loop.step)


def loop_step(loop: For) -> int:
    """The step, which is a constant."""
    assert isinstance(loop.step, Const)
    return int(loop.step.value.real)


def _lanes_for(count: int) -> int:
    """The least power of two that is not less."""
    return 1 << (count - 1).bit_length()
