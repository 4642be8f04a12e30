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
    measured = {line.split(" ")[0] for line in versions._files(versions._PACKAGE)}  # pyright: ignore[reportPrivateUsage]
    assert measured == set(expected)


def test_a_change_is_noticed_when_modules_were_loaded_since(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(versions, "_loaded_when_checked", None)
    assert versions.is_unchanged()
    monkeypatch.setattr(versions, "_measure", lambda: "another")
    assert versions.is_unchanged()  # what is loaded is as it was
    monkeypatch.setitem(sys.modules, "hybridjit_loaded_late", ModuleType("late"))
    assert not versions.is_unchanged()
    assert not versions.is_unchanged()
