"""What a search takes from the database, and leaves there."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hybridjit.errors import TuneError
from hybridjit.tuning.database import PATIENCE, Database, Identity, Row
from hybridjit.tuning.jobs import Measurement
from hybridjit.tuning.picks import Pick
from hybridjit.tuning.search import Known, Search
from hybridjit.tuning.space import Candidate
from hybridjit.tuning.standings import Scored

_PATIENCE = 0.5  # seconds to wait for others that write, while there is something to measure
_RETRY = 16  # measurements after which it is tried again
_MOST_REMADE = 64  # candidates of a template that are made again, the best ones


class Memory:
    """A database for one program; without one, nothing is remembered."""

    def __init__(
        self, database: Database | None, identity: Identity | None, *, cold: bool = False
    ) -> None:
        self._database = database if identity is not None else None
        self._identity = identity
        # Times with cold caches say nothing about others; kernels take what won, however.
        self._measured = _with_cold_caches(identity) if identity and cold else identity
        self._unkept: list[Row] = []
        self._is_stuck = False

    def champion(self) -> Scored | None:
        """What kernels take now, if a search found it for this program or for shapes nearby."""
        if self._database is None or self._identity is None:
            return None
        winner = self._database.winner(self._identity)
        return Scored(winner.recipe, winner.score) if winner is not None and winner.recipe else None

    def teach(self, search: Search) -> Iterator[Scored]:
        """Tell a search what earlier ones measured; the candidates of this program among it."""
        if self._database is None or self._measured is None:
            return
        for features, score in self._database.lessons(self._measured):
            search.remember(features, score)
        remade = 0
        rows = [row for row in self._database.rows(self._measured) if row.score is not None]
        for row in sorted(rows, key=lambda row: row.score or 0.0):
            score = row.score or 0.0
            if row.status == "slow":
                search.avoid(row.features, score, row.recipe)
                continue
            picks = tuple(Pick(*pair) for pair in row.picks)
            recipe: Any = row.recipe
            if not recipe and remade < _MOST_REMADE:  # what a template made is not kept
                remade += 1
                recipe = search.remake(picks)
            search.resume(Known(picks, row.features, score), recipe)
            if recipe:
                yield Scored(recipe, score)

    def note(
        self,
        candidate: Candidate,
        features: tuple[float, ...],
        found: Measurement,
        score: float | None,
    ) -> None:
        """Keep what came of a candidate, at once: nobody knows what comes next. If that cannot be
        done, a while later: a search does not wait each time for others that lock the file.
        """
        if self._database is None or self._measured is None:
            return
        self._unkept.append(_row(candidate, features, found, score))
        if self._is_stuck and len(self._unkept) % _RETRY:
            return
        try:
            self._keep(self._database, self._measured, _PATIENCE)
        except TuneError:
            self._is_stuck = True

    def keep(self) -> None:
        """Write what is not written yet."""
        if self._database is None or self._measured is None or not self._unkept:
            return
        try:
            self._keep(self._database, self._measured, PATIENCE)
        except TuneError as error:
            self._forget(error)

    def _keep(self, database: Database, identity: Identity, patience: float) -> None:
        database.keep(identity, self._unkept, patience)
        self._unkept, self._is_stuck = [], False

    def crown(self, recipe: Any, won: Measurement) -> None:
        """Keep the winner."""
        if type(recipe) is str:  # what a template made is not kept
            self._crown(recipe, won.ratio, None if won.times is None else won.times.best)

    def crown_plain(self, seconds: float | None) -> None:
        """Keep that nothing is better than what the compiler does by itself."""
        self._crown("", 1.0, seconds)

    def _crown(self, recipe: str, score: float, seconds: float | None) -> None:
        if self._database is None or self._identity is None:
            return
        try:
            self._database.crown(self._identity, recipe, score, seconds)
        except TuneError as error:
            self._forget(error)

    def _forget(self, error: TuneError) -> None:
        warnings.warn(f"the search goes on, but is not remembered: {error}", stacklevel=5)
        self._database = None


def _with_cold_caches(identity: Identity) -> Identity:
    return replace(identity, setting=f"{identity.setting} with cold caches")


def _row(
    candidate: Candidate, features: tuple[float, ...], found: Measurement, score: float | None
) -> Row:
    picks = tuple((pick.place, pick.count) for pick in candidate.picks)
    times = found.times
    recipe = candidate.recipe if type(candidate.recipe) is str else ""
    return Row(
        recipe,
        picks,
        features,
        found.status,
        found.message,
        score,
        None if times is None else times.best,
        None if times is None else times.spread,
        found.compiling,
    )
