"""What kind of Python object is it? Questions whose answers a type checker can follow.

`isinstance(x, np.ndarray)` leaves the element type unknown, and so everything read from `x`.
"""

from __future__ import annotations

import sys
from dataclasses import fields, is_dataclass
from typing import Any, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from hybridjit.ir.dtype import WEAK_BOOL, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, ScalarType

PythonNumber = bool | int | float | complex


class NumpyScalar(Protocol):
    """What is asked of a NumPy scalar here."""

    @property
    def dtype(self) -> np.dtype[Any]: ...


_WEAK_TYPES: dict[type, ScalarType] = {
    bool: WEAK_BOOL,
    int: WEAK_INT,
    float: WEAK_FLOAT,
    complex: WEAK_COMPLEX,
}


def is_array(value: object) -> TypeGuard[NDArray[Any]]:
    """True for a NumPy array, of a subclass too."""
    return isinstance(value, np.ndarray)


def is_masked_array(array: NDArray[Any]) -> bool:
    """True for an array with a mask. Only a subclass can have one: numpy.ma takes 10 ms to load."""
    return type(array) is not np.ndarray and isinstance(array, np.ma.MaskedArray)


def is_numpy_scalar(value: object) -> TypeGuard[NumpyScalar]:
    """True for a NumPy scalar such as np.float32(1)."""
    return isinstance(value, np.generic)


def is_sequence(value: object) -> TypeGuard[tuple[object, ...] | list[object]]:
    """True for a tuple or a list."""
    return isinstance(value, (tuple, list))


def is_record(value: object) -> bool:
    """True for an instance of a dataclass."""
    return is_dataclass(value) and not isinstance(value, type)


def field_names(value: object) -> tuple[str, ...] | None:
    """The names of what a named tuple or a dataclass holds; None for anything else."""
    if is_dataclass(value):
        return tuple(field.name for field in fields(value))
    names: tuple[str, ...] | None = getattr(type(value), "_fields", None)
    return names if isinstance(value, tuple) else None


def is_python_number(value: object) -> TypeGuard[PythonNumber]:
    """True for exactly a bool, int, float or complex: a subclass may mean something else."""
    return type(value) in _WEAK_TYPES


def weak_type(value: PythonNumber) -> ScalarType:
    """The weak type of a Python number."""
    return _WEAK_TYPES[type(value)]


def find_weak_type(cls: object) -> ScalarType | None:
    """The weak type of the values of a Python class: of `float`, a Python float."""
    return _WEAK_TYPES.get(cls) if isinstance(cls, type) else None


def type_name(value: object) -> str:
    """The name of the type of a Python object, qualified when it is not a built-in."""
    cls = type(value)
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


def is_generator(value: object) -> TypeGuard[np.random.Generator]:
    """Whether it is a generator of NumPy's. Where there is one, its module is loaded: we do not.

    NumPy loads it when it is first asked for, and not while a signal finds it being loaded.
    """
    module: Any = sys.modules.get("numpy.random")
    kind: Any = getattr(module, "Generator", None)
    return kind is not None and isinstance(value, kind)
