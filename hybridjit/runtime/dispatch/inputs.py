"""The records of flat parameters: how the dispatcher recognises and reads an argument."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridjit.codegen.dispatcher.layout import (
    ALIGNED,
    C_CONTIGUOUS,
    WARN_ON_WRITE,
    WRITEABLE,
    ExtentKind,
    Input,
    InputKind,
    Nesting,
    Span,
)
from hybridjit.codegen.dispatcher.object_layout import Offsets
from hybridjit.interp.base_array import base_array
from hybridjit.ir.dtype import (
    BOOL,
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    INT64,
    DType,
    ScalarType,
    find_dtype,
)
from hybridjit.ir.header import MAX_EXTENT
from hybridjit.runtime.dispatch.facts import read_bytes
from hybridjit.runtime.dispatch.memory import Memory, Unsupported, write
from hybridjit.scalars.kinds import NumpyScalar, is_numpy_scalar

Extents = Sequence[tuple[int, int]]

_INTEGER_CODES = "bBhHiIlLqQ"
# Scalars are read in pieces of 8 bytes, so an object must have them.
_HEADER = 16


def constant_record(constant: object, value: object, spare: int, memory: Memory) -> list[int]:
    """An argument whose value is part of the specialisation.

    That of an int is read into the word `spare`; other values are the same objects, or texts.
    """
    if type(value) is not type(constant):
        raise Unsupported
    record = [0] * len(Input)
    low, high = INT64.bounds
    if type(value) is int and low <= value <= high:
        write(record, Input.KIND, InputKind.INT)
        write(record, Input.WORD, spare)
        write(record, Input.LOW, value)
        write(record, Input.HIGH, value)
        return record
    write(record, Input.KIND, InputKind.CONSTANT)
    write(record, Input.TYPE, memory.keep(value))
    return record


# Scalars


def scalar_record(
    type: ScalarType, value: object, word: int, memory: Memory, *, is_small: bool = False
) -> list[int]:
    """A number: like `value`, passed in `word` as `type` says."""
    record = [0] * len(Input)
    write(record, Input.WORD, word)
    dtype = type.dtype
    if is_numpy_scalar(value):
        _write_numpy_scalar(record, dtype, value, memory)
        return record
    kind = _python_kind(dtype, value)
    write(record, Input.KIND, kind)
    if kind is InputKind.INT:
        low, high = (-MAX_EXTENT, MAX_EXTENT) if is_small else dtype.bounds
        write(record, Input.LOW, low)
        write(record, Input.HIGH, min(high, INT64.bounds[1]))
    return record


def _python_kind(dtype: DType, value: object) -> InputKind:
    """How a Python number becomes a parameter of type `dtype`."""
    kinds: dict[tuple[DType, type], InputKind] = {
        (BOOL, bool): InputKind.BOOL,
        (FLOAT64, float): InputKind.FLOAT,
        (FLOAT32, float): InputKind.FLOAT32,
        (COMPLEX128, complex): InputKind.COMPLEX,
    }
    found = kinds.get((dtype, type(value)))
    if found is None and dtype.is_integer and type(value) is int:
        found = InputKind.INT
    if found is None:
        raise Unsupported
    return found


def _write_numpy_scalar(
    record: list[int], dtype: DType, value: NumpyScalar, memory: Memory
) -> None:
    cls: Any = type(value)
    size = value.dtype.itemsize
    if find_dtype(value.dtype) is not dtype or cls.__basicsize__ < _HEADER + max(8, size):
        raise Unsupported
    # Seen on the argument itself, since types from elsewhere (bfloat16) are among them.
    if read_bytes(value, Offsets.SCALAR_VALUE, size) != np.asarray(value).tobytes():
        raise Unsupported
    kinds = {COMPLEX64: InputKind.SCALAR_COMPLEX64, COMPLEX128: InputKind.SCALAR_COMPLEX128}
    write(record, Input.KIND, kinds.get(dtype, InputKind.SCALAR))
    write(record, Input.TYPE, memory.keep(cls))


# Arrays


def array_record(
    given: NDArray[Any],
    expected: tuple[Extents, Extents | None, int | None],
    memory: Memory,
    *,
    is_written: bool,
) -> list[int]:
    """An array like `given`, with the extents, strides and alignment that the code expects.

    Arrays of a subclass have the same fields in the same places; what the class says of them in
    Python is not asked for.
    """
    extents, strides, align = expected
    array = base_array(given)
    dtype = find_dtype(array.dtype)
    if dtype is None or align not in (None, 1):
        raise Unsupported
    record = [0] * len(Input)
    numbers = _type_numbers(dtype)
    flags = (C_CONTIGUOUS if strides is None else 0) | (ALIGNED if align is None else 0)
    mask = C_CONTIGUOUS | ALIGNED
    if is_written:
        flags |= WRITEABLE
        mask |= WRITEABLE | WARN_ON_WRITE
    write(record, Input.KIND, InputKind.ARRAY)
    write(record, Input.TYPE, memory.keep(type(given)))
    write(record, Input.DESCRIPTOR, memory.keep(dtype.numpy))
    write(record, Input.NUMBER, numbers[0])
    write(record, Input.OTHER_NUMBER, numbers[-1])
    write(record, Input.NDIM, len(extents))
    write(record, Input.FLAG_MASK, mask)
    write(record, Input.FLAGS, flags)
    write(record, Input.EXTENTS, memory.put([*itertools.chain(*extents)]))
    write(record, Input.ITEMSIZE, array.itemsize)
    if strides is not None:
        write(record, Input.STRIDES, memory.put([*itertools.chain(*strides)]))
    _write_span(record, array, extents, strides)
    if is_written and strides is not None and _span_of(extents, strides) is Span.STRIDED:
        write(record, Input.NESTING, _nesting(array))
    return record


@cache
def _type_numbers(dtype: DType) -> list[int]:
    """NumPy's numbers of the type: long and long long are two types of one size."""
    own = [dtype.numpy.num]
    if not dtype.is_integer:
        return own
    same = [np.dtype(code) for code in _INTEGER_CODES]
    others = [found.num for found in same if found == dtype.numpy and found.num != own[0]]
    return own + others[:1]


def _write_span(
    record: list[int], array: NDArray[Any], extents: Extents, strides: Extents | None
) -> None:
    span = _span_of(extents, strides)
    if span is Span.FIXED and array.size == 0:
        span = Span.EMPTY
    write(record, Input.SPAN, span)
    if span is Span.FIXED:
        reaches = [
            (extent - 1) * stride for extent, stride in zip(array.shape, array.strides, strict=True)
        ]
        write(record, Input.SPAN_LOW, sum(reach for reach in reaches if reach < 0))
        high = sum(reach for reach in reaches if reach > 0)
        write(record, Input.SPAN_HIGH, high + array.itemsize)


def _span_of(extents: Extents, strides: Extents | None) -> Span:
    if all(kind == ExtentKind.FIXED for kind, _ in (*extents, *(strides or ()))):
        return Span.FIXED
    return Span.CONTIGUOUS if strides is None else Span.STRIDED


def _nesting(array: NDArray[Any]) -> Nesting:
    """In which order the axes of an array that is written lie inside each other."""
    sizes: Sequence[int] = [abs(stride) for stride in array.strides]
    if list(sizes) == sorted(sizes, reverse=True):
        return Nesting.LAST_INSIDE
    return Nesting.FIRST_INSIDE
