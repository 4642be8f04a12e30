"""Kinds of stages for random graphs: operators of stdlib that NumPy computes to the last bit."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from hybridjit import stdlib
from tests.graphs.made import Array, Made
from tests.graphs.stages import recent

np: Any = numpy  # whose types say nothing of arrays that may be any
hs: Any = stdlib
OfElements = Callable[[Any], Any]
AlongAxis = Callable[[Any, int], Any]

# Operators and NumPy's functions.
OF_ELEMENTS: tuple[tuple[OfElements, OfElements], ...] = (
    (hs.absolute, np.absolute),
    (hs.square, np.square),
    (hs.sign, np.sign),
    (lambda x: hs.clip(x, 1, 300), lambda x: np.clip(x, 1, 300)),
    (lambda x: hs.where(hs.greater(x, 2), x, 1), lambda x: np.where(x > 2, x, 1)),
    (lambda x: hs.minimum(x, 3), lambda x: np.minimum(x, 3)),
)
ALONG_AXES: tuple[tuple[AlongAxis, AlongAxis], ...] = (
    (hs.flip, np.flip),
    (lambda x, axis: hs.roll(x, 2, axis), lambda x, axis: np.roll(x, 2, axis)),
    (lambda x, axis: hs.repeat(x, 2, axis), lambda x, axis: np.repeat(x, 2, axis)),
    (lambda x, axis: hs.concatenate((x, x), axis), lambda x, axis: np.concatenate((x, x), axis)),
    (hs.cumsum, np.cumsum),
    (hs.sort, np.sort),
    (hs.argsort, lambda x, axis: np.argsort(x, axis, kind="stable")),
    (hs.max, np.max),
    (hs.min, np.min),
    (hs.argmax, np.argmax),
    (hs.argmin, np.argmin),
)


def operator_of_elements(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    del name
    source = made[-1]
    operator, evaluate = choose.choice(OF_ELEMENTS)
    return [Made(operator(source.tensor), source.sizes, (source,), evaluate)]


def operator_along_an_axis(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """Elements in other places or in order, added up, or the extreme ones; of any axis."""
    del name
    source = recent(choose, made)
    if source is None:
        return []
    operator, function = choose.choice(ALONG_AXES)
    rank = len(source.sizes)
    axis = choose.randrange(-rank, rank)

    def evaluate(x: Array) -> Array:
        return np.asarray(function(x, axis))

    sizes = evaluate(np.zeros(source.sizes)).shape
    return [Made(operator(source.tensor, axis), sizes, (source,), evaluate)]
