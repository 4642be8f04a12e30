"""`__array_ufunc__`: operands of other libraries say themselves what a ufunc does to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from hybridjit.errors import ArgumentError
from hybridjit.scalars.kinds import type_name

Override = Callable[[Any, str, Sequence[Any], Mapping[str, Any]], Any]


def find_override(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Override | None:
    """How the operands want to be computed, or None if they are NumPy's and Python's."""
    out: Any = kwargs.get("out")
    outs = cast("tuple[Any, ...]", out) if isinstance(out, tuple) else (out,)
    found: list[Any] = [value for value in (*args, *outs) if _has_own(type(value))]
    if not found:
        return None
    # A subclass knows more than its bases: it is asked first.
    found.sort(key=lambda value: -len(type(value).__mro__))

    def run(ufunc: Any, method: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        for value in found:
            if value.__array_ufunc__ is None:
                raise ArgumentError(f"a {type_name(value)} does not support ufuncs")
            result = value.__array_ufunc__(ufunc, method, *args, **kwargs)
            if result is not NotImplemented:
                return result
        kinds = ", ".join(dict.fromkeys(map(type_name, found)))
        raise ArgumentError(f"no operand knows what to do: {kinds}")

    return run


def _has_own(cls: Any) -> bool:
    if cls is np.ndarray or not hasattr(cls, "__array_ufunc__"):
        return False
    return cls.__array_ufunc__ is not np.ndarray.__array_ufunc__
