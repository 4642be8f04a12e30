"""A line that tells what a command is at, where somebody may look at it.

measuring softmax ... 3 s
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO

from hybridjit import config

PATIENCE = 1.0  # seconds until it is told, and then between lines
_CLEAR = "\r\x1b[2K"


@contextmanager
def working(what: str, stream: TextIO | None = None) -> Generator[None]:
    """Say on a terminal that `what` is done while the block runs, and leave nothing behind."""
    shown = sys.stderr if stream is None else stream
    # There is no stderr without a console, whatever its type says.
    if not getattr(shown, "isatty", bool)() or config.current().quiet:
        yield
        return
    is_done = threading.Event()
    teller = threading.Thread(target=_tell, args=(what, shown, is_done), daemon=True)
    teller.start()
    try:
        with config.scope(quiet=True):  # one line tells of it all
            yield
    finally:
        is_done.set()
        teller.join()


def _tell(what: str, stream: TextIO, is_done: threading.Event) -> None:
    start = time.monotonic()
    is_told = False
    while not is_done.wait(PATIENCE):
        is_told = True
        print(
            f"{_CLEAR}{what} ... {time.monotonic() - start:.0f} s", end="", file=stream, flush=True
        )
    if is_told:
        print(_CLEAR, end="", file=stream, flush=True)
