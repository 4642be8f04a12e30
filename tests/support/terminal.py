"""A stream that counts as a terminal, and tells when it is written to."""

from __future__ import annotations

import io
import threading


class Terminal(io.StringIO):
    """What is written to it, and an event that tells of it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def isatty(self) -> bool:
        return True

    def flush(self) -> None:
        self.written.set()
