"""The command line: what it prints, and its exit codes."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hybridjit
from hybridjit import config
from hybridjit.processor import current_target
from hybridjit.runtime.cache import disk_cache
from hybridjit.tools.command_line import COMMANDS, main, make_parser
from hybridjit.tuning.database import Database
from hybridjit.tuning.entry import read_settings
from tests.support.cache_faults import save_sample


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("HYBRIDJIT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("HYBRIDJIT_CACHE", raising=False)
    config.clear()
    yield tmp_path / "cache" / "hybridjit"
    config.clear()


def test_cache_path(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "path"]) == 0
    assert capsys.readouterr().out == f"{directory}\n"


def test_cache_info(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_sample(directory)
    size = disk_cache.info().size
    assert main(["cache", "info"]) == 0
    assert capsys.readouterr().out == (
        f"directory  {directory}\nholds      1 entry, {size} bytes\nlimit      1 GiB\n"
    )
    assert answer(capsys, "cache", "info") == {
        "directory": str(directory),
        "entries": 1,
        "bytes": size,
        "limit": 1 << 30,
        "problem": "",
    }


def test_cache_info_shows_what_is_wrong(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory.parent.mkdir()
    directory.write_text("a file")
    assert main(["cache", "info"]) == 0
    assert f"\nproblem    {str(directory)!r} is not a directory\n" in capsys.readouterr().out


def test_cache_clear(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_sample(directory)
    assert main(["cache", "clear"]) == 0
    assert main(["cache", "clear"]) == 0
    assert capsys.readouterr().out == (
        f"removed 1 entry from {directory}\nremoved 0 entries from {directory}\n"
    )


@pytest.mark.usefixtures("directory")
def test_the_cache_may_be_off(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HYBRIDJIT_CACHE", "0")
    assert main(["cache", "path"]) == 1
    assert capsys.readouterr().err == "the disk cache is off: HYBRIDJIT_CACHE is 0\n"


@pytest.mark.usefixtures("directory")
def test_a_malformed_setting_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HYBRIDJIT_CACHE_SIZE", "huge")
    assert main(["cache", "info"]) == 2
    assert capsys.readouterr().err.startswith("HYBRIDJIT_CACHE_SIZE is 'huge'; it must be")


@pytest.mark.parametrize("arguments", [[], ["cache"], ["cache", "burn"]])
def test_usage_is_shown(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert capsys.readouterr().err.startswith("usage: python -m hybridjit")


SCRIPT = """
import numpy as np
from hybridjit import hybrid

@hybrid.script
def scale(a, factor):
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = a[i] * factor
    return b

@hybrid.script
def shift(a, n):
    a[n] = 1

@hybrid.script
def refuse(a):
    for i in range(a.shape[0]):
        if a[i] < 2:
            raise ValueError(f"number {i} is too small")

@hybrid.packed
def call_back(a):
    raise LookupError("nothing there")

@hybrid.script
def ask(a):
    call_back(a)

@hybrid.script
def grow(a):
    for i in range(a.shape[0]):
        assert a[i] < 2
        a[i] += 1

class Scales:
    @staticmethod
    @hybrid.script
    def double(a):
        return a * 2

def make_args():
    return np.arange(5.0), 3

def make_list():
    print("a list")
    return [1]

def make_none():
    raise ValueError("no data")

print("loaded")

