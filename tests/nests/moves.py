"""Random steps of a schedule: every primitive, on loops and blocks that are there."""

from __future__ import annotations

from collections.abc import Callable

from hybridjit.schedule.handles import LoopHandle
from hybridjit.schedule.program import blocks_of
from hybridjit.schedule.schedule import Schedule
from tests.choices import Choose, pick

Move = Callable[[Schedule, Choose], None]


def any_loop(s: Schedule, choose: Choose) -> LoopHandle:
    """A loop of the program."""
    return pick(choose, s.loops())


def any_block(s: Schedule, choose: Choose) -> str:
    """The name of a block of the program."""
    return pick(choose, blocks_of(s.func)).name


def any_chain(s: Schedule, choose: Choose) -> list[LoopHandle]:
    """The loops around a block."""
    chains = [list(s.loops(block.name)) for block in blocks_of(s.func)]
    return pick(choose, [chain for chain in chains if chain] or [list(s.loops())])


def _split(s: Schedule, choose: Choose) -> None:
    factor = 1 + choose(4)
    if choose(2):
        s.split(any_loop(s, choose), factor=factor)
    else:
        s.split(any_loop(s, choose), nparts=factor)


def _split_in_three(s: Schedule, choose: Choose) -> None:
    s.split(any_loop(s, choose), factors=[1 + choose(2), None, 1 + choose(3)])


def _fuse(s: Schedule, choose: Choose) -> None:
    chain = any_chain(s, choose)
    first = choose(len(chain))
    s.fuse(*chain[first : first + 2])


def _reorder(s: Schedule, choose: Choose) -> None:
    s.reorder(*shuffled_chain(s, choose))


def shuffled_chain(s: Schedule, choose: Choose) -> list[LoopHandle]:
    """Some loops around a block, in another order."""
    chain = any_chain(s, choose)
    first = choose(len(chain))
    part = chain[first : first + 2 + choose(2)]
    return [part.pop(choose(len(part))) for _ in range(len(part))]


def _tile(s: Schedule, choose: Choose) -> None:
    chain = any_chain(s, choose)
    first = choose(len(chain))
    x, y = chain[first], chain[min(first + 1, len(chain) - 1)]
    s.tile(x, y, 1 + choose(3), 1 + choose(3))


MOVES: dict[str, Move] = {
    "split": _split,
    "split in three": _split_in_three,
    "fuse": _fuse,
    "reorder": _reorder,
    "tile": _tile,
    "parallel": lambda s, choose: s.parallel(any_loop(s, choose)),
    "vectorize": lambda s, choose: s.vectorize(any_loop(s, choose)),
    "unroll": lambda s, choose: s.unroll(any_loop(s, choose)),
    "serial": lambda s, choose: s.serial(any_loop(s, choose)),
}
"""All moves by name. A move that cannot be made raises ScheduleError."""
