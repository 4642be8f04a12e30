"""Whatever is on the disk, and whatever the disk does, a load gives the right entry or a miss."""

import os
import pickle
import resource
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from hybridjit.runtime.cache import Counters, Store
from hybridjit.runtime.cache_directory import ForeignFile, find_location
from hybridjit.runtime.cache_entry import CorruptEntry, Entry
from tests.cache_faults import (
    CODE,
    DAMAGES,
    ERRORS,
    KEY,
    META,
    SIZE_LIMIT,
    Damage,
    Forgery,
    check_missed,
    check_recovers,
    counters,
    entry_path,
    failing_call,
    open_store,
    rewrite,
    save_sample,
    temporaries,
)

IS_ROOT = os.geteuid() == 0
SOMEBODY = 65534

needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root can give files away")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def file(directory: Path) -> Path:
    """The file of the sample entry."""
    return save_sample(directory)


def check_all_miss(directory: Path, file: Path, contents: list[bytes]) -> None:
    """Fail unless each content is found out, and the next process recovers."""
    store = open_store(directory)
    for number, content in enumerate(contents):
        rewrite(file, content)
        assert store.load(KEY) is None, f"undetected: content {number}"
    assert counters(store) == Counters(misses=len(contents), corrupt=len(contents))
    check_recovers(directory)


# Damaged bytes


def test_every_truncation_is_found_out(directory: Path, file: Path) -> None:
    data = file.read_bytes()
    check_all_miss(directory, file, [data[:size] for size in range(len(data))])


def test_every_flipped_byte_is_found_out(directory: Path, file: Path) -> None:
    data = file.read_bytes()
    contents = [
        data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]
        for at in range(len(data))
        for bit in (0x01, 0x10, 0x80)
    ]
    check_all_miss(directory, file, contents)


def test_every_zero_tail_is_found_out(directory: Path, file: Path) -> None:
    """As a file system leaves it that lost the data and kept the size."""
    data = file.read_bytes()
    check_all_miss(
        directory, file, [data[:size] + bytes(len(data) - size) for size in range(len(data))]
    )


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_random_damage_is_found_out(directory: Path, file: Path, damage: Damage) -> None:
    data, random = file.read_bytes(), Random(damage.__name__)
    contents = [damage(data, random) for _ in range(40)]
    check_all_miss(directory, file, [content for content in contents if content != data])


FORGERIES = {
    "another key": Forgery(key=b"another key than was asked"),
    "a prefix of the key": Forgery(key=KEY[:-1]),
    "a longer key": Forgery(key=KEY + b"\0"),
    "no key": Forgery(key=b""),
    "old format": Forgery(version=0),
    "new format": Forgery(version=2),
    "another magic": Forgery(magic=b"NUMBACAC"),
    "short header": Forgery(header=0),
    "long header": Forgery(header=2**32 - 1),
    "huge key": Forgery(key_size=2**64 - 1),
    "huge meta": Forgery(meta_size=2**63),
    "huge code": Forgery(code_size=2**40),
    "code too short": Forgery(code_size=len(CODE) - 1),
    "code too long": Forgery(code_size=len(CODE) + 1),
    "code runs into the tag": Forgery(code_size=len(CODE) + 32),
    "lengths wrap to the right sum": Forgery(key_size=2**64 - 1, meta_size=len(KEY) + 3),
    "key and meta overlap": Forgery(key_size=len(KEY) + 1, meta_size=1),
    "meta and code overlap": Forgery(meta_size=3, code_size=len(CODE) - 1),
    "meta empty": Forgery(meta=b""),
    "meta not text": Forgery(meta=b"\xff\xfe"),
    "meta cut": Forgery(meta=b'{"a": ['),
    "meta of another type": Forgery(meta=b"1"),
    "meta with something after it": Forgery(meta=b"{} {}"),
    "meta a list": Forgery(meta=b"[]"),
    "meta a program": Forgery(meta=b"__import__('os').abort()"),
    "meta deep": Forgery(meta=b"[" * 100_000),
}


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES.keys())
def test_a_forgery_is_found_out_even_with_the_right_tag(
    directory: Path, file: Path, forgery: Forgery
) -> None:
    file.write_bytes(forgery.seal((directory / "secret").read_bytes()))
    check_missed(directory, "corrupt")


