"""gemm, interchange, sum_in_register, add_terms: ways to run a product of an array statement."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

from hybridjit.analysis.faults import Fault
from hybridjit.analysis.limits import loop_extent
from hybridjit.arith.ranges import ZERO, constant
from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import Expr, Gt
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Stmt
from hybridjit.processor import current_target
from hybridjit.record import record
from hybridjit.schedule.arrays.choose_tile import suit_product
from hybridjit.schedule.arrays.find_product import (
    find_product,
    find_zero,
    is_larger,
    replaced,
    without_zeros,
)
from hybridjit.schedule.arrays.inline import MOST_DEPTH
from hybridjit.schedule.arrays.matrix_product import (
    Product,
    find_mirror,
    interchange,
    make_gemm,
)
from hybridjit.schedule.arrays.plain import Plain
from hybridjit.schedule.arrays.split_init import loops_of_block, split_init
from hybridjit.schedule.arrays.tile import Tile
from hybridjit.schedule.arrays.vector_product import add_to_all, sum_in_register
from hybridjit.schedule.arrays.version_product import find_doubts, with_version
from hybridjit.schedule.program import the_block
from hybridjit.schedule.refusal import check_int, refuse


@record(eq=False)
class Found:
    """A product, and the list of statements that it stands in."""

    plain: Plain
    product: Product
    stmts: list[Stmt]

    @property
    def start(self) -> Stmt | None:
        """What sets the result to zero before its terms are added, if something does."""
        outputs = self.plain.outputs_of(self.stmts)
        return find_zero(self.plain.fusion, self.stmts, self.product, outputs)

    def replaced(self, made: Stmt, start: Stmt | None = None) -> PrimFunc:
        """The function with `made` in the place of the product, which need not start with zeros."""
        stmts = replaced(self.stmts, self.product.nest, made)
        stmts = stmts if start is None else without_zeros(stmts, start)
        return self.plain.with_list(self.product.nest, stmts)


def _find(func: PrimFunc, block_name: str, step: str) -> Found:
    block = the_block(func, block_name)
    found = find_in_block(func, block_name, is_gemm=step == "gemm")
    if found is None:
        raise refuse(
            func,
            f"{step}: block '{block_name}' is no product of an array statement",
            [block],
            help="it takes loops around `c[i, j] += a[i, k] * b[k, j]` that `a @ b` is made of, or "
            "a te.sum of products"
            + ("" if step == "gemm" else ", if fastmath has 'reassoc': its order is not open"),
        )
    return found


def find_in_block(func: PrimFunc, block_name: str, *, is_gemm: bool) -> Found | None:
    """The product that a block computes, in any order of its axes if it `is_gemm`."""
    plain = Plain.of(split_init(func, the_block(func, block_name)))
    nest = plain.find_nest(block_name)
    if nest is None:
        return None
    find = partial(find_product, any_order=is_gemm, in_order=is_gemm)
    product = find(plain.fusion, nest, func.fastmath)
    return None if product is None else Found(plain, product, plain.list_with(product.nest))


def find_version(func: PrimFunc, block_name: str, numbers: GemmNumbers) -> Found | None:
    """The product that a block computes where its sizes, which are known at run time, turn out to
    be those of one, and large; everywhere else its loops stay as they are.
    """
    block = the_block(func, block_name)
    nest = next(iter(loops_of_block(func, block)), None)
    doubts = None if nest is None else find_doubts(func, block, nest)
    if nest is None or doubts is None:
        return None
    sure = with_version(func, nest, doubts) if doubts else func
    found = find_in_block(sure, block_name, is_gemm=True)
    is_large = None if found is None else _large(found.product, numbers)
    if is_large is None:
        return found
    return find_in_block(with_version(func, nest, [*doubts, is_large]), block_name, is_gemm=True)


def _find_start(func: PrimFunc, found: Found, block_name: str, step: str) -> Stmt:
    """What sets the result of a product to zero, which is not needed any more."""
    start = found.start
    if start is None or found.product.result.dtype.is_bool:
        reason = "is of truth values" if start is not None else "is not zero before its terms come"
        name = found.product.result.name
        raise refuse(func, f"{step}: '{name}' {reason}", [the_block(func, block_name)])
    return start


@record
class GemmNumbers:
    """How a product is cut: see `Schedule.gemm`. What is not given suits the machine."""

    rows: int | None = None
    vectors: int | None = None
    lanes: int | None = None
    depth: int | None = None
    fma: bool | None = None
    symmetric: bool = False
    least_terms: int | None = None
    least_rows: int | None = None

    def tile(self, product: Product) -> Tile:
        """The tile for a product; all terms of windows are added in one go."""
        chosen = suit_product(product, current_target())
        given = {name: getattr(self, name) for name in ("rows", "vectors", "lanes", "depth")}
        given["fuse"] = self.fma
        if product.windows:
            given["depth"] = math.prod(map(product.known_extent, (product.terms, *product.windows)))
        return replace(chosen, **{name: it for name, it in given.items() if it is not None})

    def check(self) -> None:
        """Refuse numbers that make no tile."""
        for name in ("rows", "vectors", "lanes", "depth", "least_rows", "least_terms"):
            number = getattr(self, name)
            if number is None:
                continue
            check_int(number, f"gemm: {name}")
            if number < 1 and not name.startswith("least"):
                raise ScheduleError(f"gemm: {name} must be at least 1, got {number}")


def gemm(func: PrimFunc, block_name: str, numbers: GemmNumbers) -> PrimFunc:
    """Multiply in packed tiles that are kept in registers: see schedule/arrays/gemm.py."""
    numbers.check()
    loops_around = loops_of_block(func, the_block(func, block_name))
    if any(loop_extent(loop) == 0 for loop in loops_around):
        return func  # nothing to multiply; what stores the zeros of sums of nothing stays
    found = find_in_block(func, block_name, is_gemm=True)
    version = None
    if found is None or (found.product.in_order and _is_open(found.product, numbers)):
        version = find_version(func, block_name, numbers)
    found = version or _find(func, block_name, "gemm")
    product, fusion = found.product, found.plain.fusion
    block = the_block(func, block_name)
    if not product.columns:
        raise refuse(
            func,
            f"gemm: '{product.result.name}' is the product of a matrix and a vector",
            [block],
            help="s.sum_in_register(block) and s.add_terms(block, 4) are for those",
        )
    start = found.start if product.in_order else _find_start(func, found, block_name, "gemm")
    _check_rounding(func, product, numbers, block_name)
    mirror = find_mirror(product) if numbers.symmetric else None
    if numbers.symmetric and mirror is None:
        raise refuse(func, f"gemm: the product of '{block_name}' is not symmetric", [block])
    is_large = None if version is not None else _large(product, numbers)
    if start is None and numbers.least_terms is None:
        is_large = None  # what is there already stays, if there are no terms
    if start is None and (mirror is not None or is_large is not None):
        help = "not if half of it is mirrored, or sizes are known at run time only"
        raise refuse(
            func, f"gemm: '{product.result.name}' is not zero to begin with", [block], help=help
        )
    tile = replace(numbers.tile(product), goes_on=start is None)
    made, loops = make_gemm(product, tile, mirror, is_large)
    fusion.loops = {*fusion.loops, *loops}
    if start is not None and mirror is None and fusion.fault(product.nest) is Fault.NEVER:
        fusion.products = {*fusion.products, product.result}
    return found.replaced(made, start)


def _check_rounding(
    func: PrimFunc, product: Product, numbers: GemmNumbers, block_name: str
) -> None:
    """A sum whose order is not open is rounded as it is written, too."""
    if product.in_order and numbers.fma and "contract" not in func.fastmath:
        raise refuse(
            func,
            f"gemm: products of '{block_name}' are rounded before they are added: no fma",
            [the_block(func, block_name)],
            help="fastmath={'contract'} allows it",
        )


def _is_open(product: Product, numbers: GemmNumbers) -> bool:
    """Whether it is known at run time only if there are terms at all, and enough of them."""
    return _large(product, numbers) is not None


def _large(product: Product, numbers: GemmNumbers) -> Expr | None:
    """The condition for tiles, if it is not known from the start: sums of nothing have none."""
    if None not in map(constant, product.sizes):
        return None
    if numbers.least_terms is None:
        terms = product.sizes[1]
        return Gt(terms, ZERO) if constant(terms) is None else None
    return is_larger(product.sizes, max(1, numbers.least_terms), numbers.least_rows or 1)


def interchange_product(func: PrimFunc, block_name: str, *, fma: bool) -> PrimFunc:
    """Run the loop over the terms of a product outside of that over its columns."""
    found = _find(func, block_name, "interchange")
    if not found.product.sums_inside:
        raise refuse(
            func,
            f"interchange: the loop over the terms of '{block_name}' is outside already",
            [the_block(func, block_name)],
        )
    return found.replaced(interchange(found.product, fuse=fma))


def sum_product_in_register(func: PrimFunc, block_name: str) -> PrimFunc:
    """Add the terms of each sum of a product up in a register."""
    found = _find(func, block_name, "sum_in_register")
    _check_is_vector(func, found, block_name, "sum_in_register")
    start = _find_start(func, found, block_name, "sum_in_register")
    made, sum = sum_in_register(found.product)
    found.plain.fusion.reassociable.add(sum)
    return found.replaced(made, start)


def add_terms(func: PrimFunc, block_name: str, factor: int, *, fma: bool) -> PrimFunc:
    """Add several terms to all sums of a product at once."""
    check_int(factor, "add_terms: the number of terms")
    if factor < 1:
        raise ScheduleError(f"add_terms: the number of terms must be at least 1, got {factor}")
    if factor > MOST_DEPTH:  # the sum of all of them is one expression
        raise ScheduleError(f"add_terms: there are {MOST_DEPTH} terms at most, got {factor}")
    found = _find(func, block_name, "add_terms")
    _check_is_vector(func, found, block_name, "add_terms")
    made, loops = add_to_all(found.product, factor, fuse=fma)
    found.plain.fusion.loops = {*found.plain.fusion.loops, *loops}
    return found.replaced(made)


def _check_is_vector(func: PrimFunc, found: Found, block_name: str, step: str) -> None:
    if not found.product.columns and not found.product.result.dtype.is_bool:
        return
    raise refuse(
        func,
        f"{step}: '{block_name}' is no product of a matrix and a vector of numbers",
        [the_block(func, block_name)],
        help="s.gemm(block, ...) and s.interchange(block) are for matrices",
    )
