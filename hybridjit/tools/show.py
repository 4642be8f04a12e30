"""`python -m hybridjit show file.py:name --args "..." --stage llvm`: print a stage of a kernel."""

from __future__ import annotations

import argparse
import json
from typing import get_args

from hybridjit.runtime.inspection import StageName
from hybridjit.tools.command import Command, declare_json
from hybridjit.tools.load_kernel import declare_kernel, load_call
from hybridjit.tools.working import working

STAGES: tuple[str, ...] = get_args(StageName)


def declare(parser: argparse.ArgumentParser) -> None:
    """The kernel and the stage."""
    declare_kernel(parser)
    parser.add_argument("--stage", choices=STAGES, default="tir", help="which text to print")
    declare_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print it."""
    kernel, args = load_call(options)
    with working(f"compiling {kernel.__name__}"):
        text = kernel.inspect(options.stage, *args)
    print(json.dumps({"stage": options.stage, "text": text}) if options.json else text)
    return 0


COMMAND = Command("print a stage of a kernel: program, lowered, LLVM, assembly", declare, run)
