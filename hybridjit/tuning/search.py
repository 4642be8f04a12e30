"""What to try next: by chance, one after the other, or by evolution, with a model's advice.

    picks (0, 3, 1, 0, 2)   fast        change some:  (0, 3, 2, 0, 2)
    picks (1, 3, 0, 1, 1)   fast        cross two:    (1, 3, 0, 0, 2)

The model guesses how fast the candidates of a handful will be, and the best of them is tried; now
and then one is tried that nobody believes in.
"""

from __future__ import annotations

import bisect
import math
import pickle
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, Literal

import numpy as np

from hybridjit.kept_property import kept_property
from hybridjit.record import record
from hybridjit.tuning.features import NAMES, features_beside, features_of
from hybridjit.tuning.model import Model, make_model
from hybridjit.tuning.paths import Paths
from hybridjit.tuning.picks import Pick, Picks, by_chance, first, likeliest
from hybridjit.tuning.space import Candidate, Refused, Space

Strategy = Literal["evolution", "random", "grid"]

ELITE = 8  # candidates whose picks are changed and crossed
HANDFUL = 6  # proposals of which the model picks one
FRESH = 0.25  # share of proposals that come by chance
TRUST = 0.8  # share of the proposals in which the model is believed
LEAST_LEARNED = 12  # measurements that a model needs
RELEARN = 8  # measurements after which it learns again
MOST_DRAWS = 40  # draws without anything new: the space is exhausted, or nearly


@record(eq=False)
class Known:
    """A candidate that was measured, and how long it takes if the plain program takes 1."""

    picks: tuple[Pick, ...]
    features: tuple[float, ...]
    score: float


