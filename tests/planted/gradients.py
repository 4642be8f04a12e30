"""Bugs planted in te.gradient. Each must make a random gradient differ from differences."""

from __future__ import annotations

from typing import Any

from hybridjit.tensors import derivative, index_equations, reduction_terms
from tests.gradients.campaign import try_number
from tests.planted.bugs import Bug, RandomCheck, always, replaced

# Gradients until a bug counts as missed.
MAX_GRADIENTS = 60


def at_random(first: int) -> RandomCheck:
    """Random gradients are what differences are."""

    def check_number(number: int) -> None:
        failures = try_number(0, number).failures
        assert not failures, failures[0]

    return RandomCheck("gradients", check_number, first, MAX_GRADIENTS)


def of_the_first(cond: Any, then: Any, otherwise: Any, element: Any) -> Any:
    """A choice has the slope of its first side."""
    return derivative.derivative(then, element)


BUGS = (
    Bug(
        "a choice is always made in one way",
        [replaced(derivative, "_of_choice", of_the_first)],
        at_random(13),
    ),
    Bug(
        "axes that an equation gives are in range",
        [replaced(index_equations, "_holds", always(True))],
        at_random(29),
    ),
    Bug(
        "all elements are the largest one",
        [replaced(reduction_terms, "_share_of_extremum", always(None))],
        at_random(37),
    ),
)
