"""The cost model, and what programs look like to it."""

from __future__ import annotations

from random import Random

import numpy as np

from hybridjit.tuning.features import NAMES, features_of
from hybridjit.tuning.model import BoostedTrees, rank_correlation
from hybridjit.tuning.picks import Picks, by_chance
from hybridjit.tuning.search import Search
from hybridjit.tuning.space import Candidate
from tests.tuning.kernels import CASES, loops
from tests.tuning.test_space import automatic


def test_trees_learn_what_depends_on_two_features() -> None:
    random = np.random.default_rng(0)
    features = random.random((300, 5))
    numbers = 3 * features[:, 1] + (features[:, 3] > 0.5)
    model = BoostedTrees()
    model.fit(features[:200], numbers[:200])
    assert rank_correlation(model.predict(features[200:]).tolist(), numbers[200:].tolist()) > 0.95


def test_trees_of_one_number_guess_it() -> None:
    model = BoostedTrees()
    model.fit(np.ones((4, 2)), np.full(4, 7.0))
    assert model.predict(np.zeros((2, 2))).tolist() == [7.0, 7.0]


def test_rank_correlation() -> None:
    assert rank_correlation([1, 2, 3], [10, 20, 30]) == 1
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == -1
    assert rank_correlation([1], [2]) == 0


def test_features_tell_lanes_order_and_memory() -> None:
    args = CASES["loops"][1]
    plain = loops.schedule(*args)
    rows = loops.schedule(*args)
    rows.reorder("i", "k", "j")
    rows.vectorize("j")
    before, after = (dict(zip(NAMES, features_of(s.func), strict=True)) for s in (plain, rows))
    assert before["lanes"] == 0
    assert after["lanes"] > 5
    assert before["scattered"] > after["scattered"] == 0
    assert before["iterations"] == after["iterations"]


def test_every_candidate_has_as_many_features() -> None:
    kernel, args = CASES["softmax"]
    space, random = automatic(kernel, args), Random(0)
    for _ in range(5):
        made = space.make(Picks(by_chance(random)))
        assert isinstance(made, Candidate)
        assert len(features_of(made.func)) == len(NAMES)
        assert np.isfinite(features_of(made.func)).all()


def test_the_model_sees_what_differs_from_the_likeliest() -> None:
    search = Search(automatic(*CASES["loops"]), seed=0)
    own = search.first()
    assert own is not None
    assert search.look_at(own) == (*features_of(own.func), *[0.0] * len(NAMES))
    other = search.propose()
    assert other is not None
    assert any(search.look_at(other)[len(NAMES) :])
