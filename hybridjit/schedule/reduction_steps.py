"""Steps that take reductions apart."""

from __future__ import annotations

from hybridjit.schedule.handles import BlockHandle, BlockLike, LoopLike
from hybridjit.schedule.primitives.decompose_reduction import decompose_reduction
from hybridjit.schedule.primitives.rfactor import rfactor
from hybridjit.schedule.recording import step
from hybridjit.schedule.state import State


class ReductionSteps(State):
    """rfactor, decompose_reduction."""

    @step
    def rfactor(self, loop: LoopLike) -> BlockHandle:
        """Give each iteration of a reduction loop a partial result, and combine them afterwards.

            for k in range(n):            for k in range(n):
                c = c + a[k]                  c_rf[k] = 0
                                   -->    for k in range(n):
                                              c_rf[k] = c_rf[k] + a[k]
                                          for k in range(n):
                                              c = c + c_rf[k]

        The loop can then be parallel. Gives the block that combines. Refused where partial
        results would be rounded otherwise, unless fastmath allows "reassoc".

        >>> final = s.rfactor("m")
        """
        self.func, name = rfactor(self.func, self.find_var(loop))
        return BlockHandle(name)

    @step
    def decompose_reduction(self, block: BlockLike, loop: LoopLike) -> BlockHandle:
        """Take the init of a reduction out of its block: it runs right before a loop.

            for i in range(n):                    for i in range(n):
                for k in range(m):                    with block("c_init", i):
                    with block("c", i, k):               c[i] = 0
                        with init():         -->      for k in range(m):
                            c[i] = 0                      with block("c", i, reduce(k)):
                        c[i] += a[i, k]                       c[i] += a[i, k]

        Gives the block of the init.

        >>> init = s.decompose_reduction("total", "w")
        """
        self.func, name = decompose_reduction(self.func, self.find_name(block), self.find_var(loop))
        return BlockHandle(name)
