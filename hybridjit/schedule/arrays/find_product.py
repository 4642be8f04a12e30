"""Find products of matrices and vectors in lists of array statements, and what they begin with.

c = allocate((n, m), ...), set to zero
for i in range(n):
    for j in range(m):
        for k in range(l):
            c[i, j] = c[i, j] + a[i, k] * b[k, j]
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

from hybridjit.analysis.reduction import ReductionOp, find_reduction
from hybridjit.arith.ranges import ZERO, constant, times
from hybridjit.ir.dtype import FLOAT32, FLOAT64
from hybridjit.ir.expr import And, BitAnd, Buffer, Call, Const, Expr, Ge, Load, Mul, Var
from hybridjit.ir.stmt import Allocate, For, Let, Seq, Stmt, Store
from hybridjit.ir.visit import walk
from hybridjit.schedule.arrays.fusion import Fusion, perfect_nest, variables_along
from hybridjit.schedule.arrays.matrix_product import Product


def find_product(
    fusion: Fusion,
    stmt: Stmt,
    fastmath: Collection[str] = (),
    *,
    any_order: bool = False,
    in_order: bool = False,
) -> Product | None:
    """The product that a nest computes, if it is one of matrices or of a matrix and a vector.

    In `any_order` of the axes of the result, and with any number of loops over terms, if they are
    outside of each other in the order of the nest, and how long they are is known. Sums whose
    order is not open are found if they are wanted `in_order`.
    """
    if not isinstance(stmt, For) or not fusion.is_nest(stmt):
        return None
    loops, (*lets, store) = perfect_nest(fusion, stmt)
    if not isinstance(store, Store) or not all(isinstance(let, Let) for let in lets):
        return None
    is_open = not store.buffer.dtype.is_inexact or store.buffer in fusion.reassociable
    is_open = is_open or "reassoc" in fastmath
    may_be = is_open or (in_order and store.buffer.dtype in (FLOAT32, FLOAT64))
    factors, of_bytes = _factors(store), _is_of_bytes(store)
    places = [place for place in store.indices if place != ZERO]
    kept = [place for place in places if isinstance(place, Var)]
    terms = [loop.var for loop in loops if loop.var not in kept]
    if not may_be or factors is None or len(kept) < len(places) or len(set(kept)) < len(kept):
        return None
    if not terms or len(loops) != len(kept) + len(terms):
        return None
    if not _is_plain(loops, lets, store.buffer):
        return None
    named = tuple(let for let in lets if isinstance(let, Let))
    product = Product(stmt, tuple(loops), store, named, terms[0], *factors, in_order=not is_open)
    product = replace(product, of_bytes=of_bytes)
    arranged = _arranged(product, kept) if len(terms) == 1 and (any_order or not of_bytes) else None
    if arranged is not None or not any_order:
        return arranged
    windows = tuple(terms[1:])
    if windows and None in [constant(product.extent(var)) for var in terms]:
        return None
    return _in_any_order(replace(product, windows=windows), kept)


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
        case (ReductionOp.ADD, Call("dot_bytes", (x, y))):
            return x, y
        case _:
            return None


def _is_of_bytes(store: Store) -> bool:
    found = find_reduction(store)
    return found is not None and isinstance(found.update, Call)


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


def _in_any_order(product: Product, kept: Sequence[Var]) -> Product | None:
    """The product with its axes told apart, wherever they are in the result.

    Of several axes that only the right factor has, those that lie as one are the columns; all
    others are as those of a batch.
    """
    sides = [(product.left, product.right), (product.right, product.left)]
    found = [_told_apart(replace(product, left=a, right=b), kept) for a, b in sides]
    products = [each for each in found if each is not None]
    # Columns next to each other are stored at once; else, the fewer axes of a batch the better.
    last = kept[-1] if kept else None

    def cost(it: Product) -> tuple[int, int, bool]:
        return -len(it.columns), len(it.batch), it.columns[-1] is not last

    return min(products, key=cost, default=None)


def _told_apart(product: Product, kept: Sequence[Var]) -> Product | None:
    left, right = product.variables(product.left), product.variables(product.right)
    terms = {product.terms, *product.windows}
    rows = tuple(var for var in kept if var not in right)
    columns = tuple(var for var in kept if var not in left)
    if not rows or not columns or not terms <= (left & right) or not set(kept) <= left | right:
        return None
    columns = columns[-2:] if _lie_as_one(product, columns[-2:]) else columns[-1:]
    batch = tuple(var for var in kept if var not in (*rows, *columns))
    return replace(product, batch=batch, rows=rows, columns=columns)


def _lie_as_one(product: Product, columns: Sequence[Var]) -> bool:
    """Whether two axes are next to each other in memory, in the result and the right factor: the
    pixels of images in the product that a convolution with windows of one pixel is.
    """
    extents = [constant(loop.stop) for loop in product.loops]
    if len(columns) != 2 or product.windows or product.lets or None in extents:
        return False
    size = product.known_extent(columns[1])
    loads = [node for node in walk(product.right) if isinstance(node, Load)]
    read = [load for load in loads if not set(columns).isdisjoint(walk(load))]
    ends = [(product.result, product.store.indices), *((it.buffer, it.indices) for it in read)]
    return all(
        indices[-2:] == tuple(columns) and constant(buffer.shape[-1]) == size
        for buffer, indices in ends
    )


def is_larger(sizes: Sequence[Expr], terms: int, rows: int) -> Expr:
    """The condition that a product of (rows, terms, columns), of which some are not known, has so
    many terms in all, and at least so many rows.
    """
    found: Expr = Const(math.prod(n for n in map(constant, sizes) if n is not None))
    for size in sizes:
        if constant(size) is None:
            found = times(found, size)
    is_large: Expr = Ge(found, Const(terms))
    if constant(sizes[0]) is None:
        is_large = And(is_large, Ge(sizes[0], Const(rows)))
    return is_large


def find_zero(
    fusion: Fusion, stmts: Sequence[Stmt], product: Product, outputs: Collection[Buffer]
) -> Stmt | None:
    """What makes the result zero before its terms are added, and need not if the product is stored;
    None if nothing does, or if the zeros are seen: those of elements that the product has not, or
    where a statement in between ends the list.

    Where the list is all of a function, its `outputs` are zero to begin with: that is what an empty
    statement stands for.
    """
    if not _has_all_elements(fusion, product):
        return None
    may_end = False
    for stmt in reversed(stmts[: stmts.index(product.nest)]):
        if fusion.footprint(stmt).touches(product.result):
            is_start = _makes_zero(fusion, stmt, product.result)
            is_seen = may_end and not isinstance(stmt, Allocate)
            return stmt if is_start and not is_seen else None
        may_end = may_end or fusion.footprint(stmt).acts or fusion.may_fail(stmt)
    return Seq(()) if product.result in outputs else None


def _has_all_elements(fusion: Fusion, product: Product) -> bool:
    """Whether each element of the result is a sum of the product: loops may run over a part."""
    terms = (product.terms, *product.windows)
    loops = [loop for loop in product.loops if loop.var not in terms]
    places = product.store.indices
    return variables_along(fusion, loops, places, product.result) is not None


def replaced(stmts: Sequence[Stmt], old: Stmt, new: Stmt) -> list[Stmt]:
    """The list with `new` in the place of `old`."""
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


def without_zeros(stmts: Sequence[Stmt], start: Stmt) -> list[Stmt]:
    """The list in which `start` does not set elements that are set later, too."""
    if isinstance(start, Allocate):
        return replaced(stmts, start, replace(start, zero=False))
    return [stmt for stmt in stmts if stmt is not start]
