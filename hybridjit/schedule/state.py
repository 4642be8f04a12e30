"""The program a schedule works on: finding loops and blocks, and remembering replaced ones."""

from __future__ import annotations

import dataclasses
import difflib
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from hybridjit.analysis.concurrency import find_obstacle
from hybridjit.analysis.name_bounds import name_changed_bounds
from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import name_loops
from hybridjit.ir.stmt import For
from hybridjit.ir.verify import Stage, verify
from hybridjit.record import record
from hybridjit.schedule.handles import BlockHandle, BlockLike, LoopHandle, LoopLike
from hybridjit.schedule.program import blocks_of, find_loop, loops_of
from hybridjit.schedule.refusal import refuse, refuse_obstacle
from hybridjit.schedule.trace import Step, Trace
from hybridjit.schedule.witness import Witness

MAX_REFUSED = 8  # the last ones that were refused are kept


@record(eq=False)
class Refused:
    """A step that was refused after `place` others, why, and the iterations that are in its way."""

    place: int
    step: Step
    message: str
    witness: Witness | None


class State:
    """`func` as rewritten so far, the trace, and which step replaced what."""

    def __init__(self, func: PrimFunc) -> None:
        self.original = func
        self.func = func
        self.trace = Trace()
        self.previous = func
        self.is_in_step = False
        # What a step that chooses has chosen, for the trace.
        self.decision: Any = None
        self._replaced: dict[Var | str, str] = {}
        self.refused: deque[Refused] = deque(maxlen=MAX_REFUSED)

    def name_bounds(self, before: PrimFunc) -> None:
        """Give bounds names that loops change, now that `before` has become another program.

        A bound may have become one: of a value that is computed where it is read, say.
        """
        if self.func is not before:
            body = name_changed_bounds(self.func.body)
            if body is not self.func.body:
                self.func = dataclasses.replace(self.func, body=body)

    def check(self, name: str, before: PrimFunc, *, unsafe: bool = False) -> None:
        """Verify what the step called `name` has made of `before`: always, it costs little."""
        if self.func is not before:
            verify(self.func, Stage.BLOCKS, f"schedule step {name}")
            if not unsafe:
                self._check_concurrent(name, before)

    def _check_concurrent(self, name: str, before: PrimFunc) -> None:
        """Loops that were said to run at once before, and were rewritten, must still be provable:
        otherwise the program would be refused only when it is compiled.
        """
        old = {loop.var: loop for loop in loops_of(before) if loop.kind.is_concurrent}
        for loop in loops_of(self.func) if old else ():
            is_checked = loop.var not in old or loop.is_unsafe or loop is old[loop.var]
            if is_checked or loop.kind is not old[loop.var].kind:
                continue
            obstacle = find_obstacle(self.func, loop)
            if obstacle is not None:
                error = refuse_obstacle(self.func, loop, obstacle)
                refusal = ScheduleError(
                    f"{name}: after this step it cannot be proved any more: {error.message}",
                    help=f"take it before s.{loop.kind.value}(...) of that loop",
                )
                refusal.witness = error.witness
                raise refusal

    def record(self, step: Step, before: PrimFunc) -> None:
        """Note that `step` turned `before` into the present program."""
        self.trace.steps.append(step)
        if self.func is before:
            return
        self.previous = before
        number = len(self.trace.steps)
        made = ", ".join(result.name for result in step.results)
        story = f"replaced by {made} in" if made else "removed in"
        story = f"was {story} step {number} ({step.name})"
        left = {loop.var for loop in loops_of(self.func)}
        for loop in loops_of(before):
            if loop.var not in left:
                self._replaced[loop.var] = story
        names = {block.name for block in blocks_of(self.func)}
        for block in blocks_of(before):
            if block.name not in names:
                self._replaced[block.name] = story

    def note_refused(self, step: Step, error: ScheduleError) -> None:
        """Keep a step that was not taken, so that it can be shown."""
        self.refused.append(Refused(len(self.trace.steps), step, error.message, error.witness))

    def find_var(self, loop: LoopLike) -> Var:
        """The variable of the loop that a handle or a name means."""
        if isinstance(loop, LoopHandle):
            if find_loop(self.func, loop.var) is None:
                story = self._replaced.get(loop.var, "belongs to another schedule")
                raise refuse(self.func, f"loop '{loop.name}' {story}")
            return loop.var
        if not isinstance(loop, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ScheduleError(f"expected a loop or the name of one, got {loop!r}")
        return self._find_by_name(loop)

    def _printed_names(self, name: str, loops: Sequence[For]) -> str:
        """What those of the loops called `name` that have a number are called when printed."""
        wanted = [loop.var for loop in loops]
        names = [
            printed
            for printed, loop in name_loops(self.func).items()
            if printed != name and loop.var in wanted
        ]
        return " or ".join(f"'{each}'" for each in names)

    def _find_by_name(self, name: str) -> Var:
        found = [loop for loop in loops_of(self.func) if loop.var.name == name]
        if len(found) == 1:
            return found[0].var
        if found:
            printed = self._printed_names(name, found)
            raise refuse(
                self.func,
                f"there are {len(found)} loops called '{name}'",
                found,
                help=f"name one as it is printed, {printed}; s.loops(block) gives those of a block",
            )
        gone = [story for var, story in self._replaced.items() if _is_var(var, name)]
        if gone:
            raise refuse(self.func, f"loop '{name}' {gone[-1]}")
        printed = name_loops(self.func)  # of loops that share a name, the later ones have a number
        if name in printed:
            return printed[name].var
        raise refuse(self.func, f"there is no loop '{name}'", help=_closest(name, list(printed)))

    def find_vars(self, loops: Iterable[LoopLike]) -> list[Var]:
        """The variables of several loops."""
        return [self.find_var(loop) for loop in loops]

    def find_name(self, block: BlockLike) -> str:
        """The name of the block that a handle or a name means."""
        if not isinstance(block, BlockHandle | str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ScheduleError(f"expected a block or the name of one, got {block!r}")
        name = block if isinstance(block, str) else block.name
        names = [found.name for found in blocks_of(self.func)]
        if name in names:
            return name
        if name in self._replaced:
            raise refuse(self.func, f"block '{name}' {self._replaced[name]}")
        raise refuse(self.func, f"there is no block '{name}'", help=_closest(name, names))


def _is_var(var: Var | str, name: str) -> bool:
    return isinstance(var, Var) and var.name == name


def _closest(name: str, names: Sequence[str]) -> str | None:
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f"did you mean '{close[0]}'?"
    return f"there are {', '.join(dict.fromkeys(names))}" if names else None


def handles(variables: Iterable[Var]) -> tuple[LoopHandle, ...]:
    """Handles for the loops over `variables`."""
    return tuple(LoopHandle(var) for var in variables)
