"""The page of a kernel for some arguments."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hybridjit import config
from hybridjit.codegen.engine import emit_assembly, optimize
from hybridjit.codegen.kernel import Extras, emit_kernel
from hybridjit.codegen.layout import Layout
from hybridjit.errors import ScheduleError
from hybridjit.ir.func import PrimFunc
from hybridjit.processor import current_target
from hybridjit.record import record
from hybridjit.runtime import compiler
from hybridjit.runtime.inspection import steps_in_force
from hybridjit.runtime.report import report_on
from hybridjit.runtime.specialization import Specialization
from hybridjit.runtime.translation import Request
from hybridjit.schedule.recipe import take_recipe
from hybridjit.schedule.schedule import Schedule
from hybridjit.source import FunctionSource
from hybridjit.target import Caches
from hybridjit.viewing.debug_lines import read_assembly, read_llvm
from hybridjit.viewing.page import Page
from hybridjit.viewing.places import Places
from hybridjit.viewing.stages import Stage, find_steps, program_stage


@record(eq=False)
class Subject:
    """What a page is of: a text with the numbers of its lines, which a program was made of, the
    schedule with the steps of the user, and one with those of the compiler as well.
    """

    name: str
    arguments: str
    source: Sequence[tuple[int, str]]
    opened: Schedule
    scheduled: Schedule


def script_subject(request: Request, *, is_optimized: bool) -> Subject:
    """A script, for the page of its kernel."""
    opened = compiler.open_schedule(request)
    scheduled = compiler.auto_schedule(request) if is_optimized else opened
    arguments = ", ".join(map(str, request.specs))
    return Subject(request.source.name, arguments, _numbered(request.source), opened, scheduled)


def _numbered(source: FunctionSource) -> list[tuple[int, str]]:
    return list(enumerate(source.text.splitlines(), source.first_line))


def make_page(subject: Subject, made: Specialization, layout: Layout, args: Sequence[Any]) -> Page:
    """Everything between the source and its machine code; `args` are empty for types."""
    may_reorder = made.may_reorder(layout)
    func = made.compiled_func(layout)
    *_, last = steps_in_force(func, layout, may_reorder=may_reorder)
    report = report_on(made, layout, args)
    original = subject.opened.original
    places = Places(original)
    return Page(
        subject.name,
        subject.arguments,
        subject.source,
        [
            program_stage("program", original, places),
            program_stage("schedule", subject.opened.func, places),
            program_stage("optimized", func, places),
            program_stage("lowered", last.func, places),
            *_code_stages(places.put_into(last.func, for_code=True), layout),
        ],
        find_steps(subject.scheduled),
        report.shown,
        _caches(current_target().caches),
        f"{report.safety}\n{report.memory}\n{report.compiled}",
    )


def _code_stages(placed: PrimFunc, layout: Layout) -> tuple[Stage, Stage]:
    target = current_target()
    extras = Extras(has_lines=True, fills_unset=config.current().debug)
    module = optimize(emit_kernel(placed, layout, target, extras=extras).text, target)
    llvm, assembly = str(module), emit_assembly(module, target)
    return Stage("LLVM", read_llvm(llvm)), Stage("assembly", read_assembly(assembly))


def make_schedule_page(source: FunctionSource, opened: Schedule) -> Page:
    """The script, and what the steps of a schedule made of it, or would have made."""
    arguments = ", ".join(buffer.name for buffer in opened.original.buffers)
    places = Places(opened.original)
    refused = [f"{opened.write_call(each.step)} was refused" for each in opened.refused]
    return Page(
        source.name,
        arguments,
        _numbered(source),
        [
            program_stage("program", opened.original, places),
            program_stage("schedule", opened.func, places),
        ],
        find_steps(opened),
        (),
        (),
        "\n".join(refused) or "no step was refused",
    )


def make_refused_page(request: Request) -> Page:
    """The page of a kernel, a step of whose schedule is refused."""
    opened = compiler.open_schedule(replace(request, schedule=None))
    with contextlib.suppress(ScheduleError):
        take_recipe(opened, request.schedule)
    return make_schedule_page(request.source, opened)


def _caches(caches: Caches) -> list[tuple[str, int]]:
    return [
        ("fits into the first cache", caches.first),
        ("fits into the core's own cache", caches.own),
        ("fits into the shared cache", caches.shared),
    ]


def write_page(page: Page, path: str | os.PathLike[str] | None) -> Path:
    """Write the page to a file, or to one of our own in the folder for such; say which."""
    if path is None:
        name = re.sub(r"\W", "_", page.name)
        descriptor, made = tempfile.mkstemp(prefix=f"hybridjit-{name}-", suffix=".html")
        os.close(descriptor)
        path = made
    found = Path(path)
    found.write_text(page.render(), encoding="utf-8")
    return found
