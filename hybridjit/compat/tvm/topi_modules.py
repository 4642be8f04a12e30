"""Modules of TOPI that hold no operators: `topi.utils`, and `topi.generic` with its schedules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, cast

from hybridjit.compat.tvm.te import Schedule, create_schedule
from hybridjit.errors import ArgumentValueError


def get_const_int(size: Any) -> int:
    """A size that is known."""
    if not isinstance(size, int):
        raise ArgumentValueError(f"{size!r} is not known before the program runs")
    return size


def get_const_tuple(sizes: Sequence[Any]) -> tuple[Any, ...]:
    """Sizes: numbers, where they are known, and else expressions."""
    return tuple(sizes)


def simplify(size: Any) -> Any:
    """A size as it is: it is simplified already."""
    return size


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


tag = ModuleType("topi.tag")
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
    get_const_int=get_const_int,
    get_const_tuple=get_const_tuple,
    prod=prod,
    simplify=simplify,
)
generic, x86 = _Schedules("topi.generic"), _Schedules("topi.x86")
