"""The page of a program that no script was written for, such as that of tensors.

Its source is what it prints as: read back, every statement has a line of that text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hybridjit.errors import HybridError
from hybridjit.frontend.parse import parse_text
from hybridjit.ir.func import PrimFunc
from hybridjit.runtime import compiler
from hybridjit.runtime.arguments import flatten
from hybridjit.runtime.modules.module import build
from hybridjit.schedule.schedule import Schedule
from hybridjit.schedule.trace import Trace
from hybridjit.viewing.kernel_page import Subject, make_page
from hybridjit.viewing.page import Page


def make_program_page(opened: Schedule, args: Sequence[Any]) -> Page:
    """Everything between a program, which `opened` is a schedule of, and its machine code."""
    text = str(opened.original)
    read = _read_back(opened, text)
    (function,) = build(read).functions
    made = function.specialization
    specs, values = function.bind(args, {})
    layout = made.layout(specs, values)
    scheduled = _replayed(read.original, opened.trace)
    if made.is_optimized(layout):
        compiler.take_own_steps(scheduled, read.original if opened.trace.steps else None)
    arguments, lines = ", ".join(map(str, specs)), list(enumerate(text.splitlines(), 1))
    subject = Subject(read.original.name, arguments, lines, read, scheduled)
    return make_page(subject, made, layout, flatten(specs, values))


def _read_back(opened: Schedule, text: str) -> Schedule:
    """The schedule of a program read from `text`; itself, without lines, if that is not enough."""
    func = opened.original
    try:
        read = replace(parse_text(text), fastmath=func.fastmath, parallel=func.parallel)
        return _replayed(read, opened.trace)
    except HybridError:
        return _replayed(func, opened.trace)


def _replayed(func: PrimFunc, trace: Trace) -> Schedule:
    made = Schedule(func)
    made.replay(trace)
    return made
