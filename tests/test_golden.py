"""The golden fixture: what it accepts, what it refuses, where it looks."""

from pathlib import Path

import pytest

from tests.conftest import Golden

Failed = pytest.fail.Exception


def test_matching_text_passes(tmp_path: Path) -> None:
    (tmp_path / "name.ir").write_text("a\nb\n", encoding="utf-8")
    Golden(tmp_path / "name", update=False).check("a\nb", "ir")


def test_different_text_fails_with_a_diff(tmp_path: Path) -> None:
    (tmp_path / "name.ir").write_text("a\nb\n", encoding="utf-8")
    with pytest.raises(Failed, match=r"run `make golden` and read the diff(.|\n)*-b\n\+c"):
        Golden(tmp_path / "name", update=False).check("a\nc", "ir")


def test_missing_file_fails_with_instructions(tmp_path: Path) -> None:
    with pytest.raises(Failed, match=r"no golden file name\.txt in .*; run `make golden`"):
        Golden(tmp_path / "name", update=False).check("text", "txt")


def test_second_check_with_one_extension_is_refused(tmp_path: Path) -> None:
    files = Golden(tmp_path / "name", update=True)
    files.check("one", "txt")
    with pytest.raises(Failed, match="called twice with 'txt'"):
        files.check("two", "txt")


def test_update_writes_what_a_check_accepts(tmp_path: Path) -> None:
    base = tmp_path / "folder" / "name"
    Golden(base, update=True).check("naïve ∑", "txt")
    Golden(base, update=False).check("naïve ∑", "txt")


@pytest.mark.parametrize("value", ["a/b c", "x<1>"])
def test_file_is_named_after_the_test(golden: Golden, value: str) -> None:
    names = {"a/b c": "a_b_c", "x<1>": "x_1"}
    relative = golden.base.relative_to(Path(__file__).parent)
    expected = f"golden/test_golden/test_file_is_named_after_the_test_{names[value]}"
    assert relative.as_posix() == expected
