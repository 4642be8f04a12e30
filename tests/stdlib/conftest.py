"""Tests of operators see it when a schedule does not fit, which callers do not."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def refusals_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hybridjit.stdlib.running.compiled.REFUSALS", ())