def test_a_forgery_that_is_in_order_is_an_entry(directory: Path, file: Path) -> None:
    """So it is not the forger that makes the test above pass."""
    file.write_bytes(Forgery(meta=b'{"a": 1}').seal((directory / "secret").read_bytes()))
    assert open_store(directory, strict=True).load(KEY) == Entry({"a": 1}, CODE)


def test_swapped_entries_are_found_out(directory: Path, file: Path) -> None:
    open_store(directory, strict=True).save(b"other", META, b"other code")
    other = entry_path(directory, b"other")
    mine, its = file.read_bytes(), other.read_bytes()
    file.write_bytes(its)
    other.write_bytes(mine)
    check_missed(directory, "corrupt")
    check_missed(directory, "corrupt", b"other")


def test_entries_of_another_cache_are_found_out(directory: Path, file: Path) -> None:
    """As restored from an archive, or by a build server."""
    other = save_sample(directory.with_name("other"))
    shutil.copyfile(other, file)
    check_missed(directory, "corrupt")


def test_planted_payloads_do_not_run(directory: Path, file: Path, tmp_path: Path) -> None:
    class Payload:
        def __reduce__(self) -> tuple[Callable[[Path], None], tuple[Path]]:
            return Path.touch, (tmp_path / "ran",)

    bomb = pickle.dumps(Payload())
    elf = b"\x7fELF\x02\x01\x01" + bytes(5000)
    contents = [
        payload
        for body in (bomb, elf)
        for payload in (body, Forgery(code=body, meta=body).seal(bytes(32)), body + bytes(32))
    ]
    check_all_miss(directory, file, contents)
    assert not (tmp_path / "ran").exists()


def test_an_enormous_file_is_not_read(
    directory: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.truncate(file, 1 << 40)

    def refuse(fd: int, size: int) -> bytes:
        raise AssertionError(f"read of {size} bytes")

    with monkeypatch.context() as patch:
        patch.setattr(os, "read", refuse)
        store = open_store(directory)
        assert store.load(KEY) is None
    assert counters(store) == Counters(misses=1, corrupt=1)
    check_recovers(directory)


def test_a_file_that_shrinks_while_it_is_read_is_a_miss(
    directory: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = os.read

    def shrink_and_read(fd: int, size: int) -> bytes:
        os.truncate(file, 100)
        return original(fd, size)

    with monkeypatch.context() as patch:
        patch.setattr(os, "read", shrink_and_read)
        store = open_store(directory)
        assert store.load(KEY) is None
    assert counters(store) == Counters(misses=1, corrupt=1)


def test_a_file_may_come_in_pieces(
    directory: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original_read, original_write = os.read, os.write

    def read(fd: int, size: int) -> bytes:
        return original_read(fd, min(size, 7))

    def write(fd: int, data: bytes) -> int:
        return original_write(fd, data[:7])

    monkeypatch.setattr(os, "read", read)
    monkeypatch.setattr(os, "write", write)
    store = open_store(directory, strict=True)
    assert store.load(KEY) == Entry(META, CODE)
    store.save(b"other", META, CODE)
    assert store.load(b"other") == Entry(META, CODE)
    assert file.exists()


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
    link = directory.with_name("link")
    link.symlink_to(directory)
    store = Store(find_location(f"{link}{end}"), SIZE_LIMIT)
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


# A disk that fails


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
    original = os.fsync

    def delete_and_sync(fd: int) -> None:
        shutil.rmtree(directory)
        monkeypatch.setattr(os, "fsync", original)
        original(fd)

    monkeypatch.setattr(os, "fsync", delete_and_sync)
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
