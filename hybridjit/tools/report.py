"""`python -m hybridjit report file.py:name --args "..."`: say how a kernel runs."""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import Any

from hybridjit.runtime.report import LoopReport, Report
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
    print(json.dumps(_facts(report), indent=2, default=str) if options.json else report)
    return 0


def _facts(report: Report) -> dict[str, Any]:
    """The report as data; that of loops that are parts of tiles as well."""
    facts = dataclasses.asdict(report)
    facts["loops"] = list(map(facts_of_loop, report.loops))
    return facts


def facts_of_loop(loop: LoopReport) -> dict[str, Any]:
    """A loop as data, with how it runs in words."""
    return {**dataclasses.asdict(loop), "runs": loop.runs}


COMMAND = Command("say how a kernel runs", declare, run)
