"""A task, unpacked where its jobs are done: what was made of it, and how it is run and compared.

make a candidate  ->  compile  ->  first run, compared  ->  race with the best so far
                                        |
                                        +-- given up on the way if it takes far too long
"""

from __future__ import annotations

import functools
import pickle
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridjit.errors import ArgumentError
from hybridjit.kept_property import kept_property
from hybridjit.record import record
from hybridjit.runtime.cache.carried_code import Codes, collected
from hybridjit.scalars.contents import arrays_in, fresh_copies
from hybridjit.schedule.verification import AWKWARD, Same, Version, outcome_of, verify_kernels
from hybridjit.tuning.machine import alone
from hybridjit.tuning.patience import Stopwatch, at_most
from hybridjit.tuning.programs import Program, Run, compile_ahead
from hybridjit.tuning.tasks import Outcome, Reference, Task
from hybridjit.tuning.timing import Times, race

_MOST_MADE = 8  # programs that are kept: the plain one, the best ones, and the last few
_CACHES = 1 << 27  # bytes: more than most caches hold
_UNLIMITED = float("inf")


@record
class Trial:
    """The first run of a candidate: whether it is right, and its seconds; None if it raised."""

    is_right: bool
    seconds: float | None


@record(eq=False)
class _Made:
    """What runs a candidate, and the code that was compiled for it."""

    run: Run
    code: Codes


class Workshop:
    """What one process knows of a task."""

    def __init__(self, task: Task) -> None:
        self._program: Program = pickle.loads(task.program)
        self._args: list[Any] = pickle.loads(task.arguments)
        self._task = task
        self._same = Same(loose=task.loose, ordered=True)
        self._made: dict[bytes, _Made] = {}
        self._reference: Reference | None = None

    def make(self, recipe: Any) -> Run:
        """What runs the program as `recipe` says, compiled."""
        return self._make(recipe).run

    def code_of(self, recipe: Any) -> Codes:
        """What was compiled to run the program as `recipe` says."""
        return self._make(recipe).code

    def _make(self, recipe: Any) -> _Made:
        key = pickle.dumps(recipe)
        made = self._made.pop(key, None)
        if made is None:
            run = self._program.make(recipe)
            with collected() as code:
                compile_ahead(run, self._args)
            made = _Made(run, code)
        self._made[key] = made
        if len(self._made) > _MOST_MADE:
            del self._made[next(iter(self._made))]  # the one that was not asked for the longest
        return made

    # the first run

    def refer(self, until: float) -> Reference:
        """Run the plain program once, for all candidates to be compared with."""
        if self._reference is None:
            timed = _Timed(self.make(None), until=until)
            self.expected = outcome_of(timed, self._args)
            self._reference = Reference(self._packed(self.expected), timed.seconds)
        return self._reference

    @kept_property
    def expected(self) -> list[Any] | None:
        """The arguments after a run of the plain program, and its results; None if it raises."""
        if not self._task.reference:
            return outcome_of(self.make(None), self._args)
        outcome: Outcome | None = pickle.loads(self._task.reference)
        if outcome is None:
            return None
        args = [outcome.changed.get(place, arg) for place, arg in enumerate(self._args)]
        return [*args, *outcome.results]

    def _packed(self, expected: list[Any] | None) -> bytes:
        """What others need not compute again, if it can be sent."""
        outcome: Outcome | None = None
        if expected is not None:
            count = len(self._args)
            pairs = enumerate(zip(self._args, expected[:count], strict=True))
            changed = {place: after for place, (arg, after) in pairs if not _is_same(arg, after)}
            outcome = Outcome(changed, expected[count:])
        try:
            return pickle.dumps(outcome)
        except (pickle.PicklingError, TypeError, AttributeError):
            return b""

    def first_run(self, run: Run, longest: float, until: float) -> Trial:
        """Run a candidate, and compare what comes of it."""
        expected = self.expected
        timed = _Timed(run, longest, until)
        found = outcome_of(timed, self._args)
        if found is None or expected is None:
            return Trial(found is expected, timed.seconds)
        return Trial(all(map(self._same, expected, found)), timed.seconds)

    # the race

    def race(self, runs: Sequence[Run], seconds: float, until: float) -> list[Times]:
        """Race calls on arguments that are written to as long as one race lasts, not longer."""
        args = fresh_copies(self._args)
        pairs = list(zip(arrays_in(args), arrays_in(self._args), strict=True))
        written = [pairs[place] for place in self._written]

        def prepare() -> None:
            for array, original in written:
                np.copyto(array, original)
            if self._task.cold:
                _sweep()

        calls = [functools.partial(run, *args) for run in runs]
        is_needed = bool(written) or self._task.cold
        with at_most(_UNLIMITED, until), alone():
            return race(calls, seconds, prepare=prepare if is_needed else None)

    @kept_property
    def _written(self) -> list[int]:
        """Which of the arrays in the arguments a run changes."""
        after = arrays_in((self.expected or self._args)[: len(self._args)])
        pairs = zip(arrays_in(self._args), after, strict=True)
        return [place for place, (a, b) in enumerate(pairs) if not _is_same(a, b)]

    # awkward sizes

    def verify(self, recipe: Any, usual: float | None, until: float) -> None:
        """Raise ScheduleError if a candidate differs from the plain program at some sizes.

        The given and the small ones are always looked at, those near the given ones as long as
        there is time.
        """
        plain = _Plain(self.make(None), self._args, self.expected, until - (usual or 0.0))
        verify_kernels(plain, [Version(self.make(recipe))], self._args, loose=self._task.loose)


class _Timed:
    """A run that notes how long it takes, and that is given up if that is too long."""

    def __init__(self, run: Run, longest: float = _UNLIMITED, until: float = _UNLIMITED) -> None:
        self._run = run
        self._limits = longest, until
        self.seconds: float | None = None

    def __call__(self, *args: Any) -> Any:
        watch = Stopwatch()
        with at_most(*self._limits):
            result = self._run(*args)
        self.seconds = watch.seconds
        return result


class _Plain:
    """The plain program at any sizes: not run again at the given ones, where its result is known,
    and at large ones only before the time `until`.
    """

    def __init__(self, run: Run, args: Sequence[Any], known: list[Any] | None, until: float):
        self._run = run
        self._known = known
        self._count = len(args)
        self._shapes = _shapes(args)
        self._until = until

    def __call__(self, *args: Any) -> Any:
        shapes = _shapes(args)
        if shapes == self._shapes and self._known is not None:
            return self._recall(args, self._known)
        sizes = {size for shape in shapes for size in shape}
        if time.time() > self._until and not sizes <= set(AWKWARD):
            raise ArgumentError("there is no time to look at these sizes")  # they are skipped
        return self._run(*args)

    def _recall(self, args: Sequence[Any], known: Sequence[Any]) -> Any:
        pairs = zip(arrays_in(args), arrays_in(known[: self._count]), strict=True)
        for array, after in pairs:
            if array.flags.writeable:
                np.copyto(array, after)
        results = known[self._count :]
        return results[0] if len(results) == 1 else tuple(results)


def _is_same(before: Any, after: Any) -> bool:
    pairs = zip(arrays_in(before), arrays_in(after), strict=True)
    return all(a.tobytes() == b.tobytes() for a, b in pairs)


def _shapes(args: Sequence[Any]) -> list[tuple[int, ...]]:
    return [array.shape for array in arrays_in(list(args))]


@functools.cache
def _elsewhere() -> NDArray[np.uint8]:
    return np.zeros(_CACHES, np.uint8)


def _sweep() -> None:
    """Fill the caches with something else."""
    _elsewhere()[:] += 1
