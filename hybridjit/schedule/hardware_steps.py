"""Steps that speak of the hardware: hints, prefetching, blocks for intrinsics."""

from __future__ import annotations

from hybridjit.errors import ScheduleError
from hybridjit.intrinsics.registry import INTRINSICS
from hybridjit.ir.stmt import Block, For
from hybridjit.schedule.handles import BlockHandle, BlockLike, LoopHandle, LoopLike
from hybridjit.schedule.primitives.annotate import Hint, annotate, prefetch
from hybridjit.schedule.primitives.blockize import blockize
from hybridjit.schedule.primitives.tensorize import tensorize
from hybridjit.schedule.program import blocks_of, the_block, the_loop
from hybridjit.schedule.recording import step
from hybridjit.schedule.refusal import check_int, refuse
from hybridjit.schedule.state import State


class HardwareSteps(State):
    """annotate, pragma, prefetch, blockize, tensorize."""

    @step
    def annotate(self, target: LoopLike | BlockLike, name: str, value: Hint = True) -> None:
        """Put a hint on a loop or a block. A name is taken for a block if there is one.

            for i in range(n):     -->     for i in serial(n, annotations={"name": value}):
                body                           body

        >>> s.annotate("i", "unroll_count", 4)
        """
        self.func = annotate(self.func, self._find_loop_or_block(target), name, value)

    @step
    def pragma(self, loop: LoopLike, name: str, value: Hint = True) -> None:
        """Put a hint on a loop, as `annotate` does.

        >>> s.pragma("i", "auto_unroll_max_step", 16)
        """
        self.func = annotate(self.func, the_loop(self.func, self.find_var(loop)), name, value)

    @step
    def prefetch(self, buffer: str, loop: LoopLike, distance: int = 8) -> None:
        """Fetch the elements that a loop will read some iterations later into the cache.

            for i in range(n):     -->     for i in serial(n, annotations={"prefetch_a": 8}):
                c[i] = a[i]                    c[i] = a[i]

        >>> s.prefetch("a", "i", 16)
        """
        check_int(distance, "prefetch: the distance")
        found = the_loop(self.func, self.find_var(loop))
        self.func = prefetch(self.func, found, buffer, distance)

    @step
    def blockize(self, loop: LoopLike) -> BlockHandle:
        """Make one block of a loop and everything in it.

            for i in range(n):            for i in range(n):
                for j in range(4):            with block("j_o", i):
                    body(i, j)     -->            for j in range(4):
                                                      body(i, j)

        >>> inner = s.blockize("j")
        """
        self.func, name = blockize(self.func, self.find_var(loop))
        return BlockHandle(name)

    @step
    def tensorize(self, loop: LoopLike, intrinsic: str) -> None:
        """Do what a loop and everything in it does by an intrinsic, declared with `hj.intrinsic`.

            for k in range(4):                     the implementation of dot4,
                c[i] += a[i, k] * b[k]     -->     on a[i, 0:4], b[0:4] and c[i:i+1]

        >>> s.tensorize("z", "double4")
        """
        var = self.find_var(loop)
        if not isinstance(intrinsic, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ScheduleError(f"tensorize: expected the name of an intrinsic, got {intrinsic!r}")
        found = INTRINSICS.find(intrinsic)
        if found is None:
            raise refuse(
                self.func,
                f"tensorize: there is no intrinsic '{intrinsic}'",
                help="declare it first: hj.intrinsic(name, description, implementation)",
            )
        self.func = tensorize(self.func, var, found)

    def _find_loop_or_block(self, target: LoopLike | BlockLike) -> For | Block:
        is_name = isinstance(target, str)
        blocks = [block.name for block in blocks_of(self.func)]
        if isinstance(target, BlockHandle) or (is_name and target in blocks):
            return the_block(self.func, self.find_name(target))
        if not isinstance(target, LoopHandle | str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ScheduleError(f"expected a loop, a block or the name of one, got {target!r}")
        return the_loop(self.func, self.find_var(target))