args = (np.arange(7.0), 2)
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "scaling.py"
    path.write_text(SCRIPT, encoding="utf-8")
    return str(path)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def told(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err.removeprefix("loaded\n")


def test_show(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{script}:scale", "--args", "f32[64], 2"]) == 0
    assert "def scale(a: float32[64]" in capsys.readouterr().out
    given = answer(capsys, "show", f"{script}:scale", "--args", "f32[64], 2", "--stage", "llvm")
    assert given["stage"] == "llvm"
    assert "define" in given["text"]


def test_report(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", f"{script}:scale", "--args", "f64[8], 2.5"]) == 0
    assert "fused away" in capsys.readouterr().out
    found = answer(capsys, "report", f"{script}:scale", "--args", "f64[8], 2.5")
    assert found["loops"][0]["extent"] == "8"


def test_bench(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = answer(
        capsys,
        *("bench", f"{script}:scale", "--args-from", f"{script}:make_args", "--seconds", "0"),
    )
    assert {"compile", "kernel", "plain", "ratio", "checked"} == set(given)
    assert main(["bench", f"{script}:scale", "--args", "f64[8], 2", "--no-plain"]) == 0
    assert "kernel" in capsys.readouterr().out


def test_a_kernel_that_writes_is_timed_on_fresh_copies(
    script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", f"{script}:grow", "--args", "f64[8]", "--seconds", "0"]) == 0
    assert "bit for bit" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["bench", "profile"])
def test_what_a_kernel_raises_is_told_without_a_traceback(
    command: str, script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, f"{script}:refuse", "--args", "f64[8]"]) == 1
    assert told(capsys).startswith("ValueError: number 0 is too small\n")
    assert main([command, f"{script}:ask", "--args", "f64[8]"]) == 1
    line = SCRIPT.splitlines().index('    raise LookupError("nothing there")') + 1
    assert told(capsys) == f"{script}:{line}: LookupError: nothing there\n"


def test_kernels_in_classes(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "report", f"{script}:Scales.double", "--args", "f64[9]")
    assert found["loops"][0]["extent"] == "9"
    assert found["loops"][0]["runs"].startswith("in ")
    assert main(["report", f"{script}:Scales.half", "--args", "f64[9]"]) == 2
    assert "has no 'Scales.half'" in capsys.readouterr().err


def test_an_interrupted_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hybridjit.tools.doctor.find_problems", interrupt)
    assert main(["doctor"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_nobody_reads_on() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "hybridjit", "explain"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr:
        assert process.stderr.read() == b""
    process.wait()


def test_a_page_without_a_browser(
    script: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def open_nothing(_: str) -> bool:
        return False

    monkeypatch.setattr("webbrowser.open", open_nothing)
    path = str(tmp_path / "page.html")
    given = [f"{script}:scale", "--args", "f64[8], 2", "--output", path, "--open"]
    assert main(["view", *given]) == 1
    assert told(capsys) == "there is no browser here that could open it\n"


def test_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "doctor")["self-check"] == "passed"


def test_demo_needs_no_other_package(tmp_path: Path) -> None:
    """As an installed package would run it: from anywhere, without what only tests need."""
    (tmp_path / "rich.py").write_text("raise ImportError('not installed')", encoding="utf-8")
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-m", "hybridjit", "demo"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "every result was checked against NumPy" in done.stdout


@pytest.mark.parametrize(
    ("kernel", "arguments", "message"),
    [
        ("scaling", "", "does not name a function"),
        ("no.py:scale", "", "there is no Python file 'no.py'"),
        ("{script}:gone", "", "has no 'gone'"),
        ("{script}:scal", "", "has no 'scal': did you mean 'scale'?"),
        ("{script}", "", "does not name a function: write {script}:scale"),
        ("{script}:make_args", "", "is not a kernel but function"),
        ("{script}:scale", "f99[3], 2", "'f99' is not an element type"),
        ("{script}:scale", "f32[-3], 2", "sizes are numbers that are not negative"),
        ("{script}:scale", "f32[3], open(2)", "neither a literal nor like"),
        ("{script}:scale", "f32[3", "does not read as a list"),
        ("{script}:scale", "1)+(2", "does not read as a list"),
        ("{script}:scale", "f32[10**13], 2", "neither a literal nor like"),
        ("{script}:scale", "f32[10000000000000], 2", "Unable to allocate"),
    ],
)
def test_what_cannot_be_loaded_is_said(
    script: str,
    kernel: str,
    arguments: str,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["show", kernel.format(script=script), "--args", arguments]) == 2
    assert message.format(script=script) in capsys.readouterr().err


def test_arguments_from_a_function_that_returns_no_tuple(
    script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", f"{script}:scale", "--args-from", f"{script}:make_list"]) == 2
    assert "make_list() returned list, not a tuple" in capsys.readouterr().err


def test_code_of_others_that_fails(
    tmp_path: Path, script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", f"{script}:scale", "--args-from", f"{script}:make_none"]) == 2
    assert "ValueError: no data" in capsys.readouterr().err
    path = tmp_path / "other.py"
    path.write_text("import sys\nsys.exit('at once')\n")
    assert main(["show", f"{path}:scale"]) == 2
    assert "other.py:2: SystemExit: at once" in capsys.readouterr().err


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"{hybridjit.__version__}\n"


@pytest.mark.parametrize(("place", "extent"), [("", "7"), (":args", "7"), (":make_args", "5")])
def test_arguments_from_a_file(
    script: str, place: str, extent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(capsys, "report", f"{script}:scale", "--args-from", f"{script}{place}")
    assert found["loops"][0]["extent"] == extent


def test_arguments_from_a_file_without_them(
    tmp_path: Path, script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other.py"
    path.write_text("args = 3\n")
    assert main(["show", f"{script}:scale", "--args-from", str(path)]) == 2
    assert "other.py:args is int, not a tuple" in capsys.readouterr().err
    assert main(["show", f"{script}:scale", "--args-from", f"{path}:arg"]) == 2
    assert "has no 'arg'" in capsys.readouterr().err


def test_a_script_that_fails_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "failing.py"
    path.write_text("x = 1\nx / 0\n")
    assert main(["report", f"{path}:scale"]) == 2
    assert capsys.readouterr().err == f"{path}:2: ZeroDivisionError: division by zero\n"


EVERY = {
    "doctor": (),
    "demo": (),
    "explain": ("HJ301",),
    "cache": ("info",),
    "db": ("prune", "{database}"),
    **dict.fromkeys(
        ("report", "show", "view", "profile"), ("{script}:scale", "--args", "f64[8], 2")
    ),
    "bench": ("{script}:scale", "--args", "f64[8], 2", "--seconds", "0"),
    "tune": ("{script}:scale", "--args", "f64[8], 2", "--trials", "1"),
}


def empty_database(folder: Path) -> str:
    path = str(folder / "tuned.db")
    Database(path).load(Database(path).dump())
    return path


def test_every_command_is_listed() -> None:
    assert EVERY.keys() == COMMANDS.keys()


# The others take seconds, or are above.
@pytest.mark.usefixtures("directory")
@pytest.mark.parametrize("command", sorted(EVERY.keys() - {"demo", "doctor", "tune"}))
def test_every_answer_can_be_json(
    command: str, script: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = empty_database(tmp_path)
    arguments = [part.format(script=script, database=database) for part in EVERY[command]]
    if command == "view":
        arguments += ["--output", str(tmp_path / "page.html")]
    assert answer(capsys, command, *arguments)


def test_what_a_database_did_can_be_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = empty_database(tmp_path)
    assert answer(capsys, "db", "prune", path) == {"removed": 0}
    assert answer(capsys, "db", "export", path)["format"] == 1
    assert answer(capsys, "db", "list", path) == []


def test_an_error_of_the_kernel_is_printed(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{script}:scale", "--args", "f64[8]"]) == 1
    assert "missing a required argument" in capsys.readouterr().err


def test_a_script_that_is_no_python_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "unfinished.py"
    path.write_text("x = 1\nimport os, (\n")
    assert main(["view", f"{path}:scale"]) == 2
    assert capsys.readouterr().err.startswith(f"{path}:2: ")


def test_a_page_that_cannot_be_written_is_named(
    script: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "nowhere" / "page.html"
    assert main(["view", f"{script}:scale", "--args", "f64[8], 2", "--output", str(path)]) == 1
    assert str(path) in capsys.readouterr().err


@pytest.mark.parametrize("action", ["list", "best", "export", "prune"])
def test_a_database_that_is_not_there_is_not_made(
    action: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["db", action, str(tmp_path / "tuned.db")]) == 2
    assert "there is no database" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_every_command_has_a_line_of_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    shown = capsys.readouterr().out
    for command in COMMANDS.values():
        assert command.help.split(";")[0].split(",")[0] in " ".join(shown.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["bench", "my.py:f", "--seconds", "x"], "'x' is not a number"),
        (["bench", "my.py:f", "--seconds", "-1"], "-1 is below 0"),
        (["tune", "my.py:f", "--budget", "5x"], "'5x' is not a time above 0"),
        (["tune", "my.py:f", "--trials", "0"], "'0' is not a number above 0"),
        (["show", "my.py:f", "--stage", "none"], "invalid choice: 'none'"),
    ],
)
def test_options_are_checked_before_anything_is_done(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(options)
    assert message in capsys.readouterr().err


def test_the_doctor_knows_what_processors_have(capsys: pytest.CaptureFixture[str]) -> None:
    features = answer(capsys, "doctor")["features"]
    assert all(map(current_target().has, features))
    assert [name in features for name in ("avx2", "neon")] == [
        current_target().has(name) for name in ("avx2", "neon")
    ]


def test_a_number_of_trials_takes_the_place_of_a_budget() -> None:
    given = make_parser().parse_args(["tune", "my.py:f", "--trials", "500"])
    limits = read_settings(budget=given.budget, trials=given.trials).limits()
    assert (limits.seconds, limits.trials) == (None, 500)
