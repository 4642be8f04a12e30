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
once where the machine can (`fma`). Where the order of a sum is not open (`in_order`), it begins
with the total of the blocks before, and its terms are added as in the loops; where they are added
to what `c` holds (`goes_on`), that is the total. Packing reads the factors in any layout, and
converts them on the way.

Where the terms are those of windows, as in a convolution, neighbouring rows share most of what they
read, and all terms are added in one go. Rows are packed so that they still do (left_factor.py), or
not at all, and one panel after the other is:

    for j in range(0, filters, columns):
        right = the filters j : j + columns
        for n, y in the images and their rows:
            for x in range(0, width, rows):
                for c, dy, dx in the terms:
                    sums += a[n, c, y + dy, x + dx] * right[term]
                c[n, j : j + columns, y, x : x + rows] = sums
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from hybridjit.arith.ranges import ZERO, constant, minus, plus, tidy, times
from hybridjit.ir.expr import (
    Add,
    Buffer,
    Call,
    Const,
    Expr,
    FloorDiv,
    Ge,
    Gt,
    Load,
    Lt,
    Max,
    Min,
    Neg,
    const,
)
from hybridjit.ir.stmt import UNROLL, Annotations, If, Store, seq
from hybridjit.record import record
from hybridjit.schedule.arrays.builder import Builder
from hybridjit.schedule.arrays.left_factor import (
    KeptRows,
    LeftFactor,
    RowsAt,
    kept_rows,
    left_factor,
    parts_of,
    term_at,
)
from hybridjit.schedule.arrays.multiply_add import multiply_add
from hybridjit.schedule.arrays.tile import Factors, Place, RowMemory, Tile, TileMemory

Indices = tuple[Expr, ...]

# A panel comes from the second cache, line by line: each is asked for so many terms before it is
# multiplied (1024 x 1024 in float32: 125 GFLOP/s instead of 117). Totals come from further away:
# they are asked for before the first term (3 % of 1024 x 1024 in float64).
TERMS_AHEAD = 4
LINE = 64  # bytes
# Of a column whose terms lie next to each other, so many are packed before those of the next one
# (512 filters of 512 x 3 x 3: a convolution of 7 x 7 takes 3.5 ms, 6.2 with 288; 5.9 if columns are
# gathered. A layer of 512 x 512 for 64 rows takes 0.30 ms, 0.44 term by term).
TERMS_OF_COLUMNS = 96


@record
class _TilePlace:
    """Where a tile is: its rows, how many of them there are, its panel, and its first column."""

    rows: RowsAt
    height: Expr
    p: Expr
    j: Expr


