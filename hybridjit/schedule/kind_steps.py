"""Steps that say how the iterations of a loop are run."""

from __future__ import annotations

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
        result in any order.

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
    def in_lanes(self, loop: LoopLike, lanes: int) -> None:
        """Let a loop run in so many lanes, if that is proved to change nothing; in none, if 1.

            for j in range(m):      -->     for j in serial(m, annotations={"in_lanes": 8}):
                body(j)                         body(j)

        Unlike `vectorize` it is a hint, in the place of what the compiler would choose: a loop
        stays as it is if an iteration may fail, or need another one, once all checks are where
        they can be. Loops without it are left to the compiler.

        >>> s.in_lanes("j", 8)
        """
        self.func = set_hint(self.func, self.find_var(loop), IN_LANES, lanes)

    @step
    def on_threads(self, loop: LoopLike, wanted: bool = True) -> None:
        """Let a loop run on several threads, if that is proved to change nothing, or not.

            for i in range(n):      -->     for i in serial(n, annotations={"on_threads": True}):
                body(i)                         body(i)

        Unlike `parallel` it is a hint, in the place of what the compiler would choose, and for
        functions that ask for that (`parallel=True`).

        >>> s.on_threads("i")
        """
        self.func = set_hint(self.func, self.find_var(loop), ON_THREADS, bool(wanted))

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
