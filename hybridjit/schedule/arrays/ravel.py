"""Loops over rows and columns as one over all elements, and the other way round.

    for p in range(n * m):                          for p_0 in range(n):
        y[p] = x[p // m, p % m] * 2      <-->           for p_1 in range(m):
                                                            y[p_0 * m + p_1] = x[p_0, p_1] * 2

An array in another shape, as `x.ravel()` is, is read in loops like the one on the left: without
divisions, its rows are read in lanes. Rows of three elements are too short for lanes; what is added
up over all of them is better off on the left, where elements that lie side by side are known to do
so once the layout is. The order of the iterations stays as it is. Of an array with more axes, the
last one comes off first, and the loop over the others can be taken apart once more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from hybridjit.arith.ranges import ONE, ZERO, constant, plus, times
from hybridjit.arith.sizes import product as size_of
from hybridjit.arith.sizes import quotient
from hybridjit.arith.totality import operation_may_fail
from hybridjit.ir.expr import Buffer, Expr, FloorDiv, Load, Mod, Ne, Var
from hybridjit.ir.stmt import For, If, LoopKind, Raise, Stmt, Store
from hybridjit.ir.visit import Mutator, substitute, walk
from hybridjit.record import record


@record
class Unraveled:
    """A loop that divides its variable by the size of a row, and how many rows there are."""

    loop: For
    rows: Expr
    columns: Expr

    def make(self) -> For:
        """The loop over rows."""
        loop, name = self.loop, self.loop.var.name
        row, column = Var(f"{name}_0"), Var(f"{name}_1")
        body = _Places(loop.var, row, column, self.columns).rewrite(loop.body)
        inner = replace(loop, var=column, stop=self.columns, body=body)
        return replace(loop, var=row, stop=self.rows, body=inner)


def find_unraveled(loop: For, before: Sequence[Stmt] = ()) -> Unraveled | None:
    """The rows and columns that `loop` goes through; None if it is no such loop.

    The list of statements `before` it may say that it runs over all elements of an array.
    """
    divisors = _divisors(loop) if _is_plain(loop) else []
    buffers = _buffers_in(loop.body) if divisors else set[Buffer]()
    sizes = [size for buffer in buffers for size in buffer.shape]
    for total in (loop.stop, *_sizes_known(loop.stop, before, buffers)):
        for columns in divisors:
            rows = quotient(total, columns)
            is_size = (constant(columns) or 0) > 1 or columns in sizes
            divides = all(quotient(other, columns) is not None for other in divisors)
            if rows is not None and is_size and divides:
                return Unraveled(loop, rows, columns)
    return None


def _sizes_known(stop: Expr, before: Sequence[Stmt], buffers: Collection[Buffer]) -> Iterator[Expr]:
    """What `stop` is equal to, or there was an error before: the elements of one of the arrays.

    if n * m != stop:
        raise ...

    The product of the sizes of an array is exact; others may have wrapped.
    """
    for stmt in before:
        match stmt:
            case If(Ne(total, other), Raise(), None) if other == stop:
                shapes = (size_of(buffer.shape) for buffer in buffers)
                if any(quotient(total, elements) == ONE for elements in shapes):
                    yield total
            case _:
                pass


def _is_plain(loop: For) -> bool:
    is_counted = (loop.start, loop.step) == (ZERO, ONE)
    return is_counted and loop.kind is LoopKind.SERIAL and not loop.annotations


def _divisors(loop: For) -> list[Expr]:
    """What the variable is divided by; nothing if anything else that depends on it is, too, or
    something can fail: then iterations are spoken of.
    """
    found: list[Expr] = []
    for node in walk(loop.body):
        if isinstance(node, FloorDiv | Mod) and node.lhs is loop.var:
            found.append(node.rhs)
        elif isinstance(node, FloorDiv | Mod) and _is_place(node.lhs, loop.var):
            continue  # of a row that is divided once more
        elif operation_may_fail(node) or (
            isinstance(node, FloorDiv | Mod) and loop.var in walk(node)
        ):
            return []
    return found


def _is_place(expr: Expr, var: Var) -> bool:
    """True for `var`, divided by whatever: it is a place along other axes."""
    while isinstance(expr, FloorDiv):
        expr = expr.lhs
    return expr is var


def _buffers_in(body: Stmt) -> set[Buffer]:
    """The arrays that `body` reads and writes, whose sizes are not negative."""
    return {node.buffer for node in walk(body) if isinstance(node, Load | Store)}


class _Places(Mutator):
    """Replace a place by a row and a column, and what it is divided by."""

    def __init__(self, var: Var, row: Var, column: Var, columns: Expr) -> None:
        self.var = var
        self.row = row
        self.column = column
        self.columns = columns

    def rewrite_Var(self, node: Var) -> Expr:
        if node is not self.var:
            return node
        return plus(times(self.row, self.columns), self.column)

    def rewrite_FloorDiv(self, node: FloorDiv) -> Expr:
        if node.lhs is not self.var:
            return self.generic(node)
        rows = self._rows(node.rhs)
        return self.row if rows == ONE else FloorDiv(self.row, rows)

    def rewrite_Mod(self, node: Mod) -> Expr:
        if node.lhs is not self.var:
            return self.generic(node)
        rows = self._rows(node.rhs)
        if rows == ONE:
            return self.column
        return plus(times(Mod(self.row, rows), self.columns), self.column)

    def _rows(self, divisor: Expr) -> Expr:
        rows = quotient(divisor, self.columns)
        assert rows is not None
        return rows


@record
class Raveled:
    """A loop over rows around one over columns, of a known number, and nothing else."""

    rows: For
    columns: For

    def make(self) -> For:
        """One loop over all elements."""
        rows, columns = self.rows, self.columns
        place = Var(rows.var.name)
        values = {
            rows.var: FloorDiv(place, columns.stop),
            columns.var: Mod(place, columns.stop),
        }
        body = substitute(columns.body, values)
        return replace(rows, var=place, stop=times(rows.stop, columns.stop), body=body)


def find_raveled(rows: For) -> Raveled | None:
    """The loop over `rows` with that over columns in it; None if there is more or less to it, or
    something can fail.
    """
    columns = rows.body
    if not isinstance(columns, For) or not (_is_plain(rows) and _is_plain(columns)):
        return None
    if (constant(columns.stop) or 0) < 1 or any(map(operation_may_fail, walk(columns.body))):
        return None
    return Raveled(rows, columns)
