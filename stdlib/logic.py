"""Comparison, logic, bits, choice and conversion, by NumPy's names."""

from __future__ import annotations

from typing import Any

from hybridjit.errors import ArgumentError
from hybridjit.stdlib.parts.shapes import broadcast, read_dtype
from hybridjit.stdlib.parts.types import Number, T
from hybridjit.stdlib.running.elementwise import each, elementwise
from hybridjit.te import Expression, Tensor
from hybridjit.tensors.expression import as_scalar


@elementwise(differentiable=False)
def equal(x: T | Number, y: T | Number) -> T:
    """Whether x is y.

    >>> hs.equal(np.array([1, 2]), 2)
    array([False,  True])
    """
    return each("==", x, y, name="equal")


@elementwise(differentiable=False)
def not_equal(x: T | Number, y: T | Number) -> T:
    """Whether x is not y.

    >>> hs.not_equal(np.array([1, 2]), 2)
    array([ True, False])
    """
    return each("!=", x, y, name="not_equal")


@elementwise(differentiable=False)
def less(x: T | Number, y: T | Number) -> T:
    """Whether x < y.

    >>> hs.less(np.array([1, 2]), 2)
    array([ True, False])
    """
    return each("<", x, y, name="less")


@elementwise(differentiable=False)
def less_equal(x: T | Number, y: T | Number) -> T:
    """Whether x <= y.

    >>> hs.less_equal(np.array([1, 2]), 2)
    array([ True,  True])
    """
    return each("<=", x, y, name="less_equal")


@elementwise(differentiable=False)
def greater(x: T | Number, y: T | Number) -> T:
    """Whether x > y.

    >>> hs.greater(np.array([1, 2]), 1)
    array([False,  True])
    """
    return each(">", x, y, name="greater")


@elementwise(differentiable=False)
def greater_equal(x: T | Number, y: T | Number) -> T:
    """Whether x >= y.

    >>> hs.greater_equal(np.array([1, 2]), 2)
    array([False,  True])
    """
    return each(">=", x, y, name="greater_equal")


@elementwise(differentiable=False)
def logical_and(x: T | Number, y: T | Number) -> T:
    """Whether x and y are both true, which every number but 0 is.

    >>> hs.logical_and(np.array([0, 2]), True)
    array([False,  True])
    """
    return each("logical_and", x, y)


@elementwise(differentiable=False)
def logical_or(x: T | Number, y: T | Number) -> T:
    """Whether x or y is true, which every number but 0 is.

    >>> hs.logical_or(np.array([0, 2]), False)
    array([False,  True])
    """
    return each("logical_or", x, y)


@elementwise(differentiable=False)
def logical_xor(x: T | Number, y: T | Number) -> T:
    """Whether one of x and y is true, and not both.

    >>> hs.logical_xor(np.array([0, 2]), True)
    array([ True, False])
    """
    return each("logical_xor", x, y)


@elementwise(differentiable=False)
def bitwise_and(x: T | Number, y: T | Number) -> T:
    """The bits that are set in x and in y.

    >>> hs.bitwise_and(np.array([6, 5]), 3)
    array([2, 1])
    """
    return _of_bits("&", x, y, name="bitwise_and")


@elementwise(differentiable=False)
def bitwise_or(x: T | Number, y: T | Number) -> T:
    """The bits that are set in x or in y.

    >>> hs.bitwise_or(np.array([6, 5]), 3)
    array([7, 7])
    """
    return _of_bits("|", x, y, name="bitwise_or")


@elementwise(differentiable=False)
def bitwise_xor(x: T | Number, y: T | Number) -> T:
    """The bits that are set in one of x and y.

    >>> hs.bitwise_xor(np.array([6, 5]), 3)
    array([5, 6])
    """
    return _of_bits("^", x, y, name="bitwise_xor")


@elementwise(differentiable=False)
def left_shift(x: T | Number, y: T | Number) -> T:
    """The bits of x, y places up.

    >>> hs.left_shift(np.array([1, 3]), 2)
    array([ 4, 12])
    """
    return _of_bits("<<", x, y, name="left_shift")


@elementwise(differentiable=False)
def right_shift(x: T | Number, y: T | Number) -> T:
    """The bits of x, y places down.

    >>> hs.right_shift(np.array([4, 9]), 2)
    array([1, 2])
    """
    return _of_bits(">>", x, y, name="right_shift")


def _of_bits(function: str, x: Any, y: Any, *, name: str) -> Any:
    """A function of the bits of numbers, which floats are not taken for."""
    for operand in (x, y):
        dtype = (operand if isinstance(operand, Tensor) else Expression(as_scalar(operand))).dtype
        if dtype.is_inexact:
            raise ArgumentError(
                f"{name}: operands must be integers or bools, got {dtype}",
                help="convert them, as in x.astype(np.int64), or see hs.reinterpret",
            )
    return each(function, x, y, name=name)


@elementwise(differentiable=False)
def logical_not(x: T) -> T:
    """Whether x is 0.

    >>> hs.logical_not(np.array([0, 2]))
    array([ True, False])
    """
    return each("logical_not", x)


@elementwise
def where(condition: T, x: T | Number, y: T | Number) -> T:
    """x where the condition holds, y elsewhere.

    >>> hs.where(np.array([True, False]), np.array([1.0, 2.0]), 0.0)
    array([1., 0.])
    """
    return each("select", condition, x, y, name="where")


@elementwise
def cast(x: T, dtype: Any) -> T:
    """x converted to another type of elements, as NumPy's astype does.

    >>> hs.cast(np.array([1.75, -2.5]), "int32")
    array([ 1, -2], dtype=int32)
    """
    wanted = read_dtype("cast", dtype)
    return broadcast(lambda value: value.astype(wanted), x, name="cast")
