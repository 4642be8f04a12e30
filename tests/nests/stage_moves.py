"""Random steps that move stages, copy memory, lay it out otherwise and take reductions apart."""

from __future__ import annotations

from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import Load
from hybridjit.ir.printer import name_buffers
from hybridjit.ir.stmt import Allocate, Block, Store
from hybridjit.ir.visit import walk
from hybridjit.schedule.program import blocks_of
from hybridjit.schedule.schedule import Schedule
from tests.nests.moves import Move, any_block, any_loop, pick_one
from tests.support.choices import Choose, pick

# Index maps by the rank of the buffer.
_LAYOUTS = {
    1: ("i -> i % 2, i // 2", "i -> i // 3, i % 3", "i -> 8 - i", "i -> i // 2"),
    2: ("i, j -> j, i", "i, j -> i // 2, j, i % 2", "i, j -> i * 8 + j", "i, j -> i, j // 2"),
}


def _any_buffer(s: Schedule, choose: Choose) -> str:
    """The name of a buffer of the program."""
    return pick_one(choose, list(name_buffers(s.func)))


def _scratch(s: Schedule, choose: Choose) -> tuple[str, int]:
    """The name and the rank of a buffer that the program makes."""
    made = {node.buffer for node in walk(s.func.body) if isinstance(node, Allocate)}
    named = [(name, b.ndim) for name, b in name_buffers(s.func).items() if b in made]
    return pick_one(choose, named)


def _touches_scratch(s: Schedule, choose: Choose, node: type[Load] | type[Store]) -> str:
    """The name of a block that reads a buffer that the program makes, or one that writes it."""
    made = {node.buffer for node in walk(s.func.body) if isinstance(node, Allocate)}
    found = [
        block.name
        for block in blocks_of(s.func)
        if any(isinstance(inner, node) and inner.buffer in made for inner in walk(block))
    ]
    return pick(choose, found) if found and choose(8) else any_block(s, choose)


def _compute_at(s: Schedule, choose: Choose) -> None:
    reader = _touches_scratch(s, choose, Load)
    s.compute_at(_touches_scratch(s, choose, Store), pick_one(choose, s.loops(reader)))


def _reverse_compute_at(s: Schedule, choose: Choose) -> None:
    writer = _touches_scratch(s, choose, Store)
    s.reverse_compute_at(_touches_scratch(s, choose, Load), pick_one(choose, s.loops(writer)))


def _inline(s: Schedule, choose: Choose) -> None:
    s.compute_inline(_touches_scratch(s, choose, Store))


def _reverse_inline(s: Schedule, choose: Choose) -> None:
    s.reverse_compute_inline(_touches_scratch(s, choose, Load))


def _compute_root(s: Schedule, choose: Choose) -> None:
    s.compute_root(_touches_scratch(s, choose, Store))


def _reduction(s: Schedule, choose: Choose) -> Block:
    return pick_one(choose, [block for block in blocks_of(s.func) if block.init is not None])


def _cache(s: Schedule, choose: Choose, step: str) -> None:
    at = any_loop(s, choose) if choose(2) else None
    block, buffer = any_block(s, choose), _any_buffer(s, choose)
    getattr(s, step)(block, buffer, pick(choose, ("local", "global")), at=at)


def _transform_layout(s: Schedule, choose: Choose) -> None:
    name, rank = _scratch(s, choose)
    if rank not in _LAYOUTS:
        raise ScheduleError("there is no map for this rank")
    s.transform_layout(name, pick(choose, _LAYOUTS[rank]))


def _storage_align(s: Schedule, choose: Choose) -> None:
    name, rank = _scratch(s, choose)
    s.storage_align(name, choose(rank + 1), 1 + choose(4), choose(2))


def _decompose_reduction(s: Schedule, choose: Choose) -> None:
    block = _reduction(s, choose).name
    s.decompose_reduction(block, pick_one(choose, s.loops(block)))


def _prefetch(s: Schedule, choose: Choose) -> None:
    s.prefetch(_any_buffer(s, choose), any_loop(s, choose), 1 + choose(9))


def _blockize(s: Schedule, choose: Choose) -> None:
    s.blockize(any_loop(s, choose))


STAGE_MOVES: dict[str, Move] = {
    "compute at": _compute_at,
    "reverse compute at": _reverse_compute_at,
    "compute inline": _inline,
    "reverse compute inline": _reverse_inline,
    "compute root": _compute_root,
    "cache read": lambda s, choose: _cache(s, choose, "cache_read"),
    "cache write": lambda s, choose: _cache(s, choose, "cache_write"),
    "set scope": lambda s, choose: s.set_scope(_scratch(s, choose)[0], "local"),
    "storage align": _storage_align,
    "transform layout": _transform_layout,
    "double buffer": lambda s, choose: s.double_buffer(_scratch(s, choose)[0]),
    "rolling buffer": lambda s, choose: s.rolling_buffer(_scratch(s, choose)[0]),
    "decompose reduction": _decompose_reduction,
    "prefetch": _prefetch,
    "blockize": _blockize,
}
"""Moves by name. Most are refused on programs of one stage."""
