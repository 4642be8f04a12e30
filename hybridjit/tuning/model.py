"""The cost model: what was measured tells how long something similar will take.

Trees that are boosted: each is fitted to what those before it got wrong. With scikit-learn
installed (`pip install hybridjit[tune]`) its trees are taken, else the small ones here.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from hybridjit.record import record

Floats = NDArray[np.float64]

ROUNDS = 60
DEPTH = 3
RATE = 0.2
MIN_LEAF = 3
_QUANTILES = np.linspace(0.1, 0.9, 9)


class Model(Protocol):
    """Learns from rows of features and a number for each, and guesses the number for others."""

    def fit(self, features: Floats, numbers: Floats) -> Any:
        """Learn."""
        ...

    def predict(self, features: Floats) -> Floats:
        """Guess."""
        ...


def make_model() -> Model:
    """The best model there is here."""
    if importlib.util.find_spec("sklearn") is None:
        return BoostedTrees()
    ensemble: Any = importlib.import_module("sklearn.ensemble")
    return ensemble.HistGradientBoostingRegressor(max_iter=100, min_samples_leaf=MIN_LEAF)


@record(eq=False)
class _Leaf:
    value: float


@record(eq=False)
class _Split:
    feature: int
    threshold: float
    below: _Tree
    above: _Tree


_Tree = _Leaf | _Split


class BoostedTrees:
    """Small regression trees, one after the other."""

    def __init__(self) -> None:
        self._mean = 0.0
        self._trees: list[_Tree] = []

    def fit(self, features: Floats, numbers: Floats) -> None:
        """Learn from rows of features."""
        self._mean, self._trees = float(numbers.mean()), []
        left = numbers - self._mean
        for _ in range(ROUNDS):
            tree = _grow(features, left, DEPTH)
            self._trees.append(tree)
            left = left - RATE * _guess(tree, features)

    def predict(self, features: Floats) -> Floats:
        """Guess for rows of features."""
        guesses = np.full(len(features), self._mean)
        for tree in self._trees:
            guesses += RATE * _guess(tree, features)
        return guesses


def _grow(features: Floats, numbers: Floats, depth: int) -> _Tree:
    split = _best_split(features, numbers) if depth and len(numbers) >= 2 * MIN_LEAF else None
    if split is None:
        return _Leaf(float(numbers.mean()))
    feature, threshold = split
    below = features[:, feature] <= threshold
    return _Split(
        feature,
        threshold,
        _grow(features[below], numbers[below], depth - 1),
        _grow(features[~below], numbers[~below], depth - 1),
    )


def _best_split(features: Floats, numbers: Floats) -> tuple[int, float] | None:
    """Where to cut so that the numbers on each side are closest to each other: those whose sums,
    squared and divided by how many they are, are largest.
    """
    # Arrays of features x quantiles, from here on.
    thresholds = cast("Any", np.quantile(features, _QUANTILES, axis=0)).T
    below = cast("Any", features).T[:, None, :] <= thresholds[:, :, None]
    counts = below.sum(axis=2)
    others = len(numbers) - counts
    sums = below @ (numbers - numbers.mean())
    is_cut = np.minimum(counts, others) >= MIN_LEAF
    gains = sums**2 * (1 / np.maximum(counts, 1) + 1 / np.maximum(others, 1))
    place = np.unravel_index(np.argmax(np.where(is_cut, gains, 0.0)), gains.shape)
    if not is_cut[place] or gains[place] <= 1e-12:
        return None
    return int(place[0]), float(thresholds[place])


def _guess(tree: _Tree, features: Floats) -> Floats:
    if isinstance(tree, _Leaf):
        return np.full(len(features), tree.value)
    below = features[:, tree.feature] <= tree.threshold
    return np.where(below, _guess(tree.below, features), _guess(tree.above, features))


def rank_correlation(guesses: Sequence[float], numbers: Sequence[float]) -> float:
    """How well guesses tell the order of numbers: 1 for the same order, 0 for none (Spearman)."""
    if len(numbers) < 2:
        return 0.0
    ours, theirs = (_ranks(np.array(values)) for values in (guesses, numbers))
    return float((ours * theirs).sum() / np.sqrt((ours**2).sum() * (theirs**2).sum()))


def _ranks(values: Floats) -> Floats:
    """The place of each value in their order, from the middle."""
    return np.argsort(np.argsort(values)).astype(np.float64) - (len(values) - 1) / 2
