"""`python -m hybridjit profile file.py:name --args "..."`: measure where the time goes."""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import Any

from hybridjit.profiling.profile import Profile
from hybridjit.tools.calling import calling
from hybridjit.tools.command import Command, declare_json
from hybridjit.tools.load_kernel import declare_kernel, load_call
from hybridjit.tools.report import facts_of_loop
from hybridjit.tools.working import working


def declare(parser: argparse.ArgumentParser) -> None:
    """The kernel."""
    declare_kernel(parser)
    declare_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print what `kernel.profile` says."""
    kernel, args = load_call(options)
    with working(f"measuring {kernel.__name__}"), calling():
        profile = kernel.profile(*args)
    print(json.dumps(_facts(profile), indent=2, default=str) if options.json else profile)
    return 0


def _facts(profile: Profile) -> dict[str, Any]:
    facts = dataclasses.asdict(profile)
    for found, each in zip(facts["loops"], profile.loops, strict=True):
        found.update(loop=facts_of_loop(each.loop), bound=each.bound)
    return facts


COMMAND = Command("measure where the time of a call goes", declare, run)
