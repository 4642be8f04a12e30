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
from dataclasses import dataclass, field, replace

from hybridjit.analysis.faults import Fault
from hybridjit.analysis.reduction import ReductionOp, find_reduction
from hybridjit.arith.ranges import ZERO, constant, times
from hybridjit.ir.expr import And, BitAnd, Buffer, Const, Expr, Ge, Load, Mul, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, For, If, Let, Seq, Stmt, Store, While, flat_stmts, seq
from hybridjit.ir.visit import walk
from hybridjit.optimize.fuse.fusion import Fusion, perfect_nest, variables_along
from hybridjit.optimize.fuse.inline import inline
from hybridjit.optimize.lanes import VECTOR_BITS
from hybridjit.optimize.matrix_product import (
    Product,
    interchange,
    make_gemm,
    make_gemm_or_rows,
    mirrored,
)
from hybridjit.optimize.vector_product import add_to_all, sum_in_register
from hybridjit.target import Target

# Terms of a product that are worth packing: below, loops as they stand are faster.
MIN_BLOCKED_TERMS = 1 << 14
MIN_JAMMED_TERMS = 64  # of a row: shorter ones are summed one by one
MIN_SIDE = 3  # of the result: a tile of which less is used is no gain


@dataclass(slots=True)
class Products:
    """What was decided: the loops of what was made, the loops over rows that are summed in lanes,
    the products in which each element is stored once, and none fails, and registers for sums.
    """

    loops: set[Var]
    rows: set[Var] = field(default_factory=set[Var])
    stored_once: set[Buffer] = field(default_factory=set[Buffer])
    sums: set[Buffer] = field(default_factory=set[Buffer])


def choose_products(
    func: PrimFunc, body: Stmt, fusion: Fusion, target: Target
) -> tuple[Stmt, Products]:
    """`body`, that of `func`, with each product run in its own way, and what was decided."""
    chooser = _Chooser(func, fusion, target, Products(set(fusion.loops)))
    return chooser.in_list(flat_stmts(body), is_whole=True), chooser.products


@dataclass(slots=True)
class _Chooser:
    func: PrimFunc
    fusion: Fusion
    target: Target
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
        if not product.columns and _lies_along_terms(product):
            return self._along_rows(stmts, product, is_whole=is_whole)
        if not product.columns:
            made = self._across_rows(product) if product.sums_inside else product.nest
            return _replaced(stmts, product.nest, made)
        is_large = _is_large(product)
        start = None if is_large is False else self._find_zero(stmts, product, is_whole=is_whole)
        if start is None:
            made = interchange(product, self.target) if product.sums_inside else product.nest
            return _replaced(stmts, product.nest, made)
        stmts = _without_zeros(stmts, start)
        if is_large is True and not product.batch:
            stmts, product = self._inline_factors(stmts, product)
        never_fails = self.fusion.fault(product.nest) is Fault.NEVER
        if never_fails and mirrored(product, self.target) is None:
            self.products.stored_once.add(product.result)
        if is_large is True:
            made, loops = make_gemm(product, self.target)
        else:
            assert isinstance(is_large, Expr)
            made, loops = make_gemm_or_rows(product, self.target, is_large)
        self.products.loops |= loops
        return _replaced(stmts, product.nest, made)

    def _along_rows(self, stmts: list[Stmt], product: Product, *, is_whole: bool) -> list[Stmt]:
        terms = constant(product.sizes[1])
        is_long = terms is None or terms >= MIN_JAMMED_TERMS
        if is_long and self.target.vector_bits >= VECTOR_BITS:
            self.products.rows.add(product.rows[-1])
        start = self._find_zero(stmts, product, is_whole=is_whole)
        if start is None or product.result.dtype.is_bool:
            return stmts
        made, sum = sum_in_register(product)
        self.products.sums.add(sum)
        return _replaced(_without_zeros(stmts, start), product.nest, made)

    def _across_rows(self, product: Product) -> Stmt:
        if product.result.dtype.is_bool:
            return interchange(product, self.target)
        made, loops = add_to_all(product, self.target)
        self.products.loops |= loops
        return made

    def _find_zero(self, stmts: Sequence[Stmt], product: Product, *, is_whole: bool) -> Stmt | None:
        """What makes the result zero before its terms are added; None if nothing does.

        An output is zero to begin with: that is what an empty statement stands for.
        """
        for stmt in reversed(stmts[: stmts.index(product.nest)]):
            if self.fusion.footprint(stmt).touches(product.result):
                return stmt if _makes_zero(self.fusion, stmt, product.result) else None
        return Seq(()) if is_whole and product.result in self.func.outputs else None

    def _inline_factors(self, stmts: list[Stmt], product: Product) -> tuple[list[Stmt], Product]:
        """The list without arrays that only hold a factor which packing can compute as well."""
        made = {stmt.buffer: stmt for stmt in stmts if isinstance(stmt, Allocate)}
        nodes = [node for side in (product.left, product.right) for node in walk(side)]
        for buffer in dict.fromkeys(node.buffer for node in nodes if isinstance(node, Load)):
            if buffer not in made or buffer not in self.fusion.temporaries:
                continue
            inlined = inline(self.fusion, stmts, made[buffer], packed=product.nest)
            if inlined is not None:
                found = next(s for s in inlined if isinstance(s, For) and s.var is product.nest.var)
                again = find_product(self.fusion, found)
                assert again is not None, "a product stays one"
                stmts, product = inlined, again
        return stmts, product


