"""TOPI's operators on sizes, constants and slices, in terms of those of `hybridjit.stdlib`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hybridjit import stdlib as hs
from hybridjit import te

_ARRAY: type[Any] = np.ndarray


def ceil_log2(x: Any) -> Any:
    """Of numbers and te expressions, and of tensors and arrays, in their own type."""
    if isinstance(x, te.Tensor | _ARRAY):
        return hs.cast(hs.ceil_log2(x), x.dtype)
    if isinstance(x, te.Expression):
        if x.dtype.is_float:
            return te.ceil(te.log2(x))
        return (64 - te.clz(te.max(x, 1).astype("int64") - 1)).astype(x.dtype)
    return (x - 1).bit_length() if isinstance(x, int) else math.ceil(math.log2(x))


def collapse_sum(data: Any, target_shape: Any) -> Any:
    """In the type of the data."""
    return hs.cast(hs.collapse_sum(data, target_shape), data.dtype)


def const_vector(vector: Any, name: str = "const_vector") -> Any:
    """A tensor."""
    return hs.const_vector(
        np.asarray(vector).tolist(), np.asarray(vector).dtype, like=te.placeholder((1,))
    )


def ndarray_size(array: Any, dtype: Any = "int32") -> Any:
    """In int32 unless another type is given."""
    return hs.size(array, dtype)


def shape(array: Any, dtype: Any = "int32") -> Any:
    """In int32 unless another type is given."""
    return hs.shape(array, dtype)


def dynamic_strided_slice(a: Any, begin: Any, end: Any, strides: Any, output_shape: Any) -> Any:
    """The ends are those of the shape of the result."""
    starts, steps = (_like(a, values) for values in (begin, strides))
    return hs.dynamic_strided_slice(a, starts, steps, output_shape)


def _like(a: Any, values: Any) -> Any:
    """Integers as a tensor or an array, as `a` is one."""
    if isinstance(values, te.Tensor | _ARRAY):
        return values
    return const_vector(values) if isinstance(a, te.Tensor) else np.array(values)


ADAPTED = {
    "ceil_log2": ceil_log2,
    "collapse_sum": collapse_sum,
    "const_vector": const_vector,
    "dynamic_strided_slice": dynamic_strided_slice,
    "ndarray_size": ndarray_size,
    "shape": shape,
}
