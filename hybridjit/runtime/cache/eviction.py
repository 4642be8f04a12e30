"""Keeping the disk cache small: listing, evicting and clearing its files.

Only names that the cache makes are ever touched, so pointing HYBRIDJIT_CACHE_DIR at a directory
with other things in it does them no harm. Files that vanish meanwhile are another process's work.
"""

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from hybridjit.runtime.cache.directory import (
    ENTRY_SUFFIX,
    TEMPORARY_SUFFIX,
    CacheDirectory,
)
from hybridjit.runtime.cache.entry import CacheError

# A write takes milliseconds; what is older was left behind by a process that was killed.
STALE_AFTER_SECONDS = 3600

# A scan of the whole cache is expected once per this part of the limit written, so that it costs
# little per entry (0.1 ms at 50 000 entries) and the limit is exceeded by as little.
_SCAN_PART = 64

_FOLDER = re.compile(r"[0-9a-f]{2}")
_ENTRY = re.compile(r"[0-9a-f]{62}" + re.escape(ENTRY_SUFFIX))
_TEMPORARY = re.compile(r"\.[0-9a-f]{24}" + re.escape(TEMPORARY_SUFFIX))


@dataclass(frozen=True, slots=True, order=True)
class StoredFile:
    """One entry on disk; the order is that of eviction."""

    modified: float
    folder: str
    name: str
    size: int


def find_entries(directory: CacheDirectory) -> list[StoredFile]:
    """Return what is stored, in no particular order."""
    found: list[StoredFile] = []
    for folder in _names(directory.fd, _FOLDER):
        with suppress(CacheError, OSError), directory.folder(folder) as opened:
            for name in _names(opened.fd, _ENTRY):
                with suppress(OSError):
                    status = os.stat(name, dir_fd=opened.fd, follow_symlinks=False)
                    found.append(StoredFile(status.st_mtime, folder, name, status.st_size))
    return found


def is_time_to_evict(written: int, size_limit: int) -> bool:
    """Draw whether to scan now, so that all processes together scan as often as is needed."""
    return int.from_bytes(os.urandom(4), "little") * size_limit < (written * _SCAN_PART) << 32


def evict(directory: CacheDirectory, size_limit: int) -> int:
    """Remove the oldest entries until the rest has at most `size_limit` bytes; count them."""
    entries = sorted(find_entries(directory))
    excess = sum(entry.size for entry in entries) - size_limit
    removed = 0
    for entry in entries:
        if excess <= 0:
            break
        excess -= entry.size
        removed += _remove_entry(directory, entry)
    return removed


def remove_all(directory: CacheDirectory) -> int:
    """Remove every entry and every temporary file; count the entries."""
    remove_temporaries(directory, older_than=0.0)
    removed = sum(_remove_entry(directory, entry) for entry in find_entries(directory))
    for folder in _names(directory.fd, _FOLDER):
        with suppress(OSError):  # not empty: another process just wrote to it
            os.rmdir(folder, dir_fd=directory.fd)
    return removed


def remove_temporaries(directory: CacheDirectory, older_than: float = STALE_AFTER_SECONDS) -> None:
    """Remove what processes that were killed while writing left behind."""
    deadline = time.time() - older_than
    for name in _names(directory.fd, _TEMPORARY):
        with suppress(OSError):
            if os.stat(name, dir_fd=directory.fd, follow_symlinks=False).st_mtime <= deadline:
                os.unlink(name, dir_fd=directory.fd)


def _remove_entry(directory: CacheDirectory, entry: StoredFile) -> bool:
    with suppress(CacheError, OSError), directory.folder(entry.folder) as folder:
        return folder.remove(entry.name)
    return False


def _names(fd: int, pattern: re.Pattern[str]) -> Iterator[str]:
    """Yield the matching names in an open directory, read through a descriptor of its own.

    A shared one would share its position with other threads and forked processes.
    """
    own = os.open(".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=fd)
    try:
        names = os.listdir(own)
    finally:
        os.close(own)
    return (name for name in names if pattern.fullmatch(name))
