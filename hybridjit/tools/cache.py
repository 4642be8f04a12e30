"""`python -m hybridjit cache info|clear|path`."""

from __future__ import annotations

import argparse
import sys

from hybridjit.runtime.cache import disk_cache as cache
from hybridjit.tools.command import (
    FAILED,
    Command,
    Fact,
    declare_json,
    format_bytes,
    print_answer,
    print_facts,
)

_ACTIONS = {
    "info": "show where the cache is and how much is in it",
    "clear": "remove everything from it",
    "path": "print its directory",
}


def declare(parser: argparse.ArgumentParser) -> None:
    """One action."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    for name, text in _ACTIONS.items():
        declare_json(actions.add_parser(name, help=text, description=text))


def run(options: argparse.Namespace) -> int:
    """Do the action, unless there is no cache."""
    state = cache.info()
    if state.path is None:
        print(f"the disk cache is off: {state.problem}", file=sys.stderr)
        return FAILED
    match options.action:
        case "info":
            facts = count(state) if options.json else describe(state)
            print_facts(facts, as_json=options.json)
        case "clear":
            removed = cache.clear()
            text = f"removed {_counted(removed)} from {state.path}"
            print_answer(text, {"removed": removed, "directory": state.path}, as_json=options.json)
        case _:
            print_answer(state.path, {"directory": state.path}, as_json=options.json)
    return 0


def count(state: cache.CacheInfo) -> dict[str, Fact]:
    """What programs want to know of the cache."""
    return {
        "directory": f"{state.path}",
        "entries": state.entries,
        "bytes": state.size,
        "limit": state.size_limit,
        "problem": state.problem,
    }


def describe(state: cache.CacheInfo) -> dict[str, Fact]:
    """What people want to know of the cache."""
    facts: dict[str, Fact] = {
        "directory": f"{state.path}",
        "holds": held(state),
        "limit": format_bytes(state.size_limit),
    }
    if state.problem != "":
        facts["problem"] = state.problem
    return facts


def held(state: cache.CacheInfo) -> str:
    """How much there is in it."""
    return f"{_counted(state.entries)}, {format_bytes(state.size)}"


def _counted(entries: int) -> str:
    return "1 entry" if entries == 1 else f"{entries} entries"


COMMAND = Command("the compiled kernels kept on disk", declare, run)
