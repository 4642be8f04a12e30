"""What the cost model of searches is good for, told from what a database has measured.

    python -m benchmarks.search_model tuned.db

How well it tells the order of a program's candidates that it was never shown any of; and how many
of them a search tries until it has one that is nearly the best, by chance and with its advice.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from random import Random
from statistics import mean

import numpy as np
from rich.console import Console
from rich.table import Table

import hybridjit as hj
from hybridjit.tuning.model import Model, make_model, rank_correlation
from hybridjit.tuning.search import HANDFUL, LEAST_LEARNED, RELEARN, TRUST

NEARLY = math.log(1.05)  # of the time of the best
LEAST = 30  # candidates of a program that tell something
SEEDS = 20
TITLE = "the model, never shown these; trials until one is nearly the best"

Pairs = list[tuple[list[float], float]]
Lessons = dict[str, Pairs]
"""Features and logarithms of scores, by program."""


def read_lessons(text: str) -> Lessons:
    """What the database has measured, by program."""
    data = json.loads(text)
    names = {row["id"]: row["name"] for row in data["programs"]}
    found: Lessons = {}
    for row in data["measurements"]:
        if row["score"] is not None:
            name = f"{names[row['program']]} {row['shapes']}"
            pair = json.loads(row["features"]), math.log(row["score"])
            found.setdefault(name, []).append(pair)
    return found


def held_out(lessons: Lessons, name: str) -> float:
    """How well a model that learned from the others tells the order of one program's candidates."""
    features, scores = zip(*lessons[name], strict=True)
    guesses = _learned(_others(lessons, name)).predict(np.array(features, np.float64))
    return rank_correlation(guesses.tolist(), scores)


def by_chance(pairs: Pairs) -> float:
    """How many candidates of a heap one tries until one is nearly the best, in the mean."""
    return (len(pairs) + 1) / (_good_ones(pairs) + 1)


def with_advice(lessons: Lessons, name: str, seed: int) -> int:
    """How many one tries if the model picks one of a handful, and learns on the way."""
    random, left = Random(seed), list(lessons[name])
    goal = min(score for _, score in left) + NEARLY
    known, model, learned = _others(lessons, name), None, 0
    for tried in range(1, len(left) + 1):
        if len(known) >= max(LEAST_LEARNED, learned + RELEARN):
            model, learned = _learned(known), len(known)
        handful = random.sample(left, min(HANDFUL, len(left)))
        chosen = handful[0]
        if model is not None and random.random() < TRUST:
            rows = np.array([features for features, _ in handful], np.float64)
            chosen = handful[int(np.argmin(model.predict(rows)))]
        if chosen[1] <= goal:
            return tried
        left.remove(chosen)
        known = [*known, chosen]
    raise AssertionError("the best is as good as the best")


def _others(lessons: Lessons, name: str) -> Pairs:
    return [pair for other, pairs in lessons.items() if other != name for pair in pairs]


def _learned(pairs: Pairs) -> Model:
    model = make_model()
    model.fit(*(np.array(column, np.float64) for column in zip(*pairs, strict=True)))
    return model


def _good_ones(pairs: Pairs) -> int:
    goal = min(score for _, score in pairs) + NEARLY
    return sum(score <= goal for _, score in pairs)


def model_table(lessons: Lessons) -> Table:
    """A row for each program of which enough was measured."""
    columns = ("program", "measured", "within 5 %", "rank correlation", "by chance", "with advice")
    table = Table(
        *columns, title="the model, never shown these; trials until one is nearly the best"
    )
    enough = [name for name, pairs in lessons.items() if len(pairs) >= LEAST]
    for name in enough if len(enough) > 1 else ():
        pairs = lessons[name]
        trials = mean(with_advice(lessons, name, seed) for seed in range(SEEDS))
        table.add_row(
            name,
            str(len(pairs)),
            str(_good_ones(pairs)),
            f"{held_out(lessons, name):.2f}",
            f"{by_chance(pairs):.1f}",
            f"{trials:.1f}",
        )
    return table


def main(arguments: Sequence[str]) -> None:
    """Tell it of one database."""
    (path,) = arguments
    hj.tune.use(path)
    Console().print(model_table(read_lessons(hj.tune.export())))


if __name__ == "__main__":
    main(sys.argv[1:])
