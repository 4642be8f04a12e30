"""Modules of TOPI that hold no operators: `topi.utils`, and `topi.generic` with its schedules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, cast

import numpy as np

from hybridjit import stdlib as hs
from hybridjit.compat.tvm.constants import find_number
from hybridjit.compat.tvm.shapes import const_vector
from hybridjit.compat.tvm.te import Schedule, create_schedule
from hybridjit.errors import ArgumentValueError
from hybridjit.schedule.classic.inspection import Inline
from hybridjit.tensors.tensor import Compute


def get_const_int(size: Any) -> int:
    """A size that is known."""
    return int(_known(size))


def get_const_float(number: Any) -> float:
    """A number that is known."""
    return float(_known(number))


def _known(value: Any) -> Any:
    found = find_number(value)
    if found is None:
        raise ArgumentValueError(
            f"{value!r} is not known before the program runs",
            help="give a number, or an expression of numbers alone",
        )
    return found


def get_const_tuple(sizes: Sequence[Any]) -> tuple[Any, ...]:
    """Sizes: numbers, where they are known, and else expressions."""
    return tuple(map(simplify, sizes))


def simplify(size: Any) -> Any:
    """A size: a number, if it is known, and else an expression."""
    found = find_number(size)
    return size if found is None else found


def const_matrix(matrix: Any, name: str = "const_matrix") -> Any:
    """A tensor of the elements of an array."""
    array: np.ndarray[Any, np.dtype[Any]] = np.asarray(matrix)
    return hs.reshape(const_vector(array.ravel(), name), array.shape)


def traverse_inline(s: Any, final_op: Any, callback: Callable[[Any], None]) -> None:
    """Inline what is computed element by element before `final_op`; call back for each operation.

    Operations of `topi` have no tags here: one without a tag counts if it reduces nothing.
    """
    seen: list[Any] = []

    def visit(op: Any) -> None:
        if op in seen:
            return
        seen.append(op)
        if _is_injective(op):
            if s[op].is_free:
                s[op].attached = Inline(if_possible=True)
            for tensor in op.input_tensors:
                if isinstance(tensor.op, Compute):
                    visit(tensor.op)
        callback(op)

    visit(final_op)


def _is_injective(op: Any) -> bool:
    if op.tag:
        return tag.is_injective(op.tag)
    return isinstance(op, Compute) and not op.reduce_axis and op.num_outputs == 1


def prod(sizes: Sequence[Any]) -> Any:
    """The product of sizes."""
    product: Any = 1
    for size in sizes:
        product = product * size
    return product


def make_schedule(outs: Any, *options: Any, **named: Any) -> Schedule:
    """A schedule without steps, with which the compiler does what it thinks best."""
    del options, named
    tensors = cast("Sequence[Any]", outs) if isinstance(outs, (tuple, list)) else (outs,)
    return create_schedule([tensor.op for tensor in tensors])


class _Schedules(ModuleType):
    """`schedule_softmax`, `schedule_conv2d_nchw` and the like: all of them are one."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("schedule_") or name == "default_schedule":
            return make_schedule
        raise AttributeError(f"{self.__name__} has no {name!r}")


def _is_one_of(*tags: str) -> Callable[[str], bool]:
    return lambda tag: tag.startswith(tags)


tag: Any = ModuleType("topi.tag")
tag.__dict__.update(
    ELEMWISE="elemwise",
    BROADCAST="broadcast",
    INJECTIVE="injective",
    COMM_REDUCE="comm_reduce",
    COMM_REDUCE_IDX="comm_reduce_idx",
    is_broadcast=_is_one_of("elemwise", "broadcast"),
    is_injective=_is_one_of("elemwise", "broadcast", "injective"),
)
utils = ModuleType("topi.utils")
utils.__dict__.update(
    const_matrix=const_matrix,
    get_const_float=get_const_float,
    get_const_int=get_const_int,
    get_const_tuple=get_const_tuple,
    prod=prod,
    simplify=simplify,
    traverse_inline=traverse_inline,
)
generic, x86 = _Schedules("topi.generic"), _Schedules("topi.x86")
