"""How a kernel runs: `kernel.report(...)`.

line  loop  extent  runs
   4  i     512     on threads
   5    j   512     in 16 lanes
   9  k     512     one by one: each iteration needs 's' of the one before

Below that, which indices are checked and where, the arrays that it makes, the work of each loop,
and how long it took to compile.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hybridjit import config
from hybridjit.analysis.cost import MIN_PARALLEL_WORK, find_work
from hybridjit.analysis.limits import Limits, limits_in, most_iterations
from hybridjit.analysis.loop_work import LoopWork, find_loop_work
from hybridjit.arith.simplify import simplify
from hybridjit.codegen.emit.parallel import is_outlined
from hybridjit.codegen.layout import Layout
from hybridjit.html_text import heading, preformatted, table
from hybridjit.ir.expr import Const, Expr, Max, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.hints import drop_hints, number_loops
from hybridjit.ir.places import find_places
from hybridjit.ir.printer import format_expr
from hybridjit.ir.signature import ScalarParam
from hybridjit.ir.stmt import HAS_LANES, ORIGIN, SUMS_IN_ROWS, For, LoopKind, Stmt, Store, While
from hybridjit.ir.visit import children, walk_stmts
from hybridjit.lowering.lane_reasons import COPIED, ZEROED, find_lane_reasons
from hybridjit.lowering.loop_parts import Parts, find_parts
from hybridjit.lowering.vectorize_inner import vectorize_inner
from hybridjit.processor import current_target
from hybridjit.record import record
from hybridjit.runtime.compile_times import Compiled
from hybridjit.runtime.gathers import Gathers
from hybridjit.runtime.inspection import Safety, find_safety, other_file, steps_in_force
from hybridjit.runtime.memory_report import MemoryReport, Temporary, find_memory
from hybridjit.runtime.specialization import Specialization
from hybridjit.schedule.arrays.fusion_notes import Fused, FusionNotes


@record
class LoopReport:
    """A loop of the optimised program: where it stands, how often it runs, how, and why so.

    `lanes` is 1 without lanes; `rows` is how many of its iterations run at once, side by side in
    the loops inside of it. `reason` says why an innermost loop has no lanes, or what slows them
    down; it may be empty. `work` is what it does in one call, or None if only a run can tell.
    `file` is where the line stands, if that is not the file of the script. A loop that `is_made`
    is the compiler's own: its line is that of what it computes. One that is a part of a tile is
    straight-line code: the loop around it has the `tile`. Programs of tensors have no lines: there,
    `stores` names what a loop computes.
    """

    name: str
    depth: int
    line: int | None
    extent: str
    lanes: int = 1
    rows: int = 1
    on_threads: bool = False
    is_unrolled: bool = False
    reason: str = ""
    work: LoopWork | None = None
    file: str = ""
    is_made: bool = False
    is_in_tile: bool = False
    tile: str = ""
    stores: str = ""
    is_unsafe: bool = False

    @property
    def runs(self) -> str:
        """How it runs, in words."""
        if self.reason in (COPIED, ZEROED):
            return self.reason
        ways = ["on threads"] * self.on_threads + ["unrolled"] * self.is_unrolled
        ways += [f"in {self.lanes} lanes"] * (self.lanes > 1)
        ways += [f"{self.rows} rows at once"] * (self.rows > 1)
        text = ", ".join(ways) or "one by one"
        text += f", tiles of {self.tile}" if self.tile else ""
        text += ", unsafe" if self.is_unsafe else ""
        return f"{text}: {self.reason}" if self.reason else text


@record
class Report:
    """How a kernel runs for some arguments: its loops, its checks, the memory that it takes, and
    the code that was made of it. `note` says why it is not optimised, if so.
    """

    name: str
    loops: tuple[LoopReport, ...]
    safety: Safety
    memory: MemoryReport
    compiled: Compiled
    note: str = ""

    @property
    def fused(self) -> tuple[Fused, ...]:
        """The arrays between statements that were fused away."""
        return self.memory.fused

    @property
    def temporaries(self) -> tuple[Temporary, ...]:
        """The arrays between statements that remain."""
        return self.memory.temporaries

    @property
    def peak_bytes(self) -> int:
        """How much memory these take at most; see `MemoryReport`."""
        return self.memory.peak_bytes

    @property
    def shown(self) -> tuple[LoopReport, ...]:
        """The loops that run as such: without the parts of tiles."""
        return tuple(loop for loop in self.loops if not loop.is_in_tile)

    def __str__(self) -> str:
        loops = aligned(_rows(self.shown), _SIDES) if self.loops else ["no loops"]
        work = aligned(_work_rows(self.shown), _WORK_SIDES)
        head = [self.note] if self.note else []
        tail = [str(self.safety), str(self.memory), *work, str(self.compiled)]
        return "\n".join([*head, *loops, *tail])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = [heading(self.name), *([preformatted(self.note)] if self.note else [])]
        if self.loops:
            parts.append(table(_rows(self.shown), _SIDES))
        parts.append(preformatted(f"{self.safety}\n{self.memory}"))
        if work := _work_rows(self.shown):
            parts.append(table(work, _WORK_SIDES))
        return "\n".join([*parts, preformatted(str(self.compiled))])


_SIDES, _WORK_SIDES = "><<<", "><>>>>"


def _rows(loops: tuple[LoopReport, ...]) -> list[tuple[str, ...]]:
    rows = [(*name_cells(loop), loop.extent, loop.runs) for loop in loops]
    return [(*name_heads(loops), "extent", "runs"), *rows]


def _work_rows(loops: tuple[LoopReport, ...]) -> list[tuple[str, ...]]:
    """What there is to do, in one call; nothing of loops whose length only a run tells."""
    counted = [(loop, loop.work) for loop in loops if loop.work is not None]
    rows = [(*name_cells(loop), *_work_cells(work)) for loop, work in counted]
    return [(*name_heads(loops), "times", "flops", "bytes", "work"), *rows] if rows else []


def _work_cells(work: LoopWork) -> tuple[str, str, str, str]:
    share = "" if work.share is None else f"{100 * work.share:.0f} %"
    return f"{work.runs:.0f}", short_count(work.flops), short_count(work.bytes), share


def name_heads(loops: Sequence[LoopReport]) -> tuple[str, str]:
    """What stands above the cells that name loops."""
    return "tensor" if any(loop.stores for loop in loops) else "line", "loop"


def name_cells(loop: LoopReport) -> tuple[str, str]:
    """The line of a loop, or what it computes, and its name as deep as it stands."""
    line = loop.stores if loop.line is None else str(loop.line)
    place = f"{os.path.basename(loop.file)}:{line}" if loop.file else line
    return place, "  " * loop.depth + loop.name


def aligned(rows: Sequence[Sequence[str]], sides: str) -> Iterator[str]:
    """Rows of text in columns, each to its side: "<" or ">"."""
    if not rows:
        return
    widths = [max(len(row[k]) for row in rows) for k in range(len(sides))]
    for row in rows:
        cells = (f"{cell:{side}{n}}" for cell, side, n in zip(row, sides, widths, strict=True))
        yield "  ".join(cells).rstrip()


def short_count(number: float) -> str:
    """Three digits and k, M, G or T."""
    for unit, factor in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= factor:
            return f"{number / factor:.3g} {unit}"
    return f"{number:.0f}"


def report_on(made: Specialization, layout: Layout, args: Sequence[Any]) -> Report:
    """How a translation runs on arguments with this layout; `args` are empty for types."""
    func = made.compiled_func(layout)
    notes = made.optimized.notes if made.is_optimized(layout) else FusionNotes()
    known = known_values(func, args)
    return Report(
        func.name,
        find_loops(func, layout, known, may_reorder=made.may_reorder(layout)),
        find_safety(func),
        find_memory(func, notes),
        made.compiled(layout),
        _why_as_written(made, layout),
    )


def _why_as_written(made: Specialization, layout: Layout) -> str:
    if made.is_optimized(layout):
        return ""
    reason = "for debugging" if layout.is_disjoint else "arguments share memory"
    return f"as written, in order: {reason}"


def known_values(func: PrimFunc, args: Sequence[Any]) -> dict[Var, float]:
    """What a call says of the numbers among the parameters; no values are given for types."""
    params = zip(func.params, args, strict=True) if args else ()
    return {
        param.var: float(value)
        for param, value in params
        if isinstance(param, ScalarParam) and param.var.dtype.is_integer
    }


def find_loops(
    func: PrimFunc, layout: Layout, known: Mapping[Var, float], *, may_reorder: bool
) -> tuple[LoopReport, ...]:
    """How the loops of `func`, which is optimised, run once they are lowered."""
    target, may_vectorize = current_target(), layout.is_disjoint and not config.current().debug
    numbered = number_loops(func)
    before = lowered = numbered
    for step in steps_in_force(numbered, layout, may_reorder=may_reorder):
        if step.name == vectorize_inner.__name__:
            before = lowered
        if step.name != drop_hints.__name__:
            lowered = step.func
    reasons = find_lane_reasons(before, target) if may_vectorize else {}
    gathers = Gathers(func, layout, target.vector_bits)
    parts = find_parts(lowered.body, known)
    limits = limits_in(loop for loop, _ in _with_depths(numbered.body, 0) if isinstance(loop, For))
    works = find_loop_work(numbered.body, known, target.caches.shared)
    places = _Places(numbered)
    described = [
        replace(_describe_while(depth), **places.of(loop))
        if isinstance(loop, While)
        else replace(
            _describe(loop, depth, parts, reasons, gathers, limits),
            work=works[loop],
            **places.of(loop),
        )
        for loop, depth in _with_depths(numbered.body, 0)
    ]
    return _with_tiles(list(_in_lanes_once(list(_on_threads_once(described)))))


class _Places:
    """Where loops stand; the compiler's own are where what they compute is."""

    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.spans = find_places(func.body, lambda node: node.span)

    def of(self, loop: For | While) -> dict[str, Any]:
        """The fields of a report that say so."""
        span = self.spans.get(loop)
        if span is None:
            stored = (node.buffer for node in walk_stmts(loop) if isinstance(node, Store))
            names = (buffer.name for buffer in stored if not buffer.is_register)
            return {"is_made": True, "stores": next(names, "")}
        file = other_file(span, self.func)
        return {"line": span.line, "file": file, "is_made": loop.span is None}


