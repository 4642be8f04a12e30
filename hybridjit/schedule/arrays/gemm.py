"""Large matrix products: blocks of the factors are packed, and multiplied tile by tile.

    for j in range(0, n, width):
        for k in range(0, inner, depth):
            right = b[k : k + depth, j : j + width], in panels as wide as a tile
            for i in range(0, m, rows):
                left = a[i : i + rows, k : k + depth]
                for p in range(panels):
                    sums = left @ right[p], in registers
                    if k > 0:
                        sums += totals[i : i + rows, p * columns : ...]
                    if k + depth >= inner:
                        c[i : i + rows, j + p * columns : ...] = sums
                    else:
                        totals[i : i + rows, p * columns : ...] = sums

The terms of an element are added in blocks of `depth`, in order, each product and sum rounded
once where the machine can (`fma`). Packing reads the factors in any layout, and converts them on
the way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from hybridjit.arith.ranges import ZERO, constant, minus, plus, tidy, times
from hybridjit.ir.dtype import DType
from hybridjit.ir.expr import (
    Add,
    Buffer,
    Call,
    Const,
    Expr,
    FloorDiv,
    Ge,
    Gt,
    Le,
    Load,
    Lt,
    Min,
    Neg,
    const,
)
from hybridjit.ir.stmt import If, Store, seq
from hybridjit.schedule.arrays.builder import Builder
from hybridjit.schedule.arrays.multiply_add import multiply_add

Indices = tuple[Expr, ...]

PACKED_BYTES = 1 << 20  # of packed columns: they stay in the second cache, of 1 to 2 MB


@dataclass(frozen=True, slots=True)
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
        return max(1, PACKED_BYTES // (self.depth * self.columns * self.dtype.bits // 8))


@dataclass(frozen=True, slots=True)
class Factors:
    """The elements of two matrices, their sizes (rows, inner, columns), and what takes the sums.

    It is given each element of the product once.
    """

    left: Callable[[Expr, Expr], Expr]
    right: Callable[[Expr, Expr], Expr]
    sizes: tuple[Expr, Expr, Expr]
    put: Callable[[Expr, Expr, Expr], None]


@dataclass(frozen=True, slots=True)
class TileMemory:
    """Scratch memory for all rows: packed columns, of so many terms at once, and the sums of the
    terms before, if there are any.
    """

    depth: int
    right: Buffer
    totals: Buffer | None

    @staticmethod
    def of(code: Builder, tile: Tile, sizes: tuple[Expr, Expr, Expr]) -> TileMemory:
        """As much of it as a product of these sizes needs."""
        _, inner, columns = map(constant, sizes)
        depth = tile.depth if inner is None else min(tile.depth, inner)
        panels = tile.panels if columns is None else min(tile.panels, -(-columns // tile.columns))
        dtype, totals = tile.dtype.component, None
        if inner is None or inner > tile.depth:
            shape = sizes[0], Const(tile.parts), Const(panels * tile.columns)
            totals = code.array("totals", dtype, shape)
        right = code.local("right", dtype, panels, depth, tile.parts, tile.columns)
        return TileMemory(depth, right, totals)


@dataclass(frozen=True, slots=True)
class RowMemory:
    """Scratch memory of some rows, which no others use: packed rows, the sums, and the sums on
    their way out. It is made where the rows are computed, so that threads have their own.
    """

    left: Buffer
    sums: Buffer
    out: Buffer

    @staticmethod
    def of(code: Builder, tile: Tile, depth: int) -> RowMemory:
        """As much of it as a tile needs.

        Packed rows are a bit longer than they need to be: apart by a power of two, they would
        compete for the same lines of the cache.
        """
        dtype = tile.dtype.component
        return RowMemory(
            code.local("left", dtype, tile.parts, tile.rows, depth + tile.lanes),
            code.local("sums", dtype, tile.rows, tile.parts, tile.vectors, tile.lanes),
            code.local("out", dtype, tile.rows, tile.parts, tile.columns),
        )


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a tile is: its first row, its panel, its first column, and its first term."""

    i: Expr
    p: Expr
    j: Expr
    k: Expr


