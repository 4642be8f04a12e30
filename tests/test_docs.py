"""What the README and the pages show is what happens: Python blocks run, and print text blocks."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from docs import build, pictures, steps
from hybridjit.schedule.schedule import QUERIES, STEPS
from hybridjit.tools.command_line import make_parser
from tests.support.warm_python import run_warm

ROOT = Path(__file__).parent.parent


README = ROOT / "README.md"
PAGES = sorted((ROOT / "docs").glob("*.md"))


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


@pytest.mark.parametrize("path", [README, *PAGES], ids=lambda path: path.stem)
def test_blocks_run_and_print_what_it_says(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    python, shown = blocks_of(text, "python"), blocks_of(text, "text")
    assert python
    script = tmp_path / "example.py"
    script.write_text("\n\n".join(python), encoding="utf-8")
    done = run_warm(script)
    assert done.returncode == 0, done.stderr
    for expected in shown:
        assert without_places(expected).removesuffix("...") in without_places(done.stdout)


@pytest.mark.parametrize("path", [README, *PAGES], ids=lambda path: path.stem)
def test_commands_are_understood(path: Path) -> None:
    shown = "\n".join(blocks_of(path.read_text(encoding="utf-8"), "sh"))
    for line in re.findall(r"python -m hybridjit (\S.*)", shown):
        arguments = shlex.split(line, comments=True)
        assert make_parser().parse_args(arguments).command == arguments[0]


def test_readme_names_the_two_commands() -> None:
    text = README.read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text


def test_blocks_are_found() -> None:
    text = "a\n```python\nx = 1\n```\nb\n```text\nno\n```\n"
    assert blocks_of(text, "python") == ["x = 1\n"]
    assert blocks_of(text, "text") == ["no\n"]


def test_places_are_left_out() -> None:
    one, other = "a.py:1:2: error\n    1 | x\nat line 3", "/b/c.py:30:4: error\n   30 | x at line 9"
    assert without_places(one) == without_places(other)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The text of every page, by the name of its file; of pictures, nothing."""
    made = build.build(tmp_path_factory.mktemp("site"))
    return {
        path.name: "" if path.suffix == ".png" else path.read_text(encoding="utf-8")
        for path in made
    }


def test_the_site_has_every_page_and_no_dead_links(site: dict[str, str]) -> None:
    assert {path.stem for path in PAGES} <= set(build.PAGES)
    for name, text in site.items():
        for link in re.findall(r'(?:href|src)="([^"]*)"', text):
            target, _, anchor = link.partition("#")
            assert (target or name) in site, f"{name} links to {link}"
            assert not anchor or f'id="{anchor}"' in site[target or name], f"{name}: {link}"


def test_every_page_is_reached_and_has_one_title(site: dict[str, str]) -> None:
    for name in build.PAGES:
        assert site[f"{name}.html"].count("<h1") == 1
        assert f'href="{name}.html"' in site["index.html"]


def test_the_reference_has_every_step_of_a_schedule(site: dict[str, str]) -> None:
    text = site["reference.html"]
    assert all(f'id="Schedule.{step}"' in text for step in ("split", "gemm", "compute_at"))
    assert 'id="Kernel.tune"' in text


def test_the_reference_tells_text_and_examples_apart(site: dict[str, str]) -> None:
    text = site["reference.html"]
    assert (
        "<p>Split a loop into a nest that runs the same iterations in the same order.</p>" in text
    )
    assert "<pre><code>&gt;&gt;&gt; " in text
    assert "<p>&gt;&gt;&gt;" not in text


def test_every_step_has_a_picture(site: dict[str, str]) -> None:
    sampled = {name for name in STEPS if name.startswith("sample_")}
    assert set(steps.STEPS) == STEPS - sampled - set(QUERIES)
    text = site["steps.html"]
    for name in steps.STEPS:
        assert f'<h3 id="{name}">' in text
        assert f"<title>before {name}</title>" in text
        assert f"<title>after {name}</title>" in text


@pytest.mark.parametrize("name", steps.STEPS)
def test_a_step_changes_what_is_shown(name: str) -> None:
    before, after = steps.apply(steps.STEPS[name])
    assert str(before) != str(after)


def test_a_refusal_has_an_arrow(site: dict[str, str]) -> None:
    assert site["schedules.html"].count('class="arrow"') == 1


def test_examples_draw_what_is_shown(site: dict[str, str]) -> None:
    assert {name for name in site if name.endswith(".png")} == {
        f"{name}.png" for name in build.EXAMPLES
    }
    for name in build.EXAMPLES:
        assert f'src="{name}.png"' in site["examples.html"]


@pytest.mark.parametrize("name", pictures.STEPS)
def test_a_picture_shows_every_element_once(name: str) -> None:
    order = pictures.visiting_order(name)
    assert sorted(order.ravel().tolist()) == list(range(pictures.SIZE**2))


def test_pictures_differ() -> None:
    orders = {pictures.visiting_order(name).tobytes() for name in ("as written", "reorder", "tile")}
    assert len(orders) == 3
