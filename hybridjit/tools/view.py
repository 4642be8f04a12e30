"""`python -m hybridjit view file.py:name --args "..."`: a kernel as a page for a browser."""

from __future__ import annotations

import argparse
import sys
import webbrowser

from hybridjit.tools.command import FAILED, Command, declare_json, print_facts
from hybridjit.tools.load_kernel import declare_kernel, load_call
from hybridjit.tools.working import working


def declare(parser: argparse.ArgumentParser) -> None:
    """The kernel, and where the page goes."""
    declare_kernel(parser)
    parser.add_argument("--output", metavar="FILE", help="the file; a temporary one by default")
    parser.add_argument("--open", action="store_true", help="open it in a browser")
    declare_json(parser)


def run(options: argparse.Namespace) -> int:
    """Write the page, and say where it is."""
    kernel, args = load_call(options)
    with working(f"compiling {kernel.__name__}"):
        path = kernel.view(*args, path=options.output)
    print_facts({"page": str(path), "bytes": path.stat().st_size}, as_json=options.json)
    if options.open and not webbrowser.open(path.absolute().as_uri()):
        print("there is no browser here that could open it", file=sys.stderr)
        return FAILED
    return 0


COMMAND = Command("show a kernel at every stage, as a page for a browser", declare, run)
