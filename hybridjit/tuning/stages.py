"""Where stages of loops are computed: where they stand, where they are read, or in strips.

    for y in range(n):                              for v in range(n):
        for x in range(m):                              for u in range(m):
            b[y, x] = a[y, x] + a[y, x + 1]   -->           c[v, u] = (a[v, u] + a[v, u + 1]) * 2
    for v in range(n):
        for u in range(m):                          for v_0 in range(n // 16):
            c[v, u] = b[v, u] * 2             -->       rows v_0 * 16 ... of b, then of c

A step that is refused is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from hybridjit.errors import ArgumentError, ScheduleError
from hybridjit.ir.stmt import Allocate, Store
from hybridjit.ir.visit import walk_stmts
from hybridjit.record import record
from hybridjit.schedule.handles import LoopHandle
from hybridjit.schedule.program import blocks_of
from hybridjit.schedule.schedule import Schedule
from hybridjit.tuning.receipts import pick

_STRIPS = (4, 8, 16, 32, 64)


def find_stages(schedule: Schedule, nests: list[str]) -> list[str]:
    """The blocks among `nests` that alone write an array of the program's own."""
    func = schedule.func
    own = {stmt.buffer for stmt in walk_stmts(func.body) if isinstance(stmt, Allocate)}
    written = [
        (block.name, node.buffer)
        for block in blocks_of(func)
        for node in walk_stmts(block)
        if isinstance(node, Store)
    ]
    buffers = [buffer for _, buffer in written]
    return [
        name
        for name, buffer in written
        if name in nests and buffer in own and buffers.count(buffer) == 1
    ]


@record(eq=False)
class Stages:
    """Moves the stages of a program, or leaves them where they are."""

    schedule: Schedule
    names: list[str]
    last: str

    def choose(self) -> None:
        """Readers first, so that what they are computed from can follow them."""
        if pick(self.schedule, [0.51, 0.49]) == 0:
            return
        strip: LoopHandle | None = None
        for name in reversed(self.names):
            match pick(self.schedule, [1.0, 1.0, 1.0]):
                case 0:
                    self._try(partial(self.schedule.compute_inline, name))
                case 1:
                    strip = strip or self._cut()
                    self._try(partial(self.schedule.compute_at, name, strip))
                case _:
                    pass

    def _cut(self) -> LoopHandle:
        """The loop over strips of what comes of the stages."""
        size = _STRIPS[pick(self.schedule, [1.0] * len(_STRIPS))]
        around, _ = self.schedule.split(self.schedule.loops(self.last)[0], size)
        return around

    def _try(self, step: Callable[[], object]) -> None:
        try:
            step()
        except (ScheduleError, ArgumentError):
            return
