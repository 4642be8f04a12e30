"""The operands of a call: arrays, and numbers; what NumPy would make of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from hybridjit.errors import ArgumentError, ShapeMismatch
from hybridjit.ir.dtype import DType, ScalarType, find_dtype
from hybridjit.runtime.arguments import spec_of_argument
from hybridjit.scalars.builtins import numpy_dtype
from hybridjit.scalars.kinds import is_array, is_numpy_scalar, is_python_number, type_name
from hybridjit.scalars.specs import ScalarSpec

Array = Any  # a NumPy array; its static type would say nothing
CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")
USUAL_CASTING = "same_kind"
# Python numbers take the type that is asked for, if it is of their kind or a later one; that of
# bfloat16 is "V".
_KINDS: dict[type, str] = {int: "iufcV", float: "fcV", complex: "c"}
# Subclasses that are nothing but arrays whose memory lies elsewhere.
PLAIN_ARRAYS: tuple[type, ...] = (np.ndarray, np.memmap)


def read_input(name: str, value: Any) -> Any:
    """An argument as an array with dimensions, or as a number."""
    if is_python_number(value) or is_numpy_scalar(value):
        return value
    array: Array = value if is_array(value) else np.asarray(value)
    if type(array) not in PLAIN_ARRAYS:
        raise ArgumentError(
            f"argument '{name}' is a {type_name(array)}, and results are plain arrays",
            help=f"pass np.asarray({name})",
        )
    return array if array.ndim else array[()]


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an array; a number has none."""
    return value.shape if is_array(value) else ()


def as_array(value: Any, dtype: Any = None) -> Array:
    """`value` as an array."""
    return np.asarray(value, dtype)


def as_type(name: str, value: Any, dtype: np.dtype[Any], casting: str) -> Any:
    """An input, converted to the type that the caller asks for."""
    if type(value) is int and dtype.kind in "iu":
        return np.asarray(value, dtype)[()]  # refused by NumPy if it does not fit
    found = as_array(value).dtype
    is_of_its_kind = is_python_number(value) and dtype.kind in _KINDS.get(type(value), "")
    if not is_of_its_kind and not can_cast(found, dtype, casting):
        raise ArgumentError(
            f"argument '{name}' is {found}, which {casting!r} does not cast to {dtype}",
            help='pass casting="unsafe"',
        )
    return value.astype(dtype) if is_array(value) else np.asarray(value).astype(dtype)[()]


def can_cast(found: np.dtype[Any], wanted: np.dtype[Any], casting: Any) -> bool:
    """True if NumPy's rule allows the conversion."""
    if casting not in CASTINGS:
        raise ArgumentError(f"casting must be one of {', '.join(CASTINGS)}, got {casting!r}")
    return found == wanted or np.can_cast(found, wanted, casting)


def read_dtype(dtype: Any) -> DType:
    """The element type that a dtype argument means."""
    try:
        found = find_dtype(numpy_dtype(dtype))
    except TypeError as error:
        raise ArgumentError(f"dtype: {error}") from None
    assert found is not None
    return found


def element_spec(name: str, value: Any, *, is_typed: bool) -> ScalarSpec:
    """The type of an element: of an array, or of a number. A Python bool is one of NumPy's."""
    if is_array(value):
        value = np.zeros((), value.dtype)[()] if find_dtype(value.dtype) else value
    spec = spec_of_argument(name, value)
    if not isinstance(spec, ScalarSpec):
        raise ArgumentError(f"argument '{name}' is not an array or a number")
    is_typed = is_typed or isinstance(value, bool)
    return ScalarSpec(ScalarType(spec.type.dtype)) if is_typed else spec


def broadcast(name: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape in which arrays meet."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ShapeMismatch(
            f"{name}: operands could not be broadcast together: the shapes are "
            f"{' and '.join(map(str, shapes))}"
        ) from None


def all_contiguous(arrays: Iterable[Array], shape: tuple[int, ...]) -> bool:
    """True if all arrays have this shape, in C order without gaps."""
    return all(array.shape == shape and array.flags.c_contiguous for array in arrays)


def all_fortran(arrays: Iterable[Array], shape: tuple[int, ...]) -> bool:
    """True if all arrays have this shape, in Fortran order without gaps, and not in C order."""
    return all(
        array.shape == shape and array.flags.f_contiguous and not array.flags.c_contiguous
        for array in arrays
    )
