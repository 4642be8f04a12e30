"""Every example runs, and checks its own results."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.warm_python import run_warm

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("**/[!_]*.py"))

# What needs a processor with some instructions has a way without them, too, and says if it took it.
FALLBACKS = ("amx", "vnni")
PLAIN = "plain intrinsic"
# What would take as long as it is given.
ARGUMENTS = {"tune": ("1s",)}


@pytest.mark.parametrize(
    "path",
    EXAMPLES,
    ids=lambda path: path.relative_to(ROOT / "examples").with_suffix("").as_posix(),
)
def test_example(path: Path) -> None:
    printed = run(path, *ARGUMENTS.get(path.stem, ()))
    if path.stem in FALLBACKS and PLAIN not in printed:
        assert PLAIN in run(path, "plain")


def run(path: Path, *args: str) -> str:
    """What an example prints."""
    done = run_warm(path, *args)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    return done.stdout
