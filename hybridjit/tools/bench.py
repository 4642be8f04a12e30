"""`python -m hybridjit bench file.py:name --args "..."`: a kernel beside its plain function.

The result is checked before it is timed. A kernel that writes into its arguments is given fresh
copies of them for every call, which are made while the clock stands still.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

from hybridjit.profiling.profile import format_time
from hybridjit.scalars.contents import fresh_copies
from hybridjit.script import Kernel
from hybridjit.tools.calling import calling
from hybridjit.tools.command import Command, declare_json, not_negative, print_facts
from hybridjit.tools.load_kernel import declare_kernel, load_call
from hybridjit.tools.stopwatch import best_times
from hybridjit.tools.working import working


def declare(parser: argparse.ArgumentParser) -> None:
    """The kernel, and how long to measure."""
    declare_kernel(parser)
    parser.add_argument("--seconds", type=not_negative, default=1.0, help="how long to measure; 1")
    parser.add_argument("--no-plain", action="store_true", help="leave the plain function out")
    declare_json(parser)


def run(options: argparse.Namespace) -> int:
    """Check, measure, print."""
    kernel, args = load_call(options)
    with working(f"measuring {kernel.__name__}"), calling():
        facts = measure(kernel, args, options.seconds, with_plain=not options.no_plain)
    if not options.json:
        facts = {
            name: format_time(value) if isinstance(value, float) and name != "ratio" else value
            for name, value in facts.items()
        }
        if "ratio" in facts:
            facts["ratio"] = f"{facts['ratio']:.1f}x"
    print_facts(facts, as_json=options.json)
    return 0


def measure(
    kernel: Kernel[..., Any], args: tuple[Any, ...], seconds: float, *, with_plain: bool
) -> dict[str, Any]:
    """Seconds by name."""
    start = time.perf_counter()
    kernel.compile(*args)
    facts: dict[str, Any] = {"compile": time.perf_counter() - start}
    is_written = bool(kernel.summary(*args).written)

    def arguments() -> Sequence[Any]:
        return fresh_copies(args) if is_written else args

    if not with_plain:
        (facts["kernel"],) = best_times([kernel], seconds, arguments)
        return facts
    facts["checked"] = str(kernel.check(*args))
    facts["kernel"], facts["plain"] = best_times((kernel, kernel.py_func), seconds, arguments)
    facts["ratio"] = facts["plain"] / facts["kernel"]
    return facts


COMMAND = Command("time a kernel beside its plain function", declare, run)
