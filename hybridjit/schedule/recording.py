"""Steps that are recorded, and that change nothing when they are refused."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, TypeVar, cast

import numpy as np
from typing_extensions import ParamSpec

from hybridjit.config import api_edge
from hybridjit.errors import ArgumentError, ScheduleError
from hybridjit.schedule.handles import BlockHandle, Handle, LoopHandle
from hybridjit.schedule.trace import RECORDABLE, Step

if TYPE_CHECKING:
    from hybridjit.schedule.state import State

_NUMPY: type[Any] = np.generic
_ARRAY: type[Any] = np.ndarray
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
        try:
            _signature(method).bind(self, *args, **kwargs)
        except TypeError as error:
            raise _refuse_arguments(method, error) from None
        if self.is_in_step:
            return method(self, *args, **kwargs)
        args, kwargs = _plain(args), {name: _plain(value) for name, value in kwargs.items()}  # type: ignore[assignment]
        for value in (*args, *kwargs.values()):
            _check_recordable(method.__name__, value)
        before = self.func
        self.is_in_step = True
        try:
            result = method(self, *args, **kwargs)
            self.name_bounds(before)
            self.check(method.__name__, before, unsafe=bool(kwargs.get("unsafe")))
        except BaseException as error:
            self.func = before
            if isinstance(error, ScheduleError):
                self.note_refused(Step(method.__name__, args, kwargs), error)
            raise
        finally:
            self.is_in_step = False
        defaults = _signature(method).parameters
        options = {
            name: value
            for name, value in kwargs.items()
            if value is not None or defaults[name].default is not None
        }
        if self.decision is not None:
            options["decision"], self.decision = self.decision, None
        handles, is_list = _handles(result)
        self.record(Step(method.__name__, args, options, handles, is_list), before)
        return result

    recorded.is_step = True  # type: ignore[attr-defined]
    return recorded


@functools.cache
def _signature(method: Callable[..., Any]) -> inspect.Signature:
    """What a step takes, looked up when it is taken for the first time."""
    return inspect.signature(method)


def _refuse_arguments(method: Callable[..., Any], error: TypeError) -> ArgumentError:
    """What is wrong with the arguments of a step, and how it is written."""
    _, *parameters = _signature(method).parameters.values()
    needed = [
        f"{it.name}=..." if it.kind is it.KEYWORD_ONLY else it.name
        for it in parameters
        if it.default is it.empty and it.kind is not it.VAR_KEYWORD
    ]
    options = [it.name for it in parameters if it.default is not it.empty]
    more = f"; options are {', '.join(options)}" if options else ""
    name = method.__name__
    return ArgumentError(
        f"{name}: {error}", help=f"it is written s.{name}({', '.join(needed)}){more}"
    )


def _plain(value: Any) -> Any:
    """`value` with Python's numbers for NumPy's, and sequences that nobody else can change."""
    if isinstance(value, _NUMPY):
        number: Any = value.item()
        return number
    if isinstance(value, _ARRAY):
        return _plain(value.tolist())
    if isinstance(value, tuple | list | range):
        return tuple(_plain(item) for item in cast("Sequence[Any]", value))
    return value


def _check_recordable(name: str, value: object) -> None:
    """Refuse what no trace can hold: it is printed, and kept as text."""
    if isinstance(value, tuple):
        for item in cast("tuple[object, ...]", value):
            _check_recordable(name, item)
    elif value is not None and not isinstance(value, RECORDABLE):
        raise ScheduleError(
            f"{name}: a step takes loops, blocks, numbers, text and lists of them, got {value!r}"
        )


def _handles(result: Any) -> tuple[tuple[Handle, ...], bool]:
    if isinstance(result, LoopHandle | BlockHandle):
        return (result,), False
    if isinstance(result, tuple | list):
        items = cast("tuple[Any, ...] | list[Any]", result)
        if all(isinstance(item, LoopHandle | BlockHandle) for item in items):
            return tuple(items), True
    return (), False
