"""`njit` and `prange` as the functions of the collection know them, and who stands behind them.

The modules in `fields` are written for Numba. Loaded as they are, their functions are scripts;
loaded by `functions_of(field, compiler)`, another compiler decorates the same text.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from hybridjit import hybrid

Compiler = Callable[..., Any]


def script(function: Any = None, **options: Any) -> Any:
    """A script, where Numba is asked for: what only Numba has is left out."""
    known = {name: value for name, value in options.items() if name in ("parallel", "fastmath")}
    if function is None:
        return functools.partial(script, **known)
    return hybrid.script(function, **known)


_decorator: list[Compiler] = [script]


def njit(function: Any = None, **options: Any) -> Any:
    """What the compiler of the day makes of a function."""
    decorate = _decorator[-1]
    return decorate(function, **options) if function is not None else decorate(**options)


prange: Any = hybrid.prange


@contextmanager
def _decorating_with(compiler: Compiler, parallel_range: Any) -> Generator[None]:
    global prange
    before = prange
    _decorator.append(compiler)
    prange = parallel_range
    try:
        yield
    finally:
        _decorator.pop()
        prange = before


def functions_of(field: str, compiler: Compiler = script, ranges: Any = prange) -> ModuleType:
    """The module of a field, loaded anew with its functions decorated by `compiler`."""
    found = importlib.util.find_spec(f"tests.wild.fields.{field}")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    with _decorating_with(compiler, ranges):
        found.loader.exec_module(module)
    return module
