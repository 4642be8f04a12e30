"""`tvm.build` and `tvm.lower`, and modules with TVM's methods."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from hybridjit.compat.tvm.ir import IRModule
from hybridjit.compat.tvm.schedule import Schedule
from hybridjit.compat.tvm.te import Schedule as TensorSchedule
from hybridjit.errors import ArgumentError, MissingSymbol
from hybridjit.intrinsics.registry import INTRINSICS
from hybridjit.lowering.entry import lower as _lower
from hybridjit.runtime.dispatch.objects import native_calls
from hybridjit.runtime.modules.loaded_module import load_module as _load_module
from hybridjit.runtime.modules.module import Module as _Module
from hybridjit.runtime.modules.module import Timing
from hybridjit.schedule.classic.schedule import ClassicSchedule
from hybridjit.schedule.classic.steps import Step, Tensorize
from hybridjit.tensors.buffers import DeclaredBuffer
from hybridjit.tuning.builds import build as _build

_GROWTH = 1.6  # of the number of calls in a repeat, as in TVM


@native_calls
class Module(_Module):
    """Built functions, with the names that TVM gives to what they can do."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)

    def save(self, path: str | os.PathLike[str], fmt: str = "") -> None:
        """Write the code to a file, which `tvm.contrib.cc.create_shared` makes a library of."""
        del fmt
        self.export_library(path)

    def get_function(self, name: str, query_imports: bool = False) -> Any:
        """One of the functions."""
        del query_imports
        return self[name]

    def get_source(self, fmt: str = "llvm") -> str:
        """The code as text: "ll" or "asm"."""
        return self.inspect("asm" if fmt in ("asm", "s") else "llvm")

    def time_evaluator(
        self,
        name: str | None = None,
        device: object = None,
        number: int = 10,
        repeat: int = 1,
        min_repeat_ms: float = 0,
        **options: Any,
    ) -> Callable[..., Timing]:
        """A function that measures; `number` grows until a repeat takes `min_repeat_ms`."""
        del options  # how TVM cools processors and empties their caches in between

        def measure(*args: Any) -> Timing:
            calls, seconds = number, 0.0
            while seconds * 1e3 < min_repeat_ms:
                seconds = calls * self._timer(name, device, calls, 1)(*args).mean
                if seconds * 1e3 < min_repeat_ms:
                    calls = int(calls * _GROWTH) + 1
            return self._timer(name, device, calls, repeat)(*args)

        self._find(name)
        return measure

    def _timer(self, *options: Any) -> Callable[..., Timing]:
        return super().time_evaluator(*options)

    @property
    def type_key(self) -> str:
        """What it was made with."""
        return "llvm"


def build(
    inputs: Any,
    args: Sequence[Any] | None = None,
    target: Any = None,
    target_host: Any = None,
    runtime: Any = None,
    name: str | None = None,
    binds: Any = None,
) -> Module:
    """A module: called on arrays, it runs."""
    del target_host, runtime
    _check_binds(binds)
    if _is_by_target(inputs):
        target, inputs = next(iter(inputs)), _merged([*inputs.values()])
    _check_target(target)
    return _with_tvms_methods(_build(_source(inputs, name), args, name=name or "default_function"))


def load_module(path: str | os.PathLike[str]) -> Module:
    """The module that `export_library` wrote."""
    return _with_tvms_methods(_load_module(path))


def _with_tvms_methods(made: _Module) -> Module:
    return Module({function: made[function] for function in made.names})


def lower(
    inputs: Any,
    args: Sequence[Any] | None = None,
    name: str = "main",
    binds: Any = None,
    simple_mode: bool = False,
) -> IRModule:
    """The loops of a schedule; `print` shows them.

    Where an intrinsic calls what is not loaded yet, the loops are shown that it stands for.
    """
    del simple_mode
    _check_binds(binds)
    if isinstance(inputs, IRModule | Schedule):
        functions: dict[str, Any] = _source(inputs)
        return IRModule({own: _lower(item, name=own) for own, item in functions.items()})
    source = _source(inputs)
    try:
        return IRModule({name: _lower(source, args, name=name)})
    except MissingSymbol:
        if not isinstance(source, ClassicSchedule):
            raise
        with _without_intrinsics(source):
            return IRModule({name: _lower(source, args, name=name)})


@contextmanager
def _without_intrinsics(schedule: ClassicSchedule) -> Generator[None]:
    """Leave the steps aside that no code can be made of yet."""
    taken = {stage: stage.steps for stage in schedule.stages}
    for stage, steps in taken.items():
        stage.steps = [step for step in steps if not _is_missing(step)]
    try:
        yield
    finally:
        for stage, steps in taken.items():
            stage.steps = steps


def _is_missing(step: Step) -> bool:
    try:
        return isinstance(step, Tensorize) and INTRINSICS.find(step.intrinsic) is None
    except MissingSymbol:
        return True


def _source(inputs: Any, name: str | None = None) -> Any:
    """What `hj.build` takes for it: the functions of a module have the names that it gives them."""
    match inputs:
        case TensorSchedule():
            return inputs.settle()
        case Schedule():
            only = name if len(inputs.schedules) == 1 else None
            return {only or own: schedule for own, schedule in inputs.schedules.items()}
        case IRModule():
            return {func.symbol or key: func for key, func in inputs.functions.items()}
        case [IRModule(), *_]:
            return _source(_merged(inputs))
        case _:
            return inputs


def _is_by_target(inputs: Any) -> bool:
    """Whether modules are given by what they are to be built for."""
    if not isinstance(inputs, Mapping):
        return False
    values = [*cast("Mapping[Any, Any]", inputs).values()]
    return bool(values) and all(isinstance(value, IRModule) for value in values)


def _merged(modules: Sequence[IRModule]) -> IRModule:
    """The functions of several modules in one."""
    whole = IRModule()
    for module in modules:
        whole.update(module)
    return whole


def _check_binds(binds: Mapping[Any, DeclaredBuffer] | None) -> None:
    """Refuse buffers that say anything else than that arguments lie in C order, as they do."""
    for tensor, buffer in (binds or {}).items():
        if not buffer.is_usual(()) or buffer.dtype != tensor.dtype:
            raise ArgumentError(
                f"binds: '{tensor.name}' lies in C order, and '{buffer.name}' does not say so",
                help="te.extern(..., in_buffers=[...]) sets strides",
            )


def _check_target(wanted: Any) -> None:
    kind = str(wanted or "llvm").split()[0]
    if kind not in ("llvm", "c", "cpu"):
        raise ArgumentError(
            f"target {kind!r} is not there", help='code is made for this processor: "llvm"'
        )
