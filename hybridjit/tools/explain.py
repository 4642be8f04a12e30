"""`python -m hybridjit explain HJ101`: what an error means, and how it is mended."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys

from hybridjit.catalogue.find import PAGES
from hybridjit.tools.command import MISUSED, Command, declare_json


def declare(parser: argparse.ArgumentParser) -> None:
    """The code; all of them are listed without one."""
    parser.add_argument("code", nargs="?", help="such as HJ101, or 101: the last line of an error")
    declare_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the page, or the titles of all."""
    if options.code is None:
        titles = {code: entry.title for code, entry in PAGES.items()}
        lines = (f"{code}  {title}" for code, title in titles.items())
        print(json.dumps(titles, indent=2) if options.json else "\n".join(lines))
        return 0
    code = options.code.upper()
    entry = PAGES.get(f"HJ{code}" if code.isdigit() else code)
    if entry is None:
        hint = "`python -m hybridjit explain` lists the codes"
        print(f"there is no error {options.code!r}; {hint}", file=sys.stderr)
        return MISUSED
    print(json.dumps(dataclasses.asdict(entry), indent=2) if options.json else entry.page)
    return 0


COMMAND = Command("print the page of an error by its code", declare, run)