def _with_depths(stmt: Stmt, depth: int) -> Iterator[tuple[For | While, int]]:
    if isinstance(stmt, (For, While)):
        yield stmt, depth
        depth += 1
    for child in children(stmt):
        if isinstance(child, Stmt):
            yield from _with_depths(child, depth)


def _describe_while(depth: int) -> LoopReport:
    return LoopReport("while", depth, None, "?", reason="when it ends is known only as it runs")


def _describe(
    loop: For,
    depth: int,
    parts: Mapping[int, Parts],
    reasons: dict[int, str],
    gathers: Gathers,
    limits: Mapping[Var, Limits],
) -> LoopReport:
    number: int = loop.hint(ORIGIN)
    made = parts.get(number, Parts())
    became, lanes = made.loops, made.lanes
    reason = reasons.get(number, "") if became else ""
    if lanes > 1:
        reason = gathers.describe(found for found in became if (found.hint(HAS_LANES) or 1) > 1)
    parallel = [found for found in became if found.kind is LoopKind.PARALLEL]
    on_threads = any(map(is_outlined, parallel))
    if parallel and not on_threads:
        reason = reason or _why_on_one_thread(parallel[0])
    is_written_out = not became and most_iterations(loop, limits) is not None
    is_unrolled = loop.kind is LoopKind.UNROLLED or is_written_out
    return LoopReport(
        loop.var.name,
        depth,
        None,
        _extent_text(loop.extent),
        int(min(lanes, _count(loop))),
        _rows_at_once(loop, became),
        on_threads,
        is_unrolled,
        reason,
        is_in_tile=loop.span is None and loop.kind in _STRAIGHT and _count(loop) < math.inf,
        is_unsafe=loop.is_unsafe,
    )


