"""Cut one vector loop into whole vectors and a rest, each with a constant number of lanes."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from hybridjit.analysis.limits import loop_extent
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Const, Expr, FloorDiv, Lt, Mod, Sub, Var
from hybridjit.ir.stmt import For, If, Let, Stmt
from hybridjit.ir.visit import fresh_copy
from hybridjit.lower.vector_width import Width

# Above this many vectors, a loop over vectors; below, LLVM cuts one wide vector into registers.
MAX_WHOLE = 4


@dataclass(frozen=True, slots=True)
class Cut:
    """The loops that replace a vector loop; before them, the names of what they use twice."""

    names: tuple[Let, ...]
    loops: tuple[Stmt, ...]
    trips: Expr


def cut(loop: For, width: Width) -> Cut:
    """`loop` in vectors: wide ones, vectors of the machine, and a rest."""
    extent = loop_extent(loop)
    if extent is None:
        return _cut_at_run_time(loop, width)
    if extent & (extent - 1) == 0 and extent <= MAX_WHOLE * width.lanes:
        return Cut((), (loop,), Const(extent))
    loops: list[Stmt] = []
    done = 0
    for lanes in width.steps:
        end = extent - (extent - done) % lanes
        if done < end:
            loops.append(_strips(loop, lanes, _at(loop, done), _at(loop, end)))
            done = end
    if done < extent:
        rest = extent - done
        loops.append(_rest(loop, _at(loop, done), _lanes_for(rest), Const(rest)))
    return Cut((), tuple(loops), Const(extent))


def _at(loop: For, number: int) -> Expr:
    """The value of the loop variable in an iteration."""
    return simplify(loop.start + number * loop_step(loop))


def _cut_at_run_time(loop: For, width: Width) -> Cut:
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
    loop = dataclasses.replace(loop, start=start)
    trips = named("trips", loop.safe_extent)
    loops: list[Stmt] = []
    done = start
    for lanes in width.steps:
        end = named("end", start + FloorDiv(trips, Const(lanes)) * (lanes * loop_step(loop)))
        loops.append(_strips(loop, lanes, done, end))
        done = end
    rest = _rest(loop, done, width.lanes, simplify(Mod(trips, Const(width.lanes))))
    return Cut(tuple(names), (*loops, rest), trips)


def _strips(loop: For, lanes: int, first: Expr, end: Expr) -> Stmt:
    """Whole vectors, from one value of the loop variable up to another."""
    stride = lanes * loop_step(loop)
    if simplify(first + stride) == end:
        return fresh_copy(dataclasses.replace(loop, start=first, stop=end))
    # No source text says this loop: it has no span, and no error speaks of it.
    strip = Var(f"{loop.var.name}_0")
    vector = dataclasses.replace(loop, start=strip, stop=strip + stride)
    return For(strip, first, end, Const(stride), fresh_copy(vector))


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
