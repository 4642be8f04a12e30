"""What makes code is a part of its key: all of the package, wherever its files stand."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

import hybridjit
from hybridjit.runtime.cache import versions


def test_the_whole_package_is_measured() -> None:
    root = Path(hybridjit.__file__).parent
    expected = sorted(f"/{path.relative_to(root).as_posix()}" for path in root.rglob("*.py"))
    expected += [
        f"/stdlib/{p.relative_to(root / 'stdlib').as_posix()}"
        for p in (root / "stdlib").rglob("*.py")
    ]
    measured = {line.split(" ")[0] for line in versions._FILES}  # pyright: ignore[reportPrivateUsage]
    assert measured == set(expected)


_is_as_measured = versions._is_as_measured  # pyright: ignore[reportPrivateUsage] (not the suite's)


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """A module of the package that is loaded after the others were found unchanged."""
    monkeypatch.setattr(versions, "_is_as_measured", _is_as_measured)
    monkeypatch.setattr(versions, "_PACKAGE", str(tmp_path))
    monkeypatch.setattr(versions, "_looked_at", set(sys.modules))
    file = tmp_path / "late.py"
    file.write_text("x = 1")
    measured = frozenset(versions._measure(str(tmp_path)))  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(versions, "_FILES", measured)
    module = ModuleType("hybridjit.late")
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "hybridjit.late", module)
    return module


def edit(module: ModuleType) -> None:
    Path(str(module.__file__)).write_text("x = 10")


def test_an_edit_before_a_module_is_loaded_is_noticed(late: ModuleType) -> None:
    edit(late)
    assert not versions.is_unchanged()
    assert not versions.is_unchanged()


def test_a_module_that_is_gone_is_noticed(late: ModuleType) -> None:
    Path(str(late.__file__)).unlink()
    assert not versions.is_unchanged()


def test_an_edit_of_what_is_loaded_changes_nothing(late: ModuleType) -> None:
    assert versions.is_unchanged()
    edit(late)
    assert versions.is_unchanged()


@pytest.mark.parametrize("name", ["hybridjit_of_others", "hybridjit.made_by_a_module"])
def test_modules_of_others_and_those_without_a_file_do_not_count(
    late: ModuleType, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(sys.modules, name, ModuleType(name))
    assert versions.is_unchanged()
