"""What lists of picks led to, so that no candidate is made twice to see that it is known.

    first choice   second choice   what came of it
    0 ------------ 0               a recipe
         `-------- 1               refused
    1                              a recipe

Which choice comes next depends on the picks before it alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.record import record
from hybridjit.tuning.picks import Picks
from hybridjit.tuning.space import Refused

End = bytes | Refused
"""The end of a path: a recipe, written out, or a refusal."""


@record(eq=False)
class _Fork:
    """A choice with these weights, and where each place that was picked leads to."""

    weights: tuple[float, ...]
    ways: dict[int, _Fork | End]


class Paths:
    """The tree of all picks so far."""

    def __init__(self) -> None:
        self._start: _Fork | End | None = None

    def follow(self, picks: Picks) -> End | None:
        """Pick as far as the choices are known; what that leads to, None if it leads further."""
        at = self._start
        while isinstance(at, _Fork):
            at = at.ways.get(picks(at.weights))
        return at

    def add(self, choices: Sequence[tuple[Sequence[float], int]], end: End) -> None:
        """Note what these choices, each with its weights and what was picked, led to."""
        at: _Fork | End = end
        for weights, place in reversed(choices):
            at = _Fork(tuple(weights), {place: at})
        self._start = at if self._start is None else _merged(self._start, at)


def _merged(old: _Fork | End, new: _Fork | End) -> _Fork | End:
    """The old tree with a path of the new one: a template that is of two minds gets the newest."""
    if not isinstance(old, _Fork) or not isinstance(new, _Fork):
        return new
    for place, way in new.ways.items():
        old.ways[place] = _merged(old.ways[place], way) if place in old.ways else way
    return old
