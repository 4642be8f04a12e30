"""What `hj.lower` and `hj.build` take: functions, schedules and tensors, all as functions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard, cast

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.func import PrimFunc
from hybridjit.schedule.classic.lower import as_written, lower_classic
from hybridjit.schedule.classic.schedule import ClassicSchedule
from hybridjit.schedule.schedule import Schedule
from hybridjit.tensors.function import create_prim_func
from hybridjit.tensors.read_first import read_first
from hybridjit.tensors.tensor import Tensor


@dataclass(frozen=True, slots=True, eq=False)
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
        return Scheduled(func, read_first(func), func).named(name)
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
    return Scheduled(made.func, read_first(as_written(source, args)), made.original)


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
