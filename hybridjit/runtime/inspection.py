"""Looking at a kernel: its IR at each stage, its code, and what is checked when it runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Literal, get_args

from hybridjit import config
from hybridjit.analysis.refutation import find_refutation
from hybridjit.codegen.engine import emit_assembly, optimize
from hybridjit.codegen.kernel import Extras, emit_kernel
from hybridjit.codegen.layout import Layout
from hybridjit.errors import ArgumentError, ArgumentValueError, Span, line_in, text_at
from hybridjit.ir.expr import Bounded, BufferRef, Expr, Load, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import format_expr
from hybridjit.ir.stmt import For, Stmt, Store, While
from hybridjit.ir.visit import children, walk, walk_stmts
from hybridjit.lowering.check_bounds import check_bounds
from hybridjit.lowering.hoist_checks import Place, find_hoisted, place_of
from hybridjit.lowering.pipeline import Step, debug_steps, lower_steps
from hybridjit.processor import current_target
from hybridjit.record import record

StageName = Literal["tir", "optimized", "lowered", "llvm", "asm", "passes"]


def show_stage(
    func: PrimFunc,
    layout: Layout,
    stage: StageName,
    *,
    may_reorder: bool = False,
    with_lines: bool = False,
) -> str:
    """The kernel as text, at one stage after it was made fast; LLVM and assembly with debug lines
    if these are asked for.
    """
    check_stage(stage)
    steps = steps_in_force(func, layout, may_reorder=may_reorder)
    match stage:
        case "tir" | "optimized":
            return str(func)
        case "passes":
            return _show_passes(steps)
        case _:
            *_, last = steps
    if stage == "lowered":
        return str(last.func)
    target = current_target()
    extras = Extras(has_lines=with_lines, fills_unset=config.current().debug)
    emitted = emit_kernel(last.func, layout, target, extras=extras)
    module = optimize(emitted.text, target)
    return str(module) if stage == "llvm" else emit_assembly(module, target)


def check_stage(stage: object) -> None:
    """Refuse what is not the name of a stage, such as an argument in its place."""
    stages = get_args(StageName)
    if not isinstance(stage, str):
        raise ArgumentError(
            f"the first argument is the name of a stage, got {type(stage).__name__}",
            help=f"one of {', '.join(stages)}, and then the arguments of the kernel",
        )
    if stage not in stages:
        raise ArgumentValueError(f"there is no stage {stage!r}", help=f"one of {', '.join(stages)}")


def steps_in_force(func: PrimFunc, layout: Layout, *, may_reorder: bool) -> Iterator[Step]:
    """The steps that lower what is compiled: others while somebody looks for an error."""
    if config.current().debug:
        return debug_steps(func)
    may_vectorize = layout.is_disjoint
    return lower_steps(func, current_target(), may_reorder=may_reorder, may_vectorize=may_vectorize)


def _show_passes(steps: Iterable[Step]) -> str:
    parts: list[str] = []
    for step in steps:
        title = f"# {step.name}: {step.seconds * 1e3:.2f} ms"
        parts.append(f"{title}\n{step.func}" if step.changed else f"{title}, no change")
    return "\n\n".join(parts)


def other_file(span: Span | None, func: PrimFunc) -> str:
    """The file that `span` is in, if that is not the one of the function."""
    home = "" if func.span is None else func.span.file
    return "" if span is None or span.file == home else span.file


@record
class SpecializationInfo:
    """One translation of a kernel: for which arguments, why, and how many layouts have code."""

    arguments: str
    reason: str
    layouts: int


@record
class Check:
    """An index that is checked at run time, and how often: `stands` says where.

    `file` is where it is written, if that is not the file of the script; `written` is how, if the
    index has no name there. One that `is_made` is an index of the compiler's own, in what it made
    of that line.
    """

    buffer: str
    axis: int
    index: str
    span: Span | None
    stands: str = field(default="", kw_only=True)
    file: str = field(default="", kw_only=True)
    written: str = field(default="", kw_only=True)
    is_made: bool = field(default=False, kw_only=True)

    def __str__(self) -> str:
        return self.among(1)

    def among(self, count: int) -> str:
        """What is to be said of so many checks like this one."""
        where = f"; {self.stands}" if self.stands else ""
        if count == 1:
            return f"{self.place} is checked: it is not known to stay inside the array{where}"
        return (
            f"{self._line}{count} indices of '{self.buffer}', axis {self.axis}, are checked: they "
            f"are not known to stay inside the array{where}"
        )

    @property
    def place(self) -> str:
        """The index in words."""
        if self.is_made:
            return f"{self._line}an index of '{self.buffer}', axis {self.axis},"
        if self.written:
            return f"{self._line}index of '{self.buffer}' in `{self.written}`, axis {self.axis},"
        return f"{self._line}index `{self.index}` of '{self.buffer}', axis {self.axis},"

    @property
    def _line(self) -> str:
        return "" if self.span is None else f"{line_in(self.file, self.span.line)}: "


@record
class Refuted(Check):
    """An index that is outside its axis in every run: the first one that a run gets to."""

    value: int
    size: int
    iteration: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        where = ", ".join(f"{name}={value}" for name, value in self.iteration)
        there = f" in iteration {where}" if where else ""
        return f"{self.place} is refuted: it is {self.value}{there}, and the size is {self.size}"


@record
class Safety:
    """What is known about the memory accesses of a kernel: proved, refuted, or checked."""

    proved: int
    checks: tuple[Check, ...]
    refuted: Refuted | None = None

    def __str__(self) -> str:
        found = self.checks if self.refuted is None else (self.refuted, *self.checks)
        total = self.proved + len(found)
        proved = f"{self.proved} of {total} indices are proved to be inside their arrays"
        lines = [proved if total else "no indices"]
        return "\n".join([*lines, *dict.fromkeys(_said(found))])

    __repr__ = __str__


def _said(found: Sequence[Check]) -> Iterator[str]:
    """A line for each check; one for all that were made of a line of the script."""
    written = {replace(check, index="", written="").place for check in found if not check.is_made}
    alike = Counter(map(str, found))
    for check in found:
        if not check.is_made:
            yield str(check)
        elif replace(check, index="", is_made=False).place not in written:
            yield check.among(alike[str(check)])


def find_safety(func: PrimFunc) -> Safety:
    """Which indices of `func` are proved, which are checked when it runs, and which one fails."""
    checked = _before_hoisting(func)
    indices = [index for node in walk(checked.body) for index in _indices(node)]
    refuted = find_refutation(checked)
    bounded = [index for index in indices if isinstance(index, Bounded)]
    stands = dict(_standing(checked.body, None, find_hoisted(checked) if bounded else {}))
    spans = dict(_spans_of_made(checked.body, None)) if bounded else {}
    return Safety(
        len(indices) - len(bounded),
        tuple(
            Check(
                *_describe(index, spans.get(id(index))),
                stands=stands.get(place_of(index), ""),
                file=other_file(spans.get(id(index), index.span), func),
                written=_written(index),
                is_made=index.span is None,
            )
            for index in bounded
            if refuted is None or index is not refuted.access
        ),
        None
        if refuted is None
        else Refuted(
            *_describe(refuted.access),
            refuted.index,
            refuted.size,
            refuted.iteration,
            file=other_file(refuted.access.span, func),
        ),
    )


def _before_hoisting(func: PrimFunc) -> PrimFunc:
    """`func` with its checks, where the script has them."""
    name = check_bounds.__name__
    return next(step.func for step in lower_steps(func, current_target()) if step.name == name)


def _standing(
    stmt: Stmt, around: For | While | None, hoisted: Mapping[Place, For]
) -> Iterator[tuple[Place, str]]:
    """Where the checks in `stmt` end up: before a loop, or in the innermost one around them."""
    inside = stmt if isinstance(stmt, For | While) else around
    for child in children(stmt):
        if isinstance(child, Stmt):
            yield from _standing(child, inside, hoisted)
            continue
        for node in walk(child):
            if isinstance(node, Bounded):
                place = place_of(node)
                yield place, _standing_text(hoisted.get(place), inside)


def _standing_text(hoisted: For | None, around: For | While | None) -> str:
    if hoisted is not None:
        return f"once, before the loop over '{hoisted.var.name}'; in it, if that fails"
    if around is None:
        return "once"
    loop = f"the loop over '{around.var.name}'" if isinstance(around, For) else "the while loop"
    return f"in every iteration of {loop}"


def _indices(node: Node) -> tuple[Expr, ...]:
    """The indices of an element, or of the first one of a part and how many there are."""
    match node:
        case Load(indices=indices) | Store(indices=indices):
            return indices
        case BufferRef(starts=starts) if starts:
            return (*starts, *node.shape)
        case _:
            return ()


def _spans_of_made(stmt: Stmt, around: Span | None) -> Iterator[tuple[int, Span | None]]:
    """The place of each index that has none of its own: that of what it was made for."""
    inside = (inner.span for inner in walk_stmts(stmt) if inner.span is not None)
    span = stmt.span or next(inside, around)
    for child in children(stmt):
        if isinstance(child, Stmt):
            yield from _spans_of_made(child, span)
            continue
        for node in walk(child):
            if isinstance(node, Bounded) and node.span is None:
                yield id(node), span


def _describe(index: Bounded, made_for: Span | None = None) -> tuple[str, int, str, Span | None]:
    return index.buffer, index.axis, format_expr(index.index), index.span or made_for


def _written(index: Bounded) -> str:
    """The text of an access whose index goes by a name that is not in it."""
    text = "" if index.span is None else text_at(index.span)
    return text if isinstance(index.index, Var) and index.index.name not in text else ""
