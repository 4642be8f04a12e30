"""What `hj.lower` and `hj.build` take: functions, schedules and tensors, all as functions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard, cast

from hybridjit.analysis.make_blocks import make_blocks
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.expr import Buffer, BufferRef, Load
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, Stmt, seq
from hybridjit.ir.visit import substitute, walk
from hybridjit.record import record
from hybridjit.schedule.classic.lower import as_written, check_outputs, lower_classic
from hybridjit.schedule.classic.schedule import ClassicSchedule
from hybridjit.schedule.schedule import Schedule
from hybridjit.tensors.buffers import copy_elements
from hybridjit.tensors.function import create_prim_func
from hybridjit.tensors.tensor import Placeholder, Tensor, TensorBuffer


@record(eq=False)
class Scheduled:
    """A function, and the `original` that steps of a schedule made it of.

    `as_written` runs where arguments share memory: in the order in which it is written, or, as
    tensors are not written in any, after all of them are read.
    """

    func: PrimFunc
    as_written: PrimFunc
    original: PrimFunc

    def named(self, name: str | None) -> Scheduled:
        """The same under another name."""
        if name is None:
            return self
        return Scheduled(
            dataclasses.replace(self.func, name=name),
            dataclasses.replace(self.as_written, name=name),
            self.original,
        )


def as_scheduled(source: Any, args: Sequence[Any] | None, name: str | None) -> Scheduled:
    """What `source` stands for."""
    if isinstance(source, PrimFunc):
        return _without_args(Scheduled(source, source, source), args).named(name)
    if isinstance(source, Schedule):
        original = source.original
        return _without_args(Scheduled(source.func, original, original), args).named(name)
    if isinstance(source, ClassicSchedule):
        return _scheduled_tensors(source, args).named(name)
    tensors = _tensors(source)
    if tensors is not None:
        func = create_prim_func(tensors if args is None else args)
        return Scheduled(func, _read_first(func), func).named(name)
    raise ArgumentError(
        f"expected a schedule, a function of the IR or tensors, got {source!r}",
        help="te.create_schedule(C.op) makes a schedule of tensors",
    )


def _scheduled_tensors(source: ClassicSchedule, args: Sequence[Any] | None) -> Scheduled:
    if args is None:
        raise ArgumentError(
            "the schedule needs the parameters of the function, in order",
            help="as in hj.build(s, [A, B, C])",
        )
    made = lower_classic(source, args)
    return Scheduled(made.func, _read_first(as_written(source, args)), made.original)


def _without_args(made: Scheduled, args: Sequence[Any] | None) -> Scheduled:
    if args is not None:
        raise ArgumentError("args are for tensors: a function has its parameters already")
    return made


def _tensors(source: Any) -> Sequence[Any] | None:
    if isinstance(source, Tensor):
        return [source]
    if isinstance(source, Sequence) and not isinstance(source, str):
        return cast("Sequence[Any]", source)
    return None


def as_functions(source: Any, args: Sequence[Any] | None, name: str | None) -> dict[str, Scheduled]:
    """The functions of a module, by name: `source` may be a dict of them, or a list of functions.

    In a dict, a schedule of tensors comes with its parameters: `(s, [A, B, C])`.
    """
    if isinstance(source, Mapping):
        given = cast("Mapping[str, Any]", source)
        return {key: as_scheduled(*_with_args(item), key) for key, item in given.items()}
    if not _is_list_of_functions(source):
        if isinstance(source, ClassicSchedule) and args is not None:
            check_outputs(source, args)
        made = as_scheduled(source, args, name)
        return {made.func.name: made}
    functions = {func.name: func for func in source}
    if len(functions) < len(source):
        raise ArgumentValueError(
            "two functions of a module have the same name",
            help='name them, as in hj.lower(s, args, name="f")',
        )
    return {key: as_scheduled(func, args, name) for key, func in functions.items()}


def _with_args(item: Any) -> tuple[Any, Sequence[Any] | None]:
    """A schedule of tensors and its parameters; anything else has none."""
    match item:
        case (ClassicSchedule() as source, [*args]):
            return source, args
        case _:
            return item, None


def _is_list_of_functions(source: Any) -> TypeGuard[Sequence[PrimFunc]]:
    if not isinstance(source, list | tuple):
        return False
    items = cast("Sequence[object]", source)
    return bool(items) and all(isinstance(item, PrimFunc) for item in items)


def _read_first(func: PrimFunc) -> PrimFunc:
    """`func` for arrays that share memory: the placeholders that it reads are copied first.

        for i in range(n):                  A_before = allocate(...)
            B[i] = A[n - 1 - i]             for i in range(n):
                                    -->         A_before[i] = A[i]
                                            for i in range(n):
                                                B[i] = A_before[n - 1 - i]

    A tensor has one value, whatever memory it is passed in.
    """
    read = {node.buffer for node in walk(func.body) if isinstance(node, Load | BufferRef)}
    before: list[Stmt] = []
    copies: dict[Buffer, Buffer] = {}
    for buffer in func.buffers:
        if buffer in read and _is_placeholder(buffer):
            copies[buffer] = Buffer(f"{buffer.name}_before", buffer.dtype, buffer.shape)
            before.append(Allocate(copies[buffer], zero=False))
            before.append(make_blocks(copy_elements(buffer, copies[buffer])))
    return dataclasses.replace(func, body=seq(*before, substitute(func.body, {}, copies)))


def _is_placeholder(buffer: Buffer) -> bool:
    return isinstance(buffer, TensorBuffer) and isinstance(buffer.op, Placeholder)
