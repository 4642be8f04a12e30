"""Steps that say how the iterations of a loop are run."""

from __future__ import annotations

from hybridjit.errors import ScheduleError
from hybridjit.ir.stmt import IN_LANES, ON_THREADS, LoopKind
from hybridjit.schedule.handles import LoopLike
from hybridjit.schedule.primitives.kinds import set_hint, set_kind
from hybridjit.schedule.recording import step
from hybridjit.schedule.state import State


class KindSteps(State):
    """parallel, vectorize, unroll, bind, serial."""

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
        var = self.find_var(loop)
        self.func = set_hint(self.func, var, IN_LANES, lanes, if_possible=bool(if_possible))

    @step
    def on_threads(
        self, loop: LoopLike, wanted: bool = True, *, if_possible: bool | None = None
    ) -> None:
        """Run a loop on several threads, in the place of what the compiler chooses, or not.

            for i in range(n):      -->     for i in serial(n, annotations={"on_threads": True}):
                body(i)                         body(i)

        For functions that ask for threads (`parallel=True`). Unlike `parallel` it is proved when
        the program is compiled, which puts sums, histograms and blocks in order for threads; with
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
        self.func = set_hint(
            self.func, var, ON_THREADS, bool(wanted), if_possible=bool(if_possible)
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
