"""A line that tells how a search goes, where somebody may look at it.

tuning product: 1.41x, 87.3 GFLOP/s, 54% of the peak  142 trials, 6.1/s  18 s left
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

    def show(
        self, score: float, speed: str, trials: int, seconds: float, left: float | None
    ) -> None:
        """Tell how far the search is; `speed` is that of the best so far, in words."""
        if not self._is_shown:
            return
        rest = "" if left is None else f"  {max(left, 0):.0f} s left"
        rate = trials / seconds if seconds > 0 else 0.0
        best = f"{1 / score:.2f}x, {speed}" if speed else f"{1 / score:.2f}x"
        text = f"tuning {self._name}: {best}  {trials} trials, {rate:.1f}/s{rest}"
        print(f"\r\x1b[2K{text}", end="", file=self._stream, flush=True)

    def end(self) -> None:
        """Leave nothing behind."""
        if self._is_shown:
            print("\r\x1b[2K", end="", file=self._stream, flush=True)
