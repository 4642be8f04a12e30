"""Run a program in a process of its own: it may crash, or never end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
# Seconds. Nothing here runs for more than a few, on a machine that does nothing else.
PATIENCE = 300


def _heed_interrupts() -> None:
    """A suite in the background of a shell has Ctrl-C ignored, and so would its programs."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run_program(folder: Path, text: str, **environment: str) -> str:
    """What the program prints. Its text lies in a file, so that scripts in it can be read."""
    file = folder / "program.py"
    file.write_text(textwrap.dedent(text))
    run = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(file)],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **environment},
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        preexec_fn=_heed_interrupts if os.name == "posix" else None,
    )
    assert run.returncode == 0, f"status {run.returncode}\n{run.stdout}\n{run.stderr}"
    return run.stdout
