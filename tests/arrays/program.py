"""A random array script: its text, its arguments, and how exactly its results are known."""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.arrays.pool import Noted
from tests.arrays.values import Arguments, np


@dataclass(frozen=True, slots=True)
class Program:
    """The text of a function `kernel`, and the arguments of some calls of it.

    Results and arrays that are exact must be equal bit for bit. The scales of others are those of
    the one call of a script that `is_sized`; for other scripts they say nothing.
    """

    kind: str
    text: str
    calls: Sequence[Arguments]
    results: Sequence[Noted]
    arrays: Mapping[str, Noted]
    statements: Counter[str]
    is_sized: bool

    @property
    def args(self) -> list[Any]:
        """The arguments of the first call."""
        return list(self.calls[0].make().values())


@contextmanager
def defined(program: Program) -> Generator[Any]:
    """The function of a script, while `linecache` has its source."""
    file = f"<random array script {id(program)}>"
    lines = program.text.splitlines(keepends=True)
    linecache.cache[file] = (len(program.text), None, lines, file)
    names: dict[str, Any] = {"np": np}
    exec(compile(program.text, file, "exec"), names)
    try:
        yield names["kernel"]
    finally:
        linecache.cache.pop(file, None)
