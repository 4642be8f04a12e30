"""Every HYBRIDJIT_* setting, typed and in one place.

The environment gives the defaults and is read when a setting is first asked for; `scope` changes
settings for the code that runs inside it. `api_edge` is here because it obeys one of them.

    HYBRIDJIT_CACHE=0           do not keep compiled kernels on disk
    HYBRIDJIT_CACHE_DIR=/path   keep them in /path/hybridjit, not in the user's cache directory
    HYBRIDJIT_CACHE_SIZE=500M   keep at most so much (bytes, or with K, M or G); 1G by default
    HYBRIDJIT_CACHE_STRICT=1    raise what is wrong with the disk cache, for tests
    HYBRIDJIT_CHECK=1           hold every call of a kernel against its plain function
    HYBRIDJIT_CPU=haswell       compile for this processor, by LLVM's name for it, not for the one
                                we run on, which must be able to run the code; the same for the
                                whole process
    HYBRIDJIT_DEBUG=1           compile programs as they are written, check every index, also those
                                that are proved, and fill np.empty with NaN (integers: the largest)
    HYBRIDJIT_INTERPRET=1       run kernels in the IR interpreter instead of compiling them
    HYBRIDJIT_NUM_THREADS=4     run parallel loops on at most so many threads
    HYBRIDJIT_PARALLEL=1        compile for all cores, as @hybrid.script(parallel=True) does, what
                                does not say parallel=False
    HYBRIDJIT_PERF=1            let perf and gdb know kernels by name, and gdb their lines, perf as
                                well if JITDUMPDIR names a folder; code is then compiled anew in
                                every process
    HYBRIDJIT_QUIET=1           no progress on the terminal, and no word of what compiles slowly
    HYBRIDJIT_TRACEBACK=full    keep the frames of this package in tracebacks
    HYBRIDJIT_TUNE_DB=/path     take the schedules that searches kept in this database
    HYBRIDJIT_VERIFY=0          do not verify the IR after every pass
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, Token
from dataclasses import replace
from functools import cache, wraps
from types import TracebackType
from typing import TYPE_CHECKING, Literal, ParamSpec, TypedDict, TypeVar

from hybridjit.errors import ConfigError, trim_error
from hybridjit.record import record

if TYPE_CHECKING:
    from typing_extensions import Unpack  # takes 3 ms to load

TracebackStyle = Literal["short", "full"]

_SWITCH = {"1": True, "true": True, "on": True, "0": False, "false": False, "off": False}
_TRACEBACKS = ("short", "full")
_UNITS = {"k": 10, "m": 20, "g": 30}
_MAX_DIGITS = 18  # more than any disk has

_P = ParamSpec("_P")
_R = TypeVar("_R")


@record
class Config:
    """The settings in force."""

    cache_dir: str | None = None
    cache_enabled: bool = True
    cache_size: int = 1 << 30
    cache_strict: bool = False
    check: bool = False
    cpu: str | None = None
    debug: bool = False
    interpret: bool = False
    num_threads: int | None = None
    parallel: bool = False
    perf: bool = False
    quiet: bool = False
    traceback: TracebackStyle = "short"
    tune_db: str | None = None
    verify: bool = True


def current() -> Config:
    """Return the settings in force here: those of the innermost `scope`, or the environment's."""
    scoped = _scoped.get()
    return _from_environment() if scoped is None else scoped


class Changes(TypedDict, total=False):
    """The settings that `scope` takes: those of `Config`, but `hj.threads` sets `num_threads`, and
    `hj.tune.use` opens `tune_db`.

    Nor `cpu` and `debug`: what is compiled is called from everywhere in the process.
    """

    cache_dir: str | None
    cache_enabled: bool
    cache_size: int
    cache_strict: bool
    check: bool
    interpret: bool
    parallel: bool
    perf: bool
    quiet: bool
    traceback: TracebackStyle
    verify: bool


def scope(**changes: Unpack[Changes]) -> AbstractContextManager[Config]:
    """Change the given settings inside a `with` block, in this thread or task only."""
    for name, value in changes.items():
        _check_change(name, value)
    return _Scope(changes)


# What is not for a scope, and what is instead.
_ELSEWHERE = {
    "num_threads": "write `with hj.threads(n):`",
    "tune_db": "write `hj.tune.use(path)`",
    "cpu": "it is for a whole process: set HYBRIDJIT_CPU before it starts",
    "debug": "it is for a whole process: set HYBRIDJIT_DEBUG=1 before it starts",
}


def _check_change(name: str, value: object) -> None:
    if name not in Changes.__annotations__:
        known = f"there are {', '.join(Changes.__annotations__)}"
        raise ConfigError(f"{name!r} is no setting of a scope", help=_ELSEWHERE.get(name, known))
    wanted = _refusal(name, value)
    if wanted is not None:
        raise ConfigError(f"{name} is {value!r}; it must be {wanted}")


def _refusal(name: str, value: object) -> str | None:
    """What a setting must be, if it is not that."""
    if name == "traceback":
        return None if value in _TRACEBACKS else f"one of {', '.join(_TRACEBACKS)}"
    if name == "cache_dir":
        return None if value is None or isinstance(value, str) else "a str, or None"
    if name == "cache_size":
        is_size = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        return None if is_size else "a number of bytes"
    return None if isinstance(value, bool) else "True or False"


