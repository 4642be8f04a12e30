"""One line on a terminal when compiling takes long: nobody is to think that it hangs."""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO

from hybridjit import config

PATIENCE = 2.0  # seconds


@contextmanager
def noticed(name: str, stream: TextIO | None = None) -> Generator[None]:
    """Say that `name` is being compiled if the block takes longer than people wait."""
    shown = sys.stderr if stream is None else stream
    # There is no stderr without a console, whatever its type says.
    is_seen = getattr(shown, "isatty", bool)() and not config.current().quiet
    if not is_seen:
        yield
        return
    timer = threading.Timer(PATIENCE, _tell, (name, shown))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _tell(name: str, stream: TextIO) -> None:
    text = f"hybridjit: compiling '{name}' takes a while (HYBRIDJIT_QUIET=1 says nothing)"
    print(text, file=stream, flush=True)
