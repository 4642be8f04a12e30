"""Run tests on every Python that can be found, with the oldest and the newest llvmlite.

    python -m tests.support.versions [--keep FOLDER] [test ...]

Each pair gets a virtual environment of its own. What ran, and what could not be had, is printed
at the end; the exit status is 1 if a test failed, not if a version is missing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from hybridjit.codegen.llvm_version import TRIED_LLVMLITE

ROOT = Path(__file__).parents[2]
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
LLVMLITES = tuple(f"{major}.{minor}" for major, minor in TRIED_LLVMLITE)
TESTS = ("tests/test_smoke.py", "tests/differential/test_guarded_loops.py", "tests/codegen")
NEEDED = (
    *("numpy>=2", "islpy", "ml-dtypes", "typing-extensions", "setuptools>=77"),
    *("pytest", "pytest-xdist", "hypothesis", "astunparse", "mpmath", "rich"),
)


def find_python(version: str) -> str | None:
    """A program of this version: on the path, or where pyenv keeps them."""
    found = [shutil.which(f"python{version}"), *_of_pyenv(version), sys.executable]
    return next((python for python in found if python and _is_version(python, version)), None)


def _of_pyenv(version: str) -> Iterator[str]:
    folder = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for path in sorted(folder.glob(f"{version}*"), reverse=True):
        yield str(path / "bin" / "python")


def _is_version(python: str, version: str) -> bool:
    program = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout.strip() == version


def make_environment(python: str, llvmlite: str, folder: Path) -> str | None:
    """Make an environment in `folder`; what is in the way, if anything."""
    own = str(folder / "bin" / "python")
    pip = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in (
        [python, "-m", "venv", str(folder)],
        [*pip, f"llvmlite=={llvmlite}.*", *NEEDED],
        [*pip, "--no-deps", "--editable", str(ROOT)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "ERROR" in line]
            return (errors or ["could not be installed"])[-1]
    return None


def run_tests(folder: Path, tests: Sequence[str]) -> str:
    """The last line of what pytest says."""
    command = [str(folder / "bin" / "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    settings = {"HYBRIDJIT_CACHE_DIR": str(folder / "kernels")}
    environment = {**os.environ, **settings}
    done = subprocess.run(
        [*command, *tests], capture_output=True, text=True, check=False, cwd=ROOT, env=environment
    )
    lines = done.stdout.strip().splitlines() or [done.stderr.strip()[-200:]]
    if done.returncode:
        print("\n".join(line for line in lines if line.startswith(("FAILED", "ERROR"))))
    return f"{'failed' if done.returncode else 'passed'}: {lines[-1]}"


def run_version(version: str, llvmlite: str, folder: Path, tests: Sequence[str]) -> str:
    """What became of the tests on a Python and an llvmlite."""
    python = find_python(version)
    if python is None:
        return "not found"
    place = folder / f"python{version}-llvmlite{llvmlite}"
    problem = make_environment(python, llvmlite, place)
    return run_tests(place, tests) if problem is None else f"not to be had: {problem}"


def main(folder: Path, tests: Sequence[str]) -> int:
    """Run all versions and print a line for each."""
    results: list[str] = []
    for version in PYTHONS:
        for llvmlite in LLVMLITES:
            outcome = run_version(version, llvmlite, folder, tests)
            results.append(f"Python {version}, llvmlite {llvmlite}: {outcome}")
            print(results[-1], flush=True)
    print("\n".join(["", *results]))
    return int(any(": failed" in line for line in results))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keep", type=Path, help="where the environments are made, and stay")
    parser.add_argument("tests", nargs="*", default=TESTS)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        sys.exit(main(chosen.keep or Path(made), chosen.tests))
