"""`python -m hybridjit profile file.py:name --args "..."`: measure where the time goes."""

from __future__ import annotations

import argparse
import dataclasses
import json

from hybridjit.tools.command import Command, declare_json
from hybridjit.tools.load_kernel import declare_kernel, load_call
from hybridjit.tools.working import working


def declare(parser: argparse.ArgumentParser) -> None:
    """The kernel."""
    declare_kernel(parser)
    declare_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print what `kernel.profile` says."""
    kernel, args = load_call(options)
    with working(f"measuring {kernel.__name__}"):
        profile = kernel.profile(*args)
    print(json.dumps(dataclasses.asdict(profile), default=str) if options.json else profile)
    return 0


COMMAND = Command("measure where the time of a call goes", declare, run)
