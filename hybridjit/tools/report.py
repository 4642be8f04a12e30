"""`python -m hybridjit report file.py:name --args "..."`: say how a kernel runs."""

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
    """Print what `kernel.report` says."""
    kernel, args = load_call(options)
    with working(f"compiling {kernel.__name__}"):
        report = kernel.report(*args)
    print(json.dumps(dataclasses.asdict(report), default=str) if options.json else report)
    return 0


COMMAND = Command("say how a kernel runs", declare, run)
