"""Bugs in the order in which expressions read and change memory, noticed by random scripts."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from hybridjit.frontend import assignments, calls, inline, item_loops, plain_syntax, subscripts
from hybridjit.frontend.arrays import choices, memory
from tests.effects.campaign import try_number
from tests.planted.bugs import Bug, Plant, RandomCheck, always, replaced

# Scripts until a bug counts as missed.
MAX_SCRIPTS = 150


def as_it_stands(build: Any, value: Any, *_: Any) -> Any:
    return value


@contextmanager
def in_any_order(build: Any, nodes: Sequence[Any]) -> Generator[None]:
    yield


def _check_script(number: int) -> None:
    # Odd ones are interpreted.
    try_number(0, 2 * number + 1)


def _bug(what: str, plants: Sequence[Plant], first: int = 0) -> Bug:
    return Bug(what, plants, RandomCheck("effects", _check_script, first, MAX_SCRIPTS))


BUGS = (
    _bug("a row is found when it is read", [replaced(memory, "settled", as_it_stands)], 105),
    _bug("a row that is passed on moves", [replaced(inline, "settled", as_it_stands)], 92),
    _bug("a row that is gone through moves", [replaced(item_loops, "settled", as_it_stands)], 47),
    _bug("a row that is chosen moves", [replaced(choices, "settled", as_it_stands)], 183),
    _bug(
        "arguments are read when they are needed", [replaced(calls, "in_order", in_any_order)], 34
    ),
    _bug(
        "subscripts are read when they are needed",
        [replaced(module, "in_order", in_any_order) for module in (subscripts, assignments)],
    ),
    _bug(
        "what was computed is computed again after calls",
        [replaced(memory, "has_effect", always(False))],
    ),
    _bug("updated elements move", [replaced(plain_syntax, "_stays", always(True))]),
)
