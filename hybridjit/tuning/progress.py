"""A line that tells how a search goes, where somebody may look at it.

best 0.71 (1.23 ms)  142 trials, 6.1/s  18 s left
"""

from __future__ import annotations

import sys
from typing import TextIO

from hybridjit import config


class Progress:
    """One line of a terminal, written again and again; nothing elsewhere."""

    def __init__(self, name: str, stream: TextIO | None = None) -> None:
        self._name = name
        self._stream = sys.stderr if stream is None else stream
        self._is_shown = self._stream.isatty() and not config.current().quiet

    def show(self, score: float, trials: int, seconds: float, left: float | None) -> None:
        """Tell how far the search is."""
        if not self._is_shown:
            return
        rest = "" if left is None else f"  {max(left, 0):.0f} s left"
        rate = trials / seconds if seconds > 0 else 0.0
        text = f"tuning {self._name}: {1 / score:.2f}x  {trials} trials, {rate:.1f}/s{rest}"
        print(f"\r\x1b[2K{text}", end="", file=self._stream, flush=True)

    def end(self) -> None:
        """Leave nothing behind."""
        if self._is_shown:
            print("\r\x1b[2K", end="", file=self._stream, flush=True)
