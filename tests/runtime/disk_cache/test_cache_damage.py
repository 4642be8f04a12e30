"""Whatever the bytes of an entry are, a load gives the right entry or a miss."""

import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from hybridjit.runtime.cache.disk_cache import Counters
from hybridjit.runtime.cache.entry import Entry
from tests.support.cache_faults import (
    CODE,
    DAMAGES,
    KEY,
    META,
    Damage,
    Forgery,
    check_missed,
    check_recovers,
    counters,
    entry_path,
    open_store,
    rewrite,
    save_sample,
)


def check_all_miss(directory: Path, file: Path, contents: list[bytes]) -> None:
    """Fail unless each content is found out, and the next process recovers."""
    store = open_store(directory)
    for number, content in enumerate(contents):
        rewrite(file, content)
        assert store.load(KEY) is None, f"undetected: content {number}"
    assert counters(store) == Counters(misses=len(contents), corrupt=len(contents))
    check_recovers(directory)


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
    contents = [data[:size] + bytes(len(data) - size) for size in range(len(data))]
    # One tag in 256 ends in a zero of its own.
    check_all_miss(directory, file, [content for content in contents if content != data])


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
