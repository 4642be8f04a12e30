"""Functions by name: `register_func` and `get_global_func`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from hybridjit import hybrid
from hybridjit.compat.tvm.nd import NDArray
from hybridjit.errors import ArgumentValueError

Function = Callable[..., Any]
_registered: dict[str, Function] = {}
_ARRAY: type[Any] = np.ndarray


def register_func(
    name: str | Function, function: Function | None = None, override: bool = False
) -> Any:
    """Register a function under a name; also as a decorator, with or without the name."""
    if callable(name):
        return register_func(name.__name__, name)
    if function is None:
        return partial(register_func, name, override=override)
    if name in _registered and not override:
        raise ArgumentValueError(
            f"there is a function '{name}' already", help="override=True replaces it"
        )
    _registered[name] = function
    return function


def get_global_func(name: str, allow_missing: bool = False) -> Function | None:
    """The function that was registered under a name."""
    if name not in _registered and not allow_missing:
        raise ArgumentValueError(f"there is no function '{name}'")
    return _registered.get(name)


def find_packed(name: str, result: str | None = None) -> Any:
    """What calls the function that `name` has when the call is made, with arrays as TVM's."""
    get_global_func(name)

    def call(*args: Any) -> Any:
        function = _registered[name]
        return function(*(x.view(NDArray) if isinstance(x, _ARRAY) else x for x in args))

    return hybrid.packed(call, result)
