"""Run two loops in squares: rows of one array are columns of another.

    for i in range(n):                 for i_0 in range(0, n // 16 * 16, 16):
        for j in range(m):                 for j_0 in range(0, m // 16 * 16, 16):
            b[i, j] = a[j, i]                  for j in vectorize(j_0, j_0 + 16):
                                                   for i in range(i_0, i_0 + 16):
                                -->                    b[i, j] = a[j, i]
                                       for i in range(n):
                                           for j in range(m // 16 * 16, m):
                                               b[i, j] = a[j, i]
                                       for i in range(n // 16 * 16, n):
                                           for j in range(m // 16 * 16):
                                               b[i, j] = a[j, i]

Each line of a cache that a column goes through is used for all its elements before it is needed no
more; those that are written come in the order of memory. What is left over at the edges runs as it
did. Legal where iterations share no element and nothing can fail. Relies on: arguments that share
no memory.
"""

from __future__ import annotations

import dataclasses

from hybridjit.analysis.counting_nest import Nest, is_counting
from hybridjit.analysis.limits import loop_extent
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Const, Expr, FloorDiv, Ge, Mul, Var
from hybridjit.ir.stmt import For, If, Let, LoopKind, Stmt, seq
from hybridjit.ir.visit import fresh_copy, walk
from hybridjit.record import record

_ZERO = Const(0)


@record
class Squares:
    """A loop around another one, and nothing else, whose ranges do not depend on each other."""

    outer: For
    inner: For

    @property
    def nest(self) -> Nest:
        """Both loops."""
        return Nest((self.outer, self.inner), self.inner.body)

    def make(self, size: int, least: int = 0) -> Stmt:
        """The loops in squares, unless the inner one is shorter than `least`."""
        extent = loop_extent(self.inner)
        if extent is not None:
            return self._made(size) if extent >= least else self.outer
        if least == 0:
            return self._made(size)
        is_long = Ge(simplify(self.inner.safe_extent), Const(least))
        return If(is_long, self._made(size), fresh_copy(self.outer), span=self.outer.span)

    def _made(self, size: int) -> Stmt:
        """The loops in squares of `size`, and what is left over."""
        lets: list[Stmt] = []
        whole = [_whole(loop, size, lets) for loop in (self.outer, self.inner)]
        parts: list[Stmt] = [*lets, self._squares(whole[0], whole[1], size)]
        if whole[1] != self.inner.stop:
            parts.append(self._rest(self.outer.start, self.outer.stop, whole[1], self.inner.stop))
        if whole[0] != self.outer.stop:
            parts.append(self._rest(whole[0], self.outer.stop, self.inner.start, whole[1]))
        return seq(*parts)

    def _squares(self, outer_stop: Expr, inner_stop: Expr, size: int) -> Stmt:
        rows, columns = Var(f"{self.outer.var.name}_0"), Var(f"{self.inner.var.name}_0")
        row = dataclasses.replace(self.outer, start=rows, stop=rows + size, body=self.inner.body)
        column = dataclasses.replace(
            self.inner, start=columns, stop=columns + size, body=row, kind=LoopKind.VECTORIZED
        )
        span, step = self.outer.span, Const(size)
        along = For(columns, self.inner.start, inner_stop, step, column, span=span)
        return For(rows, self.outer.start, outer_stop, step, along, span=span)

    def _rest(self, first: Expr, stop: Expr, inner_first: Expr, inner_stop: Expr) -> Stmt:
        inner = dataclasses.replace(self.inner, start=inner_first, stop=inner_stop)
        loop = dataclasses.replace(self.outer, start=first, stop=stop, body=inner)
        copied = fresh_copy(loop)
        assert isinstance(copied, For)
        return copied


def _whole(loop: For, size: int, lets: list[Stmt]) -> Expr:
    """Where the last whole square along `loop` ends."""
    extent = loop.safe_extent
    count = simplify(Mul(FloorDiv(extent, Const(size)), Const(size)))
    if simplify(extent) == count:
        return loop.stop
    stop = simplify(loop.start + count)
    if isinstance(stop, Const):
        return stop
    var = Var(f"{loop.var.name}_whole")
    lets.append(Let(var, stop, span=loop.span))
    return var


def find_squares(loop: For) -> Squares | None:
    """`loop` and the one inside of it, if it has nothing else, and both just count."""
    inner = loop.body
    if not isinstance(inner, For) or not is_counting(loop) or not is_counting(inner):
        return None
    bounds = (inner.start, inner.stop)
    if any(node is loop.var for bound in bounds for node in walk(bound)):
        return None
    return Squares(loop, inner)