def _replaced(stmts: Sequence[Stmt], old: Stmt, new: Stmt) -> list[Stmt]:
    return [new if stmt is old else stmt for stmt in stmts]


def _makes_zero(fusion: Fusion, stmt: Stmt, result: Buffer) -> bool:
    if isinstance(stmt, Allocate):
        return stmt.zero
    loops, body = perfect_nest(fusion, stmt)
    match body:
        case [Store(buffer, indices, Const() as value)] if buffer is result:
            return (
                not any(value.bits) and variables_along(fusion, loops, indices, result) is not None
            )
        case _:
            return False


def _without_zeros(stmts: Sequence[Stmt], start: Stmt) -> list[Stmt]:
    """The list in which `start` does not set elements that are set later, too."""
    if isinstance(start, Allocate):
        return _replaced(stmts, start, replace(start, zero=False))
    return [stmt for stmt in stmts if stmt is not start]


def find_product(fusion: Fusion, stmt: Stmt) -> Product | None:
    """The product that a nest computes, if it is one of matrices or of a matrix and a vector."""
    if not isinstance(stmt, For) or not fusion.is_nest(stmt):
        return None
    loops, (*lets, store) = perfect_nest(fusion, stmt)
    if not isinstance(store, Store) or not all(isinstance(let, Let) for let in lets):
        return None
    is_open = not store.buffer.dtype.is_inexact or store.buffer in fusion.reassociable
    factors = _factors(store)
    places = [place for place in store.indices if place != ZERO]
    kept = [place for place in places if isinstance(place, Var)]
    terms = [loop.var for loop in loops if loop.var not in kept]
    if not is_open or factors is None or len(kept) < len(places) or len(set(kept)) < len(kept):
        return None
    if len(terms) != 1 or len(loops) != len(kept) + 1 or not _is_plain(loops, lets, store.buffer):
        return None
    named = tuple(let for let in lets if isinstance(let, Let))
    return _arranged(Product(stmt, tuple(loops), store, named, terms[0], *factors), kept)


def _is_plain(loops: Sequence[For], lets: Sequence[Stmt], result: Buffer) -> bool:
    """True if no loop is longer for some iterations of others, and no name reads the result."""
    variables = {loop.var for loop in loops}
    stops = [node for loop in loops for node in walk(loop.stop)]
    reads = [node.buffer for let in lets for node in walk(let) if isinstance(node, Load)]
    return result not in reads and not any(node in variables for node in stops)


def _factors(store: Store) -> tuple[Expr, Expr] | None:
    found = find_reduction(store)
    if found is None:
        return None
    match found.op, found.update:
        case (ReductionOp.ADD, Mul(x, y)) | (ReductionOp.BIT_OR, BitAnd(x, y)):
            return x, y
        case _:
            return None


def _arranged(product: Product, kept: Sequence[Var]) -> Product | None:
    """The product with its axes told apart, the factor with the columns on the right."""
    left, right = product.variables(product.left), product.variables(product.right)
    if product.terms not in left & right or not kept:
        return None
    if not (left | right) >= set(kept):
        return None
    if kept[-1] in left and (kept[-1] not in right or left < right):
        product = replace(product, left=product.right, right=product.left)
        left, right = right, left
    if left == {product.terms} and right >= set(kept):  # a vector by a matrix: as rows of sums
        swapped = replace(product, left=product.right, right=product.left)
        return replace(swapped, rows=tuple(kept))
    if right == {product.terms}:
        return replace(product, rows=tuple(kept))
    batch = tuple(var for var in kept if var in left and var in right)
    rows = tuple(var for var in kept if var in left and var not in right)
    columns = tuple(var for var in kept if var in right and var not in left)
    if len(columns) != 1 or not rows or [*batch, *rows, *columns] != kept:
        return None
    return replace(product, batch=batch, rows=rows, columns=columns)


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
    if any(size is not None and size < MIN_SIDE for size in (known[0], known[2])):
        return False
    if None not in known or total == 0:
        return total >= MIN_BLOCKED_TERMS
    terms: Expr = Const(total)
    for size in sizes:
        if constant(size) is None:
            terms = times(terms, size)
    is_large: Expr = Ge(terms, Const(MIN_BLOCKED_TERMS))
    for side in (sizes[0], sizes[2]):
        if constant(side) is None:
            is_large = And(is_large, Ge(side, Const(MIN_SIDE)))
    return is_large
