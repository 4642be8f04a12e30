"""The disk cache: compiled code that outlives the process.

    store = active_store()
    entry = store.load(key)                  # None: compile it
    store.save(key, {"entry": "kernel"}, object_code)

Nothing that the disk, another process or another user does makes these calls fail, and no byte
comes out that this user did not put in under the same key. Anything odd is a miss that is counted;
the first one of a process is logged too.

`info`, `clear` and `path` are the public `hybridjit.cache`.
"""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Literal

from hybridjit import config
from hybridjit.brief_locks import brief_lock
from hybridjit.lazy import lazy_module
from hybridjit.record import record
from hybridjit.runtime.cache.directory import CacheDirectory, ForeignFile, Location, find_location
from hybridjit.runtime.cache.entry import (
    MAX_FILE_SIZE,
    CacheError,
    CorruptEntry,
    Entry,
    Json,
    decode_entry,
    encode_entry,
    entry_name,
)

if TYPE_CHECKING:
    from hybridjit.runtime.cache import eviction as cache_eviction
else:
    cache_eviction = lazy_module("hybridjit.runtime.cache.eviction")  # not for reading

SWITCHED_OFF = Location(None, "HYBRIDJIT_CACHE is 0")

_Counter = Literal["hits", "misses", "corrupt", "foreign", "io_errors", "stored", "evicted"]


@record
class Counters:
    """What happened to the cache in this process.

    A load that met something `corrupt`, `foreign` or an I/O error counts as a miss as well.
    """

    hits: int = 0
    misses: int = 0
    corrupt: int = 0
    foreign: int = 0
    io_errors: int = 0
    stored: int = 0
    evicted: int = 0


@record
class CacheInfo:
    """The state of the cache: `path` is None when it is off; `problem` says why, or is empty."""

    path: str | None
    problem: str
    entries: int
    size: int
    size_limit: int
    counters: Counters


class Store:
    """The entries in one directory. Safe to use from threads and after a fork."""

    def __init__(self, location: Location, size_limit: int, *, strict: bool = False) -> None:
        self.location = location
        self._size_limit = size_limit
        self._strict = strict
        self._counts: dict[_Counter, int] = {}
        self._has_warned = False

    def load(self, key: bytes) -> Entry | None:
        """Return what was saved under `key`, verified, or None."""
        entry = None
        try:
            if self.location.path is not None:
                entry = _load(self.location.path, key)
            elif self.location != SWITCHED_OFF:
                self._warn_once(f"it is off: {self.location.reason}")
        except (CacheError, OSError) as fault:
            self._report(fault)
        self._count("misses" if entry is None else "hits")
        return entry

    def save(self, key: bytes, meta: Mapping[str, Json], object_code: bytes) -> None:
        """Store an entry for later processes, if that is possible."""
        path = self.location.path
        size = len(key) + len(object_code)
        if path is None or size > min(self._size_limit, MAX_FILE_SIZE):
            return
        try:
            try:
                self._save(path, key, meta, object_code)
            except FileNotFoundError:  # somebody removed the directory while we wrote to it
                self._save(path, key, meta, object_code)
        except (CacheError, OSError) as fault:
            self._report(fault)

    def clear(self) -> int:
        """Remove all entries; return how many there were. The secret stays."""
        try:
            if self.location.path is not None:
                with CacheDirectory(self.location.path) as directory:
                    return cache_eviction.remove_all(directory)
        except FileNotFoundError:
            pass
        except (CacheError, OSError) as fault:
            self._report(fault)
        return 0

    def info(self) -> CacheInfo:
        """Return what is stored, what is wrong with the directory, and the counters."""
        sizes: list[int] = []
        problem = self.location.reason
        try:
            if self.location.path is not None:
                with CacheDirectory(self.location.path) as directory:
                    sizes = [entry.size for entry in cache_eviction.find_entries(directory)]
        except FileNotFoundError:
            pass
        except (CacheError, OSError) as fault:
            problem = str(fault)
        with _counting:
            counters = Counters(**self._counts)
        return CacheInfo(
            self.location.path, problem, len(sizes), sum(sizes), self._size_limit, counters
        )

    def _save(self, path: str, key: bytes, meta: Mapping[str, Json], object_code: bytes) -> None:
        with CacheDirectory(path, create=True) as directory:
            cache_eviction.remove_temporaries(directory)
            data = encode_entry(key, meta, object_code, directory.make_secret())
            if len(data) > min(self._size_limit, MAX_FILE_SIZE):
                return
            directory.write_entry(entry_name(key), data)
            self._count("stored")
            if cache_eviction.is_time_to_evict(len(data), self._size_limit):
                self._count("evicted", cache_eviction.evict(directory, self._size_limit))

    def _count(self, counter: _Counter, by: int = 1) -> None:
        with _counting:
            self._counts[counter] = self._counts.get(counter, 0) + by

    def _report(self, fault: CacheError | OSError) -> None:
        """Count what went wrong, and log it the first time; raise it if the store is strict."""
        match fault:
            case CorruptEntry():
                self._count("corrupt")
            case ForeignFile():
                self._count("foreign")
            case _:
                self._count("io_errors")
        if self._strict:
            raise fault
        self._warn_once(f"cannot use a file in {self.location.path}: {fault}")

    def _warn_once(self, problem: str) -> None:
        with _counting:
            is_first, self._has_warned = not self._has_warned, True
        if is_first:
            _warn(problem)


def active_store() -> Store:
    """Return the store that the settings in force name; it is off if they say so."""
    settings = config.current()
    location = find_location(settings.cache_dir) if settings.cache_enabled else SWITCHED_OFF
    return _make_store(location, settings.cache_size, settings.cache_strict)


def info() -> CacheInfo:
    """Return where the disk cache is, what it holds, and how it did in this process."""
    return active_store().info()


def clear() -> int:
    """Remove everything from the disk cache; return how many entries there were."""
    return active_store().clear()


def path() -> str | None:
    """Return the directory of the disk cache, or None if it is off."""
    return active_store().location.path


def _load(path: str, key: bytes) -> Entry | None:
    try:
        directory = CacheDirectory(path)
    except FileNotFoundError:
        return None
    with directory:
        data = directory.read_entry(entry_name(key))
        if data is None:
            return None
        secret = directory.read_secret()
    if secret is None:
        raise CorruptEntry("the secret that it was sealed with is gone")
    return decode_entry(data, key, secret)


@cache
def _make_store(location: Location, size_limit: int, strict: bool) -> Store:
    """One store per place and settings, so that counting and warning is once per process."""
    return Store(location, size_limit, strict=strict)


def _warn(problem: str) -> None:
    """Log, not `warnings.warn`: under `-W error` that would make a kernel fail after all."""
    import logging  # noqa: PLC0415 (4 ms, and hardly ever needed)

    logging.getLogger("hybridjit.cache").warning(
        "disk cache: %s; kernels work, but may be compiled again "
        "(further problems are only counted: hybridjit.cache.info())",
        problem,
    )


_counting = brief_lock()
