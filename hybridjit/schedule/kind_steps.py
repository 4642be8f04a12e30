"""Steps that say how the iterations of a loop are run."""

from __future__ import annotations

from hybridjit.errors import ScheduleError
from hybridjit.ir.stmt import LoopKind
from hybridjit.schedule.handles import LoopLike
from hybridjit.schedule.primitives.hints import (
    set_in_register,
    set_lanes,
    set_sums_in_lanes,
    set_threads,
)
from hybridjit.schedule.primitives.kinds import set_kind
from hybridjit.schedule.recording import step
from hybridjit.schedule.state import State


class KindSteps(State):
    """parallel, vectorize, unroll, bind, serial, and hints for what lowering chooses."""

    @step
    def parallel(self, loop: LoopLike, *, unsafe: bool | None = None) -> None:
        """Run the iterations of a loop on several threads.

            for i in range(n):      -->     for i in parallel(n):
                body(i)                         body(i)

        Refused if two iterations depend on each other, reductions aside that give the same
        result in any order, or whose order is open: that of np.sum, or of all with
        `fastmath={"reassoc"}`.

        >>> s.parallel("i")
        """
        self.func = set_kind(self.func, self.find_var(loop), LoopKind.PARALLEL, unsafe=bool(unsafe))

    @step
    def vectorize(self, loop: LoopLike, *, unsafe: bool | None = None) -> None:
        """Run the iterations of a loop as lanes of vector instructions.

            for j in range(m):      -->     for j in vectorize(m):
                body(j)                         body(j)

        Refused where `parallel` is. If an iteration fails, the error and all stores are those of
        the plain loop, unless its body stores something before the check that fails: then the
        error is that of the first check that fails in any lane, and other iterations of the same
        vector may have stored what comes before it.

        >>> s.vectorize("j")
        """
        self.func = set_kind(
            self.func, self.find_var(loop), LoopKind.VECTORIZED, unsafe=bool(unsafe)
        )

    @step
    def in_lanes(self, loop: LoopLike, lanes: int, *, if_possible: bool | None = None) -> None:
        """Run a loop in so many lanes, in the place of what the compiler chooses; in none, if 1.

            for j in range(m):      -->     for j in serial(m, annotations={"in_lanes": 8}):
                body(j)                         body(j)

        Unlike `vectorize` it is proved when the program is compiled, once all checks are where they
        can be. A loop whose iterations may fail, or need each other, is refused then. With
        `if_possible`, as the compiler writes it for other sizes and machines than these, it is left
        to the compiler instead, as loops without a hint are.

        >>> s.in_lanes("j", 8)
        """
        self.func = set_lanes(self.func, self.find_var(loop), lanes, if_possible=bool(if_possible))

    @step
    def on_threads(
        self, loop: LoopLike, wanted: bool = True, *, if_possible: bool | None = None
    ) -> None:
        """Run a loop on several threads, in the place of what the compiler chooses, or not.

            for i in range(n):      -->     for i in serial(n, annotations={"on_threads": True}):
                body(i)                         body(i)

        For functions that ask for threads (`parallel=True`). Unlike `parallel` it is proved when
        the program is compiled, which puts sums, histograms and blocks in order for threads. Where
        loops around it allow that, blocks of it go around them: threads are woken up once. With
        `if_possible` as in `in_lanes`, and there need not be one loop of that name: steps on
        products make others for other sizes.

        >>> s.on_threads("i")
        """
        try:
            var = self.find_var(loop)
        except ScheduleError:
            if if_possible and isinstance(loop, str):
                return
            raise
        self.func = set_threads(self.func, var, bool(wanted), if_possible=bool(if_possible))

    @step
    def sums_in_lanes(
        self,
        loop: LoopLike,
        rows_of: LoopLike | None = None,
        *,
        lanes: int,
        rows: int | None = None,
        if_possible: bool | None = None,
    ) -> None:
        """Compute sums side by side, in lanes of a loop around them, and in rows of another one.

            for i in range(n):                        for j in range(0, m, 32), in 32 lanes:
                for k in range(l):                        for i in range(0, n, 4):
                    for j in range(m):         -->            for k in range(l):
                        c[i, j] += a[i, k]                        add to c[i : i + 4, j], which
                                   * b[k, j]                      are in variables

        Every sum has its terms in the same order as before, so that no bit changes. The loop over
        rows goes inside of the lanes; `rows` of them run at once, as far as they may. What else the
        loops do runs in loops of its own. As with `in_lanes` it is proved when the program is
        compiled, and with `if_possible` left to the compiler where it cannot be; 1 lane is none.

        >>> s.sums_in_lanes("j", "i", lanes=32, rows=4)
        """
        row = None if rows_of is None else self.find_var(rows_of)
        numbers = lanes, 1 if rows is None else rows
        self.func = set_sums_in_lanes(
            self.func, self.find_var(loop), row, *numbers, if_possible=bool(if_possible)
        )

    @step
    def in_register(
        self, loop: LoopLike, wanted: bool = True, *, if_possible: bool | None = None
    ) -> None:
        """Keep the element that a loop updates in a register, or not.

            for w in range(v):                        value = a[u, v]
                a[u, v] -= a[u, w] * a[w, v]   -->    for w in range(v):
                                                          value -= a[u, w] * a[w, v]
                                                      a[u, v] = value

        As with `in_lanes` it is proved when the program is compiled: an iteration that fails may
        not leave another value behind. With `if_possible` it is left to the compiler where it
        cannot be.

        >>> s.in_register("w")
        """
        self.func = set_in_register(
            self.func, self.find_var(loop), bool(wanted), if_possible=bool(if_possible)
        )

    @step
    def unroll(self, loop: LoopLike) -> None:
        """Write the iterations of a loop out one after the other.

            for i in range(4):      -->     for i in unroll(4):
                body(i)                         body(i)

        >>> s.unroll("i")
        """
        self.func = set_kind(self.func, self.find_var(loop), LoopKind.UNROLLED)

    @step
    def bind(self, loop: LoopLike, thread: str, *, unsafe: bool | None = None) -> None:
        """Bind a loop to a thread axis such as "blockIdx.x"; on the CPU it runs as a loop.

            for i in range(n):      -->     for i in bind(n, "threadIdx.x"):
                body(i)                         body(i)

        >>> s.bind("i", "threadIdx.x")
        """
        self.func = set_kind(
            self.func, self.find_var(loop), LoopKind.BOUND, thread=thread, unsafe=bool(unsafe)
        )

    @step
    def serial(self, loop: LoopLike) -> None:
        """Run a loop in order again.

            for i in parallel(n):   -->     for i in range(n):
                body(i)                         body(i)

        >>> s.serial("i")
        """
        self.func = set_kind(self.func, self.find_var(loop), LoopKind.SERIAL)
