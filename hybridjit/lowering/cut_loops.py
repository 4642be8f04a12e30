"""Cut one vector loop into whole vectors and a rest, each with a constant number of lanes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from hybridjit.analysis.limits import loop_extent
from hybridjit.analysis.vector_width import Width
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Const, Expr, FloorDiv, Lt, Mod, Sub, Var
from hybridjit.ir.stmt import AT_MOST, UNROLL, For, If, Let, LoopKind, Stmt
from hybridjit.ir.visit import fresh_copy
from hybridjit.record import record


@record
class Cut:
    """The loops that replace a vector loop; before them, the names of what they use twice."""

    names: tuple[Let, ...]
    loops: tuple[Stmt, ...]
    trips: Expr


class Names:
    """Names for what is used more than once, in the order in which they are given."""

    def __init__(self, loop: For) -> None:
        self.loop = loop
        self.made: list[Let] = []

    def give(self, suffix: str, value: Expr) -> Expr:
        """A name for `value`, or itself if it is a name or a constant."""
        value = simplify(value)
        if isinstance(value, Const | Var):
            return value
        var = Var(f"{self.loop.var.name}_{suffix}")
        self.made.append(Let(var, value, span=self.loop.span))
        return var


def cut(loop: For, width: Width, most: int | None = None) -> Cut:
    """`loop` in rounds of vectors, and a rest.

    With `most` iterations at the most, if these are fewer than a round, there is only the rest.
    """
    extent = loop_extent(loop)
    if extent is None:
        return _cut_at_run_time(
            loop, width, most if most is not None and most < width.wide else None
        )
    if extent == 0:
        return Cut((), (), Const(0))
    if extent & (extent - 1) == 0 and extent <= width.whole * width.lanes:
        return Cut((), (loop,), Const(extent))
    loops: list[Stmt] = []
    done = 0
    for lanes in (width.wide, width.lanes, *([] if width.is_masked else width.halves)):
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


def _cut_at_run_time(loop: For, width: Width, few: int | None) -> Cut:
    """The bounds of a loop are evaluated once, before it: what is used twice gets a name."""
    names = Names(loop)
    start = names.give("start", loop.start)
    loop = dataclasses.replace(loop, start=start)
    trips = names.give("trips", loop.safe_extent)

    def end_of(lanes: int) -> Expr:
        return names.give("end", start + FloorDiv(trips, Const(lanes)) * (lanes * loop_step(loop)))

    rounds: list[Stmt] = []
    end = start
    if few is None:
        end = end_of(width.wide)
        rounds = [_rounds(loop, width, start, end)]
    if few is not None and few <= width.lanes and width.is_masked:
        rest: list[Stmt] = [_rest(loop, start, _lanes_for(few), trips)]
    elif width.is_masked:
        rest = [_masked_rest(loop, width, end, trips)]
    else:
        rest = [*_unmasked_rest(loop, width, end, end_of)]
    return Cut(tuple(names.made), (*rounds, *map(fresh_copy, rest)), trips)


def _rounds(loop: For, width: Width, start: Expr, end: Expr) -> Stmt:
    rounds = _strips(loop, width.wide, start, end)
    if isinstance(rounds, For) and width.wide > width.lanes:
        return dataclasses.replace(rounds, annotations=((UNROLL, False),))
    return rounds


def _masked_rest(loop: For, width: Width, first: Expr, trips: Expr) -> Stmt:
    """The last iterations, fewer than a round: vectors, the last of which is not full."""
    if width.wide == width.lanes:
        return _rest(loop, first, width.lanes, simplify(Mod(trips, Const(width.lanes))))
    step = loop_step(loop)
    strip = Var(f"{loop.var.name}_1")
    done = simplify(FloorDiv(strip - loop.start, Const(step)))
    vector = _rest(loop, strip, width.lanes, simplify(trips - done))
    stride = Const(width.lanes * step)
    rest = For(strip, first, loop.stop, stride, vector)
    return at_most(width.wide // width.lanes, rest)


def _unmasked_rest(
    loop: For, width: Width, first: Expr, end_of: Callable[[int], Expr]
) -> list[For]:
    """The last iterations, in half a vector as long as there are so many, then one by one."""
    half = max(2, width.lanes // 2)
    one_by_one = dataclasses.replace(loop, kind=LoopKind.SERIAL)
    if half == width.wide:
        return [at_most(width.wide - 1, dataclasses.replace(one_by_one, start=first))]
    end = end_of(half)
    strips = _strips(loop, half, first, end)
    assert isinstance(strips, For)
    rest = dataclasses.replace(one_by_one, start=end)
    return [at_most(width.wide // half, strips), at_most(half - 1, rest)]


def at_most(iterations: int, loop: For) -> For:
    """`loop`, which says how often it runs."""
    return dataclasses.replace(loop, annotations=((AT_MOST, iterations),))


def _strips(loop: For, lanes: int, first: Expr, end: Expr) -> Stmt:
    """Rounds of so many iterations, each a vector, from one value up to another."""
    stride = lanes * loop_step(loop)
    if simplify(first + stride) == end:
        return fresh_copy(dataclasses.replace(loop, start=first, stop=end))
    # No source text says this loop: it has no span, and no error speaks of it.
    strip = Var(f"{loop.var.name}_0")
    stop = simplify(strip + stride)
    vector = fresh_copy(dataclasses.replace(loop, start=strip, stop=stop))
    return For(strip, first, end, Const(stride), vector)


def _rest(loop: For, first: Expr, lanes: int, count: Expr) -> Stmt:
    """The last iterations, fewer than a vector has lanes."""
    if lanes == 1:
        return fresh_copy(dataclasses.replace(loop, start=first, kind=LoopKind.SERIAL))
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
