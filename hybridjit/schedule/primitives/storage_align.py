"""storage_align: pad the rows of a scratch buffer."""

from __future__ import annotations

import dataclasses

from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Buffer, Const, Expr, Mod
from hybridjit.ir.func import PrimFunc
from hybridjit.schedule.buffers import (
    check_inside,
    replace_buffer,
    scope_of,
    the_scratch_array,
)
from hybridjit.schedule.refusal import refuse


def storage_align(
    func: PrimFunc, buffer: Buffer, axis: int, factor: int, offset: int = 0
) -> PrimFunc:
    """Make the stride of `axis`, in elements, `offset` more than a multiple of `factor`.

        t = allocate((8, 30), "float32", "local")   -->   t = allocate((8, 33), ...)

    as axis=0, factor=32, offset=1 do. The size of the next axis grows, indices stay as they are.
    """
    check_storage_align(func, buffer, axis, factor)
    return make_storage_align(func, buffer, axis, factor, offset)


def check_storage_align(func: PrimFunc, buffer: Buffer, axis: int, factor: int) -> None:
    """Refuse what is no axis with a stride, and indices that may count from the end of the next."""
    allocation = the_scratch_array(func, buffer, "storage_align")
    _check_axis(func, buffer, axis, factor)
    scope = scope_of(func, allocation)
    check_inside(func, buffer, scope, "storage_align", [axis % buffer.ndim + 1])


def make_storage_align(
    func: PrimFunc, buffer: Buffer, axis: int, factor: int, offset: int = 0
) -> PrimFunc:
    """`func` with padded rows of a buffer; refused if no padding gives the stride."""
    axis %= buffer.ndim
    extent = _padded(func, buffer, axis, factor, offset % factor)
    shape = (*buffer.shape[: axis + 1], extent, *buffer.shape[axis + 2 :])
    return replace_buffer(func, buffer, dataclasses.replace(buffer, shape=shape))


def _check_axis(func: PrimFunc, buffer: Buffer, axis: int, factor: int) -> None:
    if factor < 1:
        raise refuse(func, f"storage_align: the factor must be at least 1, got {factor}")
    if not -buffer.ndim <= axis < buffer.ndim:
        raise refuse(
            func, f"storage_align: '{buffer.name}' has {buffer.ndim} axes, there is no axis {axis}"
        )
    if axis % buffer.ndim == buffer.ndim - 1:
        raise refuse(
            func,
            f"storage_align: axis {axis} of '{buffer.name}' is the last, whose stride is 1",
            help="align the stride of an axis before it",
        )


def _padded(func: PrimFunc, buffer: Buffer, axis: int, factor: int, offset: int) -> Expr:
    """The smallest size of the next axis that gives the stride."""
    extent, inner = buffer.shape[axis + 1], buffer.shape[axis + 2 :]
    if not inner:
        return simplify(extent + Mod(offset - extent, Const(factor)))
    row = _row(inner)
    if row is None or not isinstance(extent, Const):
        raise refuse(
            func,
            f"storage_align: the sizes of '{buffer.name}' after axis {axis} are not all constants",
        )
    found = int(extent.value.real)
    for candidate in range(found, found + factor):
        if candidate * row % factor == offset:
            return Const(candidate)
    raise refuse(
        func,
        f"storage_align: no stride of axis {axis} of '{buffer.name}' is {offset} more than a "
        f"multiple of {factor}: it is a multiple of {row}",
    )


def _row(inner: tuple[Expr, ...]) -> int | None:
    row = 1
    for extent in inner:
        if not isinstance(extent, Const):
            return None
        row *= int(extent.value.real)
    return row