def _extent_text(extent: Expr) -> str:
    """How often a loop runs, if that can be said in a few words: else it differs."""
    match simplify(extent):
        case Max(trips, Const(0)):  # a range that is empty runs no iterations
            text = format_expr(trips)
        case count:
            text = format_expr(count)
    return text if len(text) <= _LONGEST_EXTENT else "varies"


_LONGEST_EXTENT = 24


def _rows_at_once(loop: For, became: Sequence[For]) -> int:
    """How many iterations the loops that it became do in one, if not in lanes: see sum_in_lanes."""
    if not loop.hint(SUMS_IN_ROWS):
        return 1
    steps = [each.step for each in became if not each.hint(HAS_LANES)]
    return max((int(step.value.real) for step in steps if isinstance(step, Const)), default=1)


def _why_on_one_thread(loop: For) -> str:
    work = find_work(loop)
    is_small = work is not None and work < MIN_PARALLEL_WORK
    return "too little to do for threads" if is_small else "on one thread, to keep its order"


# What has no rounds in the code, if it is of known length.
_STRAIGHT = (LoopKind.UNROLLED, LoopKind.VECTORIZED)


def _count(loop: For) -> float:
    return int(loop.extent.value.real) if isinstance(loop.extent, Const) else math.inf


def _on_threads_once(loops: Sequence[LoopReport]) -> Iterator[LoopReport]:
    """Loops as they run: one that is in another on threads has the thread of that."""
    outer: int | None = None
    for loop in loops:
        if outer is not None and loop.depth <= outer:
            outer = None
        if outer is not None and loop.on_threads:
            reason = loop.reason or "the loop around it is on threads"
            yield replace(loop, on_threads=False, reason=reason)
            continue
        if loop.on_threads and outer is None:
            outer = loop.depth
        yield loop


