"""Shapes of results: broadcasting, axes. Sizes are numbers, or expressions of te.vars."""

from __future__ import annotations

import numbers
import operator as operators
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.dtype import DType, find_dtype
from hybridjit.ir.expr import Const, Expr, Mul
from hybridjit.ir.printer import format_expr
from hybridjit.stdlib.parts.types import Axes
from hybridjit.te import Expression, Tensor, compute
from hybridjit.tensors.compute import Body
from hybridjit.tensors.expression import dtype_of
from hybridjit.tensors.sizes import same_size
from hybridjit.tensors.tensor import index_expr

Shape = tuple[Any, ...]
_SEQUENCE: tuple[type[Any], ...] = (tuple, list)


def are_equal(a: Any, b: Any) -> bool:
    """True if two sizes are surely equal."""
    left, right = index_expr(a), index_expr(b)
    return same_size(left, right) or _are_same_products(left, right)


def _are_same_products(a: Expr, b: Expr) -> bool:
    """True for n * m and m * n, which are other expressions."""
    rest = _factors(b)
    for factor in _factors(a):
        place = next((at for at, other in enumerate(rest) if same_size(factor, other)), None)
        if place is None:
            return False
        rest.pop(place)
    return not rest


def _factors(size: Expr) -> list[Expr]:
    if isinstance(size, Mul):
        return [*_factors(size.lhs), *_factors(size.rhs)]
    return [] if size == Const(1) else [size]


def show(shape: Shape) -> str:
    """A shape as text: (n, 4)."""
    return f"({', '.join(map(show_size, shape))}{',' if len(shape) == 1 else ''})"


def show_size(size: Any) -> str:
    """A size as text."""
    return format_expr(index_expr(size))


def shown(x: Any) -> str:
    """A tensor as errors name it: 'x' of shape (2, 3)."""
    return f"'{x.name}' of shape {show(x.shape)}"


def fill(name: str, shape: Sequence[Any], element: Callable[[tuple[Any, ...]], Any]) -> Any:
    """The tensor of what `element` makes of the indices of each place, however many these are."""

    def at(*indices: Any) -> Any:
        return element(indices)

    return compute(tuple(shape), at, name)


# -- broadcasting ----------------------------------------------------------------------------------


def broadcast(function: Body, *operands: Any, name: str) -> Any:
    """`function` of the elements of operands that are broadcast against each other, as a tensor."""
    tensors = [operand for operand in operands if isinstance(operand, Tensor)]
    shape = broadcast_shapes(name, tensors)

    def element(*indices: Any) -> Any:
        return cast("Callable[..., Any]", function)(
            *(element_of(operand, indices) for operand in operands)
        )

    return compute(shape, element, name)


def broadcast_shapes(operator: str, tensors: Sequence[Tensor]) -> Shape:
    """The shape that the shapes of tensors broadcast to."""
    return broadcast_sizes(operator, tensors, [tensor.shape for tensor in tensors])


def broadcast_sizes(operator: str, tensors: Sequence[Tensor], shapes: Sequence[Shape]) -> Shape:
    """What `shapes`, which are parts of those of tensors, broadcast to."""
    rank = max(map(len, shapes))
    return tuple(_broadcast_axis(operator, tensors, shapes, axis) for axis in range(-rank, 0))


def _broadcast_axis(
    operator: str, tensors: Sequence[Tensor], shapes: Sequence[Shape], axis: int
) -> Any:
    found, owner = 1, tensors[0]
    for tensor, shape in zip(tensors, shapes, strict=True):
        size = shape[axis] if -axis <= len(shape) else 1
        if are_equal(size, 1) or are_equal(size, found):
            continue
        if not are_equal(found, 1):
            raise ArgumentValueError(
                f"{operator}: '{owner.name}' of shape {show(owner.shape)} and '{tensor.name}' of "
                f"shape {show(tensor.shape)} do not broadcast: {show_size(found)} is not "
                f"{show_size(size)}",
                help="sizes must be equal, or one of them 1; axes are compared from the last",
            )
        found, owner = size, tensor
    return found


def repeated_axes(operator: str, tensor: Any, shape: Shape) -> list[int]:
    """The axes along which what has a shape is repeated to have that of a tensor."""
    extra = tensor.ndim - len(shape)
    pairs = list(zip(tensor.shape[max(extra, 0) :], shape, strict=False))
    if extra < 0 or not all(are_equal(*pair) or are_equal(pair[1], 1) for pair in pairs):
        raise ArgumentValueError(f"{operator}: {show(shape)} does not broadcast to {shown(tensor)}")
    axes = [extra + axis for axis, pair in enumerate(pairs) if not are_equal(*pair)]
    return [*range(extra), *axes]


def element_of(operand: Any, indices: Sequence[Any]) -> Any:
    """The element of an operand that a result at `indices` is made of; a number is itself."""
    if not isinstance(operand, Tensor):
        return operand
    own = indices[len(indices) - operand.ndim :]
    return operand[
        tuple(
            0 if are_equal(size, 1) else index
            for size, index in zip(operand.shape, own, strict=True)
        )
    ]


# -- axes ------------------------------------------------------------------------------------------


def normalize_axis(operator: str, tensor: Any, axis: object) -> int:
    """An axis counted from the first one."""
    try:
        place = operators.index(cast("Any", axis))
    except TypeError:
        raise ArgumentError(f"{operator}: an axis is an integer, got {axis!r}") from None
    if not -tensor.ndim <= place < tensor.ndim:
        raise ArgumentValueError(
            f"{operator}: axis {place} is out of bounds for '{tensor.name}' of shape "
            f"{show(tensor.shape)}",
            help=f"axes go from {-tensor.ndim} to {tensor.ndim - 1}"
            if tensor.ndim
            else "an array without dimensions has no axes",
        )
    return place % tensor.ndim


