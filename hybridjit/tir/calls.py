"""call_extern, call_packed and call_intrin, by the names and signatures that TVM gives them.

They are called in the bodies of te.compute and te.extern, on expressions and buffers of the IR,
in scripts, and on plain numbers and arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.dtype import DType, ScalarType, find_dtype
from hybridjit.ir.expr import Buffer, BufferRef, Expr
from hybridjit.ir.extern import Extern
from hybridjit.ir.intrinsics import INTRINSICS
from hybridjit.runtime.externs import Function, extern, packed
from hybridjit.scalars.scalar import Scalar
from hybridjit.scalars.suggest import did_you_mean
from hybridjit.tensors.custom_intrinsics import call_by_name
from hybridjit.tensors.expression import Expression, Operand, as_scalar, dtype_of
from hybridjit.tensors.externs import call_function

_ARRAY: type[Any] = np.ndarray


def call_extern(dtype: Any, function: Any, *args: Any) -> Any:
    """The call of a C function: a symbol of the process, or what hybrid.extern takes.

    `dtype` is the type of the result, or None; the parameters have the types of the arguments.
    The function may have effects: it is called as often as it is written, in that order. For one
    that only computes, `tir.register_intrin` gives schedules more freedom.

    >>> C = te.compute((n,), lambda i: tir.call_extern("float32", "sinf", A[i]))
    """
    if isinstance(function, Extern):
        return _call(function, args)
    result = None if dtype is None else dtype_of(dtype).name
    return _call(extern(function, result, [_parameter(arg) for arg in args]), args)


def call_packed(function: Callable[..., Any] | Extern, *args: Any, dtype: Any = None) -> Any:
    """The call of a Python function: arrays arrive as views of the same memory.

    `dtype` is the type of the result; without it, the function is called for its effect.

    >>> B = te.extern((n,), [A], lambda ins, outs: tir.call_packed(np.copyto, outs[0], ins[0]))
    """
    if isinstance(function, Extern):
        return _call(function, args)
    if not callable(function):
        raise ArgumentError(
            f"call_packed calls a Python function, got {function!r}",
            help="pass the function itself: there is no table of names",
        )
    result = None if dtype is None else dtype_of(dtype).name
    return _call(packed(function, result), args)


def call_intrin(dtype: Any, name: str, *args: Any) -> Any:
    """An intrinsic by its name, of the language ("exp") or registered with register_intrin.

    `dtype` is what the result must be, or None.

    >>> C = te.compute((n,), lambda i: tir.call_intrin("float32", "exp", A[i]))
    """
    short = name.removeprefix("tir.")
    if short not in INTRINSICS:
        raise ArgumentValueError(
            f"there is no intrinsic '{name}'",
            help=did_you_mean(short, list(INTRINSICS)) or "declare it with tir.register_intrin",
        )
    if len(args) != INTRINSICS[short].arity:
        raise ArgumentValueError(
            f"intrinsic '{name}' takes {INTRINSICS[short].arity} arguments, found {len(args)}"
        )
    result = call_by_name(short, args)
    if dtype is not None:
        _check_result(name, dtype_of(dtype), _type_of(result))
    return result


def _check_result(name: str, wanted: DType, found: DType) -> None:
    if wanted is not found:
        raise ArgumentError(
            f"intrinsic '{name}' gives {found} here, not {wanted}",
            help=f'convert its argument, as in x.astype("{wanted}")',
        )


def _call(function: Extern, args: Sequence[Any]) -> Any:
    """The call: built, where an argument is not known yet, else made."""
    if not any(isinstance(arg, Operand | Expr | Buffer) for arg in args):
        assert isinstance(function, Function)
        return function(*args)
    made = call_function(function, args)
    if isinstance(made, Expr) and any(isinstance(arg, Operand) for arg in args):
        return Expression(Scalar(made, ScalarType(made.dtype)))
    return made


def _parameter(arg: Any) -> str:
    """The C type of an argument."""
    if isinstance(arg, Buffer | BufferRef | _ARRAY):
        return f"{_type_of(arg)}*"
    return _type_of(arg).name


def _type_of(value: Any) -> DType:
    if isinstance(value, Expr | Buffer):
        return value.dtype
    found = find_dtype(value.dtype) if isinstance(value, _ARRAY) else as_scalar(value).type.dtype
    if found is None:
        raise ArgumentError(f"arrays of {value.dtype} cannot be passed to C")
    return found


# In a script, the front end makes the calls.
for _function in (call_extern, call_packed, call_intrin):
    _function.__hybrid_builtin__ = _function.__name__  # pyright: ignore[reportFunctionMemberAccess]
