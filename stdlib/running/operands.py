"""Operands of a call: arrays or tensors, with numbers among them."""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from hybridjit.errors import ArgumentError
from hybridjit.ir.dtype import BOOL, COMPLEX128, FLOAT64, INT64, DType, ScalarType, find_dtype
from hybridjit.ir.expr import Var
from hybridjit.record import record
from hybridjit.scalars.kinds import is_array, is_masked_array
from hybridjit.scalars.scalar import Scalar
from hybridjit.stdlib.parts.types import T
from hybridjit.te import Expression, Tensor, placeholder
from hybridjit.tensors.expression import dtype_of

_PYTHON_NUMBERS: dict[Any, DType] = {
    bool: BOOL,
    int: INT64,
    float: FLOAT64,
    complex: COMPLEX128,
}


_SEQUENCE: tuple[type[Any], ...] = (tuple, list)


@record
class Parameter:
    """What may stand in the place of an operand: a number, nothing, or several of them."""

    may_be_number: bool
    is_sequence: bool = False
    may_be_none: bool = False


def find_parameters(define: Callable[..., Any]) -> dict[str, Parameter]:
    """The parameters of a definition that are operands."""
    found: dict[str, Parameter] = {}
    for name, hint in typing.get_type_hints(define).items():
        kinds = typing.get_args(hint) or (hint,)
        if T in kinds and name != "return":
            is_sequence = typing.get_origin(hint) is Sequence
            found[name] = Parameter(float in kinds, is_sequence, type(None) in kinds)
    return found


@record
class Operand:
    """A value that was passed, by the name of its parameter."""

    name: str
    value: Any
    may_be_number: bool

    @property
    def python_type(self) -> DType | None:
        """The type that holds it, if it is a Python number."""
        return _PYTHON_NUMBERS.get(type(self.value))

    @property
    def is_number(self) -> bool:
        """Whether it is a number of Python or NumPy."""
        return self.python_type is not None or isinstance(self.value, np.generic)


def operands_of(operator: str, name: str, value: Any, parameter: Parameter) -> list[Operand]:
    """What was passed as a parameter: one operand, each of a sequence, or None for no operand."""
    if value is None and parameter.may_be_none:
        return []
    if not parameter.is_sequence:
        return [Operand(name, value, parameter.may_be_number)]
    if not isinstance(value, _SEQUENCE):
        raise ArgumentError(
            f"{operator}: argument '{name}' must be a tuple or a list of arrays or of tensors, got "
            f"{type(value).__name__}",
            help=f"as in ({name}[0], {name}[1])",
        )
    items = cast("Sequence[Any]", value)
    return [Operand(_item_name(name, place), item, False) for place, item in enumerate(items)]


def stand_in_for(name: str, value: Any, parameter: Parameter, stand_ins: Mapping[str, Any]) -> Any:
    """What a definition is given for a parameter: the stand-in of a value, or of each of several.

    A parameter that was passed None has none, and stays None.
    """
    if not parameter.is_sequence or value is None:
        return stand_ins.get(name, value)
    return tuple(stand_ins[_item_name(name, place)] for place in range(len(value)))


def _item_name(name: str, place: int) -> str:
    return f"{name}{place}"


def check_operands(operator: str, operands: Sequence[Operand]) -> type[Any]:
    """The kind of all operands that are not numbers. Refuse what is neither, and mixtures."""
    kinds: dict[type[Any], str] = {}
    for operand in operands:
        _check_operand(operator, operand)
        if isinstance(operand.value, Tensor):
            kinds.setdefault(Tensor, operand.name)
        elif is_array(operand.value):
            kinds.setdefault(np.ndarray, operand.name)
    if len(kinds) > 1:
        raise ArgumentError(
            f"{operator}: argument '{kinds[Tensor]}' is a tensor, '{kinds[np.ndarray]}' is an "
            "array",
            help="pass a te.placeholder for the array, or arrays only",
        )
    beside = [operand.name for operand in operands if isinstance(operand.value, Expression)]
    if beside and Tensor not in kinds:
        raise ArgumentError(
            f"{operator}: argument '{beside[0]}' is a te expression, and no other is a tensor",
            help="pass a number, or tensors",
        )
    if not kinds:
        raise ArgumentError(
            f"{operator}: there is neither an array nor a tensor among the arguments",
            help="pass numbers alone as np.asarray(number)",
        )
    return next(iter(kinds))


def _check_operand(operator: str, operand: Operand) -> None:
    value = operand.value
    if isinstance(value, Tensor):
        return
    if is_array(value):
        _check_array(operator, operand.name, value)
        return
    if operand.may_be_number and (operand.is_number or isinstance(value, Expression)):
        return
    wanted = "an array, a tensor or a number" if operand.may_be_number else "an array or a tensor"
    raise ArgumentError(
        f"{operator}: argument '{operand.name}' must be {wanted}, got {type(value).__name__}",
        help=None if value is None else f"np.asarray({operand.name}) makes an array",
    )


def _check_array(operator: str, name: str, array: NDArray[Any]) -> None:
    if is_masked_array(array):
        raise ArgumentError(
            f"{operator}: argument '{name}' is a masked array, whose mask would be lost",
            help=f"pass {name}.filled(value), or {name}.data",
        )
    if find_dtype(array.dtype) is None:
        raise ArgumentError(
            f"{operator}: argument '{name}' has elements of type {array.dtype}",
            help="convert it, as in x.astype(np.float64)",
        )


def stand_in(operand: Operand, shape: tuple[int, ...]) -> Any:
    """A placeholder of this shape for an array, a variable for a number."""
    if is_array(operand.value):
        return placeholder(shape, find_dtype(operand.value.dtype), operand.name)
    weak = operand.python_type
    # Not te.var, whose int64 is that of sizes, which give way to the types of elements.
    dtype = dtype_of(operand.value.dtype) if weak is None else weak
    return Expression(Scalar(Var(operand.name, dtype), ScalarType(dtype, weak=weak is not None)))
