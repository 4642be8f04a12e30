"""How a kernel runs: `kernel.report(...)`.

line  loop  extent  runs
   4  i     512     on threads
   5    j   512     in 16 lanes
   9  k     512     one by one: each iteration needs 's' of the one before
"""

from __future__ import annotations

from collections.abc import Iterator

from hybridjit.ir.expr import Const
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.hints import drop_hints, number_loops
from hybridjit.ir.printer import format_expr
from hybridjit.ir.stmt import HAS_LANES, ORIGIN, For, LoopKind, Stmt
from hybridjit.ir.visit import children, walk_stmts
from hybridjit.lowering.lane_reasons import COPIED, find_lane_reasons
from hybridjit.lowering.pipeline import lower_steps
from hybridjit.lowering.vectorize_inner import vectorize_inner
from hybridjit.optimize.optimize import Optimized
from hybridjit.processor import current_target
from hybridjit.record import record
from hybridjit.runtime.inspection import Safety, find_safety
from hybridjit.runtime.memory_report import MemoryReport, Temporary, find_memory
from hybridjit.schedule.arrays.fusion import Fused


@record
class LoopReport:
    """A loop of the optimised program: where it stands, how often it runs, how, and why so.

    `lanes` is 1 without lanes. `reason` says why an innermost loop has none; it may be empty.
    """

    name: str
    depth: int
    line: int | None
    extent: str
    lanes: int = 1
    on_threads: bool = False
    is_unrolled: bool = False
    reason: str = ""

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
    """How a kernel runs for some arguments: its loops, its checks, and the memory that it takes."""

    name: str
    loops: tuple[LoopReport, ...]
    safety: Safety
    memory: MemoryReport

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
        return "\n".join([*_table(self.loops), str(self.safety), str(self.memory)])


def _table(loops: tuple[LoopReport, ...]) -> Iterator[str]:
    if not loops:
        yield "no loops"
        return
    rows = [("line", "loop", "extent", "runs")]
    for loop in loops:
        line = "" if loop.line is None else str(loop.line)
        rows.append((line, "  " * loop.depth + loop.name, loop.extent, loop.runs))
    first, second, third = (max(len(row[k]) for row in rows) for k in range(3))
    for line, name, extent, runs in rows:
        yield f"{line:>{first}}  {name:{second}}  {extent:{third}}  {runs}"


def make_report(optimized: Optimized, *, may_reorder: bool) -> Report:
    """How an optimised program runs."""
    func = optimized.func
    return Report(
        func.name,
        find_loops(func, may_reorder=may_reorder),
        find_safety(func),
        find_memory(func, optimized.notes),
    )


def find_loops(func: PrimFunc, *, may_reorder: bool) -> tuple[LoopReport, ...]:
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
    return tuple(_describe(loop, depth, made, reasons) for loop, depth in found)


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
