"""Run a function before and after a schedule rewrote it, and compare."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from hybridjit.frontend.parse import parse_text
from hybridjit.interp.run import interpret
from hybridjit.ir.equal import structural_equal
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.verify import Stage, verify
from hybridjit.runtime import compiler
from hybridjit.runtime.native import layout_of, load_native
from hybridjit.schedule.schedule import Schedule
from hybridjit.schedule.trace import Trace
from tests.support.oracle import assert_same, fresh_copies


def outcome(func: PrimFunc, args: Sequence[Any], *, native: bool = False) -> list[Any]:
    """The result of `func` and its arguments afterwards; an error is a result, by its type."""
    copies = fresh_copies(args)
    try:
        result = _run_native(func, copies) if native else interpret(func, copies)
    except IndexError:
        # What an error leaves behind in the arguments is not part of the meaning of a program.
        return [IndexError]
    return [result, *copies]


def _run_native(func: PrimFunc, args: Sequence[Any]) -> object:
    layout = layout_of(func.header, args, is_disjoint=True)
    return load_native(func.header, layout, compiler.build(func, layout))(args)


def assert_unchanged(
    before: PrimFunc, after: PrimFunc, args: Sequence[Any], *, native: bool = False
) -> None:
    """Fail unless both functions do the same to `args`, bit by bit, and the text parses back."""
    _assert_well_formed(after, os.getpid())
    expected, found = outcome(before, args), outcome(after, args)
    _assert_same(found, expected, f"interpreted on {_shapes(args)}", after)
    if native:
        _assert_same(outcome(after, args, native=True), expected, "natively", after)


@lru_cache(maxsize=32)
def _assert_well_formed(func: PrimFunc, process: int) -> None:
    """Once for each function, however many arguments it is run on: parsing takes the time.

    Children, in which the compiler may be another one, look anew.
    """
    verify(func, Stage.BLOCKS)
    assert structural_equal(parse_text(str(func)), func), f"does not parse back:\n{func}"


def _assert_same(found: list[Any], expected: list[Any], way: str, after: PrimFunc) -> None:
    try:
        assert len(found) == len(expected), f"{found} instead of {expected}"
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    except AssertionError as error:
        raise AssertionError(f"{way}: {error}\n{after}") from None


def _shapes(args: Sequence[Any]) -> str:
    return ", ".join(str(getattr(arg, "shape", arg)) for arg in args)


def run_example(schedule: Schedule, step: str) -> None:
    """Run the `>>>` lines in the docstring of a step, in which `s` is the schedule."""
    text = getattr(Schedule, step).__doc__ or ""
    lines = [line.strip() for line in text.splitlines()]
    examples = [line.removeprefix(">>> ") for line in lines if line.startswith(">>> ")]
    assert examples, f"{step} has no example"
    exec("\n".join(examples), {"s": schedule})


def replayed(schedule: Schedule) -> PrimFunc:
    """What the trace of `schedule`, written as JSON and read back, makes of the same program."""
    again = Schedule(schedule.original)
    again.replay(Trace.from_json(schedule.trace.to_json()))
    return again.func
