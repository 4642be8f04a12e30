"""Steps on whole schedules under TVM's names for them: te.schedule.AutoInlineInjective(s)."""

from __future__ import annotations

from typing import Protocol


class AutoInlined(Protocol):
    """A schedule of tensors, as far as it matters here."""

    def auto_inline(self, kind: str) -> None: ...


def AutoInlineElemWise(schedule: AutoInlined) -> None:
    """Inline every stage that reads at its own indices only: `s.auto_inline("elementwise")`."""
    schedule.auto_inline("elementwise")


def AutoInlineBroadcast(schedule: AutoInlined) -> None:
    """Inline every stage that leaves indices out: `s.auto_inline("broadcast")`."""
    schedule.auto_inline("broadcast")


def AutoInlineInjective(schedule: AutoInlined) -> None:
    """Inline every stage that is no reduction: `s.auto_inline("injective")`."""
    schedule.auto_inline("injective")
