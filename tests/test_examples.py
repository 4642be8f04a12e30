"""Every example runs, and checks its own results."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("**/[!_]*.py"))


@pytest.mark.parametrize(
    "path",
    EXAMPLES,
    ids=lambda path: path.relative_to(ROOT / "examples").with_suffix("").as_posix(),
)
def test_example(path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
