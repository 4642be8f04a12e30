"""What the README shows is what happens: its Python blocks run, and print its text blocks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks_of(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def without_places(text: str) -> str:
    """`text` without file names, line numbers and line breaks, which differ in the README, and how
    many lanes there are, which processors differ in.
    """
    text = re.sub(r"\S+\.py:\d+:\d+", "FILE", text)
    text = re.sub(r"line \d+|^ *\d+ (\||(?= ))", "LINE", text, flags=re.MULTILINE)
    text = re.sub(r"in \d+ lanes", "in LANES", text)
    return " ".join(text.split())


def test_readme_blocks_run_and_print_what_it_says(tmp_path: Path) -> None:
    python, shown = blocks_of(README, "python"), blocks_of(README, "text")
    assert len(python) >= 3
    assert shown
    script = tmp_path / "readme.py"
    script.write_text("\n\n".join(python), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for text in shown:
        assert without_places(text).removesuffix("...") in without_places(done.stdout)


def test_readme_names_the_two_commands() -> None:
    assert "make demo" in README
    assert "make test" in README


def test_blocks_are_found() -> None:
    text = "a\n```python\nx = 1\n```\nb\n```text\nno\n```\n"
    assert blocks_of(text, "python") == ["x = 1\n"]
    assert blocks_of(text, "text") == ["no\n"]


def test_places_are_left_out() -> None:
    one, other = "a.py:1:2: error\n    1 | x\nat line 3", "/b/c.py:30:4: error\n   30 | x at line 9"
    assert without_places(one) == without_places(other)
