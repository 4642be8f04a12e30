"""The types in which operators compute: half precision only at the beginning and at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from hybridjit.ir.dtype import BFLOAT16, FLOAT16, FLOAT32, DType
from hybridjit.te import Expression
from hybridjit.tensors.compute import Body


def working_type(dtype: DType) -> DType:
    """The type in which a result of type `dtype` is computed: half precision loses too much."""
    return FLOAT32 if dtype in (FLOAT16, BFLOAT16) else dtype


def in_type(value: Any, dtype: DType) -> Any:
    """An element as one of `dtype`; Python's numbers, which give way to it, are left alone."""
    is_typed = isinstance(value, Expression) and not value.scalar.type.weak
    return value.astype(dtype) if is_typed and value.dtype is not dtype else value


def rounded_once(function: Body) -> Callable[..., Any]:
    """`function` of elements, computed in the working type of its result."""

    of_elements = cast("Callable[..., Any]", function)

    def element(*values: Any) -> Any:
        dtype = of_elements(*values).dtype
        working = working_type(dtype)
        return of_elements(*(in_type(value, working) for value in values)).astype(dtype)

    return element
