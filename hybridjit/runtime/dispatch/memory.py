"""The memory of a table: words that it points to, and objects that it names."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any


class Unsupported(Exception):
    """A call that the dispatcher has no way to describe: it goes through Python."""


class Memory:
    """What must live as long as a table does."""

    def __init__(self) -> None:
        self._kept: list[Any] = []

    def put(self, words: Sequence[int]) -> int:
        """The address of a copy of `words`."""
        array = (ctypes.c_int64 * max(1, len(words)))(*words)
        self._kept.append(array)
        return ctypes.addressof(array)

    def put_bytes(self, data: bytes) -> int:
        """The address of a copy of `data`."""
        buffer = ctypes.create_string_buffer(data, max(1, len(data)))
        self._kept.append(buffer)
        return ctypes.addressof(buffer)

    def keep(self, item: object) -> int:
        """The address of `item`, which stays alive."""
        self._kept.append(item)
        return id(item)


def write(record: list[int], place: int, value: int) -> None:
    """Set a word of a record."""
    record[int(place)] = int(value)
