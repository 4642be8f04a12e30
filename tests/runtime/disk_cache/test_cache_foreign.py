"""Files, directories and secrets that are not what we made are not used."""

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from hybridjit.runtime.cache.directory import find_location
from hybridjit.runtime.cache.disk_cache import Counters, Store
from hybridjit.runtime.cache.entry import Entry
from tests.support.cache_faults import (
    CODE,
    IS_ROOT,
    KEY,
    META,
    SIZE_LIMIT,
    SOMEBODY,
    check_missed,
    check_recovers,
    counters,
    needs_root,
    open_store,
    temporaries,
)

# Files that are not what we made


def test_a_symbolic_link_is_not_followed(directory: Path, file: Path) -> None:
    real = file.rename(file.with_name("real"))
    file.symlink_to(real)
    check_missed(directory, "foreign")
    assert not file.is_symlink()


def test_a_dangling_link_is_not_followed(directory: Path, file: Path, tmp_path: Path) -> None:
    file.unlink()
    file.symlink_to(tmp_path / "planted")
    check_missed(directory, "foreign")
    assert not (tmp_path / "planted").exists()


def test_a_hard_link_is_not_used(directory: Path, file: Path, tmp_path: Path) -> None:
    os.link(file, tmp_path / "second name")
    check_missed(directory, "foreign")


def test_a_pipe_does_not_block(directory: Path, file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)
    check_missed(directory, "foreign")


def test_a_socket_is_not_used(directory: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.unlink()
    monkeypatch.chdir(file.parent)  # the address of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        os.rename("s", file)
        check_missed(directory, "io_errors")


def test_a_directory_in_place_of_an_entry_costs_only_that_entry(
    directory: Path, file: Path
) -> None:
    file.unlink()
    file.mkdir()
    store = open_store(directory)
    assert store.load(KEY) is None
    store.save(KEY, META, CODE)
    assert store.load(KEY) is None
    assert counters(store) == Counters(misses=2, foreign=2, io_errors=1)
    assert temporaries(directory) == []
    check_recovers(directory, b"other")


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666, 0o777])
def test_an_entry_that_others_can_write_is_not_used(directory: Path, file: Path, mode: int) -> None:
    file.chmod(mode)
    check_missed(directory, "foreign")


def test_an_entry_without_rights(directory: Path, file: Path) -> None:
    """Root reads it all the same."""
    file.chmod(0)
    store = open_store(directory)
    assert store.load(KEY) == (Entry(META, CODE) if IS_ROOT else None)
    check_recovers(directory)


@needs_root
def test_an_entry_of_another_user_is_not_used(directory: Path, file: Path) -> None:
    os.chown(file, SOMEBODY, SOMEBODY)
    check_missed(directory, "foreign")


# Directories that are not what we made


def check_refused(directory: Path) -> None:
    """Fail unless the directory is neither read nor written."""
    before = sorted(directory.parent.rglob("*"))
    store = open_store(directory)
    assert store.load(KEY) is None
    store.save(KEY, META, CODE)
    store.clear()
    assert store.info().problem != ""
    assert counters(store) == Counters(misses=1, foreign=3)
    assert sorted(directory.parent.rglob("*")) == before


@needs_root
@pytest.mark.parametrize("mode", [0o700, 0o755, 0o777])
def test_a_directory_of_another_user_is_refused(directory: Path, file: Path, mode: int) -> None:
    assert file.exists()
    os.chown(directory, SOMEBODY, SOMEBODY)
    directory.chmod(mode)
    check_refused(directory)
    assert directory.stat().st_mode & 0o777 == mode


