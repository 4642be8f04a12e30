"""`out=`: the arrays for the results, and what happens where they share memory with operands."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from hybridjit.errors import ArgumentError, ArgumentValueError, ShapeMismatch
from hybridjit.ir.dtype import DType, find_dtype
from hybridjit.record import record
from hybridjit.runtime.arguments import overlap, overlaps_itself
from hybridjit.scalars.kinds import is_array, type_name
from hybridjit.ufuncs.operands import PLAIN_ARRAYS, Array, can_cast


@record
class SameAs:
    """Stands for an operand that is one of the outputs itself: it is updated in place."""

    position: int


def read_out(out: Any, count: int) -> tuple[Any, ...] | None:
    """The value of `out=`: an array, or for several results a tuple of arrays or Nones."""
    given: tuple[Any, ...] = cast("tuple[Any, ...]", out) if isinstance(out, tuple) else (out,)
    if all(item is None for item in given):
        return None
    if len(given) != count:
        raise ArgumentError(
            f"out= must be {'an array' if count == 1 else f'a tuple of {count} arrays'}"
        )
    return given


def check_target(array: Any) -> None:
    """Refuse what cannot take results."""
    if type(array) not in PLAIN_ARRAYS:
        raise ArgumentError(f"out= must be an array, got a {type_name(array)}")
    if find_dtype(array.dtype) is None:
        raise ArgumentError(f"out= has dtype {array.dtype}, which is not supported")
    if not array.flags.writeable:
        raise ArgumentValueError("out= is read-only")
    if overlaps_itself(array):
        raise ArgumentValueError("some elements of out= share memory")


def check_targets(
    outs: Sequence[Array], shape: tuple[int, ...], dtypes: Sequence[DType], casting: str
) -> None:
    """Refuse arrays that do not fit the results."""
    for array, dtype in zip(outs, dtypes, strict=True):
        if array.shape != shape:
            raise ShapeMismatch(f"out= has the shape {array.shape}, and the result {shape}")
        check_cast(dtype, array.dtype, casting)
    for a, b in itertools.combinations(outs, 2):
        if overlap(a, b):
            raise ArgumentValueError("two arrays of out= share memory")


def check_cast(found: DType, wanted: np.dtype[Any], casting: str) -> None:
    """Refuse to store results in a type that cannot hold them."""
    if not can_cast(found.numpy, wanted, casting):
        raise ArgumentError(
            f"the result is {found}, which {casting!r} does not cast to {wanted}",
            help=f'make out an array of {found}, or pass casting="unsafe"',
        )


def without_overlap(operand: Any, outs: Sequence[Array]) -> Any:
    """An operand that no store into `outs` changes: itself, a copy, or the output that it is."""
    if not is_array(operand):
        return operand
    for position, out in enumerate(outs):
        if _is_same(operand, out):
            return SameAs(position)
    array: Array = operand
    shares = any(np.may_share_memory(operand, out) and overlap(operand, out) for out in outs)
    return array.copy() if shares else array


def _is_same(a: Array, b: Array) -> bool:
    return (
        a.dtype == b.dtype
        and a.shape == b.shape
        and a.strides == b.strides
        and a.ctypes.data == b.ctypes.data
    )
