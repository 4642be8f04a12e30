"""The directory of the disk cache: where it is, who may own it, how files get in and out.

    <cache>/CACHEDIR.TAG        says that the directory is ours: without it, nothing is touched
    <cache>/secret              32 random bytes, the key of the authentication tags
    <cache>/ab/<62 digits>.entry     one file per entry, named by the hash of its key
    <cache>/.<digits>.tmp       being written; renamed when complete

Nothing is kept between operations: each opens the directory, checks what it opened, and works
relative to that descriptor. So a directory that is deleted, replaced or tampered with while we
run, a fork, and a process that closes descriptors it does not know are all the same case.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from hybridjit.record import record
from hybridjit.runtime.cache.entry import MAX_FILE_SIZE, SECRET_SIZE, CacheError, CorruptEntry

if TYPE_CHECKING:
    from typing_extensions import Self  # takes 3 ms to load

FOLDER_NAME = "hybridjit"
MARKER_NAME = "CACHEDIR.TAG"
# Backup programs know the first line: https://bford.info/cachedir/
MARKER = b"""Signature: 8a477f597d28d172789f06886806bc55
# This directory holds compiled kernels of hybridjit, which come back when they are needed.
"""
SECRET_NAME = "secret"
ENTRY_SUFFIX = ".entry"
TEMPORARY_SUFFIX = ".tmp"

# Entries that are read keep their place in the order of eviction, at one write a day at most.
TOUCH_AFTER_SECONDS = 24 * 3600

_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_OPEN_TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO

# Absent on Windows, where `find_location` keeps the cache off.
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _NOFOLLOW
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW

# How the kernel says that O_NOFOLLOW or O_DIRECTORY met something else.
_NOT_WHAT_WE_MADE = (errno.ELOOP, errno.ENOTDIR)


class ForeignFile(CacheError):
    """A file or directory that this user's cache did not make, or that others can write to."""


class _Rules(NamedTuple):
    """What is demanded of a file besides being a regular one of ours."""

    forbidden_mode: int
    max_links: int


# An entry that is replaced while it is open has no link left; the secret has two for a moment
# while it is made, see `_publish_first_secret`.
_ENTRY_RULES = _Rules(_WRITABLE_BY_OTHERS, max_links=1)
_SECRET_RULES = _Rules(_OPEN_TO_OTHERS, max_links=2)


@record
class Location:
    """The absolute path of the cache, or None and the reason why there is none."""

    path: str | None
    reason: str = ""


def find_location(cache_dir: str | None) -> Location:
    """Return where the cache is: a folder in `cache_dir`, else XDG_CACHE_HOME, else ~/.cache.

    Never a shared or a relative place: those would let somebody else choose what we run.
    """
    if not hasattr(os, "geteuid") or os.open not in os.supports_dir_fd:
        return Location(None, "this platform cannot check who owns a file")
    if os.geteuid() != os.getuid() or os.getegid() != os.getgid():
        return Location(None, "the process runs with the rights of another user")
    if cache_dir is not None:
        if not os.path.isabs(cache_dir) or "\0" in cache_dir:
            return Location(None, f"HYBRIDJIT_CACHE_DIR is not an absolute path: {cache_dir!r}")
        return _folder_in(cache_dir)
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(xdg) and "\0" not in xdg:
        if not _is_for_us(xdg):
            return Location(None, f"XDG_CACHE_HOME is in a directory of another user: {xdg!r}")
        return _folder_in(xdg)
    return _find_in_home(os.path.expanduser("~"))


def _folder_in(path: str) -> Location:
    """A folder of our own: what else is in the directory is none of our business."""
    return Location(os.path.normpath(os.path.join(path, FOLDER_NAME)))


def _is_for_us(path: str) -> bool:
    """Return whether a directory, or what there is of it, is ours or the system's.

    Under sudo the environment may be that of another user.
    """
    while path != os.path.dirname(path):
        with suppress(OSError):
            return os.stat(path).st_uid in (os.geteuid(), 0)
        path = os.path.dirname(path)
    return True


def _find_in_home(home: str) -> Location:
    """A home that is not ours, as under sudo, gets no files that its owner could not remove."""
    try:
        ours = os.path.isabs(home) and os.stat(home).st_uid == os.geteuid()
    except OSError:
        ours = False
    if not ours:
        return Location(None, f"there is no home directory of this user at {home!r}")
    return _folder_in(os.path.join(home, ".cache"))