@record
class TiledProduct:
    """The code of one product."""

    code: Builder
    factors: Factors
    tile: Tile
    memory: TileMemory
    own: RowMemory | None = None
    packed: LeftFactor | None = None
    kept: Buffer | None = None
    # Of a symmetric product, only tiles that reach the diagonal, or what is right of it.
    is_half: bool = False

    @property
    def rows(self) -> RowMemory:
        """The memory of the rows that are being computed."""
        assert self.own is not None
        return self.own

    @property
    def left(self) -> LeftFactor:
        """The left factor, for the rows that are being computed."""
        assert self.packed is not None
        return self.packed

    def emit(self) -> None:
        """Store all elements of the product."""
        _, inner, columns = self.factors.sizes
        width = self.tile.panels * self.tile.columns
        here = self
        if not self.is_half:  # whose rows are not all there in the first block of columns
            here = replace(self, kept=KeptRows.memory(self.code, self.factors, self.tile))

        def columns_from(j: Expr) -> None:
            self.code.each("k", inner, lambda k: here._block(j, k), step=self.tile.depth)

        self.code.each("j", columns, columns_from, step=width)

    def _block(self, j: Expr, k: Expr) -> None:
        """Multiply with the columns from `j` on, for the terms from `k` on."""
        code, columns = self.code, self.tile.columns
        rows, inner, width = self.factors.sizes
        depth = self._part(inner, k, self.tile.depth, "depth")
        packed = self._part(width, j, self.tile.panels * columns, "packed")
        # Of whole panels it is plain that no column of theirs is beyond the last one.
        beyond = 0 if self.factors.is_whole(2, columns) else columns - 1
        panels = tidy(FloorDiv(plus(packed, Const(beyond)), Const(columns)))

        def column_of(p: Expr) -> Expr:
            return plus(j, times(p, Const(columns)))

        def rows_from(around: Place, i: Expr) -> None:
            own = RowMemory.of(code, self.tile)  # first of all: there is little room on the stack
            if self.kept is None:
                left = left_factor(code, self.factors, self.tile, self.memory.depth)
            else:
                left = kept_rows(code, self.factors, self.tile, self.kept, (i, k, j))
            here = replace(self, own=own, packed=left)
            at = RowsAt(around, i, k)
            left.pack(at, depth)

            height = self._part(self.factors.sizes[0], i, self.tile.rows, "rows")

            def tile(p: Expr) -> None:
                here._tile(_TilePlace(at, height, p, column_of(p)), depth)

            code.each(
                "p", panels, tile, start=self._first_panel(i, j), marks=self._ask_for_totals()
            )

        def pack(p: Expr, at: Place, d: Expr) -> None:
            self._pack_right(term_at(k, at), column_of(p), (p, d))

        if self.is_half:
            rows = code.let(tidy(Min(rows, plus(j, packed))), "end")

        def rows_around(around: list[Expr]) -> None:
            code.each("i", rows, lambda i: rows_from(around, i), step=self.tile.rows)

        if self.factors.column_by_column:
            code.each("p", panels, lambda p: self._pack_by_column(column_of(p), p, k, depth))
        else:
            self._each_term(depth, lambda at, d: code.each("p", panels, lambda p: pack(p, at, d)))
        names = [f"i{number}" for number in range(len(self.factors.around))]
        code.nest(names, self.factors.around, rows_around)

    def _first_panel(self, i: Expr, j: Expr) -> Expr:
        """The first panel, of those from column `j` on, that is wanted for the rows from `i` on."""
        if not self.is_half:
            return ZERO
        return tidy(Max(FloorDiv(minus(i, j), Const(self.tile.columns)), ZERO))

    def _tile(self, place: _TilePlace, depth: Expr) -> None:
        self._sum(place, depth)
        self._store(place)

    def _each_term(
        self,
        depth: Expr,
        body: Callable[[Place, Expr], None],
        begin: Callable[[Place], None] | None = None,
        marks: Annotations = (),
    ) -> None:
        """Emit what is done with each of the terms: its place, and its number; and how those of a
        row of a window `begin`, which are written out one by one then. The innermost loop has
        `marks`.
        """
        windows = self.factors.windows

        def one(place: list[Expr]) -> None:
            number = place[0]
            for at, size in zip(place[1:], windows, strict=True):
                number = plus(times(number, Const(size)), at)
            body(place, number)

        names = ["d", *(f"d{number}" for number in range(len(windows)))]
        sizes = [depth, *map(Const, windows)]

        def innermost(around: list[Expr]) -> None:
            if begin is not None:
                begin(around)
                self.code.unrolled(names[-1], windows[-1], lambda at: one([*around, at]))
                return
            self.code.each(names[-1], sizes[-1], lambda at: one([*around, at]), marks=marks)

        # LLVM would write all of a window out, with more in flight than there are registers.
        self.code.nest(names[:-1], sizes[:-1], innermost, ((UNROLL, False),))

    def _part(self, size: Expr, start: Expr, most: int, name: str) -> Expr:
        """How many of `size` are left from `start` on, up to `most`."""
        known = constant(size)
        if known is not None and (known <= most or known % most == 0):
            return Const(min(known, most))
        left = tidy(Min(minus(size, start), Const(most)))
        return self.code.let(left, name)

    # -- packing -------------------------------------------------------------------------------

    def _pack_right(self, term: Place, first: Expr, place: tuple[Expr, Expr]) -> None:
        """Copy one row of a panel; there are zeros where there are no columns."""
        code, columns = self.code, self.tile.columns

        def copy(lane: Expr) -> None:
            self._put_right(self.factors.right(term, plus(first, lane)), place, lane)

        def copy_or_clear(lane: Expr) -> None:
            is_there = Lt(plus(first, lane), self.factors.sizes[2])
            code.either(is_there, lambda: copy(lane), lambda: self._put_right(None, place, lane))

        self._by_columns(
            first,
            lambda: code.lanes("l", columns, copy),
            lambda: code.lanes("l", columns, copy_or_clear),
        )

    def _put_right(self, value: Expr | None, place: tuple[Expr, Expr], lane: Expr) -> None:
        """Store an element, or its parts, in a panel; zeros if there is none."""
        parts = [const(0, self.tile.dtype.component)] * self.tile.parts
        if value is not None:
            parts = [value] if self.tile.parts == 1 else parts_of(self.code.let(value, "y"))
        for part, number in enumerate(parts):
            self.code.emit(Store(self.memory.right, (*place, Const(part), lane), number))

    def _pack_by_column(self, first: Expr, p: Expr, k: Expr, depth: Expr) -> None:
        """Copy a panel, some terms of each column after the other: those are as many places of
        memory as the first cache has room for, however far apart columns are.
        """
        code, columns = self.code, self.tile.columns
        size = math.prod(self.factors.windows)
        step = 1 << max(1, TERMS_OF_COLUMNS // size).bit_length() - 1

        def some(start: Expr) -> None:
            count = self._part(depth, start, step, "count")

            def copy(lane: Expr) -> None:
                def one(at: Place, d: Expr) -> None:
                    term = term_at(k, [plus(start, at[0]), *at[1:]])
                    place = p, plus(times(start, Const(size)), d)
                    self._put_right(self.factors.right(term, plus(first, lane)), place, lane)

                self._each_term(count, one)

            def clear(lane: Expr) -> None:
                def one(_: Place, d: Expr) -> None:
                    self._put_right(None, (p, plus(times(start, Const(size)), d)), lane)

                self._each_term(count, one)

            def copy_or_clear(lane: Expr) -> None:
                is_there = Lt(plus(first, lane), self.factors.sizes[2])
                code.either(is_there, lambda: copy(lane), lambda: clear(lane))

            whole, part = (partial(code.each, "l", columns, it) for it in (copy, copy_or_clear))
            self._by_columns(first, whole, part)

        code.each("f", depth, some, step=step)

    def _by_columns(self, first: Expr, whole: Callable[[], None], part: Callable[[], None]) -> None:
        """Emit what is done with a tile that begins at a column: if all are there, and if not."""
        self.code.either(self.factors.reaches(2, first, self.tile.columns), whole, part)

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

    def _sum(self, place: _TilePlace, depth: Expr) -> None:
        """Multiply the rows by a panel."""
        tile, memory, emit = self.tile, self.rows, self.code.emit

        def write(r: Expr, v: Expr, lane: Expr) -> None:
            for part in map(Const, range(tile.parts)):
                column = plus(times(v, Const(tile.lanes)), lane)
                emit(Store(memory.out, (r, part, column), Load(memory.sums, (r, part, v, lane))))

        def add_term(at: Place, d: Expr) -> None:
            self.left.load_term(d)
            self._each_sum(
                lambda r, v, lane: self._add(
                    self.left.parts(place.rows, r, at, d), (place.p, d), (r, v, lane)
                )
            )

        self._begin(place)
        has_spans = self.factors.span is not None
        begin = self.left.load_window if has_spans else None
        self._each_term(depth, add_term, begin, self._ask_ahead())
        self._each_sum(write)

    def _ask_ahead(self) -> Annotations:
        """That the panel is asked for some terms ahead, where a vector is a line of the cache."""
        return ((f"prefetch_{self.memory.right.name}", TERMS_AHEAD),) if self._fills_lines() else ()

    def _ask_for_totals(self) -> Annotations:
        """That the totals of a tile are asked for before its terms are added."""
        totals = self.memory.totals
        return (
            () if totals is None or not self._fills_lines() else ((f"prefetch_{totals.name}", 0),)
        )

    def _fills_lines(self) -> bool:
        """Whether a vector is a line of the cache."""
        return self.tile.lanes * self.tile.dtype.component.bits // 8 >= LINE

    def _begin(self, place: _TilePlace) -> None:
        """Set the sums to what the terms before left of them, or to zeros."""
        tile, out, zero = self.tile, self.rows.out, const(0, self.tile.dtype.component)

        def held(r: Expr, part: Expr, column: Expr) -> Expr:
            return Load(out, (r, part, column))

        if tile.goes_on:
            self._fetch(place)
            self._start_with(held)
            return
        with self.code.collect() as from_zero:
            self._start_with(lambda r, part, column: zero)
        if not self._has_totals():
            self.code.emit(seq(*from_zero))
            return
        with self.code.collect() as from_total:
            self._start_with(partial(self._total, place))
        self.code.emit(If(Gt(place.rows.k, ZERO), seq(*from_total), seq(*from_zero)))

    def _has_totals(self) -> bool:
        """Whether a sum begins with what the blocks of terms before have left."""
        return self.tile.in_order and self.memory.totals is not None

    def _start_with(self, value: Callable[[Expr, Expr, Expr], Expr]) -> None:
        """Set each sum to the value for its row, its part and its column."""
        tile, sums = self.tile, self.rows.sums

        def start(r: Expr, v: Expr, lane: Expr) -> None:
            column = plus(times(v, Const(tile.lanes)), lane)
            for part in map(Const, range(tile.parts)):
                self.code.emit(Store(sums, (r, part, v, lane), value(r, part, column)))

        self._each_sum(start)

    def _fetch(self, place: _TilePlace) -> None:
        """Copy what the result holds for the elements of a tile, and zeros for those beyond it."""
        tile, out, emit = self.tile, self.rows.out, self.code.emit
        assert tile.parts == 1, "sums of complex numbers have no order to keep"

        def copy(r: Expr, lane: Expr) -> None:
            emit(Store(out, (r, ZERO, lane), self._element(place, r, lane)))

        def clear(r: Expr, lane: Expr) -> None:
            emit(Store(out, (r, ZERO, lane), const(0, tile.dtype)))

        if not (self.factors.is_whole(0, tile.rows) and self.factors.is_whole(2, tile.columns)):
            self._each_lane(Const(tile.rows), clear)
        self._each_element(place, copy)

    def _add(self, x: list[Expr], term: tuple[Expr, Expr], place: Indices) -> None:
        """Add one product to one sum."""
        r, v, lane = place
        memory, column = self.memory, plus(times(v, Const(self.tile.lanes)), lane)
        y = [Load(memory.right, (*term, Const(part), column)) for part in range(self.tile.parts)]

        def add(part: int, factor: Expr, other: Expr) -> None:
            indices = (r, Const(part), v, lane)
            old = Load(self.rows.sums, indices)
            of_bytes = self.factors.of_bytes
            total = multiply_add(factor, other, old, fuse=self.tile.fuse, of_bytes=of_bytes)
            self.code.emit(Store(self.rows.sums, indices, total))

        add(0, x[0], y[0])
        if self.tile.parts == 2:
            add(0, Neg(x[1]), y[1])
            add(1, x[0], y[1])
            add(1, x[1], y[0])

    def _store(self, place: _TilePlace) -> None:
        """Put the sums of a tile where they belong, as far as the result goes."""
        code, totals = self.code, self.memory.totals

        def finish() -> None:
            self._each_element(place, lambda r, lane: self._put(place, r, lane))

        if totals is None:
            finish()
            return
        each_part = partial(self._each_part, place)
        if not self.tile.in_order:
            code.only_if(Gt(place.rows.k, ZERO), lambda: each_part(_add_total))
        with code.collect() as last:
            finish()
        with code.collect() as others:
            each_part(_keep_total)
        is_last = Ge(plus(place.rows.k, Const(self.tile.depth)), self.factors.sizes[1])
        code.emit(If(is_last, seq(*last), seq(*others)))

    def _put(self, place: _TilePlace, r: Expr, lane: Expr) -> None:
        loads = [Load(self.rows.out, (r, Const(p), lane)) for p in range(self.tile.parts)]
        value = loads[0] if len(loads) == 1 else Call("complex", tuple(loads))
        element = self._element(place, r, lane)
        self.code.emit(Store(element.buffer, element.indices, value, span=element.span))

    def _element(self, place: _TilePlace, r: Expr, lane: Expr) -> Load:
        """The element of the result for one of a tile."""
        return self.factors.element(
            (*place.rows.around, plus(place.rows.i, r)), plus(place.j, lane)
        )

    def _total(self, place: _TilePlace, r: Expr, part: Expr, lane: Expr) -> Load:
        """What the blocks of terms before have left for an element of a tile."""
        assert self.memory.totals is not None
        column = plus(times(place.p, Const(self.tile.columns)), lane)
        return Load(self.memory.totals, (*place.rows.around, plus(place.rows.i, r), part, column))

    def _each_part(self, place: _TilePlace, update: Callable[[Load, Load], Store]) -> None:
        """Emit what is done with each part of a sum and with that of the terms before, of all rows
        of a tile: that what is beyond the last one is there is no harm.
        """

        def one(r: Expr, lane: Expr) -> None:
            for part in map(Const, range(self.tile.parts)):
                total = self._total(place, r, part, lane)
                self.code.emit(update(Load(self.rows.out, (r, part, lane)), total))

        self._each_lane(Const(self.tile.rows), one)

    def _each_element(self, place: _TilePlace, body: Callable[[Expr, Expr], None]) -> None:
        """Emit what is done with each element of a tile that there is: its row and its column."""
        code, size = self.code, self.factors.sizes[2]
        height = place.height

        def only_inside(r: Expr, lane: Expr) -> None:
            code.only_if(Lt(plus(place.j, lane), size), lambda: body(r, lane))

        self._by_columns(
            place.j,
            lambda: self._each_lane(height, body),
            lambda: self._each_lane(height, only_inside),
        )

    def _each_lane(self, height: Expr, body: Callable[[Expr, Expr], None]) -> None:
        """Emit what is done with each element of so many rows."""
        code, columns = self.code, self.tile.columns
        if self.factors.goes_along_rows:
            code.each("l", columns, lambda lane: code.lanes("r", height, lambda r: body(r, lane)))
            return
        code.each("r", height, lambda r: code.lanes("l", columns, lambda lane: body(r, lane)))


def _add_total(out: Load, total: Load) -> Store:
    return Store(out.buffer, out.indices, Add(total, out))


def _keep_total(out: Load, total: Load) -> Store:
    return Store(total.buffer, total.indices, out)
