"""Plant bugs in the compiler and say how each was noticed.

python -m tests.planted                 # all of them
python -m tests.planted native vectors  # those of some areas
python -m tests.planted --seams         # only say where they are planted
"""

from __future__ import annotations

import sys

from tests.planted.areas import AREAS, seams
from tests.planted.trying import report


def main(names: list[str]) -> int:
    if names == ["--seams"]:
        for seam, bugs in seams().items():
            print(f"{seam:70} {', '.join(map(str, bugs))}")
        return 0
    missed = 0
    for name in names or AREAS:
        print(f"-- {name}")
        missed += report(AREAS[name])
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
