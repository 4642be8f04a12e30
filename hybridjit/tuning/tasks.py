"""What a search is about, as data: the program, its arguments, and what comes of them."""

from __future__ import annotations

import hashlib
from dataclasses import field
from typing import Any

from hybridjit.record import record


@record(eq=False)
class Task:
    """What all jobs of a search share, pickled: the program and the arguments to call it with.

    `loose`: the program leaves the order of some sums open, and results may differ by rounding.
    `reference` tells what the plain program makes of the arguments, as soon as somebody has run it.
    """

    program: bytes
    arguments: bytes
    loose: bool = False
    parallel: bool = False
    cold: bool = False
    reference: bytes = b""
    # What tells it from other ones. Arguments are large: it is found once, and sent along.
    key: bytes = field(init=False, default=b"")

    def __post_init__(self) -> None:
        parts = (self.program, self.arguments, bytes((self.loose, self.parallel, self.cold)))
        key = b"".join(hashlib.sha256(part).digest() for part in parts)
        object.__setattr__(self, "key", key)


@record(eq=False)
class Reference:
    """A run of the plain program: what came of it, packed if it can be, and how long it took;
    None if it raised something.
    """

    packed: bytes
    seconds: float | None


@record(eq=False)
class Outcome:
    """The arguments that a run changed, by their places, and its results."""

    changed: dict[int, Any]
    results: list[Any]
