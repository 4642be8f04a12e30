"""Take the steps of a trace again, one at a time."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, cast

from hybridjit.errors import ArgumentError, ScheduleError
from hybridjit.record import record
from hybridjit.schedule.handles import Handle
from hybridjit.schedule.state import State
from hybridjit.schedule.trace import RecordedCall


@record(frozen=False)
class Replay:
    """A schedule on which steps are taken that were recorded on another one.

    `made` are the loops and blocks here for those that steps gave there, by their numbers.
    """

    schedule: State
    made: dict[int, Handle] = field(default_factory=dict[int, Handle])

    def take(self, call: RecordedCall) -> None:
        """Take one step."""
        if not hasattr(getattr(type(self.schedule), call.name, None), "is_step"):
            raise ArgumentError(f"a trace with a step '{call.name}', which does not exist")
        args, options = call.arguments(self.made)
        try:
            inspect.signature(getattr(self.schedule, call.name)).bind(*args, **options)
        except TypeError as error:
            raise ArgumentError(f"a trace with a wrong step '{call.name}': {error}") from None
        self.take_with(call, args, options)

    def take_with(
        self, call: RecordedCall, args: Sequence[Any], options: Mapping[str, Any]
    ) -> None:
        """Take one step with other arguments."""
        results: Any = getattr(self.schedule, call.name)(*args, **options)
        values = cast("tuple[Any, ...]", results) if isinstance(results, tuple) else (results,)
        if call.results and len(values) != len(call.results):
            raise _refuse_other_loops(call, len(values))
        self.made.update(zip(call.results, values, strict=False))


def _refuse_other_loops(call: RecordedCall, count: int) -> ScheduleError:
    was = len(call.results)
    asked = ", ".join(map(repr, call.args))
    return ScheduleError(
        f"s.{call.name}({asked}) of this trace gives {count} here, and gave {was} where it was "
        "recorded: the loops are others",
        help="an axis of one element has no loop; take the steps anew for such shapes, or leave "
        "these to the kernel without the trace",
    )
