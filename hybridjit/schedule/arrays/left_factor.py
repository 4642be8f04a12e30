"""The left factor of a product, for the rows of one tile: packed, or read where it is.

    row by row          left[r, d] = a[i + r, k + d]
    term by term        left[d, r] = a[i + r, k + d]
    side by side        as term by term, and the elements of all rows are loaded at once, where the
                        processor multiplies vectors by an element of another:
                            term = left[d, :]
                            sums[r] += term[r] * right[d]
    in spans            of windows, whose rows share most of what they read:
                            left[d, dy, e] = a[n, k + d, y + dy, x + e]
                            term = left[d, dy, :]
                            sums[r] += term[r + dx] * right[d, dy, dx]

Packed rows are next to each other whatever the factor looks like, and of its type. The last row
stands for those of a tile that are not there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from hybridjit.arith.ranges import ZERO, constant, minus, plus, tidy, times
from hybridjit.ir.expr import Buffer, Call, Const, Eq, Expr, FloorDiv, Load, Min
from hybridjit.ir.stmt import Store
from hybridjit.record import record
from hybridjit.schedule.arrays.builder import Builder
from hybridjit.schedule.arrays.tile import Factors, Place, Span, Tile


@record
class RowsAt:
    """Where the rows of a tile are: the loops around, the first row, and the first term."""

    around: Place
    i: Expr
    k: Expr

    def term(self, at: Place) -> tuple[Expr, ...]:
        """The place of a term, among all terms."""
        return term_at(self.k, at)


@record
class LeftFactor:
    """The left factor where it is."""

    code: Builder
    factors: Factors
    tile: Tile

    def pack(self, rows: RowsAt, depth: Expr) -> None:
        """Copy the rows of a tile, for so many terms."""

    def load_term(self, d: Expr) -> None:
        """Load the elements of a term in all rows, if that is done at once."""

    def load_window(self, at: Place) -> None:
        """Load the elements of a row of a window for all rows of the tile, if that is."""

    def parts(self, rows: RowsAt, r: Expr, at: Place, d: Expr) -> list[Expr]:
        """The parts of an element: in a row of the tile, of a term, which has the number `d`."""
        value = self.factors.left((*rows.around, self.row(rows.i, r)), rows.term(at))
        return parts_of(value) if self.tile.parts == 2 else [value]

    def row(self, i: Expr, r: Expr) -> Expr:
        """A row of the tile that begins at `i`, or the last one there is."""
        row = plus(i, r)
        if self.factors.is_whole(0, self.tile.rows):
            return row
        return tidy(Min(row, minus(self.factors.sizes[0], Const(1))))

    def if_full(self, i: Expr, full: Callable[[], None], part: Callable[[], None]) -> None:
        """Emit what is done with a tile that begins at a row: if all are there, and if not."""
        self.code.either(self.factors.reaches(0, i, self.tile.rows), full, part)

    def named_row(self, i: Expr, r: Expr) -> Expr:
        """The same, found once."""
        row = self.row(i, r)
        return self.code.let(row, "row") if isinstance(row, Min) else row


@record
class PackedRows(LeftFactor):
    """Row by row, or term by term."""

    left: Buffer

    @staticmethod
    def of(code: Builder, factors: Factors, tile: Tile, depth: int) -> PackedRows:
        """With memory for a tile."""
        length = _row_length(factors, tile, depth)
        sizes = (length, tile.rows) if factors.term_by_term else (tile.rows, length)
        left = code.local("left", tile.dtype.component, tile.parts, *sizes)
        return PackedRows(code, factors, tile, left)

    def pack(self, rows: RowsAt, depth: Expr) -> None:
        def by_row() -> None:
            self._pack_by_row(rows, ZERO, depth)

        if not self.factors.term_by_term:
            by_row()
            return
        by_term = partial(self.code.each, "d", depth, partial(self._pack_term, rows))
        self.if_full(rows.i, by_term, by_row)

    @property
    def height(self) -> int:
        """For how many rows there is room; the last one stands for those that no tile has, too."""
        return self.tile.rows

    def _there(self, r: Expr) -> Expr:
        """A row that there is room for, or the last one of the tile."""
        return r if self.height == self.tile.rows else tidy(Min(r, Const(self.tile.rows - 1)))

    def _pack_term(self, rows: RowsAt, d: Expr) -> None:
        """Copy one term of all rows, which are there."""

        def copy(r: Expr, row: Expr) -> None:
            self._copy(rows, r, plus(rows.i, row), d)

        self.code.each("r", self.tile.rows, lambda r: copy(r, r))
        for r in range(self.tile.rows, self.height):
            copy(Const(r), Const(self.tile.rows - 1))

    def _pack_by_row(self, rows: RowsAt, first: Expr, depth: Expr) -> None:
        """Copy the terms from `first` on."""

        def one(r: Expr) -> None:
            row = self.named_row(rows.i, self._there(r))
            self.code.each("d", depth, lambda d: self._copy(rows, r, row, d), start=first)

        self.code.each("r", self.height, one)

    def _copy(self, rows: RowsAt, r: Expr, row: Expr, d: Expr) -> None:
        """Store an element, or its parts, each in its own place."""
        value = self.factors.left((*rows.around, row), rows.term((d,)))
        parts = [value] if self.tile.parts == 1 else parts_of(self.code.let(value, "x"))
        for part, number in enumerate(parts):
            self.code.emit(Store(self.left, self._place(Const(part), r, d), number))

    def _place(self, part: Expr, r: Expr, d: Expr) -> tuple[Expr, ...]:
        """Where an element is packed."""
        return (part, d, r) if self.factors.term_by_term else (part, r, d)

    def parts(self, rows: RowsAt, r: Expr, at: Place, d: Expr) -> list[Expr]:
        parts = range(self.tile.parts)
        return [Load(self.left, self._place(Const(part), r, d)) for part in parts]


@record
class KeptRows(PackedRows):
    """Row by row, or term by term: packed with the first columns, and kept for all others."""

    i: Expr
    block: Expr
    is_first: Expr

    @staticmethod
    def memory(code: Builder, factors: Factors, tile: Tile) -> Buffer | None:
        """Memory for all rows, if they are needed again and it is known how many there are."""
        rows, inner, columns = map(constant, factors.sizes)
        if rows is None or inner is None or columns is None or tile.by_element:
            return None
        is_other = factors.is_read_in_place or factors.windows or factors.around
        if is_other or columns <= tile.panels * tile.columns:
            return None
        blocks, height = -(-inner // tile.depth), -(-rows // tile.rows) * tile.rows
        size = height * _row_length(factors, tile, min(inner, tile.depth))
        shape = tuple(map(Const, (blocks, tile.parts, size)))
        return code.array("left", tile.dtype.component, shape)

    def pack(self, rows: RowsAt, depth: Expr) -> None:
        self.code.only_if(self.is_first, lambda: PackedRows.pack(self, rows, depth))

    def _place(self, part: Expr, r: Expr, d: Expr) -> tuple[Expr, ...]:
        return self.block, part, self._number(r, d)

    def _number(self, r: Expr, d: Expr) -> Expr:
        """The place of an element among all: threads have rows of their own, as can be seen."""
        inner = constant(self.factors.sizes[1])
        assert inner is not None, "the size of the memory is known"
        length = Const(_row_length(self.factors, self.tile, min(inner, self.tile.depth)))
        if not self.factors.term_by_term:
            return plus(times(plus(self.i, r), length), d)
        return plus(plus(times(self.i, length), times(d, Const(self.tile.rows))), r)


@record
class RowsSideBySide(PackedRows):
    """Term by term, and the elements of all rows are loaded at once."""

    term: Buffer
    square: Buffer

    @staticmethod
    def of(code: Builder, factors: Factors, tile: Tile, depth: int) -> RowsSideBySide:
        """With memory for a tile; what is to be in registers comes first: the stack is small."""
        height = _whole_vectors(tile.rows, tile)
        term = code.local("term", tile.dtype, height)
        square = code.local("square", tile.dtype, tile.lanes, tile.lanes)
        left = code.local("left", tile.dtype, 1, depth, height)
        return RowsSideBySide(code, factors, tile, left, term, square)

    @property
    def height(self) -> int:
        return _whole_vectors(self.tile.rows, self.tile)

    def pack(self, rows: RowsAt, depth: Expr) -> None:
        if self.factors.term_by_term:
            PackedRows.pack(self, rows, depth)
            return
        code, lanes = self.code, Const(self.tile.lanes)
        whole = code.let(tidy(times(FloorDiv(depth, lanes), lanes)), "whole")
        code.each("d", whole, partial(self._turn_squares, rows), step=self.tile.lanes)
        if whole != depth:
            self._pack_by_row(rows, whole, depth)

    def _turn_squares(self, rows: RowsAt, d: Expr) -> None:
        """Copy as many terms of all rows as there are lanes: squares, which stay in registers."""
        code, lanes = self.code, self.tile.lanes

        def take(first: Expr, r: Expr, lane: Expr) -> None:
            row = self.row(rows.i, self._there(plus(first, r)))
            value = self.factors.left((*rows.around, row), rows.term((plus(d, lane),)))
            code.emit(Store(self.square, (r, lane), value))

        def put(first: Expr, r: Expr, term: Expr) -> None:
            place = (ZERO, plus(d, term), plus(first, r))
            code.emit(Store(self.left, place, Load(self.square, (r, term))))

        def turn(number: Expr) -> None:
            first = times(number, Const(lanes))
            code.unrolled("r", lanes, lambda r: code.lanes("l", lanes, partial(take, first, r)))
            code.unrolled("r", lanes, lambda r: code.unrolled("t", lanes, partial(put, first, r)))

        code.unrolled("s", self.height // lanes, turn)

    def _place(self, part: Expr, r: Expr, d: Expr) -> tuple[Expr, ...]:
        return part, d, r

    def load_term(self, d: Expr) -> None:
        _load_vectors(self.code, self.tile, self.left, (ZERO, d), self.term)

    def parts(self, rows: RowsAt, r: Expr, at: Place, d: Expr) -> list[Expr]:
        return [Load(self.term, (r,))]


@record
class WindowSpans(LeftFactor):
    """What the rows of a tile read of a row of a window, from its first element to the last."""

    span: Span
    left: Buffer
    term: Buffer

    @staticmethod
    def of(code: Builder, factors: Factors, tile: Tile, span: Span) -> WindowSpans:
        """With memory for all terms of a tile."""
        depth = constant(factors.sizes[1])
        assert depth is not None, "the loops over windows are of known lengths"
        size = _whole_vectors(span.of_rows(tile.rows, factors.windows[-1]), tile)
        term = code.local("term", tile.dtype, size)
        left = code.local("left", tile.dtype, depth, *factors.windows[:-1], size)
        return WindowSpans(code, factors, tile, span, left, term)

    def pack(self, rows: RowsAt, depth: Expr) -> None:
        code, windows = self.code, self.factors.windows[:-1]
        names = ["d", *(f"d{number}" for number in range(len(windows)))]
        nest = partial(code.nest, names, [depth, *map(Const, windows)])

        def part() -> None:
            beyond = minus(minus(self.factors.sizes[0], Const(1)), rows.i)  # of the last row
            last = plus(times(beyond, Const(self.span.stride)), Const(self._last_of_one))
            last = code.let(last, "last")
            nest(lambda at: self._copy_part(rows, at, last))

        self.if_full(rows.i, lambda: nest(lambda at: self._copy_whole(rows, at)), part)

    @property
    def _last_of_one(self) -> int:
        """Where the last element is that one row reads."""
        return self.span.of_rows(1, self.factors.windows[-1]) - 1

    def _copy_whole(self, rows: RowsAt, at: Place) -> None:
        """Copy what all rows read, and its last element once more for what is left of a vector."""
        code, lanes = self.code, self.tile.lanes
        size = self.span.of_rows(self.tile.rows, self.factors.windows[-1])
        copy = partial(self._copy, rows, at)
        for first in range(0, size - size % lanes, lanes):
            code.lanes("e", lanes, partial(_copy_from, copy, Const(first)))
        for e in range(size - size % lanes, _whole_vectors(size, self.tile)):
            copy(Const(e), Const(min(e, size - 1)))

    def _copy_part(self, rows: RowsAt, at: Place, last: Expr) -> None:
        size = self.left.shape[-1]
        self.code.each("e", size, lambda e: self._copy(rows, at, e, tidy(Min(e, last))))

    def _copy(self, rows: RowsAt, at: Place, e: Expr, taken: Expr) -> None:
        value = self.span.beyond((*rows.around, rows.i), (*rows.term(at), ZERO), taken)
        self.code.emit(Store(self.left, (*at, e), value))

    def load_window(self, at: Place) -> None:
        _load_vectors(self.code, self.tile, self.left, tuple(at), self.term)

    def parts(self, rows: RowsAt, r: Expr, at: Place, d: Expr) -> list[Expr]:
        stride, dilation = Const(self.span.stride), Const(self.span.dilation)
        return [Load(self.term, (plus(times(r, stride), times(at[-1], dilation)),))]


def left_factor(code: Builder, factors: Factors, tile: Tile, depth: int) -> LeftFactor:
    """The way that suits the factors and the tile, with memory for so many terms."""
    if factors.is_read_in_place:
        return LeftFactor(code, factors, tile)
    if factors.span is not None:
        return WindowSpans.of(code, factors, tile, factors.span)
    way = RowsSideBySide if tile.by_element else PackedRows
    return way.of(code, factors, tile, depth)


def kept_rows(code: Builder, factors: Factors, tile: Tile, left: Buffer, at: Place) -> KeptRows:
    """The rows of a tile that are kept: at a row, for terms and columns from some number on."""
    i, k, j = at
    block = tidy(FloorDiv(k, Const(tile.depth)))
    return KeptRows(code, factors, tile, left, i, block, Eq(j, ZERO))


def _row_length(factors: Factors, tile: Tile, depth: int) -> int:
    """How far packed rows are apart, or how much room one takes.

    They are a bit longer than they need to be: apart by a power of two, they would compete for the
    same lines of the cache.
    """
    return depth if factors.term_by_term else depth + tile.lanes


def _copy_from(copy: Callable[[Expr, Expr], None], first: Expr, lane: Expr) -> None:
    copy(plus(first, lane), plus(first, lane))


def _whole_vectors(count: int, tile: Tile) -> int:
    """So many elements, and as many more as it takes for whole vectors."""
    return -(-count // tile.lanes) * tile.lanes


def _load_vectors(
    code: Builder, tile: Tile, source: Buffer, place: tuple[Expr, ...], term: Buffer
) -> None:
    """Load all that `source` has at a place into `term`, vector by vector."""

    def load(e: Expr) -> None:
        code.emit(Store(term, (e,), Load(source, (*place, e))))

    def load_lane(first: int, lane: Expr) -> None:
        load(plus(Const(first), lane))

    size = constant(source.shape[-1])
    assert size is not None
    for first in range(0, size, tile.lanes):
        code.lanes("l", tile.lanes, partial(load_lane, first))


def term_at(k: Expr, at: Place) -> tuple[Expr, ...]:
    """The place of a term of the block that begins at `k`, among all terms."""
    return (plus(k, at[0]), *at[1:])


def parts_of(value: Expr) -> list[Expr]:
    """The parts of a complex number."""
    return [Call("real", (value,)), Call("imag", (value,))]
