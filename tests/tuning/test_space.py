"""Whatever a search proposes computes the same; the likeliest is what the compiler does."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit.processor import current_target
from hybridjit.schedule.schedule import Schedule
from hybridjit.schedule.trace import RecordedTrace, Trace
from hybridjit.schedule.verification import Same, outcome_of
from hybridjit.target import Caches, Target
from hybridjit.tuning.identity import identify
from hybridjit.tuning.nests import Tiling
from hybridjit.tuning.picks import Picks, by_chance, first, likeliest
from hybridjit.tuning.receipts import Receipt
from hybridjit.tuning.space import Automatic, Candidate, Refused, Schedules
from tests.tuning.kernels import CASES, loops, product


def automatic(kernel: Any, args: Any, *, parallel: bool = False) -> Schedules:
    receipt, target = kernel.auto_schedule(*args), current_target()
    trace = RecordedTrace.of(receipt.trace)
    return Schedules(receipt.original, Automatic(Receipt(trace, target), target, parallel))


def made(space: Schedules, picks: Picks) -> Candidate:
    found = space.make(picks)
    assert isinstance(found, Candidate)
    return found


@pytest.mark.parametrize("name", CASES)
def test_the_likeliest_candidate_is_what_the_compiler_does(name: str) -> None:
    kernel, args = CASES[name]
    candidate = made(automatic(kernel, args), Picks(likeliest))
    again = kernel.with_schedule(candidate.recipe)
    receipt = kernel.with_schedule(kernel.auto_schedule(*args))
    assert again.inspect("lowered", *args) == receipt.inspect("lowered", *args)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("parallel", [False, True], ids=["one thread", "threads"])
@pytest.mark.parametrize("name", CASES)
def test_random_candidates_compute_the_same(name: str, parallel: bool) -> None:
    kernel, args = CASES[name]
    space = automatic(kernel, args, parallel=parallel)
    same = Same(loose=kernel.schedule(*args).is_open, ordered=True)
    expected = outcome_of(kernel, args)
    assert expected is not None
    random = Random(5)
    recipes = {made(space, Picks(by_chance(random))).recipe for _ in range(8)}
    assert len(recipes) > 2
    for recipe in recipes:
        found = outcome_of(kernel.with_schedule(recipe), args)
        assert found is not None
        assert all(map(same, expected, found)), Trace.from_json(recipe)


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("stages", {"compute_inline", "compute_at", "split"}),
        ("windows", {"gemm", "split", "sums_in_lanes"}),
        ("loops", {"gemm", "cache_read", "cache_write"}),
    ],
)
def test_what_the_compiler_leaves_alone_is_drawn(name: str, steps: set[str]) -> None:
    kernel, args = CASES[name]
    space, random = automatic(kernel, args), Random(3)
    recipes = [made(space, Picks(by_chance(random))).recipe for _ in range(40)]
    drawn = {step["step"] for recipe in recipes for step in json.loads(recipe)["steps"]}
    assert steps <= drawn


def test_the_same_picks_lead_to_the_same_steps() -> None:
    kernel, args = CASES["loops"]
    space = automatic(kernel, args)
    candidate = made(space, Picks(by_chance(Random(3))))
    places = [pick.place for pick in candidate.picks]
    assert made(space, Picks(first, places)).recipe == candidate.recipe


def test_places_that_do_not_fit_are_picked_anew() -> None:
    picks = Picks(first, (7, 1))
    assert [picks([1.0, 1.0]), picks([1.0, 1.0])] == [0, 1]


def test_a_template_that_takes_an_illegal_step_is_refused_with_the_reason() -> None:
    def template(s: Any) -> None:
        s.sample_categorical([1, 2])
        s.vectorize("k")

    args = CASES["loops"][1]
    found = Schedules(loops.schedule(*args).func, template).make(Picks(first))
    assert isinstance(found, Refused)
    assert len(found.picks) == 1
    assert "vectorize" in found.reason


@pytest.mark.parametrize(
    ("rows", "copied", "reason"),
    [
        (8, 0, None),
        (12, 0, r"needs 48 vectors, and a register file has room for 32"),
        (8, 1, r"needs 16000000 bytes, and the own cache of a core has room for 1048576"),
    ],
)
def test_tiles_that_do_not_fit_are_not_tried(rows: int, copied: int, reason: str | None) -> None:
    """More sums than there are registers, and copies that the cache does not hold."""
    cut = {8: 5, 12: 6, 16: 7}
    loops_cut = (cut[rows], cut[16], 0)  # all of the sum outside
    order_and_sums = (0, 0, 0)
    picks = Picks(first, (1, *loops_cut, *order_and_sums, 0, copied, 3, 1, 1))
    schedule = Schedule(loops.schedule(*np.ones((2, 2000, 2000), np.float32)).func)
    schedule.choose_with(picks)
    target = Target("aarch64", "some", "+neon", Caches(own=1 << 20))
    tiling = Tiling(schedule, "c", target, parallel=False)
    if reason is None:
        assert tiling.choose()
        return
    with pytest.raises(hj.ScheduleError, match=reason):
        tiling.choose()


def test_a_space_of_ones_own_demands_something() -> None:
    def space(s: Any) -> None:
        rows = s.sample_categorical([8, 1 << 40])
        hj.tune.require(4 * rows <= hj.tune.caches.own, "a tile must fit the cache")
        hj.tune.require(rows // 8 < hj.tune.registers)
        s.split("i", rows)

    func = loops.schedule(*CASES["loops"][1]).func
    good, bad = (Schedules(func, space).make(Picks(first, (place,))) for place in range(2))
    assert isinstance(good, Candidate)
    assert isinstance(bad, Refused)
    assert "a tile must fit the cache" in bad.reason


def test_samples_are_not_part_of_the_recipe() -> None:
    args = CASES["product"][1]
    recipe = made(automatic(product, args), Picks(likeliest)).recipe
    assert "sample" not in recipe


def test_a_place_that_was_sampled_is_part_of_the_recipe() -> None:
    def places(s: Any) -> None:
        where = s.sample_compute_location("u")
        if where is not None:
            s.compute_at("u", where)

    kernel, args = CASES["stages"]
    space = Schedules(kernel.schedule(*args).func, places)
    expected = kernel(*args)
    drawn = [made(space, Picks(first, (place,))).recipe for place in range(3)]
    assert len(set(drawn)) == 3
    for recipe in drawn:
        np.testing.assert_array_equal(kernel.with_schedule(recipe)(*args), expected)


def test_programs_are_known_by_what_they_do() -> None:
    texts = [
        "def f(x: float32[8]):\n    for i in range(8):\n        x[i] = x[i] + 1",
        "def g(y: float32[8]):\n    for row in range(8):\n        y[row] = y[row] + 1",
        "def f(x: float32[8]):\n    for i in range(8):\n        x[i] = x[i] + 2",
        "def f(x: float32[9]):\n    for i in range(9):\n        x[i] = x[i] + 1",
    ]
    found = [identify(hj.parse(text), (), current_target(), []) for text in texts]
    assert found[0].hash == found[1].hash
    assert len({known.hash for known in found}) == 3
    assert found[0].kind == found[3].kind


def test_programs_that_the_compiler_cuts_otherwise_are_of_another_kind() -> None:
    """Steps for small matrices would replace its tiles for large ones."""
    found = [
        identify(loops.schedule(*pair).func, (), current_target(), [])
        for pair in (np.ones((2, size, size), np.float32) for size in (20, 24, 2000))
    ]
    assert found[0].kind == found[1].kind != found[2].kind
