"""Nothing gets out of its arrays: programs run between pages that nobody may touch.

With --fuzz=N, N random programs are run.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.campaigns.drive import Plan, run

REPOSITORY = Path(__file__).parents[2]
SHORT = 10


@pytest.mark.usefixtures("unchecked")
def test_nasty_kernels() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.guarded"],
        cwd=REPOSITORY,
        check=False,
        capture_output=True,
        text=True,
    )
    last = done.stdout.splitlines()[-1:]
    assert done.returncode == 0, f"status {done.returncode} at {last}\n{done.stderr}"
    found = re.search(r"(\d+) left their arrays", done.stdout)
    assert found is not None
    assert int(found[1]) > 50


def test_random_programs(request: pytest.FixtureRequest) -> None:
    fuzz: int | None = request.config.getoption("--fuzz")
    plan = Plan("tests.torture.campaign", fuzz or SHORT, workers=0 if fuzz else 1)
    drawn = run(plan)
    assert not drawn.failures
    assert drawn.counts["left their arrays"] > plan.count // 50
