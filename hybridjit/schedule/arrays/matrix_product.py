"""Products of matrices: in tiles, row by row, or in loops as they stand, in another order.

    for i in range(n):                                   for i in range(n):
        for j in range(m):                                   for k in range(l):
            for k in range(l):                     -->           for j in range(m):
                c[i, j] = c[i, j] + a[i, k] * b[k, j]                c[i, j] = c[i, j] + ...

The order of the terms of an element stays as it is there; in tiles (gemm.py), if it must.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from hybridjit.arith.linear import linear_form
from hybridjit.arith.ranges import ONE, ZERO, constant, plus, tidy, times
from hybridjit.ir.expr import Buffer, Call, Expr, FloorDiv, Load, Mod, Var
from hybridjit.ir.stmt import ARRAY, Allocate, For, If, Let, Stmt, Store, seq
from hybridjit.ir.visit import substitute, walk
from hybridjit.record import record
from hybridjit.schedule.arrays.builder import Builder
from hybridjit.schedule.arrays.gemm import TiledProduct
from hybridjit.schedule.arrays.multiply_add import fused_sum, multiply_add
from hybridjit.schedule.arrays.replace_loads import element_at
from hybridjit.schedule.arrays.tile import Factors, Place, Span, Tile, TileMemory

Mirror = Callable[[Expr], Expr]

# Of fewer rows, so many tiles, hardly less than all is right of the diagonal, in whole tiles.
MIRRORED_TILES = 11
# Rows of the innermost of several loops that are enough for tiles of their own.
MIN_APART_ROWS = 7
MAX_PANELS_IN_PLACE = 2  # of columns, for which rows are read where they are


@record(eq=False)
class Product:
    """`nest`: `loops` around `lets` and `store`, which adds `left * right` to an element.

    The variable of the `terms` is no index of the result; those are of three kinds: `batch` is in
    both factors, `rows` in the left one, `columns` in the right one, two of them if they lie as one
    in memory. Without columns, the right factor is a vector. Further loops over terms, inside of
    that over `terms`, are `windows`. If its terms are to be added `in_order`, each sum is. They are
    products, or those `of_bytes`, four in each factor.
    """

    nest: For
    loops: tuple[For, ...]
    store: Store
    lets: tuple[Let, ...]
    terms: Var
    left: Expr
    right: Expr
    batch: tuple[Var, ...] = ()
    rows: tuple[Var, ...] = ()
    columns: tuple[Var, ...] = ()
    windows: tuple[Var, ...] = ()
    in_order: bool = False
    of_bytes: bool = False

    @property
    def result(self) -> Buffer:
        """The array that takes the sums."""
        return self.store.buffer

    @property
    def sums_inside(self) -> bool:
        """True if the innermost loop is that over the terms; else each adds to all sums already."""
        return self.loops[-1].var is self.terms

    def extent(self, var: Var) -> Expr:
        """How often the loop over a variable runs."""
        return next(loop.stop for loop in self.loops if loop.var is var)

    def known_extent(self, var: Var) -> int:
        """How often a loop runs that runs equally often whatever the sizes of arrays."""
        known = constant(self.extent(var))
        assert known is not None, "the loops over windows are of known lengths"
        return known

    @property
    def is_apart(self) -> bool:
        """Whether tiles have rows of the innermost loop only: if there are enough of them.

        Else all rows are numbered through, and each number is divided to find its element: for one
        row of a tile after the other, that costs less than tiles that are not full.
        """
        last = constant(self.extent(self.rows[-1])) if len(self.rows) > 1 else None
        if last is None or self.windows:
            return last is not None
        return self.goes_along_rows and last >= MIN_APART_ROWS

    @property
    def goes_along_rows(self) -> bool:
        """Whether the rows of the result are next to each other in memory, not its columns."""
        return self.store.indices[-1] is self.rows[-1]

    def reads_in_place(self, tile: Tile) -> bool:
        """Whether it is no gain to pack the left factor: one that is used once or twice.

        Rows of windows have most of their elements in common. Columns that are apart in the result
        are on as many pages of memory: a panel of them at a time.
        """
        width = constant(self.sizes[2])
        if self.windows:
            is_once = width is not None and width <= tile.columns
            return is_once or not tile.by_element or self.find_axis_of_windows() is None
        is_narrow = width is not None and width <= MAX_PANELS_IN_PLACE * tile.columns
        is_read = not self.lets and isinstance(self.left, Load)
        return is_read and (is_narrow or self.goes_along_rows)

    def find_axis_of_windows(self) -> tuple[int, int, int] | None:
        """The axis of the left factor along which rows, and terms of a row of a window, are: and
        how far apart they are there.
        """
        if self.lets or not isinstance(self.left, Load):
            return None
        row, term = self.rows[-1], self.windows[-1]
        axes = [n for n, at in enumerate(self.left.indices) if {row, term} & set(walk(at))]
        form = linear_form(self.left.indices[axes[0]]) if len(axes) == 1 else None
        steps = None if form is None else (form.terms.get(row, 0), form.terms.get(term, 0))
        return (axes[0], *steps) if steps is not None and min(steps) > 0 else None

    def has_few_rows(self, tile: Tile) -> bool:
        """Whether a panel of columns is used once only."""
        height = constant(self.sizes[0])
        return not self.is_apart and height is not None and height <= tile.rows

    @property
    def sizes(self) -> tuple[Expr, Expr, Expr]:
        """The rows, terms and columns of what is multiplied at once.

        The terms are those of the outermost loop over them.
        """
        rows = self._count(self.rows[-1:] if self.is_apart else self.rows)
        return rows, self.extent(self.terms), self._count(self.columns)

    def _count(self, variables: Sequence[Var]) -> Expr:
        count: Expr = ONE
        for var in variables:
            count = times(count, self.extent(var))
        return count

    def column(self, number: Expr) -> dict[Var, Expr]:
        """Where a column is, of all that are numbered through."""
        shape = [self.extent(var) for var in self.columns]
        return dict(zip(self.columns, _unravel(number, shape), strict=True))

    def needed(self, value: Expr) -> list[Let]:
        """Those of the `lets` that a value is made of."""
        used = set(walk(value))
        found: list[Let] = []
        for let in reversed(self.lets):
            if let.var in used:
                found.insert(0, let)
                used.update(walk(let.value))
        return found

    def variables(self, factor: Expr) -> set[Var]:
        """The loops that a factor depends on."""
        roots = (factor, *(let.value for let in self.needed(factor)))
        nodes = {node for root in roots for node in walk(root) if isinstance(node, Var)}
        return {loop.var for loop in self.loops} & nodes

    def factor(self, code: Builder, factor: Expr, places: Mapping[Var, Expr]) -> Expr:
        """A factor at some indices; what it needs is emitted."""
        lets, value = element_at(places, self.needed(factor), factor)
        for let in lets:
            code.emit(let)
        return value

    def place(self, places: Mapping[Var, Expr]) -> tuple[Expr, ...]:
        """Where an element of the result is."""
        indices = self.store.indices
        return tuple(places.get(at, at) if isinstance(at, Var) else at for at in indices)


def interchange(product: Product, *, fuse: bool) -> Stmt:
    """The product with the loop over its terms outside of that over its columns."""
    order = (product.terms, *product.rows)
    if product.columns:
        order = (*product.batch, *product.rows, product.terms, *product.columns)
    loops = {loop.var: loop for loop in product.loops}
    old = Load(product.result, product.store.indices, span=product.store.span)
    value = fused_sum(product.store.value, old) if fuse else product.store.value
    body = seq(*product.lets, replace(product.store, value=value))
    for var in reversed(order):
        body = replace(loops[var], body=body)
    return body


def make_gemm(
    product: Product, tile: Tile, mirror: Mirror | None = None, is_large: Expr | None = None
) -> tuple[Stmt, set[Var]]:
    """The product in packed tiles, and loops over elements: those over its batch.

    With a `mirror`, half of it is computed. If it depends on a condition whether it `is_large`, the
    product is computed row by row otherwise.
    """
    code = Builder()
    with code.collect() as blocked:
        loops = _emit_blocked(code, product, tile, mirror)
    if is_large is None:
        return seq(*blocked), loops
    with code.collect() as plain:
        loops |= _emit_rows(code, product, fuse=tile.fuse)
    return If(is_large, seq(*blocked), seq(*plain), span=product.store.span), loops


def find_mirror(product: Product) -> Mirror | None:
    """What becomes of an element of a product on the other side of its diagonal; None if the
    product has no such symmetry.

    The rows of one factor are the columns of the other, as they are or as conjugates.
    """
    if product.batch or len(product.rows) != 1 or len(product.columns) != 1 or product.lets:
        return None
    if product.windows:
        return None
    (row,), (column,) = product.rows, product.columns
    other = substitute(product.left, {row: column})
    if product.extent(row) != product.extent(column):
        return None
    if product.right == other:
        return lambda element: element
    if product.right == Call("conj", (other,)) or other == Call("conj", (product.right,)):
        return lambda element: Call("conj", (element,))
    return None


def _emit_blocked(code: Builder, product: Product, tile: Tile, mirror: Mirror | None) -> set[Var]:
    if mirror is not None:
        _emit_half(code, product, tile, mirror)
        return set()
    sizes, span = product.sizes, product.store.span
    windows = tuple(product.known_extent(var) for var in product.windows)
    in_place = product.reads_in_place(tile)
    if in_place or product.has_few_rows(tile):
        tile = replace(tile, packed_bytes=0)  # one panel at a time
    shape = [product.extent(var) for var in product.rows]
    above = tuple(shape[:-1]) if product.is_apart else ()
    memory = TileMemory.of(code, tile, sizes, above, windows)
    loops: set[Var] = set()
    terms = (product.terms, *product.windows)

    def one(batch: Sequence[Expr]) -> None:
        loops.update(place for place in batch if isinstance(place, Var))
        around = dict(zip(product.batch, batch, strict=True))

        def row(at: Place) -> dict[Var, Expr]:
            indices = at if product.is_apart else _unravel(at[0], shape)
            return {**around, **dict(zip(product.rows, indices, strict=True))}

        def term(at: Place) -> dict[Var, Expr]:
            return dict(zip(terms, at, strict=True))

        def element(i: Place, j: Expr) -> Load:
            return Load(product.result, product.place({**row(i), **product.column(j)}), span=span)

        factors = Factors(
            lambda i, k: product.factor(code, product.left, {**row(i), **term(k)}),
            lambda k, j: product.factor(
                code, product.right, {**around, **term(k), **product.column(j)}
            ),
            sizes,
            element,
            above,
            windows,
            goes_along_rows=product.goes_along_rows,
            is_read_in_place=in_place,
            term_by_term=_lies_along_rows(product),
            column_by_column=_lies_along_terms(product),
            span=None if in_place else _find_span(product, row, term),
            of_bytes=product.of_bytes,
        )
        TiledProduct(code, factors, tile, memory).emit()

    names = [var.name for var in product.batch]
    code.nest(names, [product.extent(var) for var in product.batch], one, ((ARRAY, True),))
    return loops


def _find_span(
    product: Product,
    row: Callable[[Place], dict[Var, Expr]],
    term: Callable[[Place], dict[Var, Expr]],
) -> Span | None:
    """What rows of a tile read of windows that overlap, if there are any."""
    found = product.find_axis_of_windows() if product.windows else None
    if found is None:
        return None
    axis, stride, dilation = found

    def beyond(i: Place, k: Place, places: Expr) -> Expr:
        _, load = element_at({**row(i), **term(k)}, (), product.left)
        assert isinstance(load, Load)
        indices = list(load.indices)
        indices[axis] = plus(indices[axis], places)
        return replace(load, indices=tuple(indices))

    return Span(stride, dilation, beyond)


def _lies_along_rows(product: Product) -> bool:
    """Whether what lies next to each other in the left factor are rows of the product."""
    return _lies_along(product.left, set(product.rows), {product.terms})


def _lies_along_terms(product: Product) -> bool:
    """Whether what lies next to each other in the right factor are terms of a column."""
    return _lies_along(product.right, {product.terms, *product.windows}, set(product.columns))


def _lies_along(factor: Expr, these: set[Var], others: set[Var]) -> bool:
    """Whether places next to each other in what a factor reads are told by `these` variables."""
    loads = [node for node in walk(factor) if isinstance(node, Load) and node.buffer.ndim > 1]
    last = [set(walk(load.indices[-1])) for load in loads]
    return bool(loads) and all(
        nodes.isdisjoint(others) and not nodes.isdisjoint(these) for nodes in last
    )


def is_mirrored(size: Expr, tile: Tile) -> bool:
    """Whether so many rows of a symmetric product are enough to compute but half of it."""
    known = constant(size)
    return known is None or known > MIRRORED_TILES * tile.rows


def _emit_half(code: Builder, product: Product, tile: Tile, mirror: Mirror) -> None:
    """Multiply rows by the columns from the diagonal on, in whole tiles, then mirror the elements.

    for j in range(0, n, width):
        for i in range(0, min(n, j + width), rows):
            the tiles from the one of c[i, i] on, if it is there
    """
    result, span = product.result, product.store.span
    (row,), (column,) = product.rows, product.columns
    size, inner, _ = product.sizes

    def element(i: Place, j: Expr) -> Load:
        return Load(result, product.place({row: i[0], column: j}), span=span)

    def left(i: Place, k: Place) -> Expr:
        return product.factor(code, product.left, {row: i[0], product.terms: k[0]})

    def right(k: Place, j: Expr) -> Expr:
        return product.factor(code, product.right, {column: j, product.terms: k[0]})

    by_column = _lies_along_terms(product)
    factors = Factors(left, right, (size, inner, size), element, column_by_column=by_column)
    memory = TileMemory.of(code, tile, factors.sizes)
    TiledProduct(code, factors, tile, memory, is_half=True).emit()

    def copy(i: Expr, j: Expr) -> None:
        place = product.place({row: i, column: j})
        code.emit(Store(result, place, mirror(element([j], i)), span=span))

    code.each(row.name, size, lambda i: code.each(column.name, i, lambda j: copy(i, j)))


def _emit_rows(code: Builder, product: Product, *, fuse: bool) -> set[Var]:
    """Sum each row of the product apart, so that each element is stored once, as in blocks."""
    dtype, span = product.result.dtype, product.store.span
    (column,) = product.columns
    width, loops = product.extent(column), set[Var]()
    above = (*product.batch, *product.rows)

    def one(row: Sequence[Expr]) -> None:
        around = dict(zip(above, row, strict=True))
        sums = Buffer("sums", dtype, (width,), "global")
        code.emit(Allocate(sums, zero=True, span=span))

        def add(place: Sequence[Expr]) -> None:
            k, j = place
            x = product.factor(code, product.left, {**around, product.terms: k})
            y = product.factor(code, product.right, {**around, product.terms: k, column: j})
            old = Load(sums, (j,))
            total = multiply_add(x, y, old, fuse=fuse, of_bytes=product.of_bytes)
            code.emit(Store(sums, (j,), total, span=span))
            loops.update(at for at in (*row, *place) if isinstance(at, Var))

        def put(place: Sequence[Expr]) -> None:
            (j,) = place
            value = Load(sums, (j,))
            code.emit(Store(product.result, product.place({**around, column: j}), value, span=span))
            loops.update(at for at in place if isinstance(at, Var))

        code.nest([product.terms.name, column.name], [product.extent(product.terms), width], add)
        code.nest([column.name], [width], put)

    code.nest([var.name for var in above], [product.extent(var) for var in above], one)
    return loops


def _unravel(row: Expr, shape: Sequence[Expr]) -> tuple[Expr, ...]:
    """The indices of the element that is the `row`-th one of an array in C order."""
    indices: list[Expr] = []
    for size in reversed(shape[1:]):
        indices.append(ZERO if constant(size) == 1 else tidy(Mod(row, size)))
        row = tidy(FloorDiv(row, size))
    return (row, *reversed(indices))
