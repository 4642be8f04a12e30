"""Nothing gets out of its arrays: programs run between pages that nobody may touch.

Each batch is a process of its own. With --fuzz=N, N random programs are run.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
# Seeds that other tests do not use.
FIRST_SEED = 1_000_000
BATCH = 25
SHORT = 50


def run_guarded(*arguments: str) -> int:
    """Run tests/support/guarded.py; return how many calls left their arrays."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.support.guarded", *arguments],
        cwd=REPOSITORY,
        check=False,
        capture_output=True,
        text=True,
    )
    last = run.stdout.splitlines()[-1:]
    assert run.returncode == 0, f"status {run.returncode} at {last}\n{run.stderr}"
    found = re.search(r"(\d+) left their arrays", run.stdout)
    assert found is not None
    return int(found[1])


def test_nasty_kernels() -> None:
    assert run_guarded("kernels") > 50


def test_random_programs(request: pytest.FixtureRequest) -> None:
    count: int = request.config.getoption("--fuzz") or SHORT
    outside = 0
    for first in range(FIRST_SEED, FIRST_SEED + count, BATCH):
        last = min(first + BATCH, FIRST_SEED + count)
        outside += run_guarded("programs", str(first), str(last))
    print(f"{count} programs, {outside} of which left their arrays")
    assert outside > count // 50