_opened: dict[str, str | None] = {}
_ignores_database: ContextVar[bool] = ContextVar("hybridjit_ignores_database", default=False)


def use_database(path: str | None) -> None:
    """Let kernels take what searches kept in this database; None for none."""
    _opened["path"] = path


@contextmanager
def without_database() -> Generator[None]:
    """Let kernels take nothing from a database, in this thread or task only."""
    token = _ignores_database.set(True)
    try:
        yield
    finally:
        _ignores_database.reset(token)


def tune_database() -> str | None:
    """Return the database that was opened, or else that of the environment."""
    if _ignores_database.get():
        return None
    return _opened.get("path", current().tune_db) if _opened else current().tune_db


def clear() -> None:
    """Forget what was read from the environment, so that it is read again."""
    _from_environment.cache_clear()
    _opened.clear()
    may_divert.value = 1


# Native calls, which do not look at the settings, do so once this is not 0: for good from the
# moment that `interpret` or `check` is on anywhere, in a scope that another thread or task may have
# copied.
may_divert = ctypes.c_int64(0)


def is_diverted() -> bool:
    """Return whether calls are to go through Python here: interpreted, or checked."""
    config = current()
    return config.interpret or config.check


def api_edge(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let an error of the user's code leave `function` as if the caller's line had raised it.

    Frames of this package vanish from its traceback, those of the user's callbacks stay; with
    HYBRIDJIT_TRACEBACK=full nothing is touched. Python 3.10 keeps the one frame of this wrapper
    (see `errors.trim_traceback`). Code that cannot afford another call, about 100 ns, writes the
    `except` clause below itself.
    """

    @wraps(function)
    def edge(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            if not wants_full_traceback():
                trim_error(error)
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

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._tokens: list[Token[Config | None]] = []

    def __enter__(self) -> Config:
        config = replace(current(), **self._changes)
        if config.interpret or config.check:
            may_divert.value = 1
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
    interpret = _read_switch("HYBRIDJIT_INTERPRET", default=_DEFAULT.interpret)
    check = _read_switch("HYBRIDJIT_CHECK", default=_DEFAULT.check)
    if interpret or check:
        may_divert.value = 1
    return Config(
        cache_dir=os.environ.get("HYBRIDJIT_CACHE_DIR") or _DEFAULT.cache_dir,
        cache_enabled=_read_switch("HYBRIDJIT_CACHE", default=_DEFAULT.cache_enabled),
        cache_size=_read_size("HYBRIDJIT_CACHE_SIZE", default=_DEFAULT.cache_size),
        cache_strict=_read_switch("HYBRIDJIT_CACHE_STRICT", default=_DEFAULT.cache_strict),
        check=check,
        cpu=_read_cpu("HYBRIDJIT_CPU"),
        debug=_read_switch("HYBRIDJIT_DEBUG", default=_DEFAULT.debug),
        interpret=interpret,
        num_threads=_read_count("HYBRIDJIT_NUM_THREADS", default=_DEFAULT.num_threads),
        parallel=_read_switch("HYBRIDJIT_PARALLEL", default=_DEFAULT.parallel),
        perf=_read_switch("HYBRIDJIT_PERF", default=_DEFAULT.perf),
        quiet=_read_switch("HYBRIDJIT_QUIET", default=_DEFAULT.quiet),
        traceback=_read_traceback("HYBRIDJIT_TRACEBACK", default=_DEFAULT.traceback),
        tune_db=os.environ.get("HYBRIDJIT_TUNE_DB") or _DEFAULT.tune_db,
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


def _read_size(variable: str, *, default: int) -> int:
    text = _read(variable)
    if text == "":
        return default
    digits, unit = (text[:-1], text[-1]) if text[-1] in _UNITS else (text, "")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MAX_DIGITS):
        raise ConfigError(
            f"{variable} is {text!r}; it must be a number of bytes, or one with K, M or G"
        )
    return int(digits) << _UNITS.get(unit, 0)


def _read_count(variable: str, *, default: int | None) -> int | None:
    text = _read(variable)
    if text == "":
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS and int(text) > 0):
        raise ConfigError(f"{variable} is {text!r}; it must be a number, 1 or more")
    return int(text)


def _read_cpu(variable: str) -> str | None:
    """Return the name of a processor, which only LLVM can check; "native" is the one we are on."""
    text = _read(variable)
    return None if text in ("", "native") else text


def _read_traceback(variable: str, *, default: TracebackStyle) -> TracebackStyle:
    text = _read(variable)
    return default if text == "" else _checked_traceback(text, variable)


def _read(variable: str) -> str:
    """Return the variable's text; an empty one counts as unset, as shells have it."""
    return os.environ.get(variable, "").strip().lower()


def _checked_traceback(text: str, setting: str) -> TracebackStyle:
    if text != "short" and text != "full":
        raise ConfigError(f"{setting} is {text!r}; it must be one of {', '.join(_TRACEBACKS)}")
    return text
