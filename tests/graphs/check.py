"""Hold a scheduled graph against the same graph without a schedule, and against NumPy."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from hybridjit import te
from hybridjit.errors import ScheduleError
from hybridjit.frontend.parse import parse_text
from hybridjit.ir.equal import structural_equal
from hybridjit.ir.expr import ExternCall
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.verify import Stage, verify
from hybridjit.ir.visit import walk
from hybridjit.schedule.classic.lower import lower_classic
from hybridjit.schedule.classic.schedule import ClassicSchedule
from hybridjit.schedule.classic.steps import TransformLayout
from tests.graphs.generate import RandomGraph
from tests.graphs.made import Array
from tests.graphs.moves import MOVES, Impossible, Move
from tests.nests.check import backwards, native_code, run

# Some kinds of steps are what schedules are made of, and come more often.
WEIGHTS = {"split": 4, "compute_at": 5, "reorder": 2, "fuse": 2, "vectorize": 2, "parallel": 2}
MAX_MOVES = 7
# For sizes that are variables, besides the one that a graph was made for.
OTHER_SIZES = (0, 1, 2, 4, 9, 17)


class Subject:
    """A random graph, and what it computes without a schedule.

    With `reassoc`, sums of floats may be taken in another order; then values are whole numbers
    only, which no order rounds.
    """

    def __init__(self, choose: random.Random, graph: RandomGraph) -> None:
        self.graph = graph
        self.reassoc = choose.random() < 0.3
        self.seed = choose.randrange(1 << 32)
        self.plain = te.create_prim_func(self.graph.args)

    @cached_property
    def runs(self) -> list[tuple[list[Array], list[Array]]]:
        """Arguments, and what they are after an interpreted run of the unscheduled function."""
        wholes = (True,) if self.reassoc or not self._has_floats() else (True, False)
        given = [self.graph.make_arrays(self.seed, whole=whole) for whole in wholes]
        return [(arrays, run(self.plain, fresh(arrays))) for arrays in given] + self._other_sizes()

    def _other_sizes(self) -> list[tuple[list[Array], list[Array]]]:
        """A run with other values of the variables, if there are some and the graph allows it."""
        choose = random.Random(self.seed)
        sizes = {var: choose.choice(OTHER_SIZES) for var in self.graph.variables}
        arrays = self.graph.make_arrays_of(sizes, self.seed) if sizes else None
        if arrays is None:
            return []
        try:
            return [(arrays, run(self.plain, fresh(arrays)))]
        except (IndexError, ValueError, ZeroDivisionError):
            # A period, or a first step, is longer than the array; nothing has no maximum, and
            # cannot be repeated beyond its edges.
            return []

    def _has_floats(self) -> bool:
        return any(item.tensor.dtype.is_float for item in self.graph.passed)

    def check_against_numpy(self) -> None:
        """Fail unless the graph without a schedule is what NumPy makes of the same inputs."""
        arrays, found = self.runs[0]
        compare(self.graph.evaluate(arrays), found, "by NumPy", self.plain)

    def open_schedule(self, moves: Iterable[Move] = ()) -> tuple[ClassicSchedule, list[str]]:
        """A schedule with these moves made, and what they were."""
        ops = list(dict.fromkeys(item.tensor.op for item in self.graph.outputs))
        s = te.create_schedule(ops, fastmath={"reassoc"} if self.reassoc else False)
        return s, [move.take(s) for move in moves]


@dataclass(slots=True)
class ScheduledGraph:
    """A graph under a schedule: the moves that were made, and those that were refused."""

    subject: Subject
    made: list[Move] = field(default_factory=list[Move])
    refused: list[Move] = field(default_factory=list[Move])
    func: PrimFunc | None = None

    def take(self, moves: Sequence[Move]) -> None:
        """Make all moves at once; if that is refused, one after the other, all but the bad ones."""
        if self._accept(moves):
            return
        for move in moves:
            if not self._accept([move]):
                self.refused.append(move)

    def _accept(self, moves: Sequence[Move]) -> bool:
        tried = [*self.made, *moves]
        try:
            s, _ = self.subject.open_schedule(tried)
            func = lower_classic(s, self.subject.graph.args).func
        except Impossible:
            return len(moves) == 1  # not a refusal: there is nothing of the kind
        except ScheduleError:
            return False
        if _turns_arguments(s, self.subject.graph.args):
            return False  # they are passed in another layout: see tests/te/test_classic_copies.py
        self.made, self.func = tried, func
        return True

    def __repr__(self) -> str:
        _, story = self.subject.open_schedule(self.made)
        return "\n".join([str(self.subject.plain), *story, str(self.func)])


def _turns_arguments(s: ClassicSchedule, args: Sequence[object]) -> bool:
    """Whether a step of a stage says in which layout an argument is."""
    return any(
        isinstance(step, TransformLayout) and any(made is arg for made in stage.op.outputs)
        for stage in s.stages
        for step in stage.steps
        for arg in args
    )


def choose_moves(choose: random.Random, kinds: Sequence[str] = ()) -> list[Move]:
    """Some moves, of the given kinds or of all."""
    names = list(kinds) or [name for name in MOVES for _ in range(WEIGHTS.get(name, 1))]
    count = choose.randint(1, MAX_MOVES)
    return [Move(choose.choice(names), choose.randrange(1 << 32)) for _ in range(count)]


def check_scheduled(found: ScheduledGraph, *, native: bool) -> None:
    """Fail unless the scheduled graph computes what it does without, bit for bit."""
    if found.func is None:
        return
    verify(found.func, Stage.BLOCKS, "classic")
    turned = backwards(found.func)
    # All arguments are in C order, and a function has run-time sizes where theirs differ.
    code = native_code(found.func, found.subject.runs[0][0]) if native else None
    for arrays, expected in found.subject.runs:
        compare(expected, run(found.func, fresh(arrays)), "interpreted", found)
        if turned.body is not found.func.body:
            compare(expected, run(turned, fresh(arrays)), "in another order", found)
        if code is not None:
            given = fresh(arrays)
            code(given)
            compare(expected, given, "native", found)


def check_printed(found: ScheduledGraph) -> None:
    """Fail unless the scheduled function, printed, parses back."""
    if found.func is None or any(isinstance(node, ExternCall) for node in walk(found.func.body)):
        return
    assert structural_equal(parse_text(str(found.func)), found.func), str(found)


def compare(expected: Sequence[Array], found: Sequence[Array], way: str, program: object) -> None:
    """Fail unless all arrays are the same, bit for bit; the program is printed then."""
    for a, b in zip(expected, found, strict=True):
        if np.asarray(a).dtype != b.dtype or _bits(np.asarray(a)) != _bits(b):
            raise AssertionError(f"{a!r} became {b!r}, {way}\n{program!s}")


def _bits(values: Array) -> bytes:
    """Those of an array. Of NaNs there is one: which of two becomes their sum, nobody says."""
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
    return values.tobytes()


def fresh(arrays: Sequence[Array]) -> list[Any]:
    """Copies that may be written to."""
    return [array.copy() for array in arrays]
