"""Steps that are recorded, and that change nothing when they are refused."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, TypeVar, cast

import numpy as np
from typing_extensions import ParamSpec

from hybridjit.config import api_edge
from hybridjit.schedule.handles import BlockHandle, Handle, LoopHandle
from hybridjit.schedule.trace import Step

if TYPE_CHECKING:
    from hybridjit.schedule.state import State

_NUMPY: type[Any] = np.generic
P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="State")


def step(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Make a step of a schedule of `method`: all of it or nothing, and then it is in the trace.

    A step that is made of other steps is recorded as one.
    """

    @api_edge
    @functools.wraps(method)
    def recorded(self: S, *args: P.args, **kwargs: P.kwargs) -> R:
        if self.is_in_step:
            return method(self, *args, **kwargs)
        args, kwargs = _plain(args), {name: _plain(value) for name, value in kwargs.items()}  # type: ignore[assignment]
        before = self.func
        self.is_in_step = True
        try:
            result = method(self, *args, **kwargs)
            self.check(method.__name__, before)
        except BaseException:
            self.func = before
            raise
        finally:
            self.is_in_step = False
        options = {name: value for name, value in kwargs.items() if value is not None}
        if self.decision is not None:
            options["decision"], self.decision = self.decision, None
        handles, is_list = _handles(result)
        self.record(Step(method.__name__, args, options, handles, is_list), before)
        return result

    recorded.is_step = True  # type: ignore[attr-defined]
    return recorded


def _plain(value: Any) -> Any:
    """`value` with Python's numbers for NumPy's, and sequences that nobody else can change."""
    if isinstance(value, _NUMPY):
        number: Any = value.item()
        return number
    if isinstance(value, tuple | list):
        return tuple(_plain(item) for item in cast("Sequence[Any]", value))
    return value


def _handles(result: Any) -> tuple[tuple[Handle, ...], bool]:
    if isinstance(result, LoopHandle | BlockHandle):
        return (result,), False
    if isinstance(result, tuple | list):
        items = cast("tuple[Any, ...] | list[Any]", result)
        if all(isinstance(item, LoopHandle | BlockHandle) for item in items):
            return tuple(items), True
    return (), False
