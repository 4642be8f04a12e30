"""The machine, which measures one thing at a time, whoever asks.

A lock on a file that all users share: it is gone with the process that holds it, however that ends.
The file stays, empty.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from types import ModuleType

try:
    import fcntl
except ImportError:  # no such locks on this system: measurements may disturb each other
    fcntl: ModuleType | None = None

# To lock a file it is enough to read it. What is there may have been put there by anybody.
_FLAGS = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK")
)


def lock_paths() -> tuple[str, str]:
    """The file that is locked, and one of the user's own if that cannot be opened."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    names = "hybridjit-measuring.lock", f"hybridjit-measuring-{user}.lock"
    shared, own = (os.path.join(tempfile.gettempdir(), name) for name in names)
    return shared, own


@contextmanager
def alone() -> Generator[None]:
    """Nobody else measures meanwhile."""
    if fcntl is None:
        yield
        return
    shared, own = lock_paths()
    try:
        descriptor = _open(shared)
    except OSError:
        descriptor = _open(own)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _open(path: str) -> int:
    try:
        made = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL)
    except FileExistsError:
        return os.open(path, _FLAGS)
    os.fchmod(made, 0o444)  # whatever new files of this user may be read by
    return made
