"""The part of a product of matrices that is computed at once, and the memory that it needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from hybridjit.arith.ranges import constant, minus, plus
from hybridjit.ir.dtype import BOOL, DType
from hybridjit.ir.expr import Buffer, Const, Expr, Le, Load
from hybridjit.record import record
from hybridjit.schedule.arrays.builder import Builder

Place = Sequence[Expr]

LEAST_PACKED = 1 << 17  # bytes of packed columns, which stay in the second cache if they fit


@record
class Tile:
    """The part of a product that is computed at once, in registers: rows by vectors of lanes.

    The parts of complex numbers are kept apart, so that all of it is real arithmetic.
    """

    dtype: DType
    rows: int
    vectors: int
    lanes: int
    # So many terms are added in one go.
    depth: int
    # Whether a product and the sum that it is added to are rounded once.
    fuse: bool
    packed_bytes: int = 1 << 20
    # Whether each sum goes on where the terms before left it: all are added in their order.
    in_order: bool = False
    # Whether the first of them is added to what the result holds.
    goes_on: bool = False
    # Whether vectors are multiplied by an element of another one, so that elements of several rows
    # are loaded at once; else each of them is loaded into all lanes.
    by_element: bool = False

    @property
    def parts(self) -> int:
        """How many numbers an element is made of."""
        return 2 if self.dtype.is_complex else 1

    @property
    def columns(self) -> int:
        """The width of the tile."""
        return self.vectors * self.lanes

    @property
    def panels(self) -> int:
        """How many panels are packed at once."""
        return max(1, self.packed_bytes // (self.depth * self.columns * self.dtype.bits // 8))


@record
class Span:
    """The elements of the left factor next to each other that rows read of a row of a window: so
    far apart for two rows, and for two terms. The element so many places `beyond` the one of a row
    and a term is there for all that lies between two that are read.
    """

    stride: int
    dilation: int
    beyond: Callable[[Place, Place, Expr], Expr]

    def of_rows(self, rows: int, width: int) -> int:
        """How many elements there are for so many rows, and a window of this width."""
        return (rows - 1) * self.stride + (width - 1) * self.dilation + 1


@record
class Factors:
    """The elements of two matrices, their sizes (rows, inner, columns), and of what takes the sums.

    An element of the product is found by its row and its column. A row is a place in
    the loops `around`, if there are any, and a number; a term is a number and a place in the
    `windows`, of these sizes. What the result has next to each other are columns, or rows. The
    left factor is packed, or `is_read_in_place`; packed row by row, or `term_by_term` if rows of
    the product are what lies next to each other there, and in a `span` if windows overlap. The
    right one is packed term by term, or `column_by_column` if terms lie next to each other there.
    Terms are products, or those `of_bytes`.
    """

    left: Callable[[Place, Place], Expr]
    right: Callable[[Place, Expr], Expr]
    sizes: tuple[Expr, Expr, Expr]
    element: Callable[[Place, Expr], Load]
    around: tuple[Expr, ...] = ()
    windows: tuple[int, ...] = ()
    goes_along_rows: bool = False
    is_read_in_place: bool = False
    term_by_term: bool = False
    column_by_column: bool = False
    span: Span | None = None
    of_bytes: bool = False

    def is_whole(self, axis: int, step: int) -> bool:
        """True if a size is known to be a multiple of `step`."""
        known = constant(self.sizes[axis])
        return known is not None and known % step == 0

    def reaches(self, axis: int, first: Expr, count: int) -> Expr:
        """Whether there are `count` elements from `first` on, where steps of `count` lead to."""
        left = constant(minus(self.sizes[axis], first))
        if self.is_whole(axis, count) or left is not None:
            return Const(left is None or left >= count, BOOL)
        return Le(plus(first, Const(count)), self.sizes[axis])


@record
class TileMemory:
    """Scratch memory for all rows: packed columns, of so many terms at once, and the sums of the
    terms before, if there are any and the result does not hold them, of whole tiles.
    """

    depth: int
    right: Buffer
    totals: Buffer | None

    @staticmethod
    def of(
        code: Builder,
        tile: Tile,
        sizes: tuple[Expr, Expr, Expr],
        around: Sequence[Expr] = (),
        windows: Sequence[int] = (),
    ) -> TileMemory:
        """As much of it as a product of these sizes needs, with rows in loops `around`."""
        _, inner, columns = map(constant, sizes)
        depth = tile.depth if inner is None else min(tile.depth, inner * math.prod(windows))
        panels = tile.panels if columns is None else min(tile.panels, -(-columns // tile.columns))
        dtype, totals = tile.dtype.component, None
        if (inner is None or inner > tile.depth) and not tile.goes_on:
            # Room for a tile that begins in the last row: as is known of any number of rows.
            rows = plus(sizes[0], Const(tile.rows - 1))
            shape = *around, rows, Const(tile.parts), Const(panels * tile.columns)
            totals = code.array("totals", dtype, shape)
        right = code.local("right", dtype, panels, depth, tile.parts, tile.columns)
        return TileMemory(depth, right, totals)


@record
class RowMemory:
    """Scratch memory of some rows, which no others use: the sums, and the sums on their way out. It
    is made where the rows are computed, so that threads have their own.
    """

    sums: Buffer
    out: Buffer

    @staticmethod
    def of(code: Builder, tile: Tile) -> RowMemory:
        """As much of it as a tile needs."""
        dtype = tile.dtype.component
        return RowMemory(
            code.local("sums", dtype, tile.rows, tile.parts, tile.vectors, tile.lanes),
            code.local("out", dtype, tile.rows, tile.parts, tile.columns),
        )
