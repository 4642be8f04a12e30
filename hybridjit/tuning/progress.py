"""A line that tells how a search goes, where somebody may look at it.

tuning product: 1.41x, 87.3 GFLOP/s, 54% of the peak  142 trials, 6.1/s  18 s left
"""

from __future__ import annotations

import os
import sys
import threading
from typing import TextIO

from hybridjit import config
from hybridjit.tuning.budget import Timetable

_TICK = 0.5  # seconds


class Progress:
    """One line of a terminal, written again and again, also while nothing happens for long;
    nothing elsewhere.
    """

    def __init__(self, name: str, times: Timetable, stream: TextIO | None = None) -> None:
        self._name = name
        self._times = times
        self._stream = sys.stderr if stream is None else stream
        self._is_shown = self._stream.isatty() and not config.current().quiet
        self._step = self._best = ""
        self._trials = 0
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)
        if self._is_shown:
            self._thread.start()

    def tell(self, step: str) -> None:
        """What the search is at."""
        self._step = step
        self._draw()

    def show(self, score: float, speed: str, trials: int) -> None:
        """How far it is; `speed` is that of the best so far, in words."""
        self._best = f"{1 / score:.2f}x, {speed}" if speed else f"{1 / score:.2f}x"
        self._trials = trials
        self._draw()

    def end(self) -> None:
        """Leave nothing behind."""
        if self._is_shown:
            self._is_over.set()
            self._thread.join()
            print("\r\x1b[2K", end="", file=self._stream, flush=True)

    def _tick(self) -> None:
        while not self._is_over.wait(_TICK):
            self._draw()

    def _draw(self) -> None:
        if self._is_shown:
            with self._lock:
                line = self._line()[: self._width()]
                print(f"\r\x1b[2K{line}", end="", file=self._stream, flush=True)

    def _width(self) -> int | None:
        """How much of a line is written: of one that goes on in the next, a part would stay."""
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns
        except (OSError, ValueError, AttributeError):
            return None
        return columns - 1 if columns > 1 else None

    def _line(self) -> str:
        passed, left = self._times.passed, self._times.left
        rate = self._trials / passed if passed > 0 else 0.0
        trials = f"{self._trials} trials, {rate:.1f}/s" if self._trials else ""
        rest = f"{passed:.0f} s" if left is None else f"{max(left, 0):.0f} s left"
        parts = (self._best, self._step, trials, rest)
        return f"tuning {self._name}: {'  '.join(part for part in parts if part)}"