class Search:
    """Proposes candidates of a space, and learns from what comes of them."""

    def __init__(
        self, space: Space, seed: int, strategy: Strategy = "evolution", *, model: bool = True
    ) -> None:
        self._space = space
        self._random = Random(seed)
        self._chance = by_chance(self._random)
        self._strategy = strategy
        self._seen: set[bytes] = set()
        self._paths = Paths()
        self._known: list[Known] = []
        self._others: list[tuple[Sequence[float], float]] = []
        self._model: Model | None = make_model() if model and strategy == "evolution" else None
        self._learned = 0
        self._grid = self._all_in_order() if strategy == "grid" else iter(())
        self.refused = 0
        self.first_refusal = ""

    @property
    def is_barren(self) -> bool:
        """True if whatever was drawn so far is refused."""
        return self.refused > 0 and not self._seen

    def first(self) -> Candidate | None:
        """The likeliest candidate: of the compiler's own space, what it would do by itself."""
        return self._draw(lambda: Picks(likeliest))

    def look_at(self, candidate: Candidate) -> tuple[float, ...]:
        """How a candidate looks to the model: beside the likeliest one."""
        return features_beside(candidate.func, self._origin)

    @kept_property
    def _origin(self) -> tuple[float, ...]:
        made = self._space.make(Picks(likeliest))
        return features_of(made.func) if isinstance(made, Candidate) else (0.0,) * len(NAMES)

    def propose(self, is_over: Callable[[], bool] = lambda: False) -> Candidate | None:
        """Something that was not proposed before; None if there seems to be nothing left, or if it
        is over before something is found.
        """
        if self._strategy == "grid":
            return next(self._grid, None)
        if self._strategy == "random":
            return self._draw(lambda: Picks(self._chance), is_over)
        wanted = HANDFUL if self._is_wise() else 1
        draws = (self._draw(self._child, is_over) for _ in range(wanted))
        handful = [made for made in draws if made is not None]
        if not handful:
            return None
        best = self._believed(handful) if self._random.random() < TRUST else handful[0]
        # The others may come up again.
        self._seen -= {pickle.dumps(made.recipe) for made in handful if made is not best}
        return best

    def learn(self, candidate: Candidate, score: float) -> None:
        """Note how long a candidate takes."""
        known = Known(candidate.picks, self.look_at(candidate), score)
        bisect.insort(self._known, known, key=lambda known: known.score)

    def remember(self, features: Sequence[float], score: float) -> None:
        """Note what an earlier search measured, of this program or of another one."""
        self._others.append((features, score))

    def avoid(self, features: Sequence[float], score: float, recipe: Any) -> None:
        """Note a candidate that takes so long or longer: none should take after it."""
        self._seen.add(pickle.dumps(recipe))
        self.remember(features, score)

    def resume(self, known: Known, recipe: Any) -> None:
        """Go on from what an earlier search of the same program measured."""
        self._seen.add(pickle.dumps(recipe))
        bisect.insort(self._known, known, key=lambda known: known.score)

    def remake(self, picks: Sequence[Pick]) -> Any:
        """The recipe that comes of these picks; None if the space has no such any more."""
        made = self._space.make(Picks(likeliest, [pick.place for pick in picks]))
        if isinstance(made, Refused) or made.picks != tuple(picks):
            return None
        return made.recipe

    def _draw(
        self, pick: Callable[[], Picks], is_over: Callable[[], bool] = lambda: False
    ) -> Candidate | None:
        for _ in range(MOST_DRAWS):
            if is_over():
                return None
            made = self._make_if_new(pick())
            if made is not None:
                return made
        return None

    def _make_if_new(self, picks: Picks) -> Candidate | None:
        known = self._paths.follow(picks)
        if isinstance(known, Refused):
            self._note_refusal(known)
            return None
        if known in self._seen:
            return None
        picks.begin_again()
        made = self._space.make(picks)
        if isinstance(made, Refused):
            self._paths.add(picks.choices, made)
            self._note_refusal(made)
            return None
        key = pickle.dumps(made.recipe)
        self._paths.add(picks.choices, key)
        is_new = key not in self._seen
        self._seen.add(key)
        return made if is_new else None

    def _note_refusal(self, made: Refused) -> None:
        self.refused += 1
        self.first_refusal = self.first_refusal or made.reason

    def _child(self) -> Picks:
        elite = self._known[:ELITE]
        if not elite or self._random.random() < FRESH:
            return Picks(self._chance)
        parent = self._random.choice(elite)
        places = [pick.place for pick in parent.picks]
        if len(elite) > 1 and self._random.random() < 0.3:
            other = self._random.choice(elite)
            cut = self._random.randrange(len(places) + 1)
            places = [*places[:cut], *(pick.place for pick in other.picks[cut:])]
            return Picks(self._chance, places)
        return Picks(self._chance, self._mutated(parent.picks))

    def _mutated(self, picks: Sequence[Pick]) -> list[int]:
        places = [pick.place for pick in picks]
        open_ones = [number for number, pick in enumerate(picks) if pick.count > 1]
        changes = min(len(open_ones), 1 + int(self._random.expovariate(1.2)))
        for number in self._random.sample(open_ones, changes):
            count = picks[number].count
            if count > 3 and self._random.random() < 0.5:
                places[number] = max(
                    0, min(count - 1, places[number] + self._random.choice((-1, 1)))
                )
            else:
                places[number] = self._random.randrange(count)
        return places

    def _is_wise(self) -> bool:
        """True if there is a model that has learned enough, as of late."""
        if self._model is None or len(self._known) < LEAST_LEARNED // 2:
            return False
        lessons = self._lessons()
        if len(lessons) < LEAST_LEARNED:
            return False
        if len(lessons) >= self._learned + RELEARN or not self._learned:
            features = np.array([row for row, _ in lessons], np.float64)
            numbers = np.array([math.log(score) for _, score in lessons], np.float64)
            self._model.fit(features, numbers)
            self._learned = len(lessons)
        return True

    def _lessons(self) -> list[tuple[Sequence[float], float]]:
        """What was measured, as the model sees it; older versions kept other features."""
        measured = [*((known.features, known.score) for known in self._known), *self._others]
        return [pair for pair in measured if len(pair[0]) == 2 * len(NAMES)]

    def _believed(self, handful: Sequence[Candidate]) -> Candidate:
        if self._model is None or not self._learned or len(handful) == 1:
            return handful[0]
        rows = np.array([self.look_at(made) for made in handful], np.float64)
        return handful[int(np.argmin(self._model.predict(rows)))]

    def _all_in_order(self) -> Iterator[Candidate]:
        """Every list of picks: like the wheels of a counter, of which the last turns fastest."""
        places: list[int] | None = []
        while places is not None:
            picks = Picks(first, places)
            made = self._make_if_new(picks)
            if made is not None:
                yield made
            places = _next_places(picks.taken)


def _next_places(picks: Sequence[Pick]) -> list[int] | None:
    for number in reversed(range(len(picks))):
        if picks[number].place + 1 < picks[number].count:
            return [*(pick.place for pick in picks[:number]), picks[number].place + 1]
    return None
