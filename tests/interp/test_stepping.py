"""A debugger of Python follows a script that is interpreted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """\
import numpy as np
from hybridjit import hybrid

@hybrid.script
def counted(a):
    total = 0.0
    for i in range(a.shape[0]):
        half = a[i] * 0.5
        total += half
    return total

print("result", counted.interpret(np.arange(4.0)))
"""


def debug(tmp_path: Path, *commands: str) -> str:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pdb", str(path)],
        input="\n".join([*commands, "q", ""]),
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.getcwd()},
        cwd=tmp_path,
        check=False,
    )
    return done.stdout


def test_a_breakpoint_stops_in_every_iteration(tmp_path: Path) -> None:
    text = debug(tmp_path, "b 9", "c", "p i, half, total", "c", "c", "p (i, half, total)")
    assert text.count("script.py(9)counted()") == 3
    assert "-> total += half" in text
    assert "(0, 0.0, 0.0)" in text.replace("np.int64(0)", "0").replace("np.float64(0.0)", "0.0")
    assert "(2, 1.0, 0.5)" in (
        text.replace("np.int64(2)", "2")
        .replace("np.float64(1.0)", "1.0")
        .replace("np.float64(0.5)", "0.5")
    )


def test_arrays_are_seen(tmp_path: Path) -> None:
    text = debug(tmp_path, "b 8, i == 2", "c", "p a.tolist()")
    assert "[0.0, 1.0, 2.0, 3.0]" in text
    assert text.count("script.py(8)counted()") == 1


def test_the_result_is_the_same(tmp_path: Path) -> None:
    assert "result 3.0" in debug(tmp_path, "b 6", "c", "c")