def test_a_directory_of_another_user_is_refused_by_whoever_runs_this(
    directory: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert file.exists()
    monkeypatch.setattr(os, "geteuid", lambda: directory.stat().st_uid + 1)
    check_refused(directory)


@pytest.mark.parametrize("end", ["", "/", "/."])
def test_a_link_to_a_directory_is_refused(directory: Path, file: Path, end: str) -> None:
    assert file.exists()
    around = directory.with_name("around")
    around.mkdir()
    (around / "hybridjit").symlink_to(directory)
    store = Store(find_location(f"{around}{end}"), SIZE_LIMIT)
    assert store.load(KEY) is None
    assert counters(store) == Counters(misses=1, foreign=1)


def test_a_file_in_place_of_the_directory_is_refused(directory: Path) -> None:
    directory.write_text("a file")
    check_refused(directory)


def test_a_loose_directory_is_tightened_and_not_trusted(directory: Path, file: Path) -> None:
    """Whoever could write to it could have put a secret and entries that go with it."""
    assert file.exists()
    secret = (directory / "secret").read_bytes()
    directory.chmod(0o770)
    check_missed(directory, "corrupt")
    assert directory.stat().st_mode & 0o777 == 0o700
    assert (directory / "secret").read_bytes() != secret


def test_a_directory_that_cannot_be_tightened_is_refused(
    directory: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert file.exists()
    directory.chmod(0o777)

    def ignore(fd: int, mode: int) -> None:
        """As file systems without modes do."""

    monkeypatch.setattr(os, "fchmod", ignore)
    check_refused(directory)


def test_a_readable_directory_is_used_as_it_is(directory: Path, file: Path) -> None:
    assert file.exists()
    directory.chmod(0o755)
    assert open_store(directory, strict=True).load(KEY) == Entry(META, CODE)
    assert directory.stat().st_mode & 0o777 == 0o755


def test_a_link_in_place_of_a_folder_is_not_followed(
    directory: Path, file: Path, tmp_path: Path
) -> None:
    moved = file.parent.rename(tmp_path / "moved")
    file.parent.symlink_to(moved)
    store = open_store(directory)
    assert store.load(KEY) is None
    store.save(KEY, META, CODE)
    assert counters(store) == Counters(misses=1, foreign=2)
    assert store.clear() == 0
    assert (moved / file.name).exists()


@needs_root
def test_a_folder_of_another_user_is_refused(directory: Path, file: Path) -> None:
    os.chown(file.parent, SOMEBODY, SOMEBODY)
    store = open_store(directory)
    assert store.load(KEY) is None
    assert counters(store) == Counters(misses=1, foreign=1)


# The secret


def link_to_itself(secret: Path) -> None:
    copy = secret.with_name("copy")
    shutil.copy(secret, copy)
    secret.unlink()
    secret.symlink_to(copy)


def give_away(secret: Path) -> None:
    if not IS_ROOT:
        pytest.skip("only root can give files away")
    os.chown(secret, SOMEBODY, SOMEBODY)


SECRET_FAULTS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "gone": ("corrupt", Path.unlink),
    "empty": ("corrupt", lambda secret: secret.write_bytes(b"")),
    "short": ("corrupt", lambda secret: os.truncate(secret, 31)),
    "long": ("corrupt", lambda secret: secret.write_bytes(bytes(33))),
    "zeros": ("corrupt", lambda secret: secret.write_bytes(bytes(32))),
    "zeros at the end": ("corrupt", lambda secret: secret.write_bytes(b"x" * 24 + bytes(8))),
    "another": ("corrupt", lambda secret: secret.write_bytes(os.urandom(32))),
    "readable by others": ("foreign", lambda secret: secret.chmod(0o640)),
    "a link": ("foreign", link_to_itself),
    "of another user": ("foreign", give_away),
}


@pytest.mark.parametrize("fault", SECRET_FAULTS)
def test_an_unfit_secret_is_replaced(directory: Path, file: Path, fault: str) -> None:
    """One odd file must not switch the cache off for ever."""
    assert file.exists()
    counter, damage = SECRET_FAULTS[fault]
    damage(directory / "secret")
    check_missed(directory, counter)
    assert (directory / "secret").stat().st_mode & 0o777 == 0o600
    assert any((directory / "secret").read_bytes()[-8:])


def test_a_file_system_without_links_works(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    check_recovers(directory)
    assert temporaries(directory) == []


# Directories that hold other things


def fill(folder: Path) -> dict[str, bytes]:
    """What a person may keep in a directory, also under the names that we use."""
    files = {
        "secret": b"my own password",
        "notes.txt": b"text",
        f"ab/{'0' * 62}.entry": b"mine",
        f".{'0' * 24}.tmp": b"mine, too",
    }
    for name, data in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    return files


@pytest.mark.parametrize("mode", [0o755, 0o775, 0o777])
def test_directory_of_the_setting_is_left_as_it_is(tmp_path: Path, mode: int) -> None:
    files = fill(tmp_path)
    tmp_path.chmod(mode)
    store = Store(find_location(str(tmp_path)), SIZE_LIMIT, strict=True)
    store.save(KEY, META, CODE)
    assert store.load(KEY) == Entry(META, CODE)
    assert store.clear() == 1
    assert tmp_path.stat().st_mode & 0o777 == mode
    assert {name: (tmp_path / name).read_bytes() for name in files} == files
    assert (tmp_path / "hybridjit").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o755, 0o777])
def test_folder_of_our_name_that_is_not_ours_is_left_alone(directory: Path, mode: int) -> None:
    directory.mkdir()
    files = fill(directory)
    directory.chmod(mode)
    store = open_store(directory)
    store.save(KEY, META, CODE)
    assert store.load(KEY) is None
    assert store.clear() == 0
    assert directory.stat().st_mode & 0o777 == mode
    assert {name: (directory / name).read_bytes() for name in files} == files
    assert counters(store).foreign == 3


def test_empty_folder_that_others_can_write_to_is_left_alone(directory: Path) -> None:
    directory.mkdir()
    directory.chmod(0o777)
    store = open_store(directory)
    store.save(KEY, META, CODE)
    assert counters(store).foreign == 1
    assert directory.stat().st_mode & 0o777 == 0o777
    assert list(directory.iterdir()) == []


def test_cache_of_a_version_without_a_marker_is_taken_over(directory: Path, file: Path) -> None:
    (directory / "CACHEDIR.TAG").unlink()
    store = open_store(directory, strict=True)
    assert store.load(KEY) is None
    store.save(KEY + b" of another", META, CODE)
    assert store.load(KEY) == Entry(META, CODE)
    assert file.exists()