@dataclass(frozen=True, slots=True)
class TiledProduct:
    """The code of one product."""

    code: Builder
    factors: Factors
    tile: Tile
    memory: TileMemory
    own: RowMemory | None = None

    @property
    def rows(self) -> RowMemory:
        """The memory of the rows that are being computed."""
        assert self.own is not None
        return self.own

    def emit(self) -> None:
        """Give all elements of the product to `factors.put`."""
        _, inner, columns = self.factors.sizes
        width = self.tile.panels * self.tile.columns

        def columns_from(j: Expr) -> None:
            self.code.each("k", inner, lambda k: self._block(j, k), step=self.tile.depth)

        self.code.each("j", columns, columns_from, step=width)

    def _block(self, j: Expr, k: Expr) -> None:
        """Multiply with the columns from `j` on, for the terms from `k` on."""
        code, columns = self.code, self.tile.columns
        rows, inner, width = self.factors.sizes
        depth = self._part(inner, k, self.tile.depth, "depth")
        packed = self._part(width, j, self.tile.panels * columns, "packed")
        panels = tidy(FloorDiv(plus(packed, Const(columns - 1)), Const(columns)))

        def column_of(p: Expr) -> Expr:
            return plus(j, times(p, Const(columns)))

        def rows_from(i: Expr) -> None:
            here = replace(self, own=RowMemory.of(code, self.tile, self.memory.depth))
            here._pack_left(i, k, depth)
            code.each("p", panels, lambda p: here._tile(_Place(i, p, column_of(p), k), depth))

        def pack(p: Expr) -> None:
            first = column_of(p)
            code.each("d", depth, lambda d: self._pack_right(plus(k, d), first, (p, d)))

        code.each("p", panels, pack)
        code.each("i", rows, rows_from, step=self.tile.rows)

    def _tile(self, place: _Place, depth: Expr) -> None:
        self._sum(place.p, depth)
        self._store(place)

    def _part(self, size: Expr, start: Expr, most: int, name: str) -> Expr:
        """How many of `size` are left from `start` on, up to `most`."""
        known = constant(size)
        if known is not None and (known <= most or known % most == 0):
            return Const(min(known, most))
        left = tidy(Min(minus(size, start), Const(most)))
        return self.code.let(left, name)

    # -- packing -------------------------------------------------------------------------------

    def _pack_left(self, i: Expr, k: Expr, depth: Expr) -> None:
        """Copy the rows from `i` on; the last row stands for those that are not there."""
        rows = self.factors.sizes[0]
        is_whole = self._is_whole(0, self.tile.rows)

        def one(r: Expr) -> None:
            row = plus(i, r)
            if not is_whole:
                row = self.code.let(tidy(Min(row, minus(rows, Const(1)))), "row")
            self.code.each("d", depth, lambda d: copy(r, row, d))

        def copy(r: Expr, row: Expr, d: Expr) -> None:
            value = self.factors.left(row, plus(k, d))
            self._pack(self.rows.left, lambda part: (part, r, d), value)

        self.code.each("r", self.tile.rows, one)

    def _pack_right(self, k: Expr, first: Expr, place: tuple[Expr, Expr]) -> None:
        """Copy one row of a panel; there are zeros where there are no columns."""
        code, zero = self.code, const(0, self.tile.dtype.component)
        columns = self.tile.columns

        def copy(lane: Expr) -> None:
            value = self.factors.right(k, plus(first, lane))
            self._pack(self.memory.right, lambda part: (*place, part, lane), value)

        def copy_or_clear(lane: Expr) -> None:
            with code.collect() as there:
                copy(lane)
            with code.collect() as beyond:
                for part in map(Const, range(self.tile.parts)):
                    code.emit(Store(self.memory.right, (*place, part, lane), zero))
            is_there = Lt(plus(first, lane), self.factors.sizes[2])
            code.emit(If(is_there, seq(*there), seq(*beyond)))

        code.lanes("l", columns, copy if self._is_whole(2, columns) else copy_or_clear)

    def _is_whole(self, axis: int, step: int) -> bool:
        """True if a size is known to be a multiple of `step`."""
        known = constant(self.factors.sizes[axis])
        return known is not None and known % step == 0

    def _pack(self, buffer: Buffer, place: Callable[[Expr], Indices], value: Expr) -> None:
        """Store an element, or its parts, each in its own place."""
        if self.tile.parts == 1:
            self.code.emit(Store(buffer, place(Const(0)), value))
            return
        value = self.code.let(value, "x")
        for part, name in enumerate(("real", "imag")):
            self.code.emit(Store(buffer, place(Const(part)), Call(name, (value,))))

    # -- tiles ---------------------------------------------------------------------------------

    def _each_sum(self, body: Callable[[Expr, Expr, Expr], None]) -> None:
        """Emit what is done with each element of a tile: its row, its vector, its lane."""
        code, tile = self.code, self.tile
        code.unrolled(
            "r",
            tile.rows,
            lambda r: code.unrolled(
                "v", tile.vectors, lambda v: code.lanes("l", tile.lanes, lambda n: body(r, v, n))
            ),
        )

    def _sum(self, p: Expr, depth: Expr) -> None:
        """Multiply the packed rows by panel `p`."""
        tile, memory, emit = self.tile, self.rows, self.code.emit
        zero = const(0, tile.dtype.component)

        def clear(r: Expr, v: Expr, lane: Expr) -> None:
            for part in range(tile.parts):
                emit(Store(memory.sums, (r, Const(part), v, lane), zero))

        def write(r: Expr, v: Expr, lane: Expr) -> None:
            for part in map(Const, range(tile.parts)):
                column = plus(times(v, Const(tile.lanes)), lane)
                emit(Store(memory.out, (r, part, column), Load(memory.sums, (r, part, v, lane))))

        self._each_sum(clear)
        self.code.each(
            "d", depth, lambda d: self._each_sum(lambda r, v, lane: self._term((p, d), r, v, lane))
        )
        self._each_sum(write)

    def _term(self, place: tuple[Expr, Expr], r: Expr, v: Expr, lane: Expr) -> None:
        """Add one product to one sum."""
        memory, column = self.memory, plus(times(v, Const(self.tile.lanes)), lane)
        x = [Load(self.rows.left, (Const(part), r, place[1])) for part in range(self.tile.parts)]
        y = [Load(memory.right, (*place, Const(part), column)) for part in range(self.tile.parts)]

        def add(part: int, factor: Expr, other: Expr) -> None:
            indices = (r, Const(part), v, lane)
            old = Load(self.rows.sums, indices)
            total = multiply_add(factor, other, old, fuse=self.tile.fuse)
            self.code.emit(Store(self.rows.sums, indices, total))

        add(0, x[0], y[0])
        if self.tile.parts == 2:
            add(0, Neg(x[1]), y[1])
            add(1, x[0], y[1])
            add(1, x[1], y[0])

    def _store(self, place: _Place) -> None:
        """Put the sums of a tile where they belong, as far as the result goes."""
        code, totals = self.code, self.memory.totals

        def finish() -> None:
            self._each_element(place, lambda r, lane: self._put(place, r, lane))

        if totals is None:
            finish()
            return
        each_part = partial(self._each_part, place, totals)
        code.only_if(Gt(place.k, ZERO), lambda: each_part(_add_total))
        with code.collect() as last:
            finish()
        with code.collect() as others:
            each_part(_keep_total)
        is_last = Ge(plus(place.k, Const(self.tile.depth)), self.factors.sizes[1])
        code.emit(If(is_last, seq(*last), seq(*others)))

    def _put(self, place: _Place, r: Expr, lane: Expr) -> None:
        loads = [Load(self.rows.out, (r, Const(p), lane)) for p in range(self.tile.parts)]
        value = loads[0] if len(loads) == 1 else Call("complex", tuple(loads))
        self.factors.put(plus(place.i, r), plus(place.j, lane), value)

    def _each_part(
        self, place: _Place, totals: Buffer, update: Callable[[Load, Load], Store]
    ) -> None:
        """Emit what is done with each part of a sum and with that of the terms before.

        They have room for whole tiles.
        """
        column = times(place.p, Const(self.tile.columns))

        def one(r: Expr, lane: Expr) -> None:
            for part in map(Const, range(self.tile.parts)):
                total = Load(totals, (plus(place.i, r), part, plus(column, lane)))
                self.code.emit(update(Load(self.rows.out, (r, part, lane)), total))

        self._each_lane(place, one)

    def _each_element(self, place: _Place, body: Callable[[Expr, Expr], None]) -> None:
        """Emit what is done with each element of a tile that there is: its row and its column."""
        code, columns, size = self.code, self.tile.columns, self.factors.sizes[2]

        def only_inside(r: Expr, lane: Expr) -> None:
            code.only_if(Lt(plus(place.j, lane), size), lambda: body(r, lane))

        known = constant(minus(size, place.j))
        is_whole = self._is_whole(2, columns) or (known is not None and known >= columns)
        if is_whole or known is not None:
            self._each_lane(place, body if is_whole else only_inside)
            return
        with code.collect() as whole:
            self._each_lane(place, body)
        with code.collect() as part:
            self._each_lane(place, only_inside)
        is_inside = Le(plus(place.j, Const(columns)), size)
        code.emit(If(is_inside, seq(*whole), seq(*part)))

    def _each_lane(self, place: _Place, body: Callable[[Expr, Expr], None]) -> None:
        """Emit what is done with each element of the rows that there are."""
        code = self.code
        height = self._part(self.factors.sizes[0], place.i, self.tile.rows, "rows")
        columns = self.tile.columns
        code.each("r", height, lambda r: code.lanes("l", columns, lambda lane: body(r, lane)))


def _add_total(out: Load, total: Load) -> Store:
    return Store(out.buffer, out.indices, Add(total, out))


def _keep_total(out: Load, total: Load) -> Store:
    return Store(total.buffer, total.indices, out)