class CheckedDirectory:
    """An open directory that is ours and only ours; to be used in a `with` block."""

    def __init__(self, path: str, parent: int | None = None) -> None:
        self.fd = _open_directory(path, parent)
        try:
            _check_owner(self.fd)
            self.claim()
            if _tighten(self.fd):
                self.distrust()
        except BaseException:
            os.close(self.fd)
            raise

    def claim(self) -> None:
        """Refuse a directory that we did not make."""

    def distrust(self) -> None:
        """Do what is needed after others could write here."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        os.close(self.fd)

    def remove(self, name: str) -> bool:
        """Remove a file; return whether it was there."""
        try:
            os.unlink(name, dir_fd=self.fd)
        except FileNotFoundError:
            return False
        return True


class CacheDirectory(CheckedDirectory):
    """The directory of a cache, with its secret and its entries."""

    def __init__(self, path: str, *, create: bool = False) -> None:
        self._create = create
        if create:
            _make_directories(path)
        super().__init__(path)

    def claim(self) -> None:
        """Look for the marker, or leave it where nothing is yet; refuse what holds other things."""
        if _is_marked(self.fd):
            return
        names = os.listdir(self.fd)
        if _is_marked(self.fd):  # since a moment: another process leaves the marker first
            return
        if MARKER_NAME in names or not (names == [] or _is_unmarked_cache(names)):
            raise ForeignFile(f"its directory is none of ours: it has no {MARKER_NAME} of ours")
        if not self._create:
            raise FileNotFoundError(errno.ENOENT, "there is no cache yet")
        if os.fstat(self.fd).st_mode & _WRITABLE_BY_OTHERS:
            raise ForeignFile("others can write to its directory")
        with suppress(FileExistsError):  # another process was first
            self._write_marker()

    def _write_marker(self) -> None:
        fd = os.open(MARKER_NAME, _CREATE, 0o600, dir_fd=self.fd)
        try:
            _write_all(fd, MARKER)
        finally:
            os.close(fd)

    def distrust(self) -> None:
        """Drop the secret: it may have been put here, with entries that it fits."""
        self.remove(SECRET_NAME)

    def folder(self, name: str) -> CheckedDirectory:
        """Open a folder of entries, checked as this directory was."""
        return CheckedDirectory(name, self.fd)

    def read_entry(self, name: str) -> bytes | None:
        """Return the bytes stored under `name`, as yet unverified, or None if there are none."""
        try:
            with self.folder(name[:2]) as folder:
                return _read_file(_file_name(name), folder.fd, _ENTRY_RULES)
        except FileNotFoundError:
            return None

    def write_entry(self, name: str, data: bytes) -> None:
        """Store `data` under `name`: readers see all of it or none."""
        with suppress(FileExistsError):
            os.mkdir(name[:2], 0o700, dir_fd=self.fd)
        with self.folder(name[:2]) as folder:
            places = {"src_dir_fd": self.fd, "dst_dir_fd": folder.fd}
            self._write_file(data, lambda made: os.rename(made, _file_name(name), **places))

    def read_secret(self) -> bytes | None:
        """Return the secret, or None if there is none yet."""
        secret = _read_file(SECRET_NAME, self.fd, _SECRET_RULES)
        if secret is not None and not _is_whole(secret):
            raise CorruptEntry("the secret of the cache is damaged")
        return secret

    def make_secret(self) -> bytes:
        """Return the secret, making it if there is none; one that is unfit is replaced."""
        try:
            secret = self.read_secret()
            publish = self._publish_first_secret
        except (CacheError, PermissionError):
            secret, publish = None, self._replace_secret
        if secret is None:
            self._write_file(os.urandom(SECRET_SIZE), publish)
            secret = self.read_secret()
        if secret is None:
            raise CorruptEntry("the secret of the cache vanished")
        return secret

    def _write_file(self, data: bytes, publish: Callable[[str], None]) -> None:
        """Write `data` to a new file, then let `publish` give it its name.

        Nobody waits for the disk: that took 30 ms of a first call, a third. What a power loss
        leaves of a file that has its name is not what its tag says, and so a miss.
        """
        temporary = f".{os.urandom(12).hex()}{TEMPORARY_SUFFIX}"
        fd = os.open(temporary, _CREATE, 0o600, dir_fd=self.fd)
        try:
            try:
                _write_all(fd, data)
            finally:
                os.close(fd)
            publish(temporary)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=self.fd)
            raise

    def _publish_first_secret(self, temporary: str) -> None:
        """Name the secret unless another process was first: a link, unlike a rename, can tell."""
        try:
            os.link(temporary, SECRET_NAME, src_dir_fd=self.fd, dst_dir_fd=self.fd)
        except FileExistsError:
            pass
        except OSError:  # no links on this file system: the last process wins
            self._replace_secret(temporary)
            return
        os.unlink(temporary, dir_fd=self.fd)

    def _replace_secret(self, temporary: str) -> None:
        os.rename(temporary, SECRET_NAME, src_dir_fd=self.fd, dst_dir_fd=self.fd)


def _is_whole(secret: bytes) -> bool:
    """A power loss may leave zeros, which everybody knows; by chance the last 8 are never zero."""
    return len(secret) == SECRET_SIZE and any(secret[-8:])


def _file_name(name: str) -> str:
    return name[2:] + ENTRY_SUFFIX


def _make_directories(path: str) -> None:
    """Make `path` and what is missing above it, for this user only."""
    missing: list[str] = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for directory in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(directory, 0o700)


def _open_directory(path: str, parent: int | None = None) -> int:
    try:
        return os.open(path, _DIRECTORY, dir_fd=parent)
    except OSError as error:
        if error.errno in _NOT_WHAT_WE_MADE:
            raise ForeignFile(f"{path!r} is not a directory") from error
        raise


def _check_owner(fd: int) -> None:
    owner = os.fstat(fd).st_uid
    if owner != os.geteuid():
        raise ForeignFile(f"its directory belongs to user {owner}")


def _is_marked(fd: int) -> bool:
    """Return whether we made a directory. The marker is looked at, never read: it says no more."""
    try:
        status = os.stat(MARKER_NAME, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    # Empty while another process writes it, or after a power loss.
    is_ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
    return is_ours and status.st_size in (0, len(MARKER))


def _is_folder_name(name: str) -> bool:
    return len(name) == 2 and set(name) <= set("0123456789abcdef")


def _is_unmarked_cache(names: Sequence[str]) -> bool:
    """Return whether a directory holds what versions without a marker left: a cache, no more."""
    others = [name for name in names if not _is_folder_name(name)]
    files = [name for name in others if not name.endswith(TEMPORARY_SUFFIX)]
    return files == [SECRET_NAME] and len(names) > len(others)


def _tighten(fd: int) -> bool:
    """Close a directory of ours to others; return whether they could write to it so far."""
    status = os.fstat(fd)
    if not status.st_mode & _WRITABLE_BY_OTHERS:
        return False
    os.fchmod(fd, stat.S_IMODE(status.st_mode) & ~_OPEN_TO_OTHERS)
    if os.fstat(fd).st_mode & _WRITABLE_BY_OTHERS:  # file systems without modes ignore fchmod
        raise ForeignFile("others can write to its directory")
    return True


def _read_file(name: str, directory: int, rules: _Rules) -> bytes | None:
    """Return the content of a file that only we can have written, or None if there is none.

    One descriptor from the check to the last byte, and no mapping: a file that changes after the
    check, or shrinks while it is read, does no harm.
    """
    try:
        fd = os.open(name, _READ, dir_fd=directory)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in _NOT_WHAT_WE_MADE:
            raise ForeignFile(f"{name} is a symbolic link") from error
        raise
    try:
        status = os.fstat(fd)
        _check_file(name, status, rules)
        data = _read_all(fd, status.st_size)
        _touch(fd, status.st_mtime)
        return data
    finally:
        os.close(fd)


def _check_file(name: str, status: os.stat_result, rules: _Rules) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise ForeignFile(f"{name} is not a regular file")
    if status.st_uid != os.geteuid():
        raise ForeignFile(f"{name} belongs to user {status.st_uid}")
    if status.st_mode & rules.forbidden_mode:
        raise ForeignFile(f"others have rights to {name}: mode {stat.filemode(status.st_mode)}")
    if status.st_nlink > rules.max_links:
        raise ForeignFile(f"{name} has {status.st_nlink} hard links")
    if status.st_size > MAX_FILE_SIZE:
        raise CorruptEntry(f"{name} has {status.st_size} bytes")


def _read_all(fd: int, size: int) -> bytes:
    chunks: list[bytes] = []
    while size > 0 and (chunk := os.read(fd, size)):
        chunks.append(chunk)
        size -= len(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _touch(fd: int, modified: float) -> None:
    if time.time() - modified > TOUCH_AFTER_SECONDS:
        with suppress(OSError):
            os.utime(fd)
