"""The machine, which measures one thing at a time, whoever asks.

A lock on a file of the user: it is gone with the process that holds it, however that ends.
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


def lock_path() -> str:
    """The file that is locked."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    return os.path.join(tempfile.gettempdir(), f"hybridjit-measuring-{user}.lock")


@contextmanager
def alone() -> Generator[None]:
    """Nobody else measures meanwhile."""
    if fcntl is None:
        yield
        return
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(lock_path(), flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
