"""Pages: what is in them, and what a real browser makes of it."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridjit import Schedule, config, hybrid
from hybridjit.errors import ArgumentError, ScheduleError
from hybridjit.tools.command_line import main
from tests.viewing.page_data import data_of


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


def shown(page: Path, place: str = "", *options: str) -> str:
    """The page as a browser has it once its script has run."""
    assert BROWSER is not None
    common = ("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000")
    url = page.as_uri() + place
    done = subprocess.run(
        [BROWSER, *common, *options, "--dump-dom", url], capture_output=True, text=True, check=True
    )
    return done.stdout


def asked(page: Path, question: str, *options: str) -> Any:
    """What the expression `question`, in JavaScript, is worth in the page."""
    text = page.read_text(encoding="utf-8")
    answer = f"document.body.dataset.answer = JSON.stringify({question});"
    helpers = """
    const press = (key) => document.body.dispatchEvent(
      new KeyboardEvent("keydown", { key, bubbles: true }));
    const title = () => byId("stage-title").textContent;
    """
    copy = page.with_name(f"{page.stem}-asked.html")
    script = f"<script>{helpers}{answer}</script></body>"
    copy.write_text(text.replace("</body>", script), encoding="utf-8")
    found = re.search(r'data-answer="(.*?)"', shown(copy, "", *options))
    assert found is not None
    return json.loads(html.unescape(found[1]))


@needs_browser
def test_a_browser_shows_every_stage(page: Path) -> None:
    found = asked(
        page,
        """[...byId("tabs").children].map((tab) => {
          tab.click();
          const selected = document.querySelectorAll("[role=tab][aria-selected=true]").length;
          return [title(), selected, byId("stage").querySelectorAll(".row").length];
        })""",
    )
    stages = data_of(page)["stages"]
    assert [title for title, _, _ in found] == [stage["title"] for stage in stages]
    assert {selected for _, selected, _ in found} == {1}
    assert all(
        rows >= len(stage["lines"]) for (_, _, rows), stage in zip(found, stages, strict=True)
    )


@needs_browser
def test_it_works_by_keyboard(page: Path) -> None:
    found = asked(
        page,
        """[
          (press("4"), title()),
          (press("2"), title()),
          (press("ArrowLeft"), state.step), (press("ArrowLeft"), state.step),
          (press("ArrowRight"), state.step),
          (press("ArrowDown"), press("ArrowDown"), state.line),
          document.querySelectorAll("#source .lit").length,
          (press("Escape"), document.querySelectorAll(".lit").length),
          [...document.querySelectorAll("nav button, #source, #stage")]
            .every((each) => each.tabIndex === 0),
        ]""",
    )
    data = data_of(page)
    last = len(data["steps"]) - 1
    second = data["source"][1][0]
    assert found == ["lowered", "schedule", last - 1, last - 2, last - 1, second, 1, 0, True]


@needs_browser
def test_pointing_at_a_line_lights_what_came_from_it(page: Path) -> None:
    line = data_of(page)["source"][-1][0]
    found = asked(
        page,
        f"""(choose(5), document.querySelector('#source [data-origin="{line}"]').dispatchEvent(
          new MouseEvent("mouseenter")),
          ["source", "stage", "loops"].map((id) => byId(id).querySelectorAll(".lit").length))""",
    )
    assert found[0] == 1
    assert min(found) > 0


@needs_browser
def test_it_is_dark_where_people_want_it_dark(page: Path) -> None:
    question = """[getComputedStyle(document.body).backgroundColor,
      getComputedStyle(document.body).color].map((c) => Number(c.match(/[0-9]+/)[0]))"""
    (light, on_light), (dark, on_dark) = (
        asked(page, question, *options) for options in ((), ("--force-dark-mode",))
    )
    assert light > 200 > 100 > on_light
    assert dark < 60 < 200 < on_dark


@needs_browser
def test_it_fits_a_phone(page: Path) -> None:
    columns, overflow = asked(
        page,
        """[getComputedStyle(document.querySelector("main")).gridTemplateColumns.split(" ").length,
            document.documentElement.scrollWidth - innerWidth]""",
        "--window-size=500,900",
    )
    assert columns == 1
    assert overflow <= 0


@needs_browser
def test_loops_are_drawn_with_their_lanes(page: Path) -> None:
    counts = asked(
        page,
        """data.loops.map((loop, k) =>
          byId("loops").children[k].querySelectorAll(".drawing .lane").length)""",
    )
    loops = data_of(page)["loops"]
    assert len(counts) == len(loops)
    for count, loop in zip(counts, loops, strict=True):
        assert count >= loop["lanes"] if loop["lanes"] > 1 else count != 1


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


@hybrid.script
def swept(a: Any) -> None:
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1] - 1):
            a[i, j] = a[i - 1, j + 1] + 1


def exchanged(s: Schedule) -> None:
    s.split("j", factor=4)
    s.reorder("j_0", "i")


@pytest.fixture(scope="module")
def refused_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "swept.html"
    return swept.with_schedule(exchanged).view(np.ones((9, 13)), path=path)


def test_a_step_that_is_refused_ends_the_page(refused_page: Path) -> None:
    data = data_of(refused_page)
    *_, split, refused = data["steps"]
    assert split["call"] == "s.split('j', factor=4)"
    assert (split["refusal"], split["picture"]) == ("", "")
    assert refused["call"] == "s.reorder('j_0', 'i')"
    assert "would turn a dependence around" in refused["refusal"]
    assert refused["lines"] == split["lines"]
    assert refused["picture"].startswith("<svg")
    assert [stage["title"] for stage in data["stages"]] == ["program", "schedule"]


def test_a_schedule_shows_what_it_refused(tmp_path: Path) -> None:
    s = swept.schedule(np.ones((9, 13)))
    with pytest.raises(ScheduleError, match="cannot be parallel"):
        s.parallel("i")
    s.vectorize("j")
    steps = data_of(s.view(tmp_path / "schedule.html"))["steps"]
    calls = [(step["call"], bool(step["picture"])) for step in steps]
    assert calls[1:] == [("s.parallel('i')", True), ("s.vectorize('j')", False)]


def test_a_schedule_without_a_kernel_has_no_page() -> None:
    s = Schedule(swept.prim_func(np.ones((9, 13))))
    with pytest.raises(ArgumentError, match="was not made from a kernel"):
        s.view()


@needs_browser
def test_a_browser_draws_the_arrow(refused_page: Path) -> None:
    arrows, width, text = asked(
        refused_page,
        """[document.querySelectorAll("#refusal svg .arrow").length,
            document.querySelector("#refusal svg").getBoundingClientRect().width,
            byId("refusal").querySelector("title").textContent]""",
    )
    assert arrows == 1
    assert width > 100
    assert "in iteration i=1" in text


@hybrid.script
def shifted(a: Any, b: Any) -> None:
    for i in range(a.shape[0]):
        b[i] = a[i] * 2


@pytest.fixture
def debugging(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("HYBRIDJIT_DEBUG", "1")
    config.clear()
    yield
    monkeypatch.undo()
    config.clear()


@pytest.mark.usefixtures("debugging")
def test_a_page_for_debugging_shows_what_is_compiled(tmp_path: Path) -> None:
    data = data_of(shifted.view(X[0], X[1].copy(), path=tmp_path / "page.html"))
    stages = {stage["title"]: [text for text, _ in stage["lines"]] for stage in data["stages"]}
    assert not any("vectorize" in text for text in stages["lowered"])
    assert any("checked_index" in text for text in stages["lowered"]), stages["lowered"]
    assert [step["call"] for step in data["steps"]] == ["as it is written"]
    assert "vectorize" not in shifted.inspect("lowered", X[0], X[1].copy())


def test_the_page_of_arguments_that_share_memory_has_no_steps(tmp_path: Path) -> None:
    both = np.ones(41, np.float32)
    data = data_of(shifted.view(both[1:], both[:-1], path=tmp_path / "page.html"))
    assert [step["call"] for step in data["steps"]] == ["as it is written"]


def test_program_and_schedule_are_told_apart(tmp_path: Path) -> None:
    def split(s: Schedule) -> None:
        s.split("i", 8)

    page = shifted.with_schedule(split).view(X[0], X[1].copy(), path=tmp_path / "page.html")
    stages = {stage["title"]: stage["lines"] for stage in data_of(page)["stages"]}
    assert not any("i_0" in text for text, _ in stages["program"])
    assert any("i_0" in text for text, _ in stages["schedule"])
