"""Templates: functions that make a schedule of tensors, and leave numbers to the search.

def product(knobs):
    A, B = (te.placeholder((512, 512), "float32") for _ in "AB")
    k = te.reduce_axis((0, 512))
    C = te.compute((512, 512), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k))
    s = te.create_schedule(C.op)
    _, inner = s[C].split(C.op.axis[1], factor=knobs.sample_categorical([16, 32, 64]))
    s[C].vectorize(inner)
    return s, [A, B, C]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, cast

from hybridjit.errors import ArgumentError, ArgumentValueError, ScheduleError
from hybridjit.ir.func import PrimFunc
from hybridjit.record import record
from hybridjit.schedule.sampling_steps import find_tilings
from hybridjit.schedule.scheduled import as_scheduled
from hybridjit.tensors.tensor import Axis
from hybridjit.tuning.picks import Picks, likeliest
from hybridjit.tuning.space import Candidate, Refused


class Knobs:
    """Numbers that a template leaves open."""

    def __init__(self, picks: Picks) -> None:
        self._picks = picks
        self.values: list[Any] = []

    def sample_categorical(
        self, candidates: Sequence[Any], probs: Sequence[float] | None = None
    ) -> Any:
        """One of `candidates`, which may be anything."""
        weights = [1.0] * len(candidates) if probs is None else list(probs)
        if len(weights) != len(candidates) or not sum(weights) > 0 or min(weights) < 0:
            raise ArgumentValueError(
                "sample_categorical needs candidates, and a probability for each, not all 0"
            )
        return self._chosen(candidates[self._picks(weights)])

    def sample_perfect_tile(
        self, loop: Axis | int, n: int, *, max_innermost_factor: int = 64
    ) -> list[int]:
        """`n` factors whose product is the extent of a loop: of an axis, or a number."""
        extent = loop.dom.extent if isinstance(loop, Axis) else loop
        options = find_tilings(int(extent), n, max_innermost_factor)
        return self._chosen(list(options[self._picks([1.0] * len(options))]))

    def _chosen(self, value: Any) -> Any:
        self.values.append(value)
        return value


Template = Callable[[Knobs], Any]


@record(eq=False)
class TemplateSpace:
    """What a template makes of its knobs."""

    template: Template
    _values: dict[PrimFunc, tuple[Any, ...]] = field(
        init=False, default_factory=dict[PrimFunc, tuple[Any, ...]]
    )

    @property
    def plain(self) -> PrimFunc:
        """The function as it is without any steps."""
        return as_scheduled(*self._made(Knobs(Picks(likeliest))), None).original

    def values(self, recipe: PrimFunc | None) -> tuple[Any, ...] | None:
        """What the knobs gave for a candidate, in order."""
        return None if recipe is None else self._values.get(recipe)

    def make(self, picks: Picks) -> Candidate | Refused:
        """The function that comes of these picks."""
        knobs = Knobs(picks)
        try:
            func = as_scheduled(*self._made(knobs), None).func
        except ScheduleError as error:
            return Refused(tuple(picks.taken), str(error))
        self._values[func] = tuple(knobs.values)
        return Candidate(tuple(picks.taken), func, func)

    def _made(self, knobs: Knobs) -> tuple[Any, Any]:
        made = self.template(knobs)
        if not isinstance(made, tuple) or len(cast("tuple[Any, ...]", made)) != 2:
            raise ArgumentError(
                f"a template returns a schedule and its parameters, got {made!r}",
                help="as in `return s, [A, B, C]`",
            )
        return cast("tuple[Any, Any]", made)
