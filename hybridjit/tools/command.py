"""What a command of the command line is: a line of help, its arguments, and what it does."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping

from hybridjit.record import record

FAILED, MISUSED, INTERRUPTED = 1, 2, 130  # exit codes; 0 means that all is well


@record
class Command:
    """`run` prints its answer and returns the exit code."""

    help: str
    declare: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def declare_json(parser: argparse.ArgumentParser) -> None:
    """The option that every command with an answer has."""
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")


def not_negative(text: str) -> float:
    """The type of an argument: a number that is not below 0."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not number >= 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return number


def format_bytes(size: int) -> str:
    """Up to four digits and a unit: 32 KiB."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size} bytes"


Fact = str | int | float | list[str]


def print_facts(facts: Mapping[str, Fact], *, as_json: bool) -> None:
    """Named facts in two columns, or as JSON."""
    if as_json:
        print(json.dumps(facts, indent=2))
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:{width}}  {', '.join(value) if isinstance(value, list) else value}")


def print_answer(text: str, facts: Mapping[str, Fact], *, as_json: bool) -> None:
    """A sentence for people, facts for programs."""
    if as_json:
        print_facts(facts, as_json=True)
    else:
        print(text)
