"""Pages: what is in them, and what a real browser makes of it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.tools.command_line import main


@hybrid.script
def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=1, keepdims=True))  # "</script>" must not end the page
    return e / e.sum(axis=1, keepdims=True)


X = np.ones((12, 40), np.float32)
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
needs_browser = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return softmax.view(X, path=tmp_path_factory.mktemp("pages") / "softmax.html")


def data_of(page: Path) -> Any:
    text = page.read_text(encoding="utf-8")
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    assert found is not None
    return json.loads(found[1])


class Elements(HTMLParser):
    """Which elements there are, and what they load."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.loads += [value or "" for name, value in attrs if name in ("src", "href")]


def test_it_is_one_file_that_loads_nothing(page: Path) -> None:
    parser = Elements()
    parser.feed(page.read_text(encoding="utf-8"))
    assert parser.loads == []
    assert parser.names.count("script") == 2
    assert page.stat().st_size < 1 << 20


def test_every_stage_is_there(page: Path) -> None:
    stages = {stage["title"]: stage["lines"] for stage in data_of(page)["stages"]}
    assert list(stages) == ["program", "schedule", "optimized", "lowered", "LLVM", "assembly"]
    assert all(stages.values())
    assert any("define" in text for text, _ in stages["LLVM"])


def test_lines_know_where_they_came_from(page: Path) -> None:
    data = data_of(page)
    numbers = {number for number, _ in data["source"]}
    (program,) = (stage["lines"] for stage in data["stages"] if stage["title"] == "program")
    origins = {origin for _, origin in program if origin is not None}
    assert len(origins) == 2
    assert origins <= numbers


@pytest.mark.parametrize("title", ["LLVM", "assembly"])
def test_instructions_know_where_they_came_from(page: Path, title: str) -> None:
    data = data_of(page)
    numbers = [number for number, _ in data["source"]]
    (lines,) = (stage["lines"] for stage in data["stages"] if stage["title"] == title)
    origins = {origin for _, origin in lines if origin is not None}
    assert set(numbers[-2:]) <= origins <= set(numbers)
    assert not any(re.search(r"!dbg|\.loc|DILocation", text) for text, _ in lines)


def test_steps_lead_from_the_program_to_what_is_optimized(page: Path) -> None:
    data = data_of(page)
    first, *_, last = data["steps"]
    stages = {stage["title"]: stage["lines"] for stage in data["stages"]}
    assert first["lines"] == stages["program"]
    assert any("merge" in step["call"] for step in data["steps"])
    assert any(step["changed"] for step in data["steps"])
    counts = [sum("for " in line for line, _ in step["lines"]) for step in (first, last)]
    assert counts[0] < counts[1]


def test_without_a_path_it_is_a_temporary_file() -> None:
    path = softmax.view(X)
    try:
        assert path.name.startswith("hybridjit-softmax-")
    finally:
        path.unlink()


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "page.html"
    name = f"{__file__}:softmax"
    assert main(["view", name, "--args", "f32[8, 8]", "--output", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bytes"] == path.stat().st_size


def shown(page: Path, place: str = "") -> str:
    """The page as a browser has it once its script has run."""
    assert BROWSER is not None
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000")
    url = page.as_uri() + place
    done = subprocess.run(
        [BROWSER, *options, "--dump-dom", url], capture_output=True, text=True, check=True
    )
    return done.stdout


@needs_browser
def test_a_browser_shows_every_stage(page: Path) -> None:
    stages = data_of(page)["stages"]
    for number, stage in enumerate(stages):
        text = shown(page, f"#stage={number}")
        assert f'<h2 id="stage-title">{stage["title"]}</h2>' in text
        assert text.partition("<main>")[0].count('role="tab" aria-selected="true"') == 1
        assert text.count('class="row') >= len(data_of(page)["source"]) + 2


@needs_browser
def test_a_browser_shows_what_loops_touch(page: Path) -> None:
    text = shown(page)
    counted = [loop for loop in data_of(page)["loops"] if loop["work"] is not None]
    assert counted
    assert text.count('class="footprint"') == len(counted)
    assert "fits into the first cache" in text


@needs_browser
def test_a_browser_shows_what_a_step_changed(page: Path) -> None:
    steps = data_of(page)["steps"]
    number = next(k for k, step in enumerate(steps) if step["changed"] and step["removed"])
    text = shown(page, f"#stage=1&step={number}")
    assert text.count("made") >= len(steps[number]["changed"])
    assert text.count("gone") >= len(steps[number]["removed"])
    assert f"{number} of {len(steps) - 1}: s." in text


@needs_browser
def test_a_browser_lights_what_came_from_a_line(page: Path) -> None:
    line = data_of(page)["source"][-1][0]
    text = shown(page, f"#stage=3&line={line}")
    assert text.count("linked lit") > 3
