"""Run a PrimFunc in the interpreter up to where it fails; tell what its variables held there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hybridjit.interp.run import compile_program
from hybridjit.interp.scope import UNSET
from hybridjit.ir.expr import Buffer
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
        named = ((name, frame[slot]) for name, slot in program.scope.slots.items())
        values = {
            name.name: value
            for name, value in named
            if value is not None and value is not UNSET and not _is_growing(name)
        }
        return Failure(error, values)
    return None


def _is_growing(name: object) -> bool:
    return isinstance(name, Buffer) and name.is_growing
