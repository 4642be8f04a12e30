"""What became of the arrays between the statements of a kernel: `kernel.report(...)`."""

from __future__ import annotations

import math
from dataclasses import replace

from hybridjit.codegen.emit.memory import fits_on_stack
from hybridjit.errors import line_in
from hybridjit.ir.expr import Buffer, Const
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import format_expr
from hybridjit.ir.stmt import Allocate, Stmt, flat_stmts
from hybridjit.ir.visit import children, walk_stmts
from hybridjit.lowering.pipeline import lower_steps
from hybridjit.lowering.plan_storage import find_plan, plan_storage
from hybridjit.processor import current_target
from hybridjit.record import record
from hybridjit.runtime.inspection import other_file
from hybridjit.schedule.arrays.fusion_notes import Fused, FusionNotes
from hybridjit.tensors.tensor import TensorBuffer


@record
class Temporary:
    """An array that a kernel makes for itself: its size, where from, why, and whose memory it has.

    `bytes` is None if the size is known only when the kernel runs. `file` is where the line is, if
    that is not the file of the script.
    """

    name: str
    shape: str
    bytes: int | None
    line: int | None
    reason: str
    is_on_stack: bool = False
    shares: str | None = None
    file: str = ""

    def __str__(self) -> str:
        size = "size known at run time" if self.bytes is None else f"{self.bytes} bytes"
        place = "on the stack" if self.is_on_stack else "on the heap"
        if self.shares is not None:
            place = f"in the memory of '{self.shares}'"
        line = "" if self.line is None else f", {line_in(self.file, self.line)}"
        return f"'{self.name}', {self.shape}, {size} {place}{line}: {self.reason}"


@record
class MemoryReport:
    """The arrays that were fused away, those that remain, and how much memory these take at most.

    `peak_bytes` counts arrays of known sizes; it is a lower bound if some are not known.
    """

    fused: tuple[Fused, ...]
    temporaries: tuple[Temporary, ...]
    peak_bytes: int

    def __str__(self) -> str:
        lines = [f"{_count(len(self.fused))} fused away"]
        lines += [f"  {item}" for item in self.fused]
        bound = "at least" if any(t.bytes is None for t in self.temporaries) else "at most"
        total = f", {bound} {self.peak_bytes} bytes at a time" if self.temporaries else ""
        lines.append(f"{_count(len(self.temporaries))} in memory{total}")
        lines += [f"  {item}" for item in self.temporaries]
        return "\n".join(lines)


def _count(number: int) -> str:
    return f"{number or 'no'} temporary array{'' if number == 1 else 's'}"


def find_memory(func: PrimFunc, notes: FusionNotes) -> MemoryReport:
    """What `func` keeps in memory for itself once it is lowered."""
    before = func
    for step in lower_steps(func, current_target()):
        if step.name == plan_storage.__name__:
            break
        before = step.func
    plan = find_plan(before)
    describe = _Describe(func, notes)
    kept = [describe(stmt, on_stack) for stmt, on_stack in _with_places(plan.func.body)]
    made = {stmt.buffer: stmt for stmt in _arrays(before.body)}
    shared = [
        replace(describe(made[buffer], is_on_stack=False), shares=home.name)
        for buffer, home in plan.shared.items()
    ]
    fused = tuple(replace(item, file=other_file(item.span, func)) for item in notes.fused)
    return MemoryReport(fused, (*kept, *shared), _peak(plan.func.body))


def _arrays(body: Stmt) -> list[Allocate]:
    found = [stmt for stmt in walk_stmts(body) if isinstance(stmt, Allocate)]
    return [stmt for stmt in found if not stmt.buffer.is_register]


def _with_places(body: Stmt) -> list[tuple[Allocate, bool]]:
    """The arrays, each with whether it is on the stack: small ones are, up to a total."""
    total = 0
    found: list[tuple[Allocate, bool]] = []
    for stmt in _arrays(body):
        size = _bytes(stmt.buffer)
        is_on_stack = size is not None and fits_on_stack(size, total)
        total += size or 0 if is_on_stack else 0
        found.append((stmt, is_on_stack))
    return found


@record(eq=False)
class _Describe:
    """An array in words, with what fusion noted of it."""

    func: PrimFunc
    notes: FusionNotes

    def __call__(self, stmt: Allocate, is_on_stack: bool) -> Temporary:
        buffer = stmt.buffer
        line = None if stmt.span is None else stmt.span.line
        reason = "made to compute in vectors or tiles"  # no line of the script has it
        if isinstance(buffer, TensorBuffer):
            reason = "a stage stores it"
        if line is not None:
            reason = self.notes.reasons.get((buffer.name, line), "the script makes it")
        return Temporary(
            buffer.name,
            _shape(buffer),
            _bytes(buffer),
            line,
            reason,
            is_on_stack,
            file=other_file(stmt.span, self.func),
        )


def _shape(buffer: Buffer) -> str:
    sizes = [format_expr(size) for size in buffer.shape]
    if buffer.is_growing:
        sizes[0] = "..."
    return f"{buffer.dtype}[{', '.join(sizes)}]"


def _bytes(buffer: Buffer) -> int | None:
    sizes = [int(size.value.real) for size in buffer.shape if isinstance(size, Const)]
    if len(sizes) < buffer.ndim or buffer.is_growing:
        return None
    return math.prod(sizes) * buffer.dtype.bits // 8


def _peak(body: Stmt) -> int:
    """The most bytes that arrays of known size take at a time: each lives to its scope's end."""
    live = most = 0
    for stmt in flat_stmts(body):
        if isinstance(stmt, Allocate) and not stmt.buffer.is_register:
            live += _bytes(stmt.buffer) or 0
        inner = [_peak(child) for child in children(stmt) if isinstance(child, Stmt)]
        most = max(most, live + max(inner, default=0))
    return most
