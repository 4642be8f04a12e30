"""Bugs in searches: winners that are wrong, slow, lucky or forgotten."""

from __future__ import annotations

import operator
import pickle
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hybridjit.ir.func import PrimFunc
from hybridjit.optimize.optimize import Optimized
from hybridjit.schedule.verification import Same
from hybridjit.tuning import database, identity, memory, search, session, timing
from hybridjit.tuning.jobs import Job, Measurement, measure
from hybridjit.tuning.picks import Picks
from hybridjit.tuning.space import Candidate
from hybridjit.tuning.tasks import Task
from tests.planted.bugs import Bug, replaced
from tests.tuning import kernels
from tests.tuning import test_database as databases
from tests.tuning import test_session as sessions
from tests.tuning import test_space as spaces
from tests.tuning import test_timing as timings


class Negated:
    """A program whose candidates give something else than it does."""

    def make(self, recipe: Any) -> Any:
        return kernels.mirrored if recipe is None else operator.neg


def wrong_results_are_noticed() -> None:
    args = kernels.CASES["mirrored"][1]
    found = _measured(Negated(), list(args))
    assert found.status == "wrong", found


def _measured(program: Any, args: list[Any]) -> Measurement:
    return measure(Job(Task(pickle.dumps(program), pickle.dumps(args)), "other"))


def in_a_folder(test: Any) -> Any:
    def check() -> None:
        with tempfile.TemporaryDirectory() as folder:
            test(databases.Database(Path(folder) / "tuned.db"))

    return check


def far_shapes_are_left_alone(made: databases.Database) -> None:
    databases.test_winners_of_far_shapes_are_left_alone(made, ((64, 600),))


def leave_alone(func: PrimFunc, target: Any) -> Optimized:
    return Optimized(func)


def in_a_path(test: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        test(Path(folder))


_distance = database.distance


def yes(*anything: Any) -> bool:
    return True


def make_anyway(self: Any, picks: Picks) -> Candidate | None:
    """What comes of the picks, whether it is known or not."""
    made = self._space.make(picks)
    return made if isinstance(made, Candidate) else None


def farthest(ours: Any, theirs: Any) -> float:
    return -_distance(ours, theirs)


def as_it_is(text: str, *, sized: bool = True) -> str:
    return text if sized else ""


def always_the_last(self: Picks, weights: Sequence[float]) -> int:
    return len(weights) - 1


BUGS = (
    Bug(
        "all results are the same",
        (replaced(Same, "__call__", yes),),
        wrong_results_are_noticed,
    ),
    Bug(
        "winners are not verified",
        (replaced(session.Session, "_is_right", yes),),
        sessions.test_a_winner_that_is_wrong_at_other_sizes_is_not_believed,
    ),
    Bug(
        "whatever seems slow at first is given up",
        (replaced(timing, "HOPELESS", ((1, 1.05),)),),
        timings.test_the_faster_one_wins_on_a_noisy_machine,
    ),
    Bug(
        "the largest gain is the smallest",
        (replaced(session, "WORTH", 10.0),),
        sessions.test_nothing_is_returned_if_nothing_is_faster,
    ),
    Bug(
        "the same is tried again",
        (replaced(search.Search, "_make_if_new", make_anyway),),
        lambda: sessions.test_the_best_is_found("random"),
    ),
    Bug(
        "given picks are not taken",
        (replaced(Picks, "__call__", always_the_last),),
        spaces.test_places_that_do_not_fit_are_picked_anew,
    ),
    Bug(
        "the farthest shapes are the nearest",
        (replaced(database, "distance", farthest),),
        in_a_folder(databases.test_the_latest_winner_of_the_program_else_the_nearest_of_its_kind),
    ),
    Bug(
        "all shapes are near",
        (replaced(database, "_FAR", 1e9),),
        in_a_folder(far_shapes_are_left_alone),
    ),
    Bug(
        "what the compiler does by itself is of no matter",
        (replaced(identity, "optimize", leave_alone),),
        spaces.test_programs_that_the_compiler_cuts_otherwise_are_of_another_kind,
    ),
    Bug(
        "that nothing is faster is forgotten",
        (replaced(memory.Memory, "crown_plain", yes),),
        lambda: in_a_path(sessions.test_that_nothing_is_faster_is_remembered),
    ),
    Bug(
        "programs are known by their names",
        (replaced(identity, "renamed", as_it_is),),
        spaces.test_programs_are_known_by_what_they_do,
    ),
)
