"""Every diagnostic has a code, and every code a page, whose examples do what it says."""

from __future__ import annotations

import json
import linecache
import re
from pathlib import Path
from typing import Any

import pytest

from hybridjit import errors
from hybridjit.catalogue.entry import PRELUDE, Entry
from hybridjit.catalogue.find import ENTRIES, PAGES, find_code
from hybridjit.errors import ConfigError, HybridError, InternalError
from hybridjit.tools.command_line import main

GOLDEN = Path(__file__).parent.parent / "golden"
FALLBACKS = {entry.code for entry in ENTRIES if not entry.says}


def run(name: str, code: str) -> None:
    """Run a program whose text can be read, as that of a cell of a notebook."""
    text = PRELUDE + code
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": name}
    exec(compile(text, file, "exec"), names)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("entry", PAGES.values(), ids=PAGES)
def test_what_is_wrong_has_this_code(entry: Entry) -> None:
    with pytest.raises((HybridError, InternalError), match=f"= code: {entry.code}") as caught:
        run(f"wrong {entry.code}", entry.wrong)
    assert caught.value.code == entry.code


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("entry", PAGES.values(), ids=PAGES)
def test_what_is_right_runs(entry: Entry) -> None:
    run(f"right {entry.code}", entry.right)


def test_codes_are_told_apart() -> None:
    assert len(PAGES) == len(ENTRIES)
    assert all(re.fullmatch(r"HJ\d{3}", code) for code in PAGES)
    assert all(entry.says or entry.kind for entry in ENTRIES)


@pytest.mark.parametrize("message", ["HYBRIDJIT_CPU is 'x', which LLVM does not know", "shape"])
def test_a_setting_is_no_function_of_numpy(message: str) -> None:
    assert find_code(ConfigError, message) == "HJ701"


def test_every_class_of_errors_has_a_code() -> None:
    classes = [value for value in vars(errors).values() if isinstance(value, type)]
    for kind in classes:
        if issubclass(kind, (HybridError, InternalError)):
            assert find_code(kind, "nothing that anybody says") in FALLBACKS


CODE = re.compile(r"^ +(?:\| *)?= code: (HJ\d{3})$")
REPORT = re.compile(r"^\S+:\d+:\d+: error: ")


def reports_in(path: Path) -> int:
    """How many diagnostics a golden file shows, other than what a script raises itself."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return sum(bool(REPORT.match(line)) and "raised here" not in line for line in lines)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*/")), ids=lambda path: path.name)
def test_every_diagnostic_of_the_goldens_has_a_code(path: Path) -> None:
    for file in path.glob("*.txt"):
        found = [CODE.match(line) for line in file.read_text(encoding="utf-8").splitlines()]
        codes = [each[1] for each in found if each is not None]
        assert len(codes) >= reports_in(file), file.name
        assert set(codes) <= set(PAGES), file.name


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "hj101"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("HJ101: a name is not defined")
    assert "    return a * factr" in text.replace("        return", "    return")
    assert main(["explain", "HJ101", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["code"] == "HJ101"


def test_explain_takes_the_number_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "301"]) == 0
    assert capsys.readouterr().out.startswith("HJ301: ")


def test_explain_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(PAGES)


def test_explain_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "HJ999"]) == 2
    assert "lists the codes" in capsys.readouterr().err


def test_several_diagnostics_have_a_code_each() -> None:
    with pytest.raises(HybridError, match="code: HJ101") as caught:
        run("several", "@hybrid.script\ndef f(a):\n    b = x1\n    {}\n    return a\nf(1)\n")
    assert len(caught.value.codes) == len(caught.value.diagnostics)
    assert str(caught.value).count("= code: ") == len(caught.value.codes)
