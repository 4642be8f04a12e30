"""Locks that are held for a moment, and never while waiting for another one.

A fork takes them all, last of all locks: in the child, none is held by a thread that is gone.
"""

from __future__ import annotations

import threading
from typing import Any

BRIEF_LOCKS: list[Any] = []


def brief_lock() -> Any:
    """A new one. Reentrant: a signal handler may come in between."""
    lock = threading.RLock()
    BRIEF_LOCKS.append(lock)
    return lock
