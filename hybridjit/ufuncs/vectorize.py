"""`hybrid.vectorize`: the decorator that makes a ufunc of a function of numbers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from hybridjit.config import api_edge
from hybridjit.errors import ArgumentError
from hybridjit.ir.fastmath import Fastmath, read_fastmath
from hybridjit.ufuncs.ufunc import Declared, Ufunc, make_ufunc


@api_edge
def vectorize(
    function: Callable[..., Any] | None = None,
    *,
    identity: Any = None,
    associative: bool = False,
    fastmath: Fastmath = False,
    parallel: bool = False,
) -> Any:
    """A ufunc of a function of numbers, or the decorator that makes one: see `hybrid.vectorize`."""
    if function is None:
        return functools.partial(
            vectorize,
            identity=identity,
            associative=associative,
            fastmath=fastmath,
            parallel=parallel,
        )
    if isinstance(function, Ufunc):
        raise ArgumentError(f"{function!r} is a ufunc already")
    return make_ufunc(function, Declared(identity, associative, read_fastmath(fastmath), parallel))