def _in_lanes_once(loops: Sequence[LoopReport]) -> Iterator[LoopReport]:
    """Loops as they run: one that is in another in lanes needs none, and no reason for that."""
    outer: int | None = None
    for loop in loops:
        if outer is not None and loop.depth <= outer:
            outer = None
        is_idle = outer is not None and loop.lanes == 1 and loop.reason not in (COPIED, ZEROED)
        if loop.lanes > 1 and outer is None:
            outer = loop.depth
        yield replace(loop, reason="") if is_idle else loop


def _with_tiles(loops: Sequence[LoopReport]) -> tuple[LoopReport, ...]:
    return tuple(replace(loop, tile=_tile(loop, loops[k + 1 :])) for k, loop in enumerate(loops))


def _tile(loop: LoopReport, later: Sequence[LoopReport]) -> str:
    """What an iteration of `loop` does at once, if all the loops in it are parts of tiles."""
    inside = list(itertools.takewhile(lambda each: each.depth > loop.depth, later))
    if loop.is_in_tile or not inside or not all(each.is_in_tile for each in inside):
        return ""
    tiles = _chains(inside, loop.depth)
    largest = max(tiles, key=lambda tile: math.prod(int(each.extent) for each in tile))
    lanes = max(each.lanes for each in largest)
    return " x ".join(each.extent for each in largest) + f" in {lanes} lanes" * (lanes > 1)


def _chains(loops: Sequence[LoopReport], depth: int) -> Iterator[list[LoopReport]]:
    """Each loop with those around it, down from `depth`."""
    chain: list[LoopReport] = []
    for loop in loops:
        del chain[loop.depth - depth - 1 :]
        chain.append(loop)
        yield list(chain)
