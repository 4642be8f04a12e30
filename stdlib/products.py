"""Products of matrices, as NumPy's matmul, and dense layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hybridjit.errors import ArgumentValueError
from hybridjit.ir.dtype import BOOL
from hybridjit.stdlib.parts.accumulation import convert
from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.fusion import Activation, finish
from hybridjit.stdlib.parts.precision import working_type
from hybridjit.stdlib.parts.shapes import are_equal, broadcast_sizes, check_rank, show
from hybridjit.stdlib.parts.types import T
from hybridjit.stdlib.running.compiled import scheduled_by
from hybridjit.stdlib.running.operator import operator
from hybridjit.stdlib.running.schedules import in_tiles
from hybridjit.te import any as is_any
from hybridjit.te import compute, reduce_axis
from hybridjit.te import sum as added

# a * b + c may be one instruction, and sums may be added up in any order, as BLAS does.
RECIPE = scheduled_by(in_tiles, fastmath=("contract", "reassoc"))


@operator(recipe=RECIPE)
def matmul(x: T, y: T, *, transpose_x: bool = False, transpose_y: bool = False) -> T:
    """The matrix product x @ y. Leading axes are batches, which are broadcast.

    An operand of one axis is a row on the left, a column on the right. With transpose_x or
    transpose_y, the last two axes of that operand change places first.

    >>> hs.matmul(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]]))
    array([[13., 16.]])
    """
    return multiply_matrices("matmul", x, y, transposed=(transpose_x, transpose_y))


@operator(recipe=RECIPE)
def dense(x: T, w: T, bias: T | None = None, *, activation: Activation = None) -> T:
    """A dense layer: x times the transpose of w, whose shape is (outputs, inputs), plus a bias.

    >>> hs.dense(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]]), np.array([0.5, -0.5]))
    array([[11.5, 16.5]])
    """
    product = multiply_matrices("dense", x, w, transposed=(False, True))
    return finish("dense", product, bias, activation, axis=-1)


@operator(recipe=RECIPE)
def batch_matmul(x: T, y: T, *, transpose_x: bool = False, transpose_y: bool = True) -> T:
    """Products of matrices in batches, of which the second is transposed unless it is said not to.

    >>> hs.batch_matmul(np.ones((2, 3, 4)), np.ones((2, 5, 4))).shape
    (2, 3, 5)
    """
    for tensor in (x, y):
        check_rank("batch_matmul", tensor, 3, "batch, rows, columns")
    return multiply_matrices("batch_matmul", x, y, transposed=(transpose_x, transpose_y))


def multiply_matrices(name: str, x: Any, y: Any, *, transposed: tuple[bool, bool]) -> Any:
    """The product of matrices, of rows and columns."""
    _check_sizes(name, x, y, transposed)
    batch = broadcast_sizes(name, [x, y], [x.shape[:-2], y.shape[:-2]])
    rows = [x.shape[-1 if transposed[0] else -2]] if x.ndim > 1 else []
    columns = [y.shape[-2 if transposed[1] else -1]] if y.ndim > 1 else []
    dtype = (call("*", x[(0,) * x.ndim], y[(0,) * y.ndim])).dtype
    k = reduce_axis((0, x.shape[-2 if transposed[0] and x.ndim > 1 else -1]), "k")

    def element(*indices: Any) -> Any:
        outer = indices[: len(batch)]
        row, column = indices[len(batch) :][: len(rows)], indices[len(batch) + len(rows) :]
        left = x[(*_batch_of(x, outer), *_placed([*row, k], transposed[0]))]
        right = y[(*_batch_of(y, outer), *_placed([k, *column], transposed[1]))]
        if dtype is BOOL:
            return is_any(call("*", left, right), axis=k)
        working = working_type(dtype)
        return added(left.astype(working) * right.astype(working), axis=k)

    return convert(name, compute((*batch, *rows, *columns), element, name), dtype)


def _batch_of(tensor: Any, indices: Sequence[Any]) -> list[Any]:
    """The indices of a matrix among those of `tensor`."""
    sizes = tensor.shape[:-2]
    own = indices[len(indices) - len(sizes) :]
    return [0 if are_equal(size, 1) else index for size, index in zip(sizes, own, strict=True)]


def _placed(indices: list[Any], is_transposed: bool) -> list[Any]:
    return indices[::-1] if is_transposed else indices


def _check_sizes(name: str, x: Any, y: Any, transposed: tuple[bool, bool]) -> None:
    for tensor in (x, y):
        if tensor.ndim == 0:
            raise ArgumentValueError(
                f"{name}: '{tensor.name}' has no axes", help="multiply by a number with hs.multiply"
            )
    inner = x.shape[-2 if transposed[0] and x.ndim > 1 else -1]
    other = y.shape[-1 if transposed[1] or y.ndim == 1 else -2]
    if not are_equal(inner, other):
        raise ArgumentValueError(
            f"{name}: '{x.name}' of shape {show(x.shape)}{_note(transposed[0])} and '{y.name}' of "
            f"shape {show(y.shape)}{_note(transposed[1])} do not match: {show((inner, other))}",
            help="the columns of the first must be as many as the rows of the second",
        )


def _note(is_transposed: bool) -> str:
    return ", transposed," if is_transposed else ""
