"""Run random programs natively and hold them against plain Python or NumPy.

python -m tests.campaigns                          # a thousand programs of every kind
python -m tests.campaigns loops --count 100000     # of one kind, many
python -m tests.campaigns loops --seed 0 --first 4711 --count 1   # the one that was reported
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from functools import partial

from tests.campaigns.drive import Plan, run
from tests.emulated.processors import MACHINES

CAMPAIGNS = {
    "loops": "tests.loops.campaign",
    "programs": "tests.programs.campaign",
    "schedules": "tests.nests.campaign",
    "scripts": "tests.nests.scripts",
    "arrays": "tests.arrays.campaign",
    "graphs": "tests.graphs.campaign",
    "operators": "tests.operators.campaign",
    "ufuncs": "tests.ufuncs.campaign",
    "bounds": "tests.torture.campaign",
    "shared": "tests.programs.shared_memory",
    "brought": "tests.brought.campaign",
    "exports": "tests.exports.campaign",
    "gradients": "tests.gradients.campaign",
    "records": "tests.brought.records",
    "callers": "tests.callers.campaign",
    "effects": "tests.effects.campaign",
}
_say = partial(print, flush=True)


def main() -> int:
    """Run the campaigns that the command line names; 1 if something was found."""
    options = _parse()
    found = 0
    for name in options.names or CAMPAIGNS:
        _say(f"== {name}")
        plan = Plan(
            CAMPAIGNS[name],
            options.count,
            options.seed,
            options.first,
            options.workers,
            options.seconds,
            options.parallel,
            options.processor,
        )
        start = time.monotonic()
        drawn = run(plan, _say)
        _say("\n".join([*drawn.lines(), drawn.summary(time.monotonic() - start)]))
        found += len(drawn.failures)
    return 1 if found else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.campaigns",
        description=__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", choices=[*CAMPAIGNS, []], metavar="KIND")
    parser.add_argument("--count", type=int, default=1000, help="programs of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--seconds", type=float, help="begin no program after so long")
    parser.add_argument("--parallel", action="store_true", help="scripts use several threads")
    parser.add_argument("--processor", choices=MACHINES, help="emulate another processor")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
