"""Schedule: the steps of every group on one program, queries, replay and display."""

from __future__ import annotations

import dataclasses
import difflib
import os
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from hybridjit.config import api_edge
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.html_text import folded, heading, preformatted
from hybridjit.ir.func import PrimFunc
from hybridjit.schedule.array_steps import ArraySteps
from hybridjit.schedule.display import show_program
from hybridjit.schedule.handles import BlockHandle, BlockLike, LoopHandle, LoopLike
from hybridjit.schedule.hardware_steps import HardwareSteps
from hybridjit.schedule.kind_steps import KindSteps
from hybridjit.schedule.loop_steps import LoopSteps
from hybridjit.schedule.memory_steps import MemorySteps
from hybridjit.schedule.other_orders import Order, last_first, middle_first, rearrange
from hybridjit.schedule.program import blocks_of, loops_around, loops_of, the_block
from hybridjit.schedule.recording import step
from hybridjit.schedule.reduction_steps import ReductionSteps
from hybridjit.schedule.refusal import names
from hybridjit.schedule.replay import Replay
from hybridjit.schedule.sampling_steps import SamplingSteps
from hybridjit.schedule.stage_steps import StageSteps
from hybridjit.schedule.state import Refused, handles
from hybridjit.schedule.trace import RecordedTrace, Step, Trace
from hybridjit.schedule.verification import Origin, Verified, Version, verify_kernels

if TYPE_CHECKING:
    import pathlib


