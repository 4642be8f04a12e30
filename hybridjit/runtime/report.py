"""How a kernel runs: `kernel.report(...)`.

line  loop  extent  runs
   4  i     512     on threads
   5    j   512     in 16 lanes
   9  k     512     one by one: each iteration needs 's' of the one before

Below that, which indices are checked and where, the arrays that it makes, the work of each loop,
and how long it took to compile.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hybridjit.analysis.loop_work import LoopWork, find_loop_work
from hybridjit.codegen.layout import Layout
from hybridjit.html_text import heading, preformatted, table
from hybridjit.ir.expr import Const, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.hints import drop_hints, number_loops
from hybridjit.ir.printer import format_expr
from hybridjit.ir.signature import ScalarParam
from hybridjit.ir.stmt import HAS_LANES, ORIGIN, For, LoopKind, Stmt
from hybridjit.ir.visit import children, walk_stmts
from hybridjit.lowering.lane_reasons import COPIED, find_lane_reasons
from hybridjit.lowering.pipeline import lower_steps
from hybridjit.lowering.vectorize_inner import vectorize_inner
from hybridjit.processor import current_target
from hybridjit.record import record
from hybridjit.runtime.compile_times import Compiled
from hybridjit.runtime.inspection import Safety, find_safety
from hybridjit.runtime.memory_report import MemoryReport, Temporary, find_memory
from hybridjit.runtime.specialization import Specialization
from hybridjit.schedule.arrays.fusion_notes import Fused


@record
class LoopReport:
    """A loop of the optimised program: where it stands, how often it runs, how, and why so.

    `lanes` is 1 without lanes. `reason` says why an innermost loop has none; it may be empty.
    `work` is what it does in one call, or None if only a run can tell. `file` is where the line
    stands, if that is not the file of the script.
    """

    name: str
    depth: int
    line: int | None
    extent: str
    lanes: int = 1
    on_threads: bool = False
    is_unrolled: bool = False
    reason: str = ""
    work: LoopWork | None = None
    file: str = ""

    @property
    def runs(self) -> str:
        """How it runs, in words."""
        if self.reason == COPIED:
            return COPIED
        ways = ["on threads"] * self.on_threads + ["unrolled"] * self.is_unrolled
        ways += [f"in {self.lanes} lanes"] * (self.lanes > 1)
        text = ", ".join(ways) or "one by one"
        return f"{text}: {self.reason}" if self.reason else text


@record
class Report:
    """How a kernel runs for some arguments: its loops, its checks, the memory that it takes, and
    the code that was made of it.
    """

    name: str
    loops: tuple[LoopReport, ...]
    safety: Safety
    memory: MemoryReport
    compiled: Compiled

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

    def __str__(self) -> str:
        loops = aligned(_rows(self.loops), _SIDES) if self.loops else ["no loops"]
        work = aligned(_work_rows(self.loops), _WORK_SIDES)
        return "\n".join([*loops, str(self.safety), str(self.memory), *work, str(self.compiled)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = [heading(self.name)]
        if self.loops:
            parts.append(table(_rows(self.loops), _SIDES))
        parts.append(preformatted(f"{self.safety}\n{self.memory}"))
        if work := _work_rows(self.loops):
            parts.append(table(work, _WORK_SIDES))
        return "\n".join([*parts, preformatted(str(self.compiled))])


_SIDES, _WORK_SIDES = "><<<", "><>>>>"


def _rows(loops: tuple[LoopReport, ...]) -> list[tuple[str, ...]]:
    rows = [(*name_cells(loop), loop.extent, loop.runs) for loop in loops]
    return [("line", "loop", "extent", "runs"), *rows]


def _work_rows(loops: tuple[LoopReport, ...]) -> list[tuple[str, ...]]:
    """What there is to do, in one call; nothing of loops whose length only a run tells."""
    counted = [(loop, loop.work) for loop in loops if loop.work is not None]
    rows = [(*name_cells(loop), *_work_cells(work)) for loop, work in counted]
    return [("line", "loop", "times", "flops", "bytes", "work"), *rows] if rows else []


def _work_cells(work: LoopWork) -> tuple[str, str, str, str]:
    share = "" if work.share is None else f"{100 * work.share:.0f} %"
    return f"{work.runs:.0f}", short_count(work.flops), short_count(work.bytes), share


def name_cells(loop: LoopReport) -> tuple[str, str]:
    """The line of a loop, and its name as deep as it stands."""
    line = "" if loop.line is None else str(loop.line)
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
    optimized = made.optimized
    func = optimized.func
    known = known_values(func, args)
    return Report(
        func.name,
        find_loops(func, known, may_reorder=made.may_reorder(layout)),
        find_safety(func),
        find_memory(func, optimized.notes),
        made.compiled(layout),
    )


def known_values(func: PrimFunc, args: Sequence[Any]) -> dict[Var, float]:
    """What a call says of the numbers among the parameters; no values are given for types."""
    params = zip(func.params, args, strict=True) if args else ()
    return {
        param.var: float(value)
        for param, value in params
        if isinstance(param, ScalarParam) and param.var.dtype.is_integer
    }


def find_loops(
    func: PrimFunc, known: Mapping[Var, float], *, may_reorder: bool
) -> tuple[LoopReport, ...]:
    """How the loops of `func`, which is optimised, run once they are lowered."""
    target = current_target()
    numbered = number_loops(func)
    before = lowered = numbered
    for step in lower_steps(numbered, target, may_reorder=may_reorder, may_vectorize=True):
        if step.name == vectorize_inner.__name__:
            before = lowered
        if step.name != drop_hints.__name__:
            lowered = step.func
    reasons = find_lane_reasons(before, target)
    made: dict[int, list[For]] = {}
    for stmt in walk_stmts(lowered.body):
        if isinstance(stmt, For) and stmt.hint(ORIGIN) is not None:
            made.setdefault(stmt.hint(ORIGIN), []).append(stmt)
    found = _with_depths(numbered.body, 0)
    works = find_loop_work(numbered.body, known, target.caches.shared)
    home = "" if func.span is None else func.span.file
    return tuple(
        replace(
            _describe(loop, depth, made, reasons), work=works[loop], file=_other_file(loop, home)
        )
        for loop, depth in found
    )


def _other_file(loop: For, home: str) -> str:
    """The file of a loop that stands in a function of another one."""
    return "" if loop.span is None or loop.span.file == home else loop.span.file


def _with_depths(stmt: Stmt, depth: int) -> Iterator[tuple[For, int]]:
    if isinstance(stmt, For):
        yield stmt, depth
        depth += 1
    for child in children(stmt):
        if isinstance(child, Stmt):
            yield from _with_depths(child, depth)


def _describe(
    loop: For, depth: int, made: dict[int, list[For]], reasons: dict[int, str]
) -> LoopReport:
    number: int = loop.hint(ORIGIN)
    became = made.get(number, [])
    lanes = max((found.hint(HAS_LANES) or 1 for found in became), default=1)
    is_unrolled = loop.kind is LoopKind.UNROLLED or (not became and isinstance(loop.extent, Const))
    return LoopReport(
        loop.var.name,
        depth,
        None if loop.span is None else loop.span.line,
        format_expr(loop.extent),
        lanes,
        any(found.kind is LoopKind.PARALLEL for found in became),
        is_unrolled,
        reasons.get(number, "") if lanes == 1 and became else "",
    )
