"""`python -m hybridjit db list|best|export|import|prune path`: what searches have kept."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time

from hybridjit.schedule.trace import Trace
from hybridjit.tools.command import Command, declare_json, not_negative, print_answer
from hybridjit.tools.load_kernel import LoadError
from hybridjit.tuning.database import Database, Winner

_DAY = 86400.0
_NO_STEPS = "nothing was faster than what the compiler does by itself"


def declare(parser: argparse.ArgumentParser) -> None:
    """What to do, and with which file."""
    parser.add_argument("action", choices=("list", "best", "export", "import", "prune"))
    parser.add_argument("path", help="the database")
    parser.add_argument("--name", help="list, best: of the program of this name only")
    parser.add_argument("--days", type=not_negative, default=30.0, help="prune: what is older; 30")
    declare_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print, or change the file."""
    if options.action != "import" and not os.path.exists(options.path):
        raise LoadError(f"there is no database {options.path!r}: `tune --db` makes one")
    database = Database(options.path)
    match options.action:
        case "export":
            print(database.dump())
        case "import":
            added = database.load(sys.stdin.read())
            print_answer(f"{added} entries added", {"added": added}, as_json=options.json)
        case "prune":
            removed = database.prune(time.time() - options.days * _DAY)
            text = f"{removed} measurements removed"
            print_answer(text, {"removed": removed}, as_json=options.json)
        case action:
            is_best = action == "best"
            winners = database.best() if is_best else database.winners()
            found = [winner for winner in winners if options.name in (None, winner.name)]
            _show(found, with_steps=is_best, as_json=options.json)
    return 0


def _show(winners: list[Winner], *, with_steps: bool, as_json: bool) -> None:
    if as_json:
        print(json.dumps([_facts(winner) for winner in winners], indent=2))
        return
    for winner in winners:
        shapes = ", ".join("x".join(map(str, shape)) or "()" for shape in winner.shapes)
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(winner.at))
        print(f"{winner.name:24} {shapes:32} {1 / winner.score:6.2f}x  {day}")
        if with_steps:
            print(Trace.from_json(winner.recipe) if winner.recipe else _NO_STEPS)


def _facts(winner: Winner) -> dict[str, object]:
    return {
        "name": winner.name,
        "shapes": winner.shapes,
        "score": winner.score,
        "seconds": winner.seconds,
        "setting": json.loads(winner.setting),
        "at": winner.at,
        "trace": json.loads(winner.recipe) if winner.recipe else None,
    }


COMMAND = Command("show what searches have kept in a database", declare, run)
