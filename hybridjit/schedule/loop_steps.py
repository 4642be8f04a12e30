"""Steps that change the loops themselves."""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.errors import ScheduleError
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Cast, Expr
from hybridjit.ir.signature import ScalarParam
from hybridjit.schedule.handles import BlockLike, LoopHandle, LoopLike
from hybridjit.schedule.index_map import parse_size
from hybridjit.schedule.primitives.fission import fission
from hybridjit.schedule.primitives.fuse import fuse
from hybridjit.schedule.primitives.merge import merge
from hybridjit.schedule.primitives.partition import partition, peel
from hybridjit.schedule.primitives.reorder import reorder
from hybridjit.schedule.primitives.split import split
from hybridjit.schedule.primitives.unit_loop import add_unit_loop
from hybridjit.schedule.recording import step
from hybridjit.schedule.refusal import check_int
from hybridjit.schedule.state import State, handles


class LoopSteps(State):
    """split, tile, fuse, reorder and their kin."""

    @step
    def split(
        self,
        loop: LoopLike,
        factor: int | str | None = None,
        *,
        nparts: int | str | None = None,
        factors: Sequence[int | str | None] | None = None,
    ) -> tuple[LoopHandle, ...]:
        """Split a loop into a nest that runs the same iterations in the same order.

            for i in range(n):            for i_0 in range(ceil_div(n, 8)):
                body(i)            -->        for i_1 in range(8):
                                                  if i_0 * 8 + i_1 < n:
                                                      body(i_0 * 8 + i_1)

        `factor` is the extent of the inner loop, `nparts` that of the outer one; `factors` gives
        all of them, None for one that is as large as it must be. The guard is left out where the
        factors divide the number of iterations. A factor may be a size that is known when the
        function runs, by its name or as "n // 2"; less than 1 counts as 1.

        >>> outer, inner = s.split("i", factor=8)
        """
        wanted = [self._read_factor(each) for each in _factors(factor, nparts, factors)]
        self.func, made = split(self.func, self.find_var(loop), wanted)
        return handles(made)

    def _read_factor(self, factor: int | str | None) -> int | Expr | None:
        if not isinstance(factor, str):
            return factor
        numbers = [param.var for param in self.func.params if isinstance(param, ScalarParam)]
        known: dict[str, Expr] = {
            var.name: var if var.dtype is INT64 else Cast(INT64, var)
            for var in (*self.func.dimensions, *numbers)
            if var.dtype.is_integer
        }
        return parse_size(factor, known)

    @step
    def tile(
        self, x: LoopLike, y: LoopLike, x_factor: int, y_factor: int
    ) -> tuple[LoopHandle, ...]:
        """Split two loops, `y` right inside `x`, and run tiles of them: x_0, y_0, x_1, y_1.

            for i in range(n):            for i_0 in range(n // 4):
                for j in range(m):            for j_0 in range(m // 8):
                    body(i, j)     -->            for i_1 in range(4):
                                                      for j_1 in range(8):
                                                          body(i_0 * 4 + i_1, j_0 * 8 + j_1)

        >>> i_0, j_0, i_1, j_1 = s.tile("i", "j", 4, 8)
        """
        x_outer, x_inner = self.split(x, factor=x_factor)
        y_outer, y_inner = self.split(y, factor=y_factor)
        self.reorder(x_outer, y_outer, x_inner, y_inner)
        return x_outer, y_outer, x_inner, y_inner

    @step
    def fuse(self, *loops: LoopLike) -> LoopHandle:
        """Make one loop of nested ones; it runs the same iterations in the same order.

            for i in range(n):            for i_j in range(n * m):
                for j in range(m):   -->      body(i_j // m, i_j % m)
                    body(i, j)

        >>> both = s.fuse("i", "j")
        """
        self.func, made = fuse(self.func, self.find_vars(loops))
        return LoopHandle(made)

    @step
    def reorder(self, *loops: LoopLike, unsafe: bool | None = None) -> None:
        """Put nested loops in this order, in the places that they take up now.

            for i in range(n):            for j in range(m):
                for j in range(m):   -->      for i in range(n):
                    body(i, j)                    body(i, j)

        Refused unless every two iterations that depend on each other keep their order.

        >>> s.reorder("j", "i")
        """
        self.func = reorder(self.func, self.find_vars(loops), unsafe=bool(unsafe))

    @step
    def merge(self, first: LoopLike, second: LoopLike, *, unsafe: bool | None = None) -> LoopHandle:
        """Make one loop of two that stand one after the other.

            for i in range(n):            for i in range(n):
                a(i)                          a(i)
            for j in range(n):     -->        b(i)
                b(j)

        Refused if an iteration of `b` depends on a later one of `a`. Loops around them are merged
        first, if the two stand inside of loops that stand one after the other.

        >>> s.merge("p", "q")
        """
        var = self.find_var(first)
        self.func = merge(self.func, var, self.find_var(second), unsafe=bool(unsafe))
        return LoopHandle(var)

    @step
    def fission(
        self, loop: LoopLike, after: BlockLike, *, unsafe: bool | None = None
    ) -> tuple[LoopHandle, ...]:
        """Cut the body of a loop in two, after the statement that a block stands in.

            for i in range(n):            for i in range(n):
                a(i)               -->        a(i)
                b(i)                      for i in range(n):
                                              b(i)

        Refused if an iteration of `a` depends on an earlier one of `b`.

        >>> first, second = s.fission("r", after="t")
        """
        self.func, made = fission(
            self.func, self.find_var(loop), self.find_name(after), unsafe=bool(unsafe)
        )
        return handles(made)

    @step
    def partition(self, loop: LoopLike, at: int) -> tuple[LoopHandle, ...]:
        """Cut a loop in two, before the iteration where its variable is `at`.

            for i in range(n):            for i in range(min(at, n)):
                body(i)            -->        body(i)
                                          for i in range(max(at, 0), n):
                                              body(i)

        >>> first, second = s.partition("i", 4)
        """
        check_int(at, "partition: the iteration")
        self.func, made = partition(self.func, self.find_var(loop), at)
        return handles(made)

    @step
    def peel(
        self, loop: LoopLike, count: int = 1, *, last: bool | None = None
    ) -> tuple[LoopHandle, ...]:
        """Take the first `count` iterations out of a loop, or the last with `last=True`.

            for i in range(n):            for i in range(min(count, n)):
                body(i)            -->        body(i)
                                          for i in range(count, n):
                                              body(i)

        >>> first, second = s.peel("i")
        """
        check_int(count, "peel: the number of iterations")
        self.func, made = peel(self.func, self.find_var(loop), count, last=bool(last))
        return handles(made)

    @step
    def add_unit_loop(self, block: BlockLike) -> LoopHandle:
        """Put a loop of one iteration around a block.

            with block("c"):       -->     for u in range(1):
                body                           with block("c"):
                                                   body

        >>> u = s.add_unit_loop("c")
        """
        self.func, made = add_unit_loop(self.func, self.find_name(block))
        return LoopHandle(made)


def _factors(
    factor: int | str | None, nparts: int | str | None, factors: Sequence[int | str | None] | None
) -> list[int | str | None]:
    given = [option for option in (factor, nparts, factors) if option is not None]
    if len(given) != 1:
        raise ScheduleError("split takes exactly one of factor=, nparts= and factors=")
    if factors is not None and not isinstance(factors, tuple | list):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ScheduleError(f"split: factors must be a list of integers, got {factors!r}")
    wanted = [None, factor] if factor is not None else [nparts, None]
    wanted = wanted if factors is None else list(factors)
    for number in wanted:
        if number is not None and not isinstance(number, str):
            check_int(number, "split: a factor", most=None)  # their product counts
    return wanted
