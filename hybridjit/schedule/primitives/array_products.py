"""gemm, interchange, sum_in_register, add_terms: ways to run a product of an array statement."""

from __future__ import annotations

from hybridjit.analysis.faults import Fault
from hybridjit.arith.ranges import constant
from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import Expr
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Stmt
from hybridjit.record import record
from hybridjit.schedule.arrays.find_product import (
    find_product,
    find_zero,
    is_larger,
    replaced,
    without_zeros,
)
from hybridjit.schedule.arrays.gemm import Tile
from hybridjit.schedule.arrays.matrix_product import (
    Product,
    find_mirror,
    interchange,
    make_gemm,
)
from hybridjit.schedule.arrays.plain import Plain
from hybridjit.schedule.arrays.vector_product import add_to_all, sum_in_register
from hybridjit.schedule.program import the_block
from hybridjit.schedule.refusal import check_int, refuse


@record(eq=False)
class _Found:
    """A product, and the list of statements that it stands in."""

    plain: Plain
    product: Product
    stmts: list[Stmt]

    def replaced(self, made: Stmt, start: Stmt | None = None) -> PrimFunc:
        """The function with `made` in the place of the product, which need not start with zeros."""
        stmts = replaced(self.stmts, self.product.nest, made)
        stmts = stmts if start is None else without_zeros(stmts, start)
        return self.plain.with_list(self.product.nest, stmts)


def _find(func: PrimFunc, block_name: str, step: str) -> _Found:
    plain = Plain.of(func)
    nest = plain.find_nest(block_name)
    product = None if nest is None else find_product(plain.fusion, nest, func.fastmath)
    if product is None:
        raise refuse(
            func,
            f"{step}: block '{block_name}' is no product of an array statement",
            [the_block(func, block_name)],
            help="it takes loops around `c[i, j] += a[i, k] * b[k, j]` that `a @ b` is made of; "
            "the order of a sum in a loop by hand is not open",
        )
    return _Found(plain, product, plain.list_with(product.nest))


def _find_start(func: PrimFunc, found: _Found, block_name: str, step: str) -> Stmt:
    """What sets the result of a product to zero, which is not needed any more."""
    outputs = found.plain.outputs_of(found.stmts)
    start = find_zero(found.plain.fusion, found.stmts, found.product, outputs)
    if start is None or found.product.result.dtype.is_bool:
        reason = "is of truth values" if start is not None else "is not zero before its terms come"
        name = found.product.result.name
        raise refuse(func, f"{step}: '{name}' {reason}", [the_block(func, block_name)])
    return start


@record
class GemmNumbers:
    """How a product is cut: see `Schedule.gemm`."""

    rows: int
    vectors: int
    lanes: int
    depth: int
    fma: bool
    symmetric: bool
    least_terms: int | None
    least_side: int

    def check(self) -> None:
        """Refuse numbers that make no tile."""
        for name in ("rows", "vectors", "lanes", "depth", "least_side"):
            check_int(getattr(self, name), f"gemm: {name}")
        if self.least_terms is not None:
            check_int(self.least_terms, "gemm: least_terms")
        for name in ("rows", "vectors", "lanes", "depth"):
            if getattr(self, name) < 1:
                raise ScheduleError(f"gemm: {name} must be at least 1, got {getattr(self, name)}")


def gemm(func: PrimFunc, block_name: str, numbers: GemmNumbers) -> PrimFunc:
    """Multiply in packed tiles that are kept in registers: see schedule/arrays/gemm.py."""
    numbers.check()
    found = _find(func, block_name, "gemm")
    product, fusion = found.product, found.plain.fusion
    block = the_block(func, block_name)
    if not product.columns:
        raise refuse(
            func,
            f"gemm: '{product.result.name}' is the product of a matrix and a vector",
            [block],
            help="s.sum_in_register(block) and s.add_terms(block, 4) are for those",
        )
    start = _find_start(func, found, block_name, "gemm")
    mirror = find_mirror(product) if numbers.symmetric else None
    if numbers.symmetric and mirror is None:
        raise refuse(func, f"gemm: the product of '{block_name}' is not symmetric", [block])
    dtype = product.result.dtype
    shape = numbers.rows, numbers.vectors, numbers.lanes, numbers.depth
    made, loops = make_gemm(
        product, Tile(dtype, *shape, numbers.fma), mirror, _large(product, numbers)
    )
    fusion.loops = {*fusion.loops, *loops}
    if mirror is None and fusion.fault(product.nest) is Fault.NEVER:
        fusion.products = {*fusion.products, product.result}
    return found.replaced(made, start)


def _large(product: Product, numbers: GemmNumbers) -> Expr | None:
    """The condition for tiles, if it is not known from the start."""
    if numbers.least_terms is None or None not in map(constant, product.sizes):
        return None
    return is_larger(product.sizes, numbers.least_terms, numbers.least_side)


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
    found = _find(func, block_name, "add_terms")
    _check_is_vector(func, found, block_name, "add_terms")
    made, loops = add_to_all(found.product, factor, fuse=fma)
    found.plain.fusion.loops = {*found.plain.fusion.loops, *loops}
    return found.replaced(made)


def _check_is_vector(func: PrimFunc, found: _Found, block_name: str, step: str) -> None:
    if not found.product.columns and not found.product.result.dtype.is_bool:
        return
    raise refuse(
        func,
        f"{step}: '{block_name}' is no product of a matrix and a vector of numbers",
        [the_block(func, block_name)],
        help="s.gemm(block, ...) and s.interchange(block) are for matrices",
    )
