"""perf and gdb know kernels by name and line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridjit import config, hybrid
from hybridjit.codegen.elf import find_symbols, is_elf
from hybridjit.codegen.sites import ADAPTER
from hybridjit.errors import ConfigError
from hybridjit.runtime.object_lines import find_rows

SCRIPT = """
import os; print("process", os.getpid())
import numpy as np
from hybridjit import hybrid

@hybrid.script
def filtered(a):
    x = 0.0
    for i in range(a.shape[0]):
        x = x * 0.5 + a[i]
    return x

print(filtered(np.ones(3_000_000)))
"""
LINE = 10
ON_THREADS = """
from hybridjit.hybrid import parallel

@hybrid.script
def doubled(a):
    for i in parallel(a.shape[0]):
        a[i] = a[i] * 2

doubled(np.ones(3_000_000))
"""
on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="not Linux")


@pytest.fixture
def script(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "profiled.py"
    path.write_text(SCRIPT, encoding="utf-8")
    yield path
    for process in processes:
        Path(f"/tmp/perf-{process}.map").unlink(missing_ok=True)


processes: list[str] = []


def run(*command: str | Path) -> str:
    environment = os.environ | {"HYBRIDJIT_PERF": "1", "PYTHONPATH": os.getcwd()}
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
        check=False,
    )
    processes.extend(re.findall(r"process (\d+)$", done.stdout, flags=re.MULTILINE))
    return done.stdout + done.stderr


@on_linux
@pytest.mark.usefixtures("unchecked")
def test_the_map_of_perf_names_kernels() -> None:
    @hybrid.script
    def mapped(a: Any) -> Any:
        return a * 2

    with config.scope(perf=True):
        mapped(np.ones(10))
    path = Path(f"/tmp/perf-{os.getpid()}.map")
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    finally:
        path.unlink()
    found = [line for line in lines if line.split()[2].startswith("mapped")]
    assert len(found) >= 2
    assert all(re.fullmatch(r"[0-9a-f]+ [0-9a-f]+ mapped\S* \S+\.py:\d+", x) for x in found)


@on_linux
def test_symbols_of_object_code() -> None:
    kernel: Any = hybrid.script(add_one)
    kernel.compile(1)
    ((native,),) = (each.natives.values() for each in kernel.specializations)
    image = native.code.image
    assert is_elf(image)
    assert {symbol.name for symbol in find_symbols(image)} >= {ADAPTER, "hj_kernel"}
    (adapter,) = find_symbols(image, frozenset([ADAPTER.encode()]))
    assert adapter.size > 0


def add_one(n: Any) -> Any:
    return n + 1


@on_linux
def test_code_with_lines_is_not_kept(tmp_path: Path) -> None:
    with config.scope(cache_dir=str(tmp_path), cache_enabled=True, perf=True):
        kernel: Any = hybrid.script(add_one)
        kernel.compile(1)
        assert kernel.copy().report(1).compiled.source == "compiled now"
    Path(f"/tmp/perf-{os.getpid()}.map").unlink()


@pytest.fixture(scope="module")
def perf() -> None:
    """For tests that need a profiler: a second goes by until it has said whether it may."""
    command = shutil.which("perf")
    if command is None:
        pytest.skip("perf is not there")
    tried = subprocess.run(
        [command, "record", "-o", os.devnull, "true"], capture_output=True, check=False
    )
    if tried.returncode != 0:
        pytest.skip("perf may not be used")


@on_linux
@pytest.mark.usefixtures("perf")
def test_perf_sees_kernels(script: Path, tmp_path: Path) -> None:
    data = tmp_path / "perf.data"
    run("perf", "record", "-o", data, sys.executable, script)
    text = run("perf", "report", "-i", data, "--stdio")
    assert re.search(r"%.*\bfiltered profiled\.py:7", text)


@on_linux
@pytest.mark.usefixtures("perf")
@pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump is not there")
def test_perf_sees_lines(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JITDUMPDIR", str(tmp_path))
    data, injected = tmp_path / "perf.data", tmp_path / "injected.data"
    run("perf", "record", "-k", "mono", "-o", data, sys.executable, script)
    run("perf", "inject", "--jit", "-i", data, "-o", injected)
    texts = [run("objdump", "-dl", each) for each in tmp_path.glob("jitted-*.so")]
    (text,) = (text for text in texts if "<filtered>:" in text)
    assert re.search(rf"profiled\.py:{LINE}\n(.*\t.*\n)?.*(mulsd|fmul)", text), text


@hybrid.script
def smoothed(a: Any) -> Any:
    x = 0.0
    for i in range(a.shape[0]):
        x = x * 0.5 + a[i]
    return x


@on_linux
def test_lines_of_object_code() -> None:
    with config.scope(perf=True):
        smoothed.compile(np.ones(3000))
    Path(f"/tmp/perf-{os.getpid()}.map").unlink()
    ((native,),) = (each.natives.values() for each in smoothed.specializations)
    image = native.code.image
    rows = find_rows(image)
    (entry,) = find_symbols(image, frozenset([b"hj_kernel"]))
    inside = {row.line for row in rows if 0 <= row.offset - entry.offset < entry.size}
    function = smoothed.__hybrid_function__.__code__
    lines = {line for _, _, line in function.co_lines() if line is not None}
    assert function.co_firstlineno + 4 in inside
    assert inside - {0} <= lines | {function.co_firstlineno + 1}  # `def`: before the first one
    assert {Path(row.file).name for row in rows} == {"test_announce.py"}
    assert [row.offset for row in rows] == sorted(row.offset for row in rows)


@on_linux
def test_a_folder_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JITDUMPDIR", "/no such folder")
    kernel: Any = hybrid.script(add_one)
    with (
        config.scope(perf=True),
        pytest.raises(ConfigError, match="JITDUMPDIR is '/no such folder'"),
    ):
        kernel(1)
    Path(f"/tmp/perf-{os.getpid()}.map").unlink()


@on_linux
def test_no_dump_without_a_folder(script: Path, tmp_path: Path) -> None:
    run(sys.executable, script)
    assert not list(tmp_path.glob("jit-*"))


def debugged(script: Path, *steps: str) -> str:
    """What gdb says of a script."""
    options = ["-batch", "-nx", "-ex", "set debuginfod enabled off"]
    for step in ("set breakpoint pending on", *steps):
        options += ["-ex", step]
    text = run("gdb", *options, "--args", sys.executable, script)
    if "ptrace" in text:
        pytest.skip("processes may not be traced here")
    return text


@on_linux
@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not there")
def test_gdb_stops_at_lines(script: Path) -> None:
    text = debugged(script, f"break profiled.py:{LINE}", "run", "info line", "bt 1")
    assert re.search(rf"Breakpoint 1, .*filtered \(\) at .*profiled\.py:{LINE}\b", text), text
    assert f'Line {LINE} of "profiled.py" starts at address' in text
    assert re.search(rf"#0 .*\bfiltered \(\) at .*profiled\.py:{LINE}\b", text), text


@on_linux
@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not there")
def test_gdb_stops_at_kernels_by_name(script: Path) -> None:
    script.write_text(SCRIPT + ON_THREADS, encoding="utf-8")
    # gdb takes the first line after `def` for the beginning, which may stand in a loop: it would
    # stop in each round.
    steps = ("break filtered", "break doubled[threads]", "run", "disable 1", "continue", "bt 1")
    text = debugged(script, *steps)
    assert re.search(r"Breakpoint 1, .*filtered \(\) at .*profiled\.py:", text), text
    assert re.search(r"Breakpoint 2, .*doubled\[threads\] \(\) at .*profiled\.py:", text), text
