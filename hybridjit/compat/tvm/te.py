"""`tvm.te`: tensor expressions, and `te.hybrid`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from hybridjit import hybrid
from hybridjit import te as _te
from hybridjit.ir.dtype import FLOAT32
from hybridjit.ir.fastmath import read_fastmath
from hybridjit.schedule.classic.schedule import ClassicSchedule
from hybridjit.schedule.classic.schedule import create_schedule as _create_schedule

__all__ = ["Schedule", "compute", "create_schedule", "hybrid"]


class Schedule(ClassicSchedule):
    """A schedule of tensors: who calls `rfactor` lets sums be rounded otherwise."""

    def rfactor(self, tensor: Any, axis: Any, factor_axis: int = 0) -> Any:
        """Give each value of a reduced axis a partial result, and combine these; gives them."""
        self.fastmath = read_fastmath({*self.fastmath, "reassoc"})
        return super().rfactor(tensor, axis, factor_axis)


def create_schedule(ops: Any) -> Schedule:
    """A schedule of the tensors that `ops` make, without steps."""
    made = _create_schedule(ops)
    return Schedule(made.outputs, made.fastmath)


def compute(shape: Any, fcompute: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A tensor each element of which is `fcompute` of its indices; a plain float is a float32."""

    @wraps(fcompute)
    def typed(*indices: Any) -> Any:
        value = fcompute(*indices)
        return _te.const(value, FLOAT32) if isinstance(value, float) else value

    return _te.compute(shape, typed, *args, **kwargs)


def __getattr__(name: str) -> Any:
    try:
        return getattr(_te, name)
    except AttributeError:
        raise AttributeError(f"te has no {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(_te)})
