"""The tile of a product that suits a machine and the sizes of the product."""

from __future__ import annotations

from dataclasses import replace

from hybridjit.arith.ranges import constant
from hybridjit.ir.dtype import DType
from hybridjit.schedule.arrays.matrix_product import Product
from hybridjit.schedule.arrays.multiply_add import has_fma, multiplies_by_element
from hybridjit.schedule.arrays.tile import LEAST_PACKED, Tile
from hybridjit.target import Target

# A panel of this depth fits the first cache, beside what is read along with it; a product that is
# not much deeper is better off without sums that are kept for later. Where vectors are so long that
# no panel fits, the rows alone do, and may be as long as they leave a quarter of it for the panels
# that pass by (1024 x 1024 in float64: 53 GFLOP/s with rows of 512, 46 with 256).
DEPTH, MAX_DEPTH = 256, 512
MAX_ROW_BYTES = 4096
# Depths that blocks of equal size are rounded to.
_DEPTHS = 8
# Side by side in a tile: so many vectors, and more of them if there are few rows.
VECTORS, MAX_VECTORS = 2, 4
# How many of the registers are for sums.
_SUMS = {32: 24, 16: 12}
# With 24 sums, 6 rows of 4 vectors take 10 loads for each term, 12 rows of 2 vectors 14. Of few
# rows, the latter are fewer tiles, each of which packs its rows (64 x 64 x 64: 124 GFLOP/s, not
# 111; but 150, not 140, for 128).
_FEW_ROWS = 64
# What rows of windows have in common is kept in registers, too: with 8 rows there are not enough
# (convolutions of 64 x 64 filters of 3 x 3 ran at 104 GFLOP/s instead of 164).
_MAX_WINDOW_ROWS = 7
# A tile of fewer rows loads too much for each term.
_LEAST_ROWS = 3


def suit_product(product: Product, target: Target) -> Tile:
    """The tile for a product of which some sizes may be known."""
    height, inner, width = map(constant, product.sizes)
    dtype = product.result.dtype
    has_windows = bool(product.windows)
    tile = choose_tile(dtype, target, height, width, has_windows=has_windows)
    if product.in_order:
        tile = replace(tile, in_order=True, fuse=False)
    if has_windows or (inner is not None and inner <= tile.depth):
        return tile
    return replace(tile, depth=best_depth(tile, inner, target))


def best_depth(tile: Tile, inner: int | None, target: Target) -> int:
    """How many of more than the usual number of terms are added in one go."""
    size, first = tile.dtype.bits // 8, target.caches.first
    if (tile.rows + tile.columns) * DEPTH * size <= first:
        return MAX_DEPTH if inner is not None and inner <= MAX_DEPTH else DEPTH
    most = max(DEPTH, min(MAX_ROW_BYTES, first * 3 // 4 // tile.rows) // size)
    if inner is None:
        return most
    if inner <= MAX_DEPTH:
        return MAX_DEPTH
    blocks = -(-inner // most)
    return -(-inner // (blocks * _DEPTHS)) * _DEPTHS


def choose_tile(
    dtype: DType,
    target: Target,
    height: int | None = None,
    width: int | None = None,
    *,
    has_windows: bool = False,
) -> Tile:
    """The tile that fills the registers, and of which little is left over at the edges."""
    sums = _SUMS[target.vector_registers] // (2 if dtype.is_complex else 1)
    is_low = has_windows or (height is not None and height <= _FEW_ROWS)
    most = sums // (VECTORS if is_low or sums < _SUMS[32] else MAX_VECTORS)
    if has_windows:
        most = min(most, _MAX_WINDOW_ROWS)
    rows = most if height is None else _best_rows(height, most)
    lanes = max(1, target.vector_bits // dtype.component.bits)
    vectors = MAX_VECTORS if rows * MAX_VECTORS <= sums else VECTORS
    if width is not None:
        lanes = min(lanes, 1 << (max(1, width) - 1).bit_length())
        vectors = min(vectors, -(-width // lanes))
        if not has_windows and not dtype.is_complex and width % (vectors * lanes):
            usual, registers = (rows, vectors), target.vector_registers
            rows, vectors = _even(height, width, lanes, usual, sums, registers)
    packed = max(LEAST_PACKED, target.caches.own // 2)
    tile = Tile(dtype, rows, max(1, vectors), lanes, DEPTH, has_fma(target), packed)
    by_element = multiplies_by_element(target) and lanes > 1 and not dtype.is_complex
    return replace(tile, by_element=by_element)


def _even(
    height: int | None, width: int, lanes: int, usual: tuple[int, int], sums: int, registers: int
) -> tuple[int, int]:
    """The usual rows and vectors; or others that leave nothing over at the right edge, if that
    outweighs what they load more (300 x 300 by 300 x 20: 33 GFLOP/s with 4 rows of 5 vectors, 21
    with 6 rows of 4; Neoverse N1). What vectors load comes from the second cache, and counts twice
    (1000 x 1000 in float64: 56 GFLOP/s with 6 rows of 4, 49 with 4 of 5, AVX-512).
    """

    def cost(shape: tuple[int, int]) -> float:
        rows, vectors = shape
        height_of_all = 1.0 if height is None else -(-height // rows) * rows / height
        width_of_all = -(-width // (vectors * lanes)) * vectors * lanes
        return height_of_all * width_of_all * (1 + (rows + 2 * vectors) / (rows * vectors))

    shapes = [usual]
    for vectors in range(1, sums // _LEAST_ROWS + 1):
        most = min(sums // vectors, (registers - 1) // vectors - 1)
        if most >= _LEAST_ROWS and width % (vectors * lanes) == 0:
            shapes.append((most if height is None else _best_rows(height, most), vectors))
    return min(shapes, key=cost)


def _best_rows(height: int, most: int) -> int:
    """How many rows a tile has for the least work: what it costs besides is one row's worth.

    Of a matrix with few rows, as many tiles as it takes may have fewer rows than fit.
    """
    least = max(1, min(height, most * 2 // 3))
    return min(range(most, least - 1, -1), key=lambda rows: -(-height // rows) * (rows + 1))
