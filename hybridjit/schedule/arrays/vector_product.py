"""Products of a matrix and a vector: each sum in a register, or several terms at a time.

    for i in range(n):                          for i in range(n):
        for k in range(l):                          sum = 0.0
            y[i] = y[i] + a[i, k] * x[k]   -->      for k in range(l):
                                                        sum = sum + a[i, k] * x[k]
                                                    y[i] = sum

Where the matrix does not lie along the sums:

    for i in range(n):                          for k in range(0, l, 4):
        for k in range(l):                          for i in range(n):
            y[i] = y[i] + a[k, i] * x[k]   -->          y[i] = x[k + 3] * a[k + 3, i] + (
                                                            x[k + 2] * a[k + 2, i] + ( ... + y[i]))

Every element of the matrix is used once: what counts is the order in which it is read, and that
each sum is fetched and stored once for several terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hybridjit.arith.ranges import constant, plus, tidy, times
from hybridjit.ir.expr import Buffer, Const, Expr, FloorDiv, Load, Node, Var, const
from hybridjit.ir.stmt import Allocate, Stmt, Store, seq
from hybridjit.ir.visit import rewrite
from hybridjit.schedule.arrays.builder import Builder
from hybridjit.schedule.arrays.matrix_product import Product
from hybridjit.schedule.arrays.multiply_add import multiply_add


def sum_in_register(product: Product) -> tuple[Stmt, Buffer]:
    """The product with each sum made in a register, and the register.

    Relies on: a result that is zero before.
    """
    store, loops = product.store, {loop.var: loop for loop in product.loops}
    sum = Buffer("sum", product.result.dtype, (), Buffer.REGISTER)

    def in_register(node: Node) -> Node | None:
        is_old = isinstance(node, Load) and node.buffer is product.result
        return Load(sum, (), span=store.span) if is_old else None

    add = Store(sum, (), rewrite(store.value, in_register), span=store.span)
    body = seq(
        Allocate(sum, zero=False, span=store.span),
        Store(sum, (), const(0, sum.dtype), span=store.span),
        replace(loops[product.terms], body=seq(*product.lets, add)),
        replace(store, value=Load(sum, (), span=store.span)),
    )
    for var in reversed(product.rows):
        body = replace(loops[var], body=body)
    return body, sum


def add_to_all(product: Product, several: int, *, fuse: bool) -> tuple[Stmt, set[Var]]:
    """The product with `several` terms added to all sums at once, and the loops over the sums."""
    code, loops = Builder(), set[Var]()
    size, k_var, result = product.extent(product.terms), product.terms, product.result
    known = constant(size)
    whole = tidy(times(FloorDiv(size, Const(several)), Const(several)))
    if known is not None:
        whole = Const(known // several * several)

    def add(terms: Sequence[Expr]) -> None:
        vector = [product.factor(code, product.right, {k_var: k}) for k in terms]
        factors = [code.let(factor, "x") for factor in vector]

        def one(place: Sequence[Expr]) -> None:
            around = dict(zip(product.rows, place, strict=True))
            total: Expr = Load(result, product.place(around), span=product.store.span)
            for k, factor in zip(terms, factors, strict=True):
                x = product.factor(code, product.left, {**around, k_var: k})
                total = multiply_add(factor, x, total, fuse=fuse)
            code.emit(Store(result, product.place(around), total, span=product.store.span))
            loops.update(at for at in place if isinstance(at, Var))

        code.nest(
            [var.name for var in product.rows], [product.extent(var) for var in product.rows], one
        )

    code.each(
        k_var.name,
        whole,
        lambda k: add([plus(k, Const(term)) for term in range(several)]),
        step=several,
    )
    code.each(k_var.name, size, lambda k: add([k]), start=whole)
    return code.made, loops
