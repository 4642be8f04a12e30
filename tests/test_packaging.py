"""A wheel holds every module, and stdlib/ under the name hybridjit.stdlib."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "hybridjit", "stdlib")
BUILD_WHEEL = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
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
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of the tree: a build leaves files next to its sources."""
    copy = tmp_path_factory.mktemp("tree")
    for name in SOURCES:
        copy_tree = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy_tree(ROOT / name, copy / name)
    dist = tmp_path_factory.mktemp("dist")
    run_python(BUILD_WHEEL, str(dist), cwd=copy)
    return next(dist.glob("*.whl"))


def test_wheel_holds_every_module_and_nothing_else(wheel: Path) -> None:
    expected = [
        "hybridjit/py.typed",
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
