"""What can be wrong with the files of the disk cache, and how to make it so."""

import errno
import hmac
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from hybridjit.runtime.cache.directory import Location
from hybridjit.runtime.cache.disk_cache import Counters, Store
from hybridjit.runtime.cache.entry import Entry, entry_name

KEY = b"the whole key of an entry"
META = {"entry": "kernel", "arguments": [["a", "float32", 2], ["b", "float32", 2]]}
CODE = b"\x7fELF" + bytes(range(60))
SIZE_LIMIT = 1 << 30

IS_ROOT = os.geteuid() == 0
SOMEBODY = 65534  # who owns nothing
needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root can give files away")

HEADER = struct.Struct("<8sIIQQQ")
MAGIC = b"HYBRJITC"


def open_store(directory: Path, *, size_limit: int = SIZE_LIMIT, strict: bool = False) -> Store:
    """A store as a fresh process has it."""
    return Store(Location(str(directory)), size_limit, strict=strict)


def save_sample(directory: Path) -> Path:
    """Store the sample entry; return its file."""
    store = open_store(directory, strict=True)
    store.save(KEY, META, CODE)
    return entry_path(directory, KEY)


def rewrite(file: Path, content: bytes) -> None:
    """Put other bytes into a file of the cache, in place of it: that is faster than into it."""
    file.unlink()
    fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(fd, "wb") as stream:
        stream.write(content)


def entry_path(directory: Path, key: bytes) -> Path:
    """Where the entry for `key` is."""
    name = entry_name(key)
    return directory / name[:2] / f"{name[2:]}.entry"


def temporaries(directory: Path) -> list[Path]:
    """The files that are, or were, being written."""
    return list(directory.rglob(".*.tmp"))


def counters(store: Store) -> Counters:
    """What the store has counted so far."""
    return store.info().counters


def check_missed(directory: Path, counter: str | None, key: bytes = KEY) -> None:
    """Fail unless a fresh process misses `key`, counts why, and can store it again."""
    store = open_store(directory)
    assert store.load(key) is None, "unverified bytes came out of the cache"
    expected = Counters(misses=1)
    if counter is not None:
        expected = Counters(misses=1, **{counter: 1})
    assert counters(store) == expected
    check_recovers(directory, key)


def check_recovers(directory: Path, key: bytes = KEY) -> None:
    """Fail unless the entry can be stored and comes back."""
    store = open_store(directory)
    store.save(key, META, CODE)
    assert store.load(key) == Entry(META, CODE)
    assert counters(store) == Counters(hits=1, stored=1)


@dataclass(frozen=True)
class Forgery:
    """An entry made by hand, with a tag that is right unless another secret is given."""

    key: bytes = KEY
    meta: bytes = b"{}"
    code: bytes = CODE
    magic: bytes = MAGIC
    version: int = 1
    header: int = HEADER.size
    key_size: int | None = None
    meta_size: int | None = None
    code_size: int | None = None

    def seal(self, secret: bytes) -> bytes:
        """Return the bytes of the file."""
        sizes = (
            len(self.key) if self.key_size is None else self.key_size,
            len(self.meta) if self.meta_size is None else self.meta_size,
            len(self.code) if self.code_size is None else self.code_size,
        )
        header = HEADER.pack(self.magic, self.version, self.header, *sizes)
        body = header + self.key + self.meta + self.code
        return body + hmac.digest(secret, body, "sha256")


Damage = Callable[[bytes, Random], bytes]


def cut(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data))]


def flip(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]


def zero_tail(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data))
    return data[:at] + bytes(len(data) - at)


def garbage(data: bytes, random: Random) -> bytes:
    return random.randbytes(random.randrange(2 * len(data)))


def garbage_after_header(data: bytes, random: Random) -> bytes:
    return data[: HEADER.size] + random.randbytes(len(data) - HEADER.size)


def append(data: bytes, random: Random) -> bytes:
    return data + random.randbytes(random.randrange(1, 100))


def repeat(data: bytes, random: Random) -> bytes:
    return data * random.randrange(2, 4)


def swap_blocks(data: bytes, random: Random) -> bytes:
    at = random.randrange(1, len(data))
    return data[at:] + data[:at]


def wild_lengths(data: bytes, random: Random) -> bytes:
    sizes = struct.pack("<3Q", *(random.choice((0, 1, 2**31, 2**63, 2**64 - 1)) for _ in range(3)))
    return data[:16] + sizes + data[HEADER.size :]


def forge_with_another_secret(data: bytes, random: Random) -> bytes:
    return Forgery(code=random.randbytes(100)).seal(random.randbytes(32))


DAMAGES: tuple[Damage, ...] = (
    cut,
    flip,
    zero_tail,
    garbage,
    garbage_after_header,
    append,
    repeat,
    swap_blocks,
    wild_lengths,
    forge_with_another_secret,
)

# Everything of `os` that the cache calls.
SYSTEM_CALLS = (
    "open",
    "close",
    "read",
    "write",
    "fstat",
    "stat",
    "rename",
    "link",
    "unlink",
    "mkdir",
    "rmdir",
    "listdir",
    "fchmod",
    "utime",
)

# One of each kind that the cache might tell apart.
ERRORS = (errno.ENOSPC, errno.EACCES, errno.ENOENT, errno.ELOOP, errno.ESTALE)


class CallCounter:
    """Counts system calls, and lets the one numbered `failing` fail."""

    def __init__(self, failing: int | None, fail: Callable[[], None]) -> None:
        self.called: list[str] = []
        self._failing = failing
        self._fail = fail

    @property
    def count(self) -> int:
        return len(self.called)

    def wrap(self, name: str) -> Callable[..., Any]:
        original = getattr(os, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            self.called.append(name)
            if self.count - 1 == self._failing:
                if name == "close":
                    original(*args, **kwargs)  # Linux closes it whatever it reports
                self._fail()
            return original(*args, **kwargs)

        return call


@contextmanager
def intercepted_call(number: int | None, fail: Callable[[], None]) -> Generator[CallCounter]:
    """Call `fail` before the system call with this number inside the `with` block."""
    calls = CallCounter(number, fail)
    with pytest.MonkeyPatch.context() as patch:
        for name in SYSTEM_CALLS:
            patch.setattr(os, name, calls.wrap(name))
        yield calls


@contextmanager
def failing_call(number: int | None, error: int = errno.EIO) -> Generator[CallCounter]:
    """Let the system call with this number fail inside the `with` block."""

    def fail() -> None:
        raise OSError(error, os.strerror(error))

    with intercepted_call(number, fail) as calls:
        yield calls


def run_scenario(name: str, directory: Path, count: int) -> None:
    """Run a scenario of tests/support/cache_workers.py."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.support.cache_workers"]
    directory.mkdir(mode=0o700)
    run = subprocess.run(
        [*command, name, str(directory), str(count)],
        cwd=Path(__file__).parents[2],
        check=False,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
