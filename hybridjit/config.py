"""Every HYBRIDJIT_* setting, typed and in one place.

The environment gives the defaults and is read when a setting is first asked for; `scope` changes
settings for the code that runs inside it. `api_edge` is here because it obeys one of them.

    HYBRIDJIT_INTERPRET=1       run kernels in the IR interpreter instead of compiling them
    HYBRIDJIT_TRACEBACK=full    keep the frames of this package in tracebacks
    HYBRIDJIT_VERIFY=0          do not verify the IR after every pass
"""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar, Token
from dataclasses import dataclass, replace
from functools import cache, wraps
from types import TracebackType
from typing import Any, Literal, ParamSpec, TypeVar

from hybridjit.errors import ConfigError, HybridError, trim_traceback

TracebackStyle = Literal["short", "full"]

_SWITCH = {"1": True, "true": True, "on": True, "0": False, "false": False, "off": False}

_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Config:
    """The settings in force."""

    interpret: bool = False
    traceback: TracebackStyle = "short"
    verify: bool = True


def current() -> Config:
    """Return the settings in force here: those of the innermost `scope`, or the environment's."""
    scoped = _scoped.get()
    return _from_environment() if scoped is None else scoped


def scope(
    *,
    interpret: bool | None = None,
    traceback: TracebackStyle | None = None,
    verify: bool | None = None,
) -> AbstractContextManager[Config]:
    """Change the given settings inside a `with` block, in this thread or task only."""
    if traceback is not None:
        _checked_traceback(traceback, "traceback")
    settings = {"interpret": interpret, "traceback": traceback, "verify": verify}
    return _Scope({name: value for name, value in settings.items() if value is not None})


def clear() -> None:
    """Forget what was read from the environment, so that it is read again."""
    _from_environment.cache_clear()


def api_edge(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let a `HybridError` leave `function` as if the caller's line had raised it.

    Frames of this package vanish from its traceback, those of the user's callbacks stay; with
    HYBRIDJIT_TRACEBACK=full nothing is touched. Python 3.10 keeps the one frame of this wrapper
    (see `trim_traceback`). Code that cannot afford another call, about 100 ns, writes the `except`
    clause below itself.
    """

    @wraps(function)
    def edge(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except HybridError as error:
            if not wants_full_traceback():
                trim_traceback(error)
            raise

    return edge


def wants_full_traceback() -> bool:
    """Return whether tracebacks keep our frames; usable while a malformed setting is reported."""
    try:
        return current().traceback == "full"
    except ConfigError:
        return False


_scoped: ContextVar[Config | None] = ContextVar("hybridjit_config", default=None)


class _Scope(AbstractContextManager[Config]):
    """Not a generator: its frames would come from contextlib and stay in every traceback."""

    def __init__(self, changes: dict[str, Any]) -> None:
        self._changes = changes
        self._tokens: list[Token[Config | None]] = []

    def __enter__(self) -> Config:
        config = replace(current(), **self._changes)
        self._tokens.append(_scoped.set(config))
        return config

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _scoped.reset(self._tokens.pop())


@cache
def _from_environment() -> Config:
    return Config(
        interpret=_read_switch("HYBRIDJIT_INTERPRET", default=_DEFAULT.interpret),
        traceback=_read_traceback("HYBRIDJIT_TRACEBACK", default=_DEFAULT.traceback),
        verify=_read_switch("HYBRIDJIT_VERIFY", default=_DEFAULT.verify),
    )


_DEFAULT = Config()


def _read_switch(variable: str, *, default: bool) -> bool:
    text = _read(variable)
    if text == "":
        return default
    if text not in _SWITCH:
        raise ConfigError(f"{variable} is {text!r}; it must be one of {', '.join(_SWITCH)}")
    return _SWITCH[text]


def _read_traceback(variable: str, *, default: TracebackStyle) -> TracebackStyle:
    text = _read(variable)
    return default if text == "" else _checked_traceback(text, variable)


def _read(variable: str) -> str:
    """Return the variable's text; an empty one counts as unset, as shells have it."""
    return os.environ.get(variable, "").strip().lower()


def _checked_traceback(text: str, setting: str) -> TracebackStyle:
    if text != "short" and text != "full":
        raise ConfigError(f"{setting} is {text!r}; it must be one of short, full")
    return text
