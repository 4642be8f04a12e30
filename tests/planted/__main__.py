"""Plant bugs in the compiler and say how each was noticed.

python -m tests.planted                 # all of them
python -m tests.planted native vectors  # those of some areas
python -m tests.planted --seams         # only say where they are planted
"""

from __future__ import annotations

import argparse
import sys

from tests.planted.areas import AREAS, seams
from tests.planted.trying import report


def main() -> int:
    """Plant what the command line names; 1 if something went unnoticed."""
    given = _parse()
    if given.seams:
        for seam, bugs in seams().items():
            print(f"{seam:70} {', '.join(map(str, bugs))}")
        return 0
    missed = 0
    for name in given.areas or AREAS:
        print(f"-- {name}")
        missed += report(AREAS[name])
    return 1 if missed else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.planted",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("areas", nargs="*", choices=[*AREAS, []], metavar="AREA")
    parser.add_argument("--seams", action="store_true", help="only say where they are planted")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
