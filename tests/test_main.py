"""The command line."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hybridjit import config
from hybridjit.__main__ import main
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
    assert main(["cache", "info"]) == 0
    assert capsys.readouterr().out == (
        f"directory  {directory}\nholds      1 entry, 0.0 MiB\nlimit      1024.0 MiB\n"
    )


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
