"""A line on the terminal while a command is at work."""

from __future__ import annotations

import io
import threading

import pytest

from hybridjit import config
from hybridjit.tools import working as module
from hybridjit.tools.working import working
from tests.support.terminal import Terminal


def test_it_is_told_and_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.01)
    terminal = Terminal()
    with working("measuring f", terminal):
        assert terminal.written.wait(60)
        assert config.current().quiet
    assert "measuring f ... 0 s" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[2K")
    assert "\n" not in terminal.getvalue()


def test_nothing_is_told_of_what_is_quick() -> None:
    terminal = Terminal()
    with working("measuring f", terminal):
        pass
    assert terminal.getvalue() == ""


def test_nothing_is_told_elsewhere() -> None:
    before = threading.active_count()
    with working("measuring f", io.StringIO()):
        assert threading.active_count() == before
    with config.scope(quiet=True), working("measuring f", Terminal()):
        assert threading.active_count() == before
