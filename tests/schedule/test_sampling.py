"""sample_perfect_tile, sample_categorical, sample_compute_location: choices that are recorded."""

import math
from collections.abc import Callable
from typing import Any

import pytest

import hybridjit as hj
from hybridjit.ir.equal import structural_equal
from hybridjit.schedule.schedule import Schedule
from hybridjit.schedule.trace import Trace
from tests.conftest import Golden
from tests.schedule.programs import NEST, PLAIN, refuse

STAGES = """
def f(a: int64[8], b: int64[8]):
    t = allocate((8,), "int64", "global")
    for i in range(8):
        t[i] = a[i] * 2
    for x in range(4):
        for y in range(2):
            b[2 * x + y] = t[2 * x + y] + 1
"""


@pytest.mark.parametrize("size", [0, 1, 7, 12, 64])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_factors_of_a_loop(size: int, count: int) -> None:
    for seed in range(5):
        s = Schedule(PLAIN.func(size))
        s.seed(seed)
        factors = s.sample_perfect_tile("i", count, max_innermost_factor=8)
        assert len(factors) == count
        assert math.prod(factors) == size
        assert count == 1 or size == 0 or factors[-1] <= 8


def test_factors_of_a_long_loop() -> None:
    size = 1 << 40  # divisors are not looked for one by one
    s = Schedule(hj.parse(f"def f(b: int64[1]):\n    for i in range({size}):\n        b[0] = i\n"))
    assert math.prod(s.sample_perfect_tile("i", 4)) == size


def test_seeds_choose() -> None:
    found: set[tuple[int, ...]] = set()
    for seed in range(20):
        s = Schedule(PLAIN.func(64))
        s.seed(seed)
        found.add(tuple(s.sample_perfect_tile("i", 3)))
    assert len(found) > 5


def test_choices_are_in_the_trace(golden: Golden) -> None:
    s = Schedule(NEST.func(12))
    s.seed(3)
    s.split("i", factors=s.sample_perfect_tile("i", 2))
    s.split("j", factor=s.sample_categorical([2, 3, 4], [0.0, 0.0, 1.0]))
    golden.check(str(s.trace), "txt")

    again = Schedule(s.original)
    again.seed(17)
    again.replay(Trace.from_json(s.trace.to_json()))
    assert structural_equal(again.func, s.func)
    assert again.trace.to_json() == s.trace.to_json()


def test_a_decision_for_another_size_is_made_anew() -> None:
    s = Schedule(PLAIN.func(12))
    assert math.prod(s.sample_perfect_tile("i", 2, decision=[8, 8])) == 12
    assert s.sample_perfect_tile("i", 2, decision=[6, 2]) == [6, 2]


def test_probabilities() -> None:
    s = Schedule(PLAIN.func(7))
    assert {s.sample_categorical([4, 8, 16], [0, 1, 0]) for _ in range(10)} == {8}
    assert s.sample_categorical([4, 8, 16], decision=2) == 16


def test_places_to_compute_at() -> None:
    names: set[str] = set()
    for decision in range(3):
        s = Schedule(hj.parse(STAGES))
        where = s.sample_compute_location("t", decision=decision)
        names.add("nowhere" if where is None else where.name)
    assert names == {"x", "y", "nowhere"}


def test_wrong_uses(golden: Golden) -> None:
    refuse(PLAIN, lambda s: s.sample_perfect_tile("i", 0), "0 factors of a loop")
    refuse(PLAIN, lambda s: s.sample_perfect_tile("i", 4000), "4000 factors of a loop, 8 at most")
    refuse(PLAIN, lambda s: s.sample_categorical([]), "needs candidates")
    refuse(PLAIN, lambda s: s.sample_categorical([1, 2], [0, 0]), "not all 0")
    refuse(PLAIN, lambda s: s.sample_categorical([1, 2], [1]), "a probability for each")
    error = refuse(PLAIN.func(None), lambda s: s.sample_perfect_tile("i", 2), "not a constant")
    golden.check(str(error), "txt")


STEPS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda s: s.sample_categorical(5), "must be a list, got 5"),
    (lambda s: s.sample_categorical([1, 2], 0.5), "must be a list, got 0.5"),
    (lambda s: s.sample_categorical([1, 2], ["a", "b"]), "a probability for each"),
    (lambda s: s.sample_categorical([1], [math.inf]), "a probability for each"),
    (lambda s: s.sample_categorical([1], decision="x"), "must be an integer, got 'x'"),
    (lambda s: s.sample_compute_location("c", decision=1.0), "must be an integer, got 1.0"),
    (lambda s: s.sample_perfect_tile("i", 2, decision=7), "must be a list, got 7"),
    (
        lambda s: s.sample_perfect_tile("i", 2, max_innermost_factor="8"),
        "must be an integer, got '8'",
    ),
]


@pytest.mark.parametrize(("step", "match"), STEPS)
def test_arguments_of_other_types(step: Callable[[Any], Any], match: str) -> None:
    refuse(PLAIN, step, match)
