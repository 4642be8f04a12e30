"""`tvm.tir`: the IR, and the functions of numbers that TVM keeps there."""

from __future__ import annotations

from typing import Any

from hybridjit import te as _te
from hybridjit import tir as _tir
from hybridjit.schedule.schedule import Schedule

__all__ = ["Schedule"]


def __getattr__(name: str) -> Any:
    for module in (_te, _tir):
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"tir has no {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(_tir), *dir(_te)})
