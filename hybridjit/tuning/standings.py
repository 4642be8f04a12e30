"""How a search stands: what was tried, who leads, who may win."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

from hybridjit.record import record
from hybridjit.tuning.jobs import Measurement
from hybridjit.tuning.result import Improvement

FINALISTS = 4
_HOPEFUL = 1.05  # times as slow as the plain program, or less: it may have had bad luck
_SCORED = ("measured", "slow")  # what tells how fast a candidate is, or is not
_GAIN = 0.995  # of the score of the best so far: a better one


@record(eq=False)
class Scored:
    """A candidate; the recipe None is that of the plain program, whose score is 1.

    A run takes `seconds`, as far as is known.
    """

    recipe: Any
    score: float
    seconds: float | None = None


class Standings:
    """What came of the candidates so far."""

    def __init__(self, usual: Any = None) -> None:
        self._usual = usual  # steps that the compiler takes by itself: no better than these are
        self.champion: Scored | None = None  # what won an earlier search: it is raced again
        self.plain = Scored(None, 1.0)
        self.best = self.plain  # the one to beat
        self.counts: Counter[str] = Counter()
        self.curve = [Improvement(0.0, 0, 1.0)]
        self.first_failure = ""
        self._found: list[Scored] = []
        self._verdicts: dict[bytes, bool] = {}
        self._last_gain = 0

    @property
    def trials(self) -> int:
        """How many candidates were tried."""
        return sum(self.counts.values())

    @property
    def idle_trials(self) -> int:
        """How many of them since the last that was better."""
        return self.trials - self._last_gain

    def start(self, seconds: float | None) -> None:
        """Note how long a run of the plain program takes."""
        self.plain = self.best = Scored(None, 1.0, seconds)

    def add(self, scored: Scored) -> None:
        """Note a candidate that an earlier search measured."""
        self._found.append(scored)

    def note(self, recipe: Any, found: Measurement, rival: Scored, passed: float) -> float | None:
        """Note what came of a candidate after so many seconds: its score, if it has one."""
        self.counts[found.status] += 1
        self.first_failure = self.first_failure or found.message
        if found.status not in _SCORED or found.times is None or found.rival is None:
            return None
        score = found.ratio * rival.score
        if found.status == "measured":
            self._note_rival(rival, found.rival.best)
            scored = Scored(recipe, score, found.times.best)
            self._found.append(scored)
            if found.is_gain(_GAIN) and self._is_better(scored):
                self.best, self._last_gain = scored, self.trials
                self.curve.append(Improvement(passed, self.trials, score))
        return score

    def _is_better(self, scored: Scored) -> bool:
        """True if it beats the best, also when that was not disturbed: luck would add up."""
        best, seconds = self.best, scored.seconds
        is_faster = best.seconds is None or seconds is None or seconds < best.seconds
        return is_faster and not self._is_usual(scored) and scored.score < best.score * _GAIN

    def _is_usual(self, scored: Scored) -> bool:
        return self._usual is not None and scored.recipe == self._usual

    def _note_rival(self, rival: Scored, seconds: float) -> None:
        """The fastest run is what a program takes."""
        if self.plain.recipe is rival.recipe:
            self.plain = _faster(self.plain, seconds)
        if self.best.recipe is rival.recipe:
            self.best = _faster(self.best, seconds)

    # awkward sizes

    def verdict(self, recipe: Any) -> bool | None:
        """Whether a candidate is right at awkward sizes, if somebody has looked."""
        return self._verdicts.get(pickle.dumps(recipe))

    def judge(self, recipe: Any, is_right: bool) -> None:
        """Note whether a candidate is right at awkward sizes; if it is not, it is out."""
        key = pickle.dumps(recipe)
        self._verdicts[key] = is_right
        if is_right:
            return
        self.counts["wrong"] += 1
        self._found = [it for it in self._found if pickle.dumps(it.recipe) != key]
        if self.champion is not None and pickle.dumps(self.champion.recipe) == key:
            self.champion = None
        if pickle.dumps(self.best.recipe) == key:
            self.best = min([self.plain, *self._found], key=lambda it: it.score)

    @property
    def fastest(self) -> float | None:
        """The seconds of the fastest candidate."""
        return min((it.seconds for it in self._found if it.seconds is not None), default=None)

    @property
    def finals(self) -> int:
        """How many last races there will be."""
        return min(FINALISTS, len(self._hopeful()))

    def finalists(self) -> list[Scored]:
        """The best ones; among them the champion, and one that is known to be right, if any is."""
        ranked = sorted(self._hopeful(), key=lambda it: it.score)
        known = [it for it in ranked if self.verdict(it.recipe)]
        needed = [it for it in ranked if it is self.champion] + known[:1]
        chosen = ranked[:FINALISTS]
        missing = [it for it in dict.fromkeys(needed) if it not in chosen]
        return [*chosen[: FINALISTS - len(missing)], *missing]

    def _hopeful(self) -> list[Scored]:
        champion = self.champion
        others = [
            it
            for it in self._found
            if it.score < _HOPEFUL
            and not self._is_usual(it)
            and (champion is None or it.recipe != champion.recipe)
        ]
        return others if champion is None else [champion, *others]


def _faster(scored: Scored, seconds: float) -> Scored:
    return Scored(scored.recipe, scored.score, min(seconds, scored.seconds or seconds))