class Schedule(
    LoopSteps,
    KindSteps,
    MemorySteps,
    StageSteps,
    ReductionSteps,
    HardwareSteps,
    SamplingSteps,
    ArraySteps,
):
    """A program and the steps that rewrite its loops; each is legal, or refused.

    Loops and blocks are handles, or names. A refused step changes nothing.
    """

    def __init__(self, func: PrimFunc, origin: Origin | None = None) -> None:
        super().__init__(func)
        self.origin = origin

    @step
    def loops(self, block: BlockLike | None = None) -> tuple[LoopHandle, ...]:
        """The loops around a block, outermost first; without a block, all loops of the program.

        >>> i, j, k = s.loops("c")
        """
        if block is None:
            return handles(loop.var for loop in loops_of(self.func))
        found = the_block(self.func, self.find_name(block))
        return handles(loop.var for loop in loops_around(self.func, found))

    @step
    def loop(self, name: LoopLike) -> LoopHandle:
        """The loop whose variable is called `name`.

        >>> i = s.loop("i")
        """
        return LoopHandle(self.find_var(name))

    @step
    def blocks(self) -> tuple[BlockHandle, ...]:
        """The blocks of the program, in the order of the text.

        >>> (c,) = s.blocks()
        """
        return tuple(BlockHandle(block.name) for block in blocks_of(self.func))

    @step
    def block(self, name: BlockLike) -> BlockHandle:
        """The block called `name`.

        >>> c = s.block("c")
        """
        return BlockHandle(self.find_name(name))

    def replay(self, trace: Trace | RecordedTrace) -> None:
        """Take the steps of `trace`, which may come from another program, on this one."""
        recorded = RecordedTrace.of(trace) if isinstance(trace, Trace) else trace
        replay = Replay(self)
        for call in recorded.calls():
            replay.take(call)

    def verify(self, *args: Any) -> Verified:
        """Run the scheduled kernel against the original one on `args`, and at awkward sizes.

        Sizes 0, 1, primes, and one more and one less than those of `args`, as far as the program
        takes them. Loops that were made parallel with `unsafe=True` are run in other orders, too:
        what iterations on several threads do to each other shows in one thread then, every time.
        Results are compared bit for bit, or up to rounding where the order of sums is open.
        Raises ScheduleError where the results differ.
        """
        origin = self._find_origin()
        versions = [Version(origin.with_schedule(self)), *self._in_other_orders(origin)]
        loose = self.is_open or bool(origin.fastmath)
        found = verify_kernels(origin, versions, args, loose=loose)
        if not found.shapes:
            raise ArgumentValueError(
                "nothing could be compared: the kernel fails on these arguments",
                help="call the kernel with them to see why",
            )
        return dataclasses.replace(found, unsafe=self._count_unsafe())

    @api_edge
    def view(self, path: str | os.PathLike[str] | None = None) -> pathlib.Path:
        """Write a page that a browser opens: the script, and the program after each step, also
        after those that were refused, with an arrow between the two iterations in their way.

        Gives the path of the file, which is a temporary one unless `path` names it.
        """
        return self._find_origin().view_schedule(self, path)

    def _find_origin(self) -> Origin:
        if self.origin is None:
            raise ArgumentError(
                "this schedule was not made from a kernel",
                help="make it with kernel.schedule(*args)",
            )
        return self.origin

    @property
    def is_open(self) -> bool:
        """True if the program leaves the order of some sums open."""
        return any(block.is_open for block in blocks_of(self.original))

    def _in_other_orders(self, origin: Origin) -> Iterator[Version]:
        """The scheduled program with the loops that are unsafe run one iteration at a time."""
        unsafe = [loop for loop in loops_of(self.func) if loop.is_unsafe]
        way = f", when the iterations of {names(unsafe)} run in another order" if unsafe else ""
        for order in (last_first, middle_first) if unsafe else ():
            recipe = partial(_rearranged, self.trace, order)
            yield Version(origin.with_schedule(recipe), way, is_ordered=False)

    def show(self) -> str:
        """The program as it is now, as text: how each loop is run, and how often.

        >>> print(s.show())
        """
        return show_program(self.func)

    def diff(self) -> str:
        """What the last step that changed something changed, line by line.

        >>> print(s.diff())
        """
        old, new = str(self.previous).splitlines(), str(self.func).splitlines()
        return "\n".join(difflib.unified_diff(old, new, "before", "after", lineterm="", n=2))

    if not TYPE_CHECKING:  # which knows better

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(f"a schedule has no '{name}'{_hint(name)}")

    def __str__(self) -> str:
        return self.show()

    def _repr_html_(self) -> str:
        return heading(repr(self)) + "\n" + self.show_html()

    def show_html(self) -> str:
        """The program as it is now, its steps, and those that were refused on it, as HTML."""
        steps = folded("its steps", preformatted(str(self.trace)))
        refused = [self._show_refused(each) for each in self.refused if self._is_last(each)]
        return "\n".join([preformatted(str(self)), steps, *refused])

    def _is_last(self, refused: Refused) -> bool:
        """Whether a step was refused on the program as it is now."""
        return refused.place == len(self.trace.steps)

    def _show_refused(self, refused: Refused) -> str:
        text = f"refused: {self.write_call(refused.step)}\n{refused.message}"
        picture = "" if refused.witness is None else refused.witness.draw()
        return preformatted(text) + picture

    def write_call(self, step: Step) -> str:
        """A step that gave nothing, as it is written."""
        *_, line = str(Trace([*self.trace.steps, step])).splitlines()
        return line.strip()

    def __repr__(self) -> str:
        steps = sum(step.name not in QUERIES for step in self.trace.steps)
        unsafe = self._count_unsafe()
        note = f", {unsafe} of them unsafe" if unsafe else ""
        counted = "1 step" if steps == 1 else f"{steps} steps"
        return f"Schedule of {self.func.name}: {counted}{note}"

    def _count_unsafe(self) -> int:
        return sum(bool(step.options.get("unsafe")) for step in self.trace.steps)


def _rearranged(trace: Trace, order: Order, schedule: Schedule) -> None:
    """Take the steps of `trace`; then run the loops that are unsafe in this order."""
    schedule.replay(trace)
    schedule.func = rearrange(schedule.func, order, lambda loop: loop.is_unsafe)


def _hint(name: str) -> str:
    """What a step is called here, if it is known by another name elsewhere or misspelt."""
    close = (
        [OTHER_NAMES[name]] if name in OTHER_NAMES else difflib.get_close_matches(name, STEPS, n=1)
    )
    return f": did you mean '{close[0]}'?" if close else ""


def _find_steps() -> frozenset[str]:
    steps = (name for cls in Schedule.__mro__ for name in vars(cls))
    return frozenset(name for name in steps if hasattr(getattr(Schedule, name), "is_step"))


# What TVM and Halide say.
OTHER_NAMES = {
    "get_block": "block",
    "get_loops": "loops",
    "get_child_blocks": "blocks",
    "loop_partition": "partition",
    "mod": "func",
    "store_at": "compute_at",
    "vectorise": "vectorize",
}
QUERIES = ("loops", "loop", "blocks", "block")
STEPS = _find_steps()
"""The names of the steps that a trace may hold."""
