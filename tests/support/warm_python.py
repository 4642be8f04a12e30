"""Run short programs as Python would, without the time that it takes to load the package for each.

A process that has loaded it, and has done nothing else, forks for each program. The child becomes
the program: it has its arguments, input, output and folder, and ends as a process of its own does.

    tests    -- a program, as one line of JSON -->  process  -- fork -->  the program
    tests    <--          its status           --   process
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import runpy
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import hybridjit
from hybridjit import config

ROOT = Path(__file__).parents[2]
FILES = ("input", "output", "errors")


def run_warm(
    path: Path,
    *args: str,
    given: str = "",
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program on the text `given`, in a folder; return its status and what it printed.

    Settings of the package may be in the environment; those of Python itself come too late.
    """
    if not hasattr(os, "fork"):
        command = [sys.executable, str(path), *args]
        return subprocess.run(
            command,
            input=given,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT), **(environment or {})},
            capture_output=True,
            text=True,
            check=False,
        )
    with TemporaryDirectory() as place:
        files = [Path(place, name) for name in FILES]
        files[0].write_text(given, encoding="utf-8")
        request = {
            "path": str(path),
            "args": args,
            "folder": str(folder or Path.cwd()),
            "files": list(map(str, files)),
            "environment": dict(environment or {}),
        }
        status = _ask(os.getpid(), json.dumps(request))
        output, errors = (file.read_text(encoding="utf-8") for file in files[1:])
    return subprocess.CompletedProcess([str(path), *args], status, output, errors)


def _ask(process: int, request: str) -> int:
    server = _server(process)
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(request + "\n")
    server.stdin.flush()
    return int(server.stdout.readline())


@cache
def _server(process: int) -> subprocess.Popen[str]:
    """The process that forks, for this one: two must not ask it at once."""
    return subprocess.Popen(
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


def serve() -> None:
    """Fork for each line of input. Children come out of here, too: they end as Python does."""
    for module in pkgutil.walk_packages(hybridjit.__path__, "hybridjit."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    gc.freeze()  # or children copy it all, to look for garbage there
    while line := sys.stdin.readline():
        child = os.fork()
        if child == 0:
            _become(**json.loads(line))
            return
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _become(
    path: str,
    args: Sequence[str],
    folder: str,
    files: Sequence[str],
    environment: Mapping[str, str],
) -> None:
    """Go on as a program."""
    for number, file in enumerate(files):
        mode = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT
        os.dup2(os.open(file, mode), number)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    os.chdir(folder)
    os.environ.update(environment)
    config.clear()
    sys.argv = [path, *args]
    sys.path[0] = os.path.dirname(path)
    runpy.run_path(path, run_name="__main__")


if __name__ == "__main__":
    serve()
