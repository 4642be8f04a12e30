"""Bugs planted where names are given other arrays in loops: wrong memory, copies that are missing.

Each must make a random script of `tests.arrays.names` differ from plain Python.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from hybridjit.frontend import after_loops, carried, name_states
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.frame import Carry
from hybridjit.ir.expr import Buffer
from tests.arrays.check import Refused, check_program
from tests.arrays.generate import make_program
from tests.planted.bugs import Bug, Plant, RandomCheck, always, replaced

# Scripts until a bug counts as missed.
MAX_SCRIPTS = 150


def _check_script(number: int) -> None:
    with suppress(Refused):
        check_program(make_program(f"names {number}", "names"), is_native=False)


def _bug(what: str, plant: Plant, first: int = 0) -> Bug:
    return Bug(what, [plant], RandomCheck("names", _check_script, first, MAX_SCRIPTS))


def first_like_it(build: Builder, made: Buffer, carry: Carry) -> Buffer | None:
    """The memory of an array that a name may still stand for."""
    states: list[Any] = [value for state in carry.states for value in state]
    buffers = [value.buffer for value in states if getattr(value, "buffer", None) is not None]
    return next(
        (b for b in buffers if b in build.unit.made and name_states.is_alike(build, b, made)), None
    )


BUGS = (
    _bug("what has two names is overwritten", replaced(Builder, "is_shared", always(False)), 83),
    _bug("arrays are not brought together", replaced(after_loops, "_move", always(None)), 1),
    _bug("rounds take what is in use", replaced(carried, "_find_free", first_like_it), 45),
    _bug("names are not read later", replaced(after_loops, "_is_read_later", always(False))),
)
