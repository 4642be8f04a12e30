"""Multiply matrices in packed tiles where their order is that of loops, and they are too large for
the first cache; convolutions, where there is enough to do.

    for i in range(n):                              for j in range(0, m, ...):
        for j in range(m):                              for k in range(0, l, depth):
            c[i, j] = 0.0                    -->            pack columns of b
            for k in range(l):                              for i in range(0, n, rows):
                c[i, j] += a[i, k] * b[k, j]                    tiles of c, from where they were on

Sums of loops and of te are added in their order, each product rounded before it is, bit for bit the
same, unless fastmath says otherwise. Smaller products run side by side as they stand
(tile_sums.py), which compiles sooner; where sizes are known at run time only, there is code for
both. What becomes of them is in schedule/arrays/gemm.py.

Relies on: arrays that share no memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from hybridjit.analysis.limits import loop_extent
from hybridjit.analysis.reduction import find_reduction
from hybridjit.arith.ranges import constant
from hybridjit.ir.dtype import FLOAT32, FLOAT64
from hybridjit.ir.expr import Buffer, Mul, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block, Store
from hybridjit.optimize.decisions import BlockOf, Decisions
from hybridjit.optimize.products import MIN_SIDE
from hybridjit.schedule.arrays.choose_tile import suit_product
from hybridjit.schedule.arrays.matrix_product import Product
from hybridjit.schedule.arrays.multiply_add import has_fma
from hybridjit.schedule.primitives.array_products import (
    GemmNumbers,
    find_in_block,
    find_version,
    gemm,
)
from hybridjit.schedule.program import blocks_of, loops_around
from hybridjit.target import Target

# Rows for which it is worth to pack a column.
MIN_ROWS = 16
# How many times as large as the first cache a matrix is that is packed: 256 x 256 numbers of four
# bytes run at 34 GFLOP/s instead of 28, 512 x 512 at 34 instead of 14 (Neoverse N1, one core).
_FIRST_CACHES = 2
# Terms of all sums of a convolution: 4 M run at 27 GFLOP/s instead of 24, 100 M at 30 instead of
# 19, half a million are better off as they are.
_MIN_TERMS = 1 << 21
_LONG = 1 << 20  # how long a loop may be of which it is not known


def pack_products(
    func: PrimFunc, target: Target, is_free: Callable[[Var], bool], decisions: Decisions
) -> PrimFunc:
    """`func` with its large products in tiles, those whose loops are all `is_free` to choose."""
    may_fuse = has_fma(target) and "contract" in func.fastmath
    for block in blocks_of(func):
        if not _may_be_large(func, block, target, is_free):
            continue
        found = find_in_block(func, block.name, is_gemm=True)
        least: dict[str, Any] = {}
        if found is None:
            least = _least(block, target)
            found = find_version(func, block.name, GemmNumbers(**least))
        if found is None or (found.start is None and not found.product.in_order):
            continue
        product = found.product
        if not product.columns:
            continue  # of a matrix and a vector
        if not least and not _is_large(product, target):
            continue
        tile = suit_product(product, target)
        numbers: dict[str, Any] = {"rows": tile.rows, "vectors": tile.vectors, "lanes": tile.lanes}
        numbers |= {"depth": tile.depth, "fma": may_fuse, **least}
        place = BlockOf(_stored(block), product.nest.var)
        if decisions.take("gemm", place, **numbers):
            func = gemm(func, block.name, GemmNumbers(**numbers))
    return func


def _may_be_large(
    func: PrimFunc, block: Block, target: Target, is_free: Callable[[Var], bool]
) -> bool:
    """A look that costs little: a sum of products in loops that are long enough."""
    if not isinstance(block.body, Store):
        return False
    if block.is_open or block.body.buffer.dtype not in (FLOAT32, FLOAT64):
        return False
    found = find_reduction(block.body)
    if found is None or not isinstance(found.update, Mul):
        return False
    work = block.body.buffer.dtype.bits // 8
    for loop in loops_around(func, block):
        extent = loop_extent(loop)
        if not is_free(loop.var):
            return False
        work *= _LONG if extent is None else extent
    return work >= MIN_ROWS * _FIRST_CACHES * target.caches.first


def _least(block: Block, target: Target) -> dict[str, int]:
    """From where on a product is computed in tiles whose sizes are known at run time only: where a
    square one is.
    """
    elements = _FIRST_CACHES * target.caches.first * 8 // _stored(block).dtype.bits
    return {"least_terms": elements * math.isqrt(elements), "least_rows": MIN_ROWS}


def _is_large(product: Product, target: Target) -> bool:
    """Whether what is read again and again does not stay near, or there is much to do."""
    rows, terms, columns = map(constant, product.sizes)
    if rows is None or terms is None or columns is None:
        return False
    if product.windows:
        rows = _count(product, product.rows)
    if rows < MIN_ROWS or columns < MIN_SIDE:
        return False
    if product.windows or len(product.columns) > 1:
        return _count(product, [loop.var for loop in product.loops]) >= _MIN_TERMS
    size = _count_read_again(product) * product.result.dtype.bits // 8
    return size >= _FIRST_CACHES * target.caches.first


def _count_read_again(product: Product) -> int:
    """The elements of the factor that the outermost loop does not move along."""
    loops = (loop.var for loop in product.loops if constant(loop.stop) != 1)
    is_by_columns = next(loops, None) in product.columns
    return _count(product, [product.terms, *(product.rows if is_by_columns else product.columns)])


def _count(product: Product, loops: Sequence[Var]) -> int:
    """The iterations of some of the loops, at least: one that only a run knows may run once."""
    known = (constant(product.extent(var)) for var in loops)
    return math.prod(1 if extent is None else extent for extent in known)


def _stored(block: Block) -> Buffer:
    assert isinstance(block.body, Store)
    return block.body.buffer
