"""Steps on statements of whole arrays: what the optimiser does by itself, by hand."""

from __future__ import annotations

from hybridjit.schedule.arrays.lanes import Shape
from hybridjit.schedule.arrays.reduce_in_lanes import InLanes
from hybridjit.schedule.buffers import find_buffer
from hybridjit.schedule.handles import BlockLike, LoopLike
from hybridjit.schedule.primitives.array_fusion import contract_buffer, store_once
from hybridjit.schedule.primitives.array_products import (
    GemmNumbers,
    add_terms,
    gemm,
    interchange_product,
    sum_product_in_register,
)
from hybridjit.schedule.primitives.array_rows import (
    ravel,
    reduce_in_lanes,
    unravel,
    unroll_and_jam,
)
from hybridjit.schedule.primitives.sink import sink
from hybridjit.schedule.primitives.squares import squares
from hybridjit.schedule.primitives.sums_first import sums_first
from hybridjit.schedule.recording import step
from hybridjit.schedule.refusal import check_int
from hybridjit.schedule.state import State


class ArraySteps(State):
    """gemm, reduce_in_lanes, unroll_and_jam, contract and their kin.

    They take statements on whole arrays (blocks with the mark `array`), for which a quick proof is
    enough, and change the order of sums that is open (`reassociate`) or that fastmath opens.
    """

    @step
    def gemm(
        self,
        block: BlockLike,
        *,
        rows: int | None = None,
        vectors: int | None = None,
        lanes: int | None = None,
        depth: int | None = None,
        fma: bool | None = None,
        symmetric: bool | None = None,
        least_terms: int | None = None,
        least_rows: int | None = None,
    ) -> None:
        """Multiply matrices in packed blocks, tile by tile, each tile in registers.

            for i in range(n):                    for j in range(0, m, ...):
                for j in range(m):                    for k in range(0, l, depth):
                    for k in range(l):     -->            pack columns of b
                        c[i, j] += a[i, k]                for i in range(0, n, rows):
                                   * b[k, j]                  pack rows of a
                                                              for each panel: a tile of c

        A tile has `rows` rows and `vectors` vectors of `lanes` columns; `depth` terms are added in
        one go. `fma` rounds products together with their sums. What is not given suits the machine
        that the step is taken on. Of a `symmetric` product half is computed. Where sizes are known
        at run time only, products of fewer than `least_terms` terms, or of fewer than `least_rows`
        rows, are computed row by row.

        A te.sum of products and sums in loops are taken as well. Unless their order is open
        (fastmath "reassoc"), their terms are added one by one in that order, without `fma`: the
        result is the same bit for bit. A te.sum may have more loops over terms, as a convolution
        has over its windows: then all terms are added in one go, and the first factor is read
        where it is. Loops whose sizes are known at run time only are a product where all indices
        turn out to be inside of their arrays; elsewhere they run as they are.

        >>> s.gemm("product", rows=6, vectors=2, lanes=8)
        """
        tile = rows, vectors, lanes, depth
        numbers = GemmNumbers(*tile, fma, bool(symmetric), least_terms, least_rows)
        self.func = gemm(self.func, self.find_name(block), numbers)

    @step
    def interchange(self, block: BlockLike, *, fma: bool | None = None) -> None:
        """Run the loop over the terms of a product outside of the loop over its columns.

            for i in range(n):                  for i in range(n):
                for j in range(m):                  for k in range(l):
                    for k in range(l):    -->           for j in range(m):
                        c[i, j] += ...                      c[i, j] += ...

        The terms of each sum keep their order; `fma` rounds each together with its sum.

        >>> s.interchange("product")
        """
        self.func = interchange_product(self.func, self.find_name(block), fma=bool(fma))

    @step
    def sum_in_register(self, block: BlockLike) -> None:
        """Add up each sum of a product of a matrix and a vector in a register.

            for i in range(n):                  for i in range(n):
                for k in range(l):                  sum = 0.0
                    y[i] += a[i, k] * x[k]  -->     for k in range(l):
                                                        sum += a[i, k] * x[k]
                                                    y[i] = sum

        Refused unless the result is zero before.

        >>> s.sum_in_register("product")
        """
        self.func = sum_product_in_register(self.func, self.find_name(block))

    @step
    def add_terms(self, block: BlockLike, factor: int, *, fma: bool | None = None) -> None:
        """Add several terms at once to all sums of a product of a matrix and a vector.

            for i in range(n):                  for k in range(0, l, 4):
                for k in range(l):                  for i in range(n):
                    y[i] += a[k, i] * x[k]  -->         y[i] = x[k + 3] * a[k + 3, i] + (...
                                                               + (x[k] * a[k, i] + y[i]))

        For matrices that lie so that this reads them along their rows.

        >>> s.add_terms("product", 4)
        """
        self.func = add_terms(self.func, self.find_name(block), factor, fma=bool(fma))

    @step
    def reduce_in_lanes(
        self,
        loop: LoopLike,
        *,
        lanes: int,
        vectors: int = 4,
        block: int | None = None,
        fma: bool | None = None,
    ) -> None:
        """Fold the elements of a row in lanes: partial results that are combined in the end.

            for j in range(n):              for j in range(0, n, vectors * lanes):
                t = t + a[j]        -->         for l in vectorize(vectors * lanes):
                                                    partial[l] = partial[l] + a[j + l]
                                            t = t + ((partial[0] + partial[1]) + ...)

        `lanes` and `vectors` are powers of two; of a row too short for two rounds, one vector is
        used. After each `block` of elements the partial results go into the whole, which keeps the
        error of long sums small. Refused unless the order of the fold is open.

        >>> s.reduce_in_lanes("j", lanes=8)
        """
        options = InLanes(Shape(vectors, lanes), block, bool(fma))
        self.func = reduce_in_lanes(self.func, self.find_var(loop), options)

    @step
    def unroll_and_jam(self, loop: LoopLike, factor: int) -> None:
        """Run several iterations of a loop at once, the loops in it as one.

            for i in range(n):                  for i in range(0, n, 2):
                for k in range(l):                  for k in range(l):
                    s = s + a[i, k]     -->             s = s + a[i, k]
                y[i] = s                                s_1 = s_1 + a[i + 1, k]
                                                    y[i] = s
                                                    y[i + 1] = s_1

        Each result is computed as before. A loop of fewer iterations stays as it is. Refused unless
        iterations are proved to be independent, and none can fail.

        >>> s.unroll_and_jam("i", 2)
        """
        self.func = unroll_and_jam(self.func, self.find_var(loop), factor)

    @step
    def unravel(self, loop: LoopLike) -> None:
        """Run a loop over all elements of a matrix as one over rows, around one over columns.

            for i in range(n * m):                  for i_0 in range(n):
                y[i] = x[i // m, i % m]     -->         for i_1 in range(m):
                                                            y[i_0 * m + i_1] = x[i_0, i_1]

        Refused unless the loop divides its variable by the size of a row, of which there are whole
        ones, and nothing in it can fail.

        >>> s.unravel("i")
        """
        self.func = unravel(self.func, self.find_var(loop))

    @step
    def ravel(self, loop: LoopLike) -> None:
        """Run a loop over rows and the one over columns in it as one over all elements.

            for i in range(n):                      for i in range(n * 3):
                for j in range(3):          -->         total = total + x[i // 3, i % 3]
                    total = total + x[i, j]

        What is added up over short rows then is in lanes. Refused unless the number of columns is
        known, there is nothing else in the loop, and nothing can fail.

        >>> s.ravel("i")
        """
        self.func = ravel(self.func, self.find_var(loop))

    @step
    def sink(self, loop: LoopLike) -> None:
        """Run a loop inside of the nests that it is around, which become one.

            for k in range(n):                  for i in range(m):
                for i in range(m):                  for k in range(n):
                    a[i, k] = ...         -->           a[i, k] = ...
                for i in range(m):                      b[i, k] = ...
                    b[i, k] = ...

        Refused unless the nests run over the same ranges, none of their iterations can fail, and
        what they touch is proved to be apart.

        >>> s.sink("k")
        """
        self.func = sink(self.func, self.find_var(loop))

    @step
    def squares(self, loop: LoopLike, size: int = 16, least: int = 0) -> None:
        """Run a loop and the one inside of it in squares: where rows of one array are columns of
        another, what a line of a cache holds is used while it is there.

            for i in range(n):                for i_0 in range(0, n, 16):
                for j in range(m):                for j_0 in range(0, m, 16):
                    b[i, j] = a[j, i]   -->           for j in vectorize(j_0, j_0 + 16):
                                                          for i in range(i_0, i_0 + 16):
                                                              b[i, j] = a[j, i]

        What is left over at the edges runs as it did, and so does everything where the inner loop
        is shorter than `least`. Refused unless the ranges are independent of each other, nothing
        can fail, and what the iterations touch is proved to be apart.

        >>> s.squares("i", 16)
        """
        check_int(size, "squares: size")
        check_int(least, "squares: least")
        self.func = squares(self.func, self.find_var(loop), size, least)

    @step
    def sums_first(self, loop: LoopLike, group: int = 8) -> None:
        """Compute the sums of a group of rows before what is done with them, row by row.

            for i in range(n):                for i_0 in range(0, n, 8):
                s = sum of a[i]                   for i in range(8), in lanes:
                for j in range(m):    -->             s_values[i] = sum of a[i_0 + i]
                    b[j] += s * a[i, j]           for i in range(8):
                                                      for j in range(m):
                                                          b[j] += s_values[i] * a[i_0 + i, j]

        The sums of a group run side by side, if possible, as if `s.sums_in_lanes` asked for it.
        Rows that make no whole group, a power of two, run as they did. Refused unless iterations
        begin with sums in variables of their own, which cannot fail, and which read nothing that
        the rest of an earlier one sets.

        >>> s.sums_first("i", 8)
        """
        self.func = sums_first(self.func, self.find_var(loop), group)

    @step
    def contract(self, buffer: str) -> None:
        """Make an array that one loop uses alone anew, and smaller, in each of its iterations.

            t = allocate((n,), ...)
            for i in range(n):                  for i in range(n):
                t[i] = a[i] * 2         -->         t = a[i] * 2
                c[i] = t[i] + t[i]                  c[i] = t + t

        An axis goes along which an iteration uses one element; what is left without axes is a
        name, or a variable.

        >>> s.contract("twice")
        """
        self.func = contract_buffer(self.func, find_buffer(self.func, buffer))

    @step
    def store_once(self, block: BlockLike) -> None:
        """Store to an element once in each iteration: earlier values are names.

            for i in range(n):                  for i in range(n):
                c[i] = c[i] + a[i]      -->         c_1 = c[i] + a[i]
                c[i] = c[i] * 0.5                   c[i] = c_1 * 0.5

        `block` is one of those that store to the array.

        >>> s.store_once("updated")
        """
        self.func = store_once(self.func, self.find_name(block))
