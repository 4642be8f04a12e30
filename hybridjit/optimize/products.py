"""Find the products of matrices in a program, and run each in the way that suits its sizes.

    for i in range(n):
        for j in range(m):
            for k in range(l):                              GEMM in tiles, if that is worth it;
                c[i, j] = c[i, j] + a[i, k] * b[k, j]  -->  else the loop over j is made innermost

    for i in range(n):                                      sums in lanes along rows, several rows
        for k in range(l):                             -->  at a time; or, where the matrix lies the
            y[i] = y[i] + a[i, k] * x[k]                    other way, several terms at a time

Relies on: arrays that share no memory; folds whose order is open. What a sum begins with must be
zero for a GEMM, which stores each element once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any

from hybridjit.analysis.faults import Fault
from hybridjit.arith.ranges import constant
from hybridjit.ir.expr import Buffer, Expr, Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, For, If, Seq, Stmt, While, flat_stmts, seq
from hybridjit.ir.visit import walk
from hybridjit.optimize.decisions import BlockOf, Decisions
from hybridjit.optimize.fuse.inline import inline
from hybridjit.optimize.reduce_rows import LONG_BITS
from hybridjit.record import record
from hybridjit.schedule.arrays.choose_tile import choose_tile, suit_product
from hybridjit.schedule.arrays.find_product import (
    find_product,
    find_zero,
    is_larger,
    replaced,
    without_zeros,
)
from hybridjit.schedule.arrays.fusion import Fusion
from hybridjit.schedule.arrays.matrix_product import (
    Product,
    find_mirror,
    interchange,
    is_mirrored,
    make_gemm,
)
from hybridjit.schedule.arrays.multiply_add import has_fma
from hybridjit.schedule.arrays.vector_product import add_to_all, sum_in_register
from hybridjit.target import Target

# Terms of a product that are worth packing: below, loops as they stand are faster.
MIN_BLOCKED_TERMS = 1 << 14
# Where sizes are known when it runs only, the other loops have no tiles: they are slower soon.
MIN_BLOCKED_AT_RUN_TIME = 1 << 7
MIN_JAMMED_TERMS = 64  # of a row: shorter ones are summed one by one
MIN_SIDE = 3  # of the result: a tile of which less is used is no gain
# What is packed would be used for so few rows only: it is read where it is.
FEW_ROWS = 8
TERMS_AT_ONCE = 4  # rows of a matrix that are read side by side
# So few terms are added up in registers, for columns side by side: else each of them goes through
# memory. 2 x 2 by 2 x 16384 takes half of the time. Complex ones take longer to multiply anyway.
FEW_TERMS = 8
FEW_COMPLEX_TERMS = 16
LONG_ROW = 64  # columns that are worth it


@record(frozen=False)
class Products:
    """What was decided: the loops of what was made, the loops over rows that are summed in lanes,
    the products in which each element is stored once, and none fails, and registers for sums.
    """

    loops: set[Var]
    rows: set[Var] = field(default_factory=set[Var])
    stored_once: set[Buffer] = field(default_factory=set[Buffer])
    sums: set[Buffer] = field(default_factory=set[Buffer])


def choose_products(
    func: PrimFunc, body: Stmt, fusion: Fusion, target: Target, decisions: Decisions
) -> tuple[Stmt, Products]:
    """`body`, that of `func`, with each product run in its own way, and what was decided."""
    chooser = _Chooser(func, fusion, target, decisions, Products(set(fusion.loops)))
    return chooser.in_list(flat_stmts(body), is_whole=True), chooser.products


@record(frozen=False)
class _Chooser:
    func: PrimFunc
    fusion: Fusion
    target: Target
    decisions: Decisions
    products: Products

    def in_list(self, stmts: list[Stmt], *, is_whole: bool = False) -> Stmt:
        """A list of statements; `is_whole` if it is all that the function does."""
        position = 0
        while position < len(stmts):
            stmt = stmts[position]
            product = find_product(self.fusion, stmt)
            if product is None:
                stmts[position] = self._inside(stmt)
                position += 1
                continue
            rest = len(stmts) - position
            stmts = self._choose(stmts, product, is_whole=is_whole)
            position = len(stmts) - rest + 1
        return seq(*stmts)

    def _inside(self, stmt: Stmt) -> Stmt:
        match stmt:
            case For() | While() if not self.fusion.is_nest(stmt):
                body = self.in_list(flat_stmts(stmt.body))
                return stmt if body is stmt.body else replace(stmt, body=body)
            case If(_, then, otherwise):
                ours = self.in_list(flat_stmts(then))
                theirs = None if otherwise is None else self.in_list(flat_stmts(otherwise))
                is_same = ours is then and theirs is otherwise
                return stmt if is_same else replace(stmt, then=ours, otherwise=theirs)
            case Seq():
                return self.in_list(flat_stmts(stmt))
            case _:
                return stmt

    def _choose(self, stmts: list[Stmt], product: Product, *, is_whole: bool) -> list[Stmt]:
        """The list with one of its statements, a product, run as suits it."""
        outputs = self.func.outputs if is_whole else ()
        if not product.columns and _lies_along_terms(product):
            return self._along_rows(stmts, product, outputs)
        if not product.columns:
            made = self._across_rows(product) if product.sums_inside else product.nest
            return replaced(stmts, product.nest, made)
        is_large = _is_large(product)
        start = None
        if is_large is not False:
            start = find_zero(self.fusion, stmts, product, outputs)
        if start is None:
            made = self._interchanged(product) if product.sums_inside else product.nest
            return replaced(stmts, product.nest, made)
        if is_large is True and not product.batch:
            stmts, product = self._inline_factors(stmts, product)
        return self._in_tiles(stmts, product, start)

    def _in_tiles(self, stmts: list[Stmt], product: Product, start: Stmt) -> list[Stmt]:
        """The list with a product as a GEMM, which `start` need not set to zero before."""
        is_large = _is_large(product)
        assert is_large is not False, "a product stays as large as it is"
        tile = choose_tile(product.result.dtype, self.target)
        mirror = find_mirror(product)
        if not is_mirrored(product.sizes[0], tile):
            mirror = None  # too small to gain by it
        if mirror is None:
            tile = suit_product(product, self.target)
        numbers: dict[str, Any] = {"rows": tile.rows, "vectors": tile.vectors, "lanes": tile.lanes}
        numbers |= {"depth": tile.depth, "fma": tile.fuse}
        if mirror is not None:
            numbers["symmetric"] = True
        if isinstance(is_large, Expr):
            numbers |= {"least_terms": MIN_BLOCKED_AT_RUN_TIME, "least_rows": MIN_SIDE}
        if not self._take("gemm", product, **numbers):
            return stmts
        if mirror is None and self.fusion.fault(product.nest) is Fault.NEVER:
            self.products.stored_once.add(product.result)
        condition = is_large if isinstance(is_large, Expr) else None
        made, loops = make_gemm(product, tile, mirror, condition)
        self.products.loops |= loops
        return without_zeros(replaced(stmts, product.nest, made), start)

    def _along_rows(
        self, stmts: list[Stmt], product: Product, outputs: Sequence[Buffer]
    ) -> list[Stmt]:
        terms = constant(product.sizes[1])
        is_long = terms is None or terms >= MIN_JAMMED_TERMS
        if is_long and self.target.vector_bits >= LONG_BITS:
            self.products.rows.add(product.rows[-1])
        start = find_zero(self.fusion, stmts, product, outputs)
        if start is None or product.result.dtype.is_bool:
            return stmts
        if not self._take("sum_in_register", product):
            return stmts
        made, sum = sum_in_register(product)
        self.products.sums.add(sum)
        return without_zeros(replaced(stmts, product.nest, made), start)

    def _across_rows(self, product: Product) -> Stmt:
        if product.result.dtype.is_bool:
            return self._interchanged(product)
        if not self._take("add_terms", product, factor=TERMS_AT_ONCE, **self._fma):
            return product.nest
        made, loops = add_to_all(product, TERMS_AT_ONCE, fuse=has_fma(self.target))
        self.products.loops |= loops
        return made

    def _interchanged(self, product: Product) -> Stmt:
        if _has_few_terms(product) or not self._take("interchange", product, **self._fma):
            return product.nest
        return interchange(product, fuse=has_fma(self.target))

    def _take(self, step: str, product: Product, **numbers: Any) -> bool:
        place = BlockOf(product.result, product.nest.var)
        return self.decisions.take(step, place, **numbers)

    @property
    def _fma(self) -> dict[str, bool]:
        return {"fma": True} if has_fma(self.target) else {}

    def _inline_factors(self, stmts: list[Stmt], product: Product) -> tuple[list[Stmt], Product]:
        """The list without arrays that only hold a factor which packing can compute as well."""
        made = {stmt.buffer: stmt for stmt in stmts if isinstance(stmt, Allocate)}
        nodes = [node for side in (product.left, product.right) for node in walk(side)]
        for buffer in dict.fromkeys(node.buffer for node in nodes if isinstance(node, Load)):
            if buffer not in made or buffer not in self.fusion.temporaries:
                continue
            inlined = self._inline_factor(stmts, product, made[buffer])
            if inlined is not None:
                stmts, product = inlined
        return stmts, product

    def _inline_factor(
        self, stmts: list[Stmt], product: Product, allocation: Allocate
    ) -> tuple[list[Stmt], Product] | None:
        """The list without one such array, if what is left is still seen to be a product.

        Of integers, `a * (b * 3)` is simplified to `a * b * 3`, which has no such factors.
        """

        def inlined(fusion: Fusion, decisions: Decisions) -> tuple[list[Stmt], Product] | None:
            made = inline(fusion, stmts, allocation, decisions, packed=product.nest)
            nests = [s for s in made or () if isinstance(s, For) and s.var is product.nest.var]
            again = find_product(fusion, nests[0]) if nests else None
            return None if made is None or again is None else (made, again)

        if inlined(replace(self.fusion, fused=[]), Decisions()) is None:
            return None
        return inlined(self.fusion, self.decisions)


def _lies_along_terms(product: Product) -> bool:
    """True if elements that are added up lie next to each other in memory, mostly."""
    roots = (product.left, *(let.value for let in product.lets))
    nodes = [node for root in roots for node in walk(root)]
    loads = [node for node in nodes if isinstance(node, Load) and node.buffer.ndim > 1]
    votes = [product.terms in walk(load.indices[-1]) for load in loads]
    return 2 * sum(votes) >= len(votes)


def _is_large(product: Product) -> bool | Expr:
    """Whether a product of (rows, inner, columns) is to be computed in blocks."""
    sizes = product.sizes
    known = [constant(size) for size in sizes]
    total = math.prod(size for size in known if size is not None)
    if product.result.dtype.is_bool:
        return False
    if _is_low(product) or (known[0] is not None and known[0] < MIN_SIDE):
        return False
    if None not in known or total == 0:
        return total >= MIN_BLOCKED_TERMS
    return is_larger(sizes, MIN_BLOCKED_AT_RUN_TIME, MIN_SIDE)


def _has_few_terms(product: Product) -> bool:
    """Whether elements of the result are better off as sums in registers."""
    _, terms, columns = map(constant, product.sizes)
    if terms is None:
        return False
    if product.result.dtype.is_complex:
        return terms <= FEW_COMPLEX_TERMS
    is_long = columns is None or columns >= LONG_ROW
    return terms <= FEW_TERMS and is_long and _has_columns_side_by_side(product)


def _is_low(product: Product) -> bool:
    """Whether few rows are multiplied by columns that lie side by side."""
    rows = constant(product.sizes[0])
    if rows is None or rows > FEW_ROWS or product.is_apart:
        return False
    return _has_columns_side_by_side(product)


def _has_columns_side_by_side(product: Product) -> bool:
    loads = [node for node in walk(product.right) if isinstance(node, Load)]
    return all(load.indices[-1:] == product.columns[-1:] for load in loads)
