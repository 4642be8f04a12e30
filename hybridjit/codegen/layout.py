"""How arrays lie in memory, and how a kernel receives its arguments.

A kernel is a C function

    int32 kernel(data pointers..., dimensions..., strides..., scalars..., results..., error record)

with a pointer for each array parameter and output, an int64 for each run-time dimension and each
stride that is not part of the code, the scalar parameters by value (complex ones as two), and a
pointer for each scalar result. An array that the kernel makes and gives away is several results:
its address, and its size along each dimension.
"""

from __future__ import annotations

from typing import Any

from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Buffer, Var
from hybridjit.ir.header import Header
from hybridjit.ir.signature import ArrayResult, Result, ScalarParam, ScalarResult
from hybridjit.record import record


@record
class ArrayLayout:
    """The strides of an array in bytes, None where they follow from the shape: C order.

    A stride of None inside the tuple is passed at run time. `align` is the known alignment.
    """

    strides: tuple[int | None, ...] | None = None
    align: int | None = None


@record
class Layout:
    """What a kernel may assume about its arguments besides their types.

    `arrays` has an entry for each buffer parameter, in order. Outputs are made for the call, in C
    order. With `is_disjoint`, no array that is written shares memory with another one. Parameters
    with the numbers in `small` are ints as small as sizes of arrays are: sums of them are exact.
    """

    arrays: tuple[ArrayLayout, ...] = ()
    is_disjoint: bool = False
    small: tuple[int, ...] = ()

    @property
    def in_c_order(self) -> bool:
        """True if rows of all arrays lie side by side."""
        return all(array.strides is None for array in self.arrays)

    def encode(self) -> list[Any]:
        """The layout as lists of numbers, which tell it from others."""
        arrays = [[array.strides, array.align] for array in self.arrays]
        return [arrays, self.is_disjoint, self.small]


@record(eq=False)
class Convention:
    """The parameters of the C function of a kernel, in order."""

    buffers: tuple[Buffer, ...]
    dimensions: tuple[Var, ...]
    strides: tuple[tuple[Buffer, int], ...]
    scalars: tuple[Var, ...]
    results: tuple[ScalarResult, ...]


def convention(func: Header, layout: Layout) -> Convention:
    """How the kernel of `func` is called."""
    buffers = (*func.buffers, *func.outputs)
    strides = tuple(
        (buffer, axis)
        for buffer, array in zip(func.buffers, layout.arrays, strict=True)
        for axis, stride in enumerate(array.strides or ())
        if stride is None
    )
    scalars = tuple(param.var for param in func.params if isinstance(param, ScalarParam))
    results = tuple(word for result in func.returns or () for word in _words_of(result))
    return Convention(buffers, func.dimensions, strides, scalars, results)


def _words_of(result: Result) -> tuple[ScalarResult, ...]:
    """The scalars by which a result arrives; an output is there already."""
    match result:
        case ScalarResult():
            return (result,)
        case ArrayResult(_, ndim):
            return (ScalarResult(INT64),) * (1 + ndim)
        case Buffer():
            return ()
