"""The line of a search: what it tells, and that it goes on while nothing happens."""

from __future__ import annotations

import io
import os
import struct
import threading
from typing import Any

import pytest

from hybridjit.tuning.budget import Timetable
from hybridjit.tuning.progress import Progress


class Terminal(io.StringIO):
    """Somebody looks at it. `drawn` is set when it was written to so many times."""

    def __init__(self, count: int = 1) -> None:
        super().__init__()
        self.left = count
        self.drawn = threading.Event()

    def isatty(self) -> bool:
        return True

    def flush(self) -> None:
        self.left -= 1
        if self.left <= 0:
            self.drawn.set()

    def lines(self) -> list[str]:
        return [line.rstrip("\r") for line in self.getvalue().split("\x1b[2K")[1:]]


def after(seconds: float, limit: float | None) -> Timetable:
    moments = iter([100.0])
    return Timetable(limit, lambda: next(moments, 100.0 + seconds))


def test_it_tells_the_rate() -> None:
    terminal = Terminal()
    progress = Progress("product", after(2.0, 10.0), terminal)
    progress.show(0.5, "50 GFLOP/s, 50% of the peak", 10)
    progress.show(0.5, "", 10)
    progress.end()
    lines = terminal.lines()
    rate = "10 trials, 5.0/s  8 s left"
    assert f"tuning product: 2.00x, 50 GFLOP/s, 50% of the peak  {rate}" in lines
    assert f"tuning product: 2.00x  {rate}" in lines
    assert lines[-1] == ""


def test_without_a_limit_it_tells_what_has_passed() -> None:
    terminal = Terminal()
    progress = Progress("product", after(2.0, None), terminal)
    progress.tell("the last races")
    progress.end()
    assert "tuning product: the last races  2 s" in terminal.lines()


def test_it_is_alive_during_long_steps() -> None:
    terminal = Terminal(count=3)
    progress = Progress("product", after(2.0, 10.0), terminal)
    progress.tell("the program as it is")
    assert terminal.drawn.wait(60)
    progress.end()
    assert terminal.lines().count("tuning product: the program as it is  8 s left") >= 3


def test_nobody_looks() -> None:
    stream = io.StringIO()
    progress = Progress("product", after(2.0, 10.0), stream)
    progress.tell("the program as it is")
    progress.end()
    assert stream.getvalue() == ""


def test_a_line_fits_the_terminal() -> None:
    """Of one that goes on in the next, a part would stay."""
    fcntl: Any = pytest.importorskip("fcntl")
    termios: Any = pytest.importorskip("termios")
    screen, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 30, 0, 0))
    with open(terminal, "w", encoding="utf-8") as stream:
        progress = Progress("product", after(2.0, 10.0), stream)
        progress.show(0.5, "50 GFLOP/s, 50% of the peak", 10)
        progress.end()
        print("over", end="", file=stream, flush=True)
        written = b""
        while not written.endswith(b"over"):  # a read gives what has arrived, not all
            written += os.read(screen, 4096)
    os.close(screen)
    assert f"\x1b[2K{'tuning product: 2.00x, 50 GFLOP'[:29]}\r" in written.decode()
