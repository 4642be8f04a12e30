"""A line on the terminal while something takes long to compile."""

from __future__ import annotations

import io
import threading

import pytest

from hybridjit import config
from hybridjit.runtime import slow_notice
from hybridjit.runtime.slow_notice import noticed
from tests.support.terminal import Terminal


def test_it_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_notice, "PATIENCE", 0.0)
    terminal = Terminal()
    with noticed("matmul", terminal):
        assert terminal.written.wait(60)
    assert terminal.getvalue().startswith("hybridjit: compiling 'matmul' takes a while")
    assert terminal.getvalue().count("\n") == 1


def test_nothing_is_told_of_what_is_quick() -> None:
    terminal = Terminal()
    with noticed("matmul", terminal):
        pass
    assert terminal.getvalue() == ""


def test_nothing_is_told_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_notice, "PATIENCE", 0.0)
    before = threading.active_count()
    with noticed("matmul", io.StringIO()):
        assert threading.active_count() == before
    with config.scope(quiet=True), noticed("matmul", Terminal()):
        assert threading.active_count() == before


def test_without_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    with noticed("matmul"):
        pass
