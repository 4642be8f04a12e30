"""`python -m hybridjit tune file.py:name --args "..." --budget 60s`: search for a fast schedule.

With `--db path` what is found is kept there, and kernels take it while HYBRIDJIT_TUNE_DB names the
file.
"""

from __future__ import annotations

import argparse
import json

from hybridjit import tune
from hybridjit.errors import ArgumentValueError
from hybridjit.tools.command import Command, declare_json
from hybridjit.tools.load_kernel import declare_kernel, load_call
from hybridjit.tuning.budget import read_budget
from hybridjit.tuning.result import Tuned


def declare(parser: argparse.ArgumentParser) -> None:
    """The kernel, and how to search."""
    declare_kernel(parser)
    parser.add_argument("--budget", type=_budget, help='how long: "60s", "5m"; 60s')
    parser.add_argument("--trials", type=_trials, help="how many candidates, instead of how long")
    parser.add_argument("--seed", type=int, default=0, help="where chance begins; 0")
    parser.add_argument("--db", metavar="PATH", help="the database to keep it in")
    declare_json(parser)


def _budget(text: str) -> str:
    """A time, as it is written: with a number of trials, there is no limit unless one is given."""
    try:
        read_budget(text)
    except ArgumentValueError:
        raise argparse.ArgumentTypeError(
            f'{text!r} is not a time above 0: write "60s", "5m" or a number of seconds'
        ) from None
    return text


def _trials(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Search, and print what was found."""
    kernel, args = load_call(options)
    if options.db is not None:
        tune.use(options.db)
    made = kernel.tune(*args, budget=options.budget, trials=options.trials, seed=options.seed)
    assert made.tuned is not None
    print(json.dumps(_facts(made.tuned), indent=2) if options.json else made.tuned)
    return 0


def _facts(tuned: Tuned) -> dict[str, object]:
    return {
        "score": tuned.score,
        "seconds": None if tuned.times is None else tuned.times.best,
        "plain seconds": None if tuned.plain is None else tuned.plain.best,
        "trials": dict(tuned.counts),
        "searched": tuned.seconds,
        "stopped": tuned.stopped,
        "trace": None if tuned.trace is None else json.loads(tuned.recipe),
        "curve": [[point.seconds, point.trials, point.score] for point in tuned.curve],
    }


COMMAND = Command("search for a fast schedule of a kernel", declare, run)
