"""`tvm.te`: tensor expressions, and `te.hybrid`."""

from __future__ import annotations

from typing import Any

from hybridjit import hybrid
from hybridjit import te as _te
from hybridjit.schedule.classic.schedule import ClassicSchedule as Schedule

__all__ = ["Schedule", "hybrid"]


def __getattr__(name: str) -> Any:
    try:
        return getattr(_te, name)
    except AttributeError:
        raise AttributeError(f"te has no {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(_te)})
