"""Random steps of a schedule: every primitive, on loops and blocks that are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

from hybridjit.errors import ScheduleError
from hybridjit.ir.stmt import For, Seq
from hybridjit.ir.visit import walk
from hybridjit.schedule.handles import LoopHandle
from hybridjit.schedule.program import blocks_of
from hybridjit.schedule.schedule import Schedule
from tests.support.choices import Choose, pick

T = TypeVar("T")
Move = Callable[[Schedule, Choose], None]


def pick_one(choose: Choose, options: Sequence[T]) -> T:
    """One of `options`; without any, the move cannot be made."""
    if not options:
        raise ScheduleError("there is nothing to choose from")
    return pick(choose, options)


def any_loop(s: Schedule, choose: Choose) -> LoopHandle:
    """A loop of the program."""
    return pick_one(choose, s.loops())


def any_block(s: Schedule, choose: Choose) -> str:
    """The name of a block of the program."""
    return pick_one(choose, blocks_of(s.func)).name


def any_chain(s: Schedule, choose: Choose) -> list[LoopHandle]:
    """The loops around a block."""
    chains = [list(s.loops(block.name)) for block in blocks_of(s.func)]
    return pick_one(choose, [chain for chain in chains if chain])


def _split(s: Schedule, choose: Choose) -> None:
    factor = 1 + choose(4)
    if choose(2):
        s.split(any_loop(s, choose), factor=factor)
    else:
        s.split(any_loop(s, choose), nparts=factor)


def _split_in_three(s: Schedule, choose: Choose) -> None:
    s.split(any_loop(s, choose), factors=[1 + choose(2), None, 1 + choose(3)])


def _split_in_parts(s: Schedule, choose: Choose) -> None:
    s.split(any_loop(s, choose), nparts=2 + choose(3))


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


def _ignore(result: object) -> None:
    """Moves give nothing back."""


def _merge(s: Schedule, choose: Choose) -> None:
    pairs = [
        (first, second)
        for node in walk(s.func.body)
        if isinstance(node, Seq)
        for first, second in pairwise(node.stmts)
        if isinstance(first, For) and isinstance(second, For)
    ]
    loops = {loop.var: loop for loop in s.loops()}
    if not pairs or choose(8) == 0:  # loops that are no neighbours must be refused
        s.merge(any_loop(s, choose), any_loop(s, choose))
    else:
        first, second = pick(choose, pairs)
        s.merge(loops[first.var], loops[second.var])


def _fission(s: Schedule, choose: Choose) -> None:
    block = any_block(s, choose)
    s.fission(pick_one(choose, s.loops(block)), after=block)


def _prefetch(s: Schedule, choose: Choose) -> None:
    s.prefetch(pick_one(choose, "abc"), any_loop(s, choose), 1 + choose(3))


MOVES: dict[str, Move] = {
    "prefetch": _prefetch,
    "blockize": lambda s, choose: _ignore(s.blockize(any_loop(s, choose))),
    "bind": lambda s, choose: s.bind(any_loop(s, choose), "threadIdx.x"),
    "annotate": lambda s, choose: s.annotate(any_loop(s, choose), "hint", choose(3)),
    "merge": _merge,
    "fission": _fission,
    "partition": lambda s, choose: _ignore(s.partition(any_loop(s, choose), choose(6) - 1)),
    "peel": lambda s, choose: _ignore(s.peel(any_loop(s, choose), 1 + choose(3))),
    "peel last": lambda s, choose: _ignore(s.peel(any_loop(s, choose), 1 + choose(3), last=True)),
    "rfactor": lambda s, choose: _ignore(s.rfactor(any_loop(s, choose))),
    "unit loop": lambda s, choose: _ignore(s.add_unit_loop(any_block(s, choose))),
    "split": _split,
    "split in three": _split_in_three,
    "split in parts": _split_in_parts,
    "fuse": _fuse,
    "reorder": _reorder,
    "tile": _tile,
    "parallel": lambda s, choose: s.parallel(any_loop(s, choose)),
    "vectorize": lambda s, choose: s.vectorize(any_loop(s, choose)),
    "unroll": lambda s, choose: s.unroll(any_loop(s, choose)),
    "ravel": lambda s, choose: s.ravel(any_loop(s, choose)),
    "unravel": lambda s, choose: s.unravel(any_loop(s, choose)),
    "sink": lambda s, choose: s.sink(any_loop(s, choose)),
    "squares": lambda s, choose: s.squares(any_loop(s, choose), 2 + choose(3), 5 * choose(2)),
    "sums first": lambda s, choose: s.sums_first(any_loop(s, choose), 2 << choose(3)),
    "serial": lambda s, choose: s.serial(any_loop(s, choose)),
}
"""All moves by name. A move that cannot be made raises ScheduleError."""

# Steps that make products of run-time sizes; with them, the others are taken now and then.
SIZED_MOVES = (
    *("fuse", "split in parts", "split in three", "split", "tile"),
    *("reorder", "parallel", "vectorize", "parallel", "vectorize"),
)


def _sums_in_lanes(s: Schedule, choose: Choose) -> None:
    chain = any_chain(s, choose)
    lane, row = pick(choose, chain), pick(choose, chain)
    lanes = 2 << choose(3)
    if row == lane:
        s.sums_in_lanes(lane, lanes=lanes, if_possible=True)
    else:
        s.sums_in_lanes(lane, row, lanes=lanes, rows=2 << choose(2), if_possible=True)


HINTS: dict[str, Move] = {
    "in lanes": lambda s, choose: s.in_lanes(any_loop(s, choose), 1 << choose(5), if_possible=True),
    "on threads": lambda s, choose: s.on_threads(any_loop(s, choose), if_possible=True),
    "in register": lambda s, choose: s.in_register(any_loop(s, choose), if_possible=True),
    "sums in lanes": _sums_in_lanes,
}
"""Moves that the compiler carries out if it finds that they are right."""
