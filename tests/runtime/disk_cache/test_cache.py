"""The disk cache when all is well: what comes back, where it is, what it counts and removes."""

import hmac
import logging
import os
import pwd
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from hybridjit import config
from hybridjit.runtime.cache import disk_cache as cache
from hybridjit.runtime.cache import entry as cache_entry
from hybridjit.runtime.cache.directory import Location, find_location
from hybridjit.runtime.cache.disk_cache import Counters
from hybridjit.runtime.cache.entry import Entry, hmac_sha256
from tests.support.cache_faults import (
    CODE,
    KEY,
    META,
    counters,
    entry_path,
    open_store,
    save_sample,
    temporaries,
)

HOUR = 3600


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """No variable that says where the cache is; what a test sets is read and then forgotten."""
    for variable in ("HYBRIDJIT_CACHE", "HYBRIDJIT_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(variable, raising=False)
    config.clear()
    yield monkeypatch
    config.clear()


def age(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


# What comes back


def test_what_was_saved_is_loaded_by_another_process(directory: Path) -> None:
    save_sample(directory)
    store = open_store(directory, strict=True)
    assert store.load(KEY) == Entry(META, CODE)
    assert counters(store) == Counters(hits=1)


def test_a_load_of_nothing_is_a_miss_that_leaves_no_trace(directory: Path) -> None:
    store = open_store(directory, strict=True)
    assert store.load(KEY) is None
    assert counters(store) == Counters(misses=1)
    assert not directory.exists()


@pytest.mark.parametrize("key", [b"", b"\0", bytes(range(256)) * 40])
@pytest.mark.parametrize("code", [b"", b"\0", bytes(100_000)])
def test_any_bytes_come_back(directory: Path, key: bytes, code: bytes) -> None:
    store = open_store(directory, strict=True)
    store.save(key, {}, code)
    assert store.load(key) == Entry({}, code)
    assert store.load(key + b"\0") is None


def test_meta_comes_back_as_json_has_it(directory: Path) -> None:
    meta = {"text": 'µ "\n\ud800', "numbers": (1, -2.5e300, 2**80), "none": None, "yes": True}
    store = open_store(directory, strict=True)
    store.save(KEY, meta, CODE)
    entry = store.load(KEY)
    assert entry is not None
    assert entry.meta == {**meta, "numbers": [1, -2.5e300, 2**80]}


def test_meta_that_json_cannot_hold_is_our_own_mistake(directory: Path) -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        open_store(directory).save(KEY, {"code": b""}, CODE)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="not JSON compliant"):
        open_store(directory).save(KEY, {"x": float("nan")}, CODE)


def test_the_last_save_wins(directory: Path) -> None:
    store = open_store(directory, strict=True)
    store.save(KEY, META, b"first")
    store.save(KEY, META, b"second")
    assert store.load(KEY) == Entry(META, b"second")
    assert store.info().entries == 1


def test_a_reader_keeps_the_entry_that_is_replaced_while_it_is_open(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between open and fstat another process may rename its entry over ours: no link is left."""
    save_sample(directory)
    original = os.fstat
    links: list[int] = []

    def replace_then_fstat(fd: int) -> os.stat_result:
        if stat.S_ISREG(original(fd).st_mode):
            monkeypatch.setattr(os, "fstat", original)
            open_store(directory, strict=True).save(KEY, META, b"newer")
            links.append(original(fd).st_nlink)
        return original(fd)

    monkeypatch.setattr(os, "fstat", replace_then_fstat)
    assert open_store(directory, strict=True).load(KEY) == Entry(META, CODE)
    assert open_store(directory, strict=True).load(KEY) == Entry(META, b"newer")
    assert links == [0]


@pytest.mark.parametrize("without_openssl", [False, True])
def test_the_tag_is_the_standard_one(
    monkeypatch: pytest.MonkeyPatch, without_openssl: bool
) -> None:
    if without_openssl:
        monkeypatch.setattr(cache_entry.sys, "modules", {})
    random = Random(1)
    for size in (0, 1, 55, 56, 63, 64, 65, 1000):
        secret, data = random.randbytes(32), random.randbytes(size)
        assert hmac_sha256(secret, data) == hmac.digest(secret, data, "sha256")


def test_files_and_directories_are_for_this_user_only(directory: Path) -> None:
    old = os.umask(0)
    try:
        file = save_sample(directory / "deep" / "cache")
    finally:
        os.umask(old)
    folder, top = file.parent, directory / "deep" / "cache"
    assert [path.stat().st_mode & 0o777 for path in (directory, top, folder)] == [0o700] * 3
    assert [path.stat().st_mode & 0o777 for path in (file, top / "secret")] == [0o600] * 2
    assert len((top / "secret").read_bytes()) == 32
    assert temporaries(directory) == []


def test_a_warm_load_imports_nothing_slow(directory: Path) -> None:
    """Loading OpenSSL alone would take as long as the whole of a warm start may take."""
    save_sample(directory / "hybridjit")
    program = (
        "import sys; from hybridjit.runtime.cache.disk_cache import active_store;"
        "before = set(sys.modules);"
        f"assert active_store().load({KEY!r}) is not None;"
        "print(*sorted(set(sys.modules) - before))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "HYBRIDJIT_CACHE_DIR": str(directory)},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == []


def test_importing_does_not_touch_the_disk(directory: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", "import hybridjit"],
        env={**os.environ, "HYBRIDJIT_CACHE_DIR": str(directory)},
        cwd=Path(__file__).parents[3],
        check=True,
    )
    assert not directory.exists()


def test_threads_share_a_store(directory: Path) -> None:
    store = open_store(directory, strict=True)
    wrong: list[Entry | None] = []

    def work(seed: int) -> None:
        random = Random(seed)
        for _ in range(30):
            key = b"%d" % random.randrange(10)
            entry = store.load(key)
            if entry is None:
                store.save(key, META, key * 1000)
            elif entry.object_code != key * 1000:
                wrong.append(entry)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = counters(store)
    assert wrong == []
    assert counts.hits + counts.misses == 8 * 30
    assert counts.stored == counts.misses


# Where it is


def test_the_directory_of_the_setting_comes_first(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("XDG_CACHE_HOME", "/xdg")
    assert find_location("/some/../where/") == Location("/where/hybridjit")


def test_xdg_comes_second(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("XDG_CACHE_HOME", "/xdg")
    assert find_location(None) == Location("/xdg/hybridjit")


def test_xdg_of_another_user_is_not_used(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As under sudo, also where the directory itself is still to be made."""
    if os.geteuid() == 0:
        os.chown(tmp_path, 12345, -1)
    else:
        environment.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
        environment.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    for path in (tmp_path, tmp_path / "missing" / "cache"):
        environment.setenv("XDG_CACHE_HOME", str(path))
        found = find_location(None)
        assert found.path is None
        assert "XDG_CACHE_HOME is in a directory of another user" in found.reason


@pytest.mark.parametrize("xdg", ["", "relative"])
def test_home_comes_last(environment: pytest.MonkeyPatch, tmp_path: Path, xdg: str) -> None:
    environment.setenv("XDG_CACHE_HOME", xdg)
    environment.setenv("HOME", str(tmp_path))
    assert find_location(None) == Location(f"{tmp_path}/.cache/hybridjit")


@pytest.mark.parametrize("home", ["{tmp_path}/missing", "relative", "."])
def test_without_a_usable_home_it_is_off(
    environment: pytest.MonkeyPatch, home: str, tmp_path: Path
) -> None:
    home = home.format(tmp_path=tmp_path)
    environment.setenv("HOME", home)
    found = find_location(None)
    assert found.path is None
    assert found.reason == f"there is no home directory of this user at {home!r}"


def test_without_home_and_user_database_it_is_off(environment: pytest.MonkeyPatch) -> None:
    def unknown(uid: int) -> pwd.struct_passwd:
        raise KeyError(uid)

    environment.setattr(pwd, "getpwuid", unknown)
    assert find_location(None).path is None


def test_in_the_home_of_another_user_it_is_off(
    environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As under sudo: files of root in there would lock the owner out."""
    environment.setenv("HOME", str(tmp_path))
    environment.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    environment.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    assert find_location(None).path is None


@pytest.mark.parametrize("name", ["geteuid", "getegid"])
def test_with_the_rights_of_another_user_it_is_off(
    environment: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    environment.setattr(os, name, lambda: 12345)
    found = find_location(str(tmp_path))
    assert found == Location(None, "the process runs with the rights of another user")


@pytest.mark.parametrize("text", ["relative", "~/cache", ".", "./x", "/nul\0byte"])
def test_a_directory_that_is_not_absolute_is_not_used(
    environment: pytest.MonkeyPatch,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    text: str,
) -> None:
    environment.chdir(tmp_path)
    with config.scope(cache_dir=text):
        store = cache.active_store()
        for _ in range(3):
            assert store.load(KEY) is None
            store.save(KEY, META, CODE)
        assert cache.path() is None
        assert cache.clear() == 0
        assert cache.info().entries == 0
    assert list(tmp_path.iterdir()) == []
    assert [record.getMessage() for record in caplog.records] == [
        f"disk cache: it is off: HYBRIDJIT_CACHE_DIR is not an absolute path: {text!r}; "
        "kernels work, but may be compiled again "
        "(further problems are only counted: hybridjit.cache.info())"
    ]


def test_it_can_be_switched_off(
    environment: pytest.MonkeyPatch, directory: Path, caplog: pytest.LogCaptureFixture
) -> None:
    environment.setenv("HYBRIDJIT_CACHE", "0")
    environment.setenv("HYBRIDJIT_CACHE_DIR", str(directory))
    cache.active_store().save(KEY, META, CODE)
    assert cache.active_store().load(KEY) is None
    assert cache.info().problem == "HYBRIDJIT_CACHE is 0"
    assert not directory.exists()
    assert caplog.records == []


def test_the_settings_in_force_choose_the_store(directory: Path) -> None:
    with config.scope(cache_dir=str(directory), cache_enabled=True, cache_strict=True):
        store = cache.active_store()
        assert cache.active_store() is store
        store.save(KEY, META, CODE)
        assert store.load(KEY) == Entry(META, CODE)
        state = cache.info()
        inside = directory / "hybridjit"
        assert cache.path() == state.path == str(inside)
        assert (state.entries, state.size) == (1, entry_path(inside, KEY).stat().st_size)
        assert state.counters == Counters(hits=1, stored=1)
        assert cache.clear() == 1
        assert store.load(KEY) is None


# What it removes


def test_clear_removes_entries_and_temporaries_and_nothing_else(directory: Path) -> None:
    file = save_sample(directory)
    kept = [directory / "notes.txt", file.parent / "mine", directory / ".vimrc.tmp"]
    for path in (*kept, directory / f".{'0' * 24}.tmp"):
        path.write_text("text")
    secret = (directory / "secret").read_bytes()

    assert open_store(directory, strict=True).clear() == 1

    assert not file.exists()
    assert all(path.read_text() == "text" for path in kept)
    assert (directory / "secret").read_bytes() == secret
    assert {path for path in directory.rglob("*") if path.is_file()} == {
        *kept,
        directory / "secret",
        directory / "CACHEDIR.TAG",
    }


def test_clear_removes_empty_folders(directory: Path) -> None:
    save_sample(directory)
    open_store(directory, strict=True).clear()
    assert {path.name for path in directory.iterdir()} == {"secret", "CACHEDIR.TAG"}


def test_clear_of_nothing(directory: Path) -> None:
    assert open_store(directory, strict=True).clear() == 0
    assert open_store(directory, strict=True).info().entries == 0


def test_the_oldest_entries_are_evicted(directory: Path) -> None:
    size = save_sample(directory).stat().st_size
    store = open_store(directory, size_limit=4 * size, strict=True)
    keys = [KEY[:-1] + b"%d" % index for index in range(9)]
    for index, key in enumerate(keys):
        store.save(key, META, CODE)
        age(entry_path(directory, key), HOUR - index)
    store.save(KEY, META, CODE)
    assert [store.load(key) is not None for key in keys] == [False] * 6 + [True] * 3
    assert store.load(KEY) == Entry(META, CODE)
    assert store.info().size <= 4 * size
    assert counters(store).evicted == 6


def test_an_entry_that_is_used_stays_young(directory: Path) -> None:
    file = save_sample(directory)
    store = open_store(directory, strict=True)
    age(file, HOUR)
    before = file.stat().st_mtime
    store.load(KEY)
    assert file.stat().st_mtime == before
    age(file, 25 * HOUR)
    store.load(KEY)
    assert time.time() - file.stat().st_mtime < HOUR


def test_an_entry_beyond_the_limit_is_not_stored(directory: Path) -> None:
    store = open_store(directory, size_limit=150, strict=True)
    store.save(KEY, META, CODE)
    assert not entry_path(directory, KEY).exists()
    assert counters(store) == Counters()


def test_a_limit_of_zero_stores_nothing(directory: Path) -> None:
    store = open_store(directory, size_limit=0, strict=True)
    store.save(b"", {}, b"")
    assert store.info().entries == 0


def test_an_entry_beyond_the_largest_file_is_not_stored(directory: Path) -> None:
    store = open_store(directory, strict=True)
    store.save(KEY, META, bytes((64 << 20) - 50))
    store.save(KEY, META, bytes((64 << 20) + 1))
    assert store.info().entries == 0


def test_what_killed_writers_left_is_removed_after_an_hour(directory: Path) -> None:
    save_sample(directory)
    stale, fresh = (directory / f".{digit * 24}.tmp" for digit in "ab")
    for path in (stale, fresh):
        path.write_bytes(b"half an entry")
    age(stale, HOUR + 60)
    age(fresh, HOUR - 60)
    open_store(directory, strict=True).save(KEY, META, CODE)
    assert temporaries(directory) == [fresh]


def test_a_problem_is_logged_once(directory: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = save_sample(directory)
    file.write_bytes(b"")
    store = open_store(directory)
    for _ in range(3):
        assert store.load(KEY) is None
    assert counters(store) == Counters(misses=3, corrupt=3)
    assert [(record.levelno, record.name) for record in caplog.records] == [
        (logging.WARNING, "hybridjit.cache")
    ]
    assert "it is cut short; kernels work" in caplog.text
