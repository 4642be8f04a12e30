"""Run a PrimFunc in the interpreter up to where it fails; tell what its variables held there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hybridjit.interp.run import Program, compile_program
from hybridjit.interp.scope import Frame
from hybridjit.interp.script_names import find_names
from hybridjit.ir.func import PrimFunc
from hybridjit.record import record


@record(eq=False)
class Failure:
    """The error that a run ended with, and the values of variables and arrays at that time."""

    error: Exception
    values: dict[str, Any]


def find_failure(func: PrimFunc, args: Sequence[object]) -> Failure | None:
    """How `func` fails for `args`, which it writes to; None if it does not."""
    program = compile_program(func)
    frame = program.begin(args)
    try:
        program.run(frame)
    except Exception as error:
        # What a frame holds is as it was: a program that fails does not tidy up.
        return Failure(error, _values(func, program, frame))
    return None


def _values(func: PrimFunc, program: Program, frame: Frame) -> dict[str, Any]:
    """The variables, but for names that mean several: which was set last, nobody knows."""
    held = [item for item in find_names(func, program.scope.slots) if item.is_set(frame)]
    counts = Counter(item.name for item in held)
    return {item.name: item.value(frame) for item in held if counts[item.name] == 1}
