"""Compiled code that goes from one process to another by other ways than the disk.

    with collected() as code:               with handed(code):
        compile_ahead(run, args)    ---->       compile_ahead(run, args)    # only linked

It goes by the keys of the disk cache: where they differ, as on another kind of processor, code is
made anew.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from hybridjit.runtime.cache.entry import Entry

Codes = Mapping[bytes, Entry]

_handed: ContextVar[Codes | None] = ContextVar("handed", default=None)
_collected: ContextVar[dict[bytes, Entry] | None] = ContextVar("collected", default=None)


@contextmanager
def collected() -> Generator[dict[bytes, Entry]]:
    """All code that is made or found meanwhile."""
    found: dict[bytes, Entry] = {}
    token = _collected.set(found)
    try:
        yield found
    finally:
        _collected.reset(token)


@contextmanager
def handed(codes: Codes) -> Generator[None]:
    """Find this code, wherever it was made."""
    token = _handed.set(codes)
    try:
        yield
    finally:
        _handed.reset(token)


def find(key: bytes) -> Entry | None:
    """The code under `key` that was handed over."""
    codes = _handed.get()
    return None if codes is None else codes.get(key)


def note(key: bytes, entry: Entry) -> None:
    """Let whoever collects code have this one."""
    found = _collected.get()
    if found is not None:
        found[key] = entry
