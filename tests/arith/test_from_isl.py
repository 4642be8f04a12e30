"""Bounds that isl finds, as expressions."""

from __future__ import annotations

import random

import pytest

from hybridjit.arith.from_isl import range_of
from hybridjit.arith.polyhedra import load_isl
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Const, Select, Var
from hybridjit.ir.visit import substitute, walk

i = Var("i")
NUMBERS = range(-12, 13)


def ranges(text: str) -> tuple[list[range], bool]:
    """The range of the numbers x for each i, and whether it is written as a choice."""
    isl = load_isl()
    points = isl.Set(f"[i] -> {{ [x] : -12 <= i <= 12 and ({text}) }}")
    bounds = range_of(points, isl.Set("[i] -> { : -12 <= i <= 12 }"), {"i": i})
    found = [
        range(*(simplify(substitute(bound, {i: Const(number)})).value for bound in bounds))  # type: ignore[attr-defined]
        for number in NUMBERS
    ]
    return found, any(isinstance(node, Select) for bound in bounds for node in walk(bound))


@pytest.mark.parametrize("seed", range(40))
def test_the_least_and_the_greatest_of_two_forms(seed: int) -> None:
    """A reader wants min and max, and so do later steps: a choice cannot be written in sets."""
    rng = random.Random(seed)
    a, b = ((rng.choice([-3, -2, -1, 0, 1, 2, 3]), rng.randint(-9, 9)) for _ in range(2))
    forms = [f"{factor} * i + {constant}" for factor, constant in (a, b)]
    found, is_choice = ranges(" or ".join(f"x = {form}" for form in forms))
    for number, values in zip(NUMBERS, found, strict=True):
        both = [factor * number + constant for factor, constant in (a, b)]
        assert values == range(min(both), max(both) + 1)
    assert not is_choice


def test_what_is_no_extremum_stays_a_choice() -> None:
    found, is_choice = ranges("(i <= 3 and x = 7) or (i > 3 and x = 2)")
    assert found == [range(7, 8) if number <= 3 else range(2, 3) for number in NUMBERS]
    assert is_choice
