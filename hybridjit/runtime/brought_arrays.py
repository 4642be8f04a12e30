"""Arrays of others, as NumPy arrays in the same memory.

What offers its memory (`memoryview`, `array.array`, arrays of ctypes, `__array_interface__`,
columns of pandas and xarray, tensors of torch, anything with DLPack on the CPU) is an argument like
a NumPy array, and is written to where it lies. What only offers a copy can be read: an array that
nobody else has is marked read-only, so that a script that writes to it is refused rather than of no
effect.
"""

from __future__ import annotations

import array
import ctypes
import sys
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridjit.errors import ArgumentError
from hybridjit.ir.dtype import BFLOAT16
from hybridjit.scalars.kinds import is_sequence, type_name

_BUFFERS = (memoryview, array.array, ctypes.Array)
# What is asked first, and is no array of anybody.
_PLAIN: tuple[Any, ...] = (
    *(np.ndarray, np.generic, bool, int, float, complex, str, bytes, type(None), type, np.dtype),
    *(FunctionType, BuiltinFunctionType, np.ufunc),
)
_CPU = 1  # kDLCPU of DLPack
# What packages raise whose objects are no arrays, or not now: a tensor that gradients go
# through, a sparse one, a set of columns.
_REFUSALS = (TypeError, ValueError, RuntimeError, BufferError)


def as_arrays(value: Any) -> Any:
    """An argument with arrays of others as NumPy arrays; tuples and lists are looked through."""
    if isinstance(value, _PLAIN):
        return value
    if is_sequence(value):
        items = [as_arrays(item) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        made: Any = type(value)
        return made(*items) if hasattr(value, "_fields") else made(items)
    found = _find_array(value)
    return value if found is None else found


def _find_array(value: Any) -> NDArray[Any] | None:
    if _has(value, "__hybrid_function__") or _has(value, "__te_operand__"):
        return None
    try:
        return _array_of(value)
    except ArgumentError:
        raise
    except _REFUSALS as error:
        raise ArgumentError(
            f"the memory of a {type_name(value)} is not that of an array: {error}",
            help="make an array of it first, which NumPy can show",
        ) from error


def _array_of(value: Any) -> NDArray[Any] | None:
    if isinstance(value, bytearray):
        return np.frombuffer(value, np.uint8)
    if isinstance(value, _BUFFERS) or _has(value, "__array_interface__"):
        return np.asarray(value)
    if _has(value, "__dlpack_device__"):
        _check_device(value)
    if str(getattr(value, "dtype", None)) == "torch.bfloat16":
        return _of_16_bits(value)
    if _has(value, "__array__"):
        return _shared(value)
    if _has(value, "__dlpack__"):
        return np.from_dlpack(value)
    return None


def _of_16_bits(tensor: Any) -> NDArray[Any]:
    """A tensor of bfloat16, which torch shows to NumPy as integers only."""
    bits: Any = np.asarray(tensor.view(sys.modules["torch"].int16))
    return bits.view(BFLOAT16.numpy)


def _has(value: object, name: str) -> bool:
    """Whether it was given an attribute, or its class has it: asking the object may compute."""
    return hasattr(type(value), name) or name in getattr(value, "__dict__", ())


def _check_device(value: Any) -> None:
    if value.__dlpack_device__()[0] != _CPU:
        raise ArgumentError(
            f"a {type_name(value)} lies in the memory of another device",
            help="copy it to the CPU first, as in x.cpu()",
        )


def _shared(value: Any) -> NDArray[Any] | None:
    """What `__array__` gives: the memory itself, or else a copy that cannot be written to."""
    found: Any = np.asarray(value)
    if found.dtype == object:
        return None
    if _is_constant(value) or (found.size and not np.may_share_memory(found, np.asarray(value))):
        found = found.view()
        found.flags.writeable = False
    return found


def _is_constant(value: Any) -> bool:
    """True for an index of pandas: it shows memory that may be written, and must not change."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.Index)