def normalize_axes(operator: str, tensor: Any, axes: Axes) -> tuple[int, ...]:
    """Axes in order, counted from the first one; None is all of them."""
    if axes is None:
        return tuple(range(tensor.ndim))
    given = axes if isinstance(axes, Sequence) else (axes,)
    found = [normalize_axis(operator, tensor, axis) for axis in given]
    if len(set(found)) < len(found):
        raise ArgumentValueError(f"{operator}: an axis is given twice: {tuple(given)}")
    return tuple(sorted(found))


def count_elements(shape: Shape, axes: Sequence[int]) -> Any:
    """How many elements there are along some axes."""
    count: Any = 1
    for axis in axes:
        count = count * shape[axis]
    return count


def flatten(name: str, x: Any) -> Any:
    """All elements of `x` along one axis, the last axis first."""
    count = count_elements(x.shape, range(x.ndim))
    return compute((count,), lambda place: x[indices_at(x.shape, place)], name)


def replaced(values: Sequence[Any], axis: int, value: Any) -> tuple[Any, ...]:
    """Indices or sizes with another one along an axis."""
    return (*values[:axis], value, *values[axis + 1 :])


def flat_place(shape: Shape, indices: Sequence[Any]) -> Any:
    """The place of an element among all, the last axis first."""
    place: Any = 0
    for size, index in zip(shape, indices, strict=True):
        place = place * size + index
    return place


def indices_at(shape: Shape, place: Any) -> tuple[Any, ...]:
    """The indices of the element at a place among all: the inverse of `flat_place`."""
    indices: list[Any] = []
    for size in reversed(shape[1:]):
        indices.append(place % size)
        place = place // size
    return (place, *reversed(indices)) if shape else ()


# -- options ---------------------------------------------------------------------------------------


def read_shape(operator: str, shape: Any, *, least: int = 0) -> Shape:
    """A shape as it is given: one size, or a sequence of sizes, numbers or expressions."""
    given = cast("Sequence[Any]", shape) if isinstance(shape, _SEQUENCE) else (shape,)
    return tuple(read_size(operator, "a size", size, least=least) for size in given)


def read_size(operator: str, what: str, size: Any, *, least: int = 0) -> Any:
    """A number of elements: an integer that is not negative, or an expression."""
    if isinstance(size, Expression):
        return size
    return read_integers(operator, what, size, 1, least=least)[0]


def read_integers(
    operator: str, what: str, value: object, count: int | None = None, *, least: int | None = None
) -> list[int]:
    """Integers that were given as one, or as a sequence; one stands for `count` of them."""
    given = cast("Sequence[object]", value) if isinstance(value, _SEQUENCE) else (value,)
    try:
        found = [operators.index(cast("Any", number)) for number in given]
    except TypeError:
        raise ArgumentError(f"{operator}: {what} must be integers, got {value!r}") from None
    if least is not None and any(number < least for number in found):
        raise ArgumentValueError(f"{operator}: {what} must be at least {least}, got {value!r}")
    if count is None or len(found) == count:
        return found
    if isinstance(value, _SEQUENCE):
        raise ArgumentValueError(
            f"{operator}: {what} must be {count} integers, got {value!r}",
        )
    return found * count


def read_reals(operator: str, what: str, value: object) -> list[float]:
    """Real numbers that were given as one, or as a sequence of at least one."""
    given = cast("Sequence[object]", value) if isinstance(value, _SEQUENCE) else (value,)
    if not given or not all(isinstance(number, numbers.Real) for number in given):
        raise ArgumentError(
            f"{operator}: {what} must be real numbers, got {value!r}", help="as in (0.5, 1.0)"
        )
    return [float(cast("Any", number)) for number in given]


def read_positive(operator: str, what: str, value: object) -> list[float]:
    """Real numbers that are larger than 0."""
    found = read_reals(operator, what, value)
    if not all(number > 0 for number in found):
        raise ArgumentValueError(f"{operator}: {what} must be larger than 0, got {value!r}")
    return found


def read_dtype(operator: str, dtype: object) -> DType:
    """The type of elements that an option names, as we or NumPy do: "float32", "f4", float."""
    try:
        return dtype_of(dtype)
    except ArgumentError:
        found = None if dtype is None else _numpy_type(dtype)
    if found is None:
        raise ArgumentError(
            f"{operator}: dtype must be a type of elements, got {dtype!r}",
            help='as in "float32" or np.float32',
        )
    return found


def _numpy_type(dtype: Any) -> DType | None:
    try:
        return find_dtype(np.dtype(dtype))
    except TypeError:
        return None


def check_choice(operator: str, what: str, value: object, choices: Sequence[str]) -> None:
    """Refuse a word that is none of those that an option may be."""
    if value not in choices:
        raise ArgumentValueError(
            f"{operator}: there is no {what} {value!r}",
            help=f"choose from {', '.join(map(repr, choices))}",
        )


def check_rank(operator: str, x: Any, rank: int, what: str) -> None:
    """Refuse a tensor with another number of axes."""
    if x.ndim != rank:
        raise ArgumentValueError(
            f"{operator}: {shown(x)} must have {rank} {'axis' if rank == 1 else 'axes'}: {what}"
        )


def check_integers(operator: str, *tensors: Any) -> None:
    """Refuse indices that are no integers."""
    for tensor in tensors:
        if not tensor.dtype.is_integer:
            raise ArgumentError(
                f"{operator}: '{tensor.name}' holds indices, which are integers, got "
                f"{tensor.dtype}",
                help=f"convert it, as in {tensor.name}.astype(np.int64)",
            )
