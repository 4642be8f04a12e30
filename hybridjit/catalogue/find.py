"""From a message to its code, and from a code to its page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from hybridjit.catalogue import (
    arguments,
    language,
    run_time,
    schedules,
    services,
    settings,
    tensors,
    types,
    values,
)
from hybridjit.catalogue.entry import Entry

# The first family that knows a message has it: what is more special stands first.
ENTRIES: tuple[Entry, ...] = (
    *run_time.ENTRIES,
    *schedules.ENTRIES,
    *tensors.ENTRIES,
    *services.ENTRIES,
    *arguments.ENTRIES,
    *language.ENTRIES,
    *values.ENTRIES,
    *types.ENTRIES,
    *settings.ENTRIES,
)
# Classes with a page for whatever they say: words that they share with other errors mean nothing.
_OF_THEIR_OWN = ("ConfigError", "PassError", "TuneError", "CheckError", "InternalError")
PAGES: dict[str, Entry] = {entry.code: entry for entry in sorted(ENTRIES, key=lambda e: e.code)}


def find_code(kind: type[BaseException], message: str) -> str:
    """The code of a message of an error of this class."""
    return next(_codes(kind, message))


def _codes(kind: type[BaseException], message: str) -> Iterator[str]:
    names = [cls.__name__ for cls in kind.__mro__]
    for entry, pattern in _patterns():
        is_of_kind = entry.kind in names if entry.kind else kind.__name__ not in _OF_THEIR_OWN
        if is_of_kind and pattern.search(message):
            yield entry.code
    by_kind = {entry.kind: entry.code for entry in ENTRIES if entry.kind and not entry.says}
    yield from (by_kind[name] for name in names if name in by_kind)


@cache
def _patterns() -> tuple[tuple[Entry, re.Pattern[str]], ...]:
    return tuple(
        (entry, re.compile("|".join(f"(?:{each})" for each in entry.says)))
        for entry in ENTRIES
        if entry.says
    )
