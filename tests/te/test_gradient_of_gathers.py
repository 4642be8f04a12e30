"""te.gradient where an index is read from a tensor: only where the element is read, too."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hybridjit import stdlib as hs
from hybridjit import te
from tests.te.test_gradient import check, matrix

X, W = matrix("X", 4), matrix("W", 5)
PLACES = te.placeholder((3,), "int64", "places")
K = te.reduce_axis((0, 5), "k")
BODIES: dict[str, Callable[[Any], Any]] = {
    "a choice": lambda i: te.if_then_else(i < 3, X[PLACES[i]] * W[i], W[i]),
    "the other side": lambda i: te.if_then_else(i >= 3, W[i], X[PLACES[i]] * W[i]),
    "two choices": lambda i: (
        te.if_then_else(i < 2, X[PLACES[i]] * W[i], 0.0)
        + te.if_then_else(te.all(i >= 1, i < 3), X[PLACES[i]] ** 2, 0.0)
    ),
    "a choice in a choice": lambda i: te.if_then_else(
        i < 3, te.if_then_else(i > 0, X[PLACES[i]], X[0]) * 2, W[i]
    ),
    "a sum": lambda i: te.sum(X[PLACES[K]] * W[K] * (i + 1), axis=K, where=K < 3),
    "a maximum": lambda i: te.max(X[PLACES[K]] * W[K], axis=K, where=K < 3),
    "a product": lambda i: te.prod(X[PLACES[K]] * W[K], axis=K, where=K < 3),
}


@pytest.mark.parametrize("name", BODIES)
def test_indices_that_are_not_read_everywhere(name: str) -> None:
    output = te.compute((5,), BODIES[name], name="C")
    check(output, [X, W], known={PLACES: np.array([2, -1, 2])})


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_gather_of_a_part(axis: int) -> None:
    x = matrix("A", 2, 3, 4)
    indices = te.placeholder((2, 2, 3), "int64", "indices")
    known = {indices: np.random.default_rng(1).integers(-2, 2, (2, 2, 3))}
    check(hs.gather(x, indices, axis), [x], known=known)
