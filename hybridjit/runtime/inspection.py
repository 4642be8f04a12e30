"""Looking at a kernel: its IR at each stage, its code, and what is checked when it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hybridjit.codegen.engine import emit_assembly, optimize
from hybridjit.codegen.kernel import emit_kernel
from hybridjit.codegen.layout import Layout
from hybridjit.codegen.target import host_target
from hybridjit.errors import Span
from hybridjit.ir.expr import Bounded, Load
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import format_expr
from hybridjit.ir.stmt import Store
from hybridjit.ir.visit import walk
from hybridjit.lower.pipeline import lower, lower_steps

StageName = Literal["tir", "lowered", "llvm", "asm", "passes"]


def show_stage(func: PrimFunc, layout: Layout, stage: StageName) -> str:
    """The kernel as text, at one stage between the source and the machine."""
    match stage:
        case "tir":
            return str(func)
        case "lowered":
            return str(lower(func))
        case "passes":
            return _show_passes(func)
        case "llvm" | "asm":
            target = host_target()
            module = optimize(emit_kernel(lower(func), layout, target).text, target)
            return str(module) if stage == "llvm" else emit_assembly(module, target)


def _show_passes(func: PrimFunc) -> str:
    parts: list[str] = []
    for step in lower_steps(func):
        title = f"# {step.name}: {step.seconds * 1e3:.2f} ms"
        parts.append(f"{title}\n{step.func}" if step.changed else f"{title}, no change")
    return "\n\n".join(parts)


@dataclass(frozen=True, slots=True)
class SpecializationInfo:
    """One translation of a kernel: for which arguments, why, and how many layouts have code."""

    arguments: str
    reason: str
    layouts: int


@dataclass(frozen=True, slots=True)
class Check:
    """An index that is checked at run time."""

    buffer: str
    axis: int
    index: str
    span: Span | None

    def __str__(self) -> str:
        place = "" if self.span is None else f"line {self.span.line}: "
        return (
            f"{place}index `{self.index}` of '{self.buffer}', axis {self.axis}, is checked: "
            "it is not known to stay inside the array"
        )


@dataclass(frozen=True, slots=True)
class Safety:
    """What is known about the memory accesses of a kernel."""

    proved: int
    checks: tuple[Check, ...]

    def __str__(self) -> str:
        total = self.proved + len(self.checks)
        lines = [f"{self.proved} of {total} indices are proved to be inside their arrays"]
        return "\n".join([*lines, *(str(check) for check in self.checks)])


def find_safety(func: PrimFunc) -> Safety:
    """Which indices of `func` are proved, and which are checked when it runs."""
    indices = [
        index
        for node in walk(lower(func).body)
        if isinstance(node, Load | Store)
        for index in node.indices
    ]
    checks = tuple(
        Check(index.buffer, index.axis, format_expr(index.index), index.span)
        for index in indices
        if isinstance(index, Bounded)
    )
    return Safety(len(indices) - len(checks), checks)
