"""Products that are added up, in tiles: matrix products, dense layers and convolutions.

    for i:                        for j_0:                          a panel of columns
        for j:                        pack the columns of b
            for k:          -->       for i_0:                      a tile of c, in registers
                c += a * b                for k:
                                              for i_1, unrolled:    one element of a
                                                  for j_1, lanes:   meets a row of b

The rows of a tile are a loop that only the first factor knows, such as the columns of an image;
its columns are a loop that only the second one knows, such as the outputs of a convolution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hybridjit.ir.printer import name_buffers
from hybridjit.processor import current_target
from hybridjit.schedule.handles import LoopHandle
from hybridjit.schedule.schedule import Schedule
from hybridjit.stdlib.running.nests import Loop, Nest, name_of, uses

# Below this, loops as they are take no longer, and compile sooner.
LEAST_WORK = 1 << 15
# From this on, threads are worth waking up.
PARALLEL_WORK = 1 << 21
# So much of a column is packed at once: a panel then stays in the second cache.
DEPTH = 512
MAX_DEPTH = 1024

# Registers for the results of a tile, and the most rows, as measured: by whether there are 32 of
# 512 bits or 16 smaller ones, and whether there are several loops to add up over. Those need
# registers themselves.
_REGISTERS = {
    **{(True, False): (24, 12), (True, True): (16, 8)},
    **{(False, False): (12, 6), (False, True): (12, 6)},
}


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """The loops of the rows and columns of tiles, and the sizes of a tile."""

    row: Loop
    column: Loop
    rows: int
    vectors: int
    lanes: int


def find_tile(nest: Nest) -> Tile | None:
    """How the product of two factors is tiled, or None if it cannot be."""
    if len(nest.reads) != 2 or nest.work < LEAST_WORK or not nest.reduced:
        return None
    left, right = nest.reads
    rows = [loop for loop in nest.spatial if uses(left, loop) and not uses(right, loop)]
    columns = [loop for loop in nest.spatial if uses(right, loop) and not uses(left, loop)]
    if not rows or not columns:
        return None
    row, column = rows[-1], columns[-1]
    bits = current_target().vector_bits
    lanes = min(bits // nest.store.buffer.dtype.bits, 1 << (column.extent - 1).bit_length())
    registers, most = _REGISTERS[bits > 256, len(nest.reduced) > 1]
    height = _choose_height(row.extent, most)
    vectors = min(max(registers // height, 1), 4, -(-column.extent // lanes))
    return Tile(row, column, height, vectors, lanes)


def _choose_height(rows: int, most: int) -> int:
    """The rows of a tile: a number that divides all of them, or else parts of about one size."""
    fitting = [size for size in range(most // 2, most + 1) if rows % size == 0]
    return max(fitting, default=-(-rows // -(-rows // most)))


def tile_product(s: Schedule, nest: Nest, tile: Tile) -> None:
    """Compute a product in tiles."""
    right = nest.reads[1]
    others = [loop for loop in nest.spatial if loop not in (tile.row, tile.column)]
    outside = [loop.handle for loop in others if uses(right, loop)]
    inside = [loop for loop in others if not uses(right, loop)]
    panels, column = s.split(tile.column.handle, factor=tile.lanes * tile.vectors)
    vector, lane = s.split(column, factor=tile.lanes)
    tiles, row = s.split(tile.row.handle, factor=tile.rows)
    deep, reduced = _split_depth(s, nest)
    images = [loop.handle for loop in inside]
    s.reorder(*outside, panels, *deep, *images, tiles, *reduced, row, vector, lane)
    # Results begin with 0 where all that is added up is inside of that loop.
    starts = [s.decompose_reduction(nest.block, loop) for loop in deep]
    _pack(s, nest, tile, [panels, *deep][-1])
    _keep_in_registers(s, nest, tile, tiles)
    if not starts:
        starts = [s.decompose_reduction(nest.block, reduced[0])]
    for block in (nest.block, *starts):
        *_, row, vector, lane = s.loops(block)
        s.vectorize(lane)
        s.unroll(vector)
        s.unroll(row)
    if nest.work >= PARALLEL_WORK:
        # Not the panels: their last one is narrower, and the loop over them is cut in two for it.
        shared = [loop.handle for loop in inside if loop.extent > 1]
        s.parallel([*shared, tiles][0])


def _split_depth(s: Schedule, nest: Nest) -> tuple[list[LoopHandle], list[LoopHandle]]:
    """The loops over parts of a long column, and over what is in one."""
    first, *others = nest.reduced
    if others or first.extent <= MAX_DEPTH:
        return [], [loop.handle for loop in nest.reduced]
    outer, inner = s.split(first.handle, factor=DEPTH)
    return [outer], [inner]


def _pack(s: Schedule, nest: Nest, tile: Tile, at: LoopHandle) -> None:
    """Copy the columns of a panel, so that those of a row lie side by side."""
    right = nest.reads[1]
    copy = _new_buffer(
        s, lambda: s.cache_read(nest.block, name_of(s, right.buffer), "global", at=at)
    )
    places = [place for place, index in enumerate(right.indices) if index is tile.column.var]
    _move_last(s, copy, right.buffer.ndim, places)


def _keep_in_registers(s: Schedule, nest: Nest, tile: Tile, at: LoopHandle) -> None:
    """Let the results of a tile live in registers until it is done."""
    name = name_of(s, nest.store.buffer)
    copy = _new_buffer(s, lambda: s.cache_write(nest.block, name, "local", at=at))
    indices = nest.store.indices
    places = [place for place, index in enumerate(indices) if index is tile.column.var]
    _move_last(s, copy, len(indices), places)


def _move_last(s: Schedule, buffer: str, rank: int, places: list[int]) -> None:
    """Let a dimension of a buffer be the last one."""
    if places and places[0] != rank - 1:
        names = [f"d{place}" for place in range(rank)]
        order = [*names[: places[0]], *names[places[0] + 1 :], names[places[0]]]
        s.transform_layout(buffer, f"{', '.join(names)} -> {', '.join(order)}")


def _new_buffer(s: Schedule, step: Callable[[], object]) -> str:
    """The name of the buffer that a step adds."""
    before = set(name_buffers(s.func).values())
    step()
    return next(name for name, buffer in name_buffers(s.func).items() if buffer not in before)
