"""Whatever the disk does, a load gives the right entry or a miss."""

import os
import resource
import shutil
import subprocess
from pathlib import Path

import pytest

from hybridjit.runtime.cache.directory import ForeignFile
from hybridjit.runtime.cache.disk_cache import Counters
from hybridjit.runtime.cache.entry import CorruptEntry, Entry
from tests.support.cache_faults import (
    CODE,
    ERRORS,
    IS_ROOT,
    KEY,
    META,
    check_recovers,
    counters,
    failing_call,
    needs_root,
    open_store,
    save_sample,
    temporaries,
)


def open_descriptors() -> list[str]:
    return sorted(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("error", ERRORS, ids=os.strerror)
def test_any_system_call_of_a_load_may_fail(directory: Path, file: Path, error: int) -> None:
    assert file.exists()
    with failing_call(None) as calls:
        open_store(directory, strict=True).load(KEY)
    descriptors = open_descriptors()
    for number in range(calls.count):
        store = open_store(directory)
        with failing_call(number, error):
            entry = store.load(KEY)
        assert entry in (None, Entry(META, CODE))
        assert open_store(directory, strict=True).load(KEY) == Entry(META, CODE)
    assert open_descriptors() == descriptors


@pytest.mark.parametrize("error", ERRORS, ids=os.strerror)
def test_any_system_call_of_a_save_may_fail(tmp_path: Path, error: int) -> None:
    """From the first one in a new directory to the eviction."""

    def save(number: int | None) -> int:
        directory = tmp_path / f"{number}"
        save_sample(directory)
        (directory / "secret").unlink()
        store = open_store(directory, size_limit=400)
        with failing_call(number, error) as calls:
            store.save(b"other", META, CODE)
        entry = store.load(b"other")
        assert entry in (None, Entry(META, CODE))
        assert len(temporaries(directory)) <= calls.called.count("unlink")
        check_recovers(directory, b"other")
        return calls.count

    descriptors = open_descriptors()
    for number in range(save(None)):
        save(number)
    assert open_descriptors() == descriptors


def test_a_failing_write_leaves_nothing_behind(
    directory: Path, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert file.exists()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    store = open_store(directory)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        for _ in range(3):
            store.save(b"other", META, CODE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert counters(store) == Counters(io_errors=3)
    assert temporaries(directory) == []
    assert len(caplog.records) == 1
    assert store.load(KEY) == Entry(META, CODE)


@needs_root
def test_a_full_disk(directory: Path) -> None:
    directory.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs", str(directory)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("cannot mount here")
    try:
        store = open_store(directory)
        keys = [b"%d" % number for number in range(20)]
        for key in keys:
            store.save(key, META, bytes(10_000))
        counts = counters(store)
        assert counts.stored + counts.io_errors == 20
        assert 0 < counts.stored < 10
        assert temporaries(directory) == []
        found = [entry for key in keys if (entry := store.load(key)) is not None]
        assert found == [Entry(META, bytes(10_000))] * counts.stored
    finally:
        subprocess.run(["umount", str(directory)], check=True)


@needs_root
def test_a_read_only_file_system_still_gives_what_it_has(directory: Path, file: Path) -> None:
    assert file.exists()
    bind = ["mount", "--bind", str(directory), str(directory)]
    if subprocess.run(bind, check=False, capture_output=True).returncode != 0:
        pytest.skip("cannot mount here")
    try:
        remount = ["mount", "-o", "remount,ro,bind", str(directory)]
        subprocess.run(remount, check=True)
        store = open_store(directory)
        assert store.load(KEY) == Entry(META, CODE)
        store.save(b"other", META, CODE)
        assert store.clear() == 0
        assert counters(store) == Counters(hits=1, io_errors=1)
    finally:
        subprocess.run(["umount", str(directory)], check=True)


@pytest.mark.skipif(IS_ROOT, reason="root writes everywhere")
@pytest.mark.parametrize("mode", [0o000, 0o500])
def test_a_directory_without_rights(directory: Path, file: Path, mode: int) -> None:
    assert file.exists()
    directory.chmod(mode)
    store = open_store(directory)
    assert store.load(KEY) == (Entry(META, CODE) if mode else None)
    store.save(b"other", META, CODE)
    assert counters(store).stored == 0
    directory.chmod(0o700)


@pytest.mark.parametrize("path", ["/dev/null/cache", "/proc/cache", "/" + "x" * 300])
def test_a_directory_that_cannot_be(path: str) -> None:
    store = open_store(Path(path))
    assert store.load(KEY) is None
    store.save(KEY, META, CODE)
    assert store.clear() == 0
    assert counters(store).stored == 0


def test_a_directory_that_is_deleted_is_made_again(directory: Path) -> None:
    store = open_store(directory, strict=True)
    for _ in range(2):
        store.save(KEY, META, CODE)
        assert store.load(KEY) == Entry(META, CODE)
        shutil.rmtree(directory)
        assert store.load(KEY) is None


def test_a_directory_that_is_deleted_during_a_save_is_made_again(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_sample(directory)
    original = os.rename

    def delete_and_rename(source: str, target: str, **places: int) -> None:
        shutil.rmtree(directory)
        monkeypatch.setattr(os, "rename", original)
        original(source, target, **places)

    monkeypatch.setattr(os, "rename", delete_and_rename)
    check_recovers(directory)


# Strictness


def test_a_strict_store_raises_what_is_wrong(directory: Path, file: Path) -> None:
    store = open_store(directory, strict=True)
    file.chmod(0o666)
    with pytest.raises(ForeignFile, match="others have rights to"):
        store.load(KEY)
    file.chmod(0o600)
    file.write_bytes(b"")
    with pytest.raises(CorruptEntry, match="cut short"):
        store.load(KEY)
    with failing_call(0), pytest.raises(OSError, match="Input/output error"):
        store.load(KEY)
    assert counters(store) == Counters(corrupt=1, foreign=1, io_errors=1)
