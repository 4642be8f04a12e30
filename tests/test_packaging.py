"""A wheel holds every module, and stdlib/ as hybridjit.stdlib; a source distribution, all of it."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("hybridjit", "stdlib", "tests", "examples", "benchmarks")
FILES = (
    *("pyproject.toml", "setup.py", "MANIFEST.in", "LICENSE", "Makefile"),
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
)
BUILD = "import sys; from setuptools import build_meta as b; b.build_{}(sys.argv[1])"
FIND_STDLIB = "import hybridjit.stdlib; print(hybridjit.stdlib.__file__)"


def run_python(code: str, *args: str, cwd: Path) -> str:
    """The standard output of a fresh interpreter running `code`."""
    command = [sys.executable, "-c", code, *args]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def python_modules(folder: str, installed_as: str) -> list[str]:
    root = ROOT / folder
    return [f"{installed_as}/{path.relative_to(root).as_posix()}" for path in root.rglob("*.py")]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree: a build leaves files next to its sources."""
    copy = tmp_path_factory.mktemp("tree")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, copy / name)
    return copy


@pytest.fixture(scope="module")
def wheel(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    dist = tmp_path_factory.mktemp("dist")
    run_python(BUILD.format("wheel"), str(dist), cwd=tree)
    return next(dist.glob("*.whl"))


def test_a_source_distribution_is_complete(tree: Path, tmp_path: Path) -> None:
    expected = [path.name for path in map(Path, FILES)]
    for folder in ("stdlib", "tests", "examples", "benchmarks"):
        files = (path for path in (ROOT / folder).rglob("*") if path.is_file())
        expected += [str(path.relative_to(ROOT)) for path in files if path.suffix != ".pyc"]
    run_python(BUILD.format("sdist"), str(tmp_path), cwd=tree)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert sorted(set(expected) - names) == []


def test_wheel_holds_every_module_and_nothing_else(wheel: Path) -> None:
    expected = [
        "hybridjit/py.typed",
        *(f"hybridjit/viewing/page.{kind}" for kind in ("html", "css", "js")),
        *python_modules("hybridjit", "hybridjit"),
        *python_modules("stdlib", "hybridjit/stdlib"),
    ]
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
    assert sorted(names) == sorted(expected)


def test_stdlib_imports_from_the_unpacked_wheel(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    found = Path(run_python(FIND_STDLIB, cwd=tmp_path))
    assert found == tmp_path / "hybridjit" / "stdlib" / "__init__.py"


def test_stdlib_imports_from_this_checkout(tmp_path: Path) -> None:
    found = Path(run_python(FIND_STDLIB, cwd=tmp_path))
    assert found.resolve() == ROOT / "stdlib" / "__init__.py"


def test_stdlib_imports_from_a_checkout_that_is_not_installed() -> None:
    found = Path(run_python(FIND_STDLIB, cwd=ROOT))
    assert found == ROOT / "hybridjit" / "stdlib" / "__init__.py"
