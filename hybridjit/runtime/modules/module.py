"""Modules: functions of the IR, built, with their tools around them."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hybridjit.config import api_edge
from hybridjit.errors import ArgumentValueError
from hybridjit.ir.func import PrimFunc
from hybridjit.lazy import lazy_module
from hybridjit.lowering.custom_passes import CustomPass, apply_passes, read_passes
from hybridjit.record import record
from hybridjit.runtime.arguments import flatten
from hybridjit.runtime.dispatch.native_calls import NativeCalls
from hybridjit.runtime.dispatch.objects import NativeCallable, native_calls
from hybridjit.runtime.inspection import Safety, StageName, find_safety, show_stage
from hybridjit.runtime.modules.built_function import (
    BuiltFunction,
    BuiltSpecialization,
    usual_layout,
)
from hybridjit.scalars.suggest import did_you_mean
from hybridjit.schedule.scheduled import Scheduled, as_functions

if TYPE_CHECKING:
    from hybridjit.lowering import check_kinds
    from hybridjit.runtime import report as reports
    from hybridjit.runtime.modules import export
    from hybridjit.runtime.report import Report
else:
    check_kinds = lazy_module("hybridjit.lowering.check_kinds")
    reports = lazy_module("hybridjit.runtime.report")
    export = lazy_module("hybridjit.runtime.modules.export")


@record
class Timing:
    """Seconds for one run: an average for each repeat."""

    results: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The average of the repeats."""
        return statistics.fmean(self.results)

    @property
    def min(self) -> float:
        """The fastest repeat."""
        return min(self.results)

    @property
    def max(self) -> float:
        """The slowest repeat."""
        return max(self.results)

    @property
    def median(self) -> float:
        """The repeat in the middle."""
        return statistics.median(self.results)

    @property
    def std(self) -> float:
        """How far the repeats lie apart: their standard deviation."""
        return statistics.pstdev(self.results)

    def __str__(self) -> str:
        parts = (f"{name} {getattr(self, name) * 1e3:.4f} ms" for name in ("mean", "min", "std"))
        return ", ".join(parts)


@native_calls
class Module(NativeCallable):
    """Built functions by name. `module(a, b, c)` calls the first one, `module["f"](a)` any."""

    def __init__(self, functions: Mapping[str, BuiltFunction]) -> None:
        self._functions = dict(functions)
        self._entry = next(iter(self._functions.values()))
        self.native_calls = NativeCalls()

    @api_edge
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # Calls like earlier ones do not come here: the dispatcher runs them.
        return self._entry.call_as(self, self.native_calls, args, kwargs)

    @api_edge
    def interpret(self, *args: Any, **kwargs: Any) -> Any:
        """Run the IR of the first function in the interpreter."""
        return self._entry.interpret(*args, **kwargs)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the functions, that of the one that a call runs first."""
        return tuple(self._functions)

    @property
    def entry_name(self) -> str:
        """The name of the function that a call runs."""
        return self.names[0]

    @property
    def functions(self) -> tuple[BuiltFunction, ...]:
        """The functions, in the order of their names."""
        return tuple(self._functions.values())

    @api_edge
    def __getitem__(self, name: str) -> BuiltFunction:
        return self._find(name)

    def _find(self, name: str | None) -> BuiltFunction:
        if name is None:
            return self._entry
        found = self._functions.get(name)
        if found is None:
            raise ArgumentValueError(
                f"there is no function '{name}' in the module",
                help=did_you_mean(name, self.names) or f"there are {', '.join(self.names)}",
            )
        return found

    @api_edge
    def prim_func(self, name: str | None = None) -> PrimFunc:
        """The IR of a function, as it was scheduled."""
        return self._find(name).specialization.func

    @api_edge
    def inspect(self, stage: StageName, *args: Any, name: str | None = None) -> str:
        """A function as text: "tir", "optimized", "passes", "lowered", "llvm" or "asm".

        With arguments, for the way they lie in memory; without, for arrays in C order that share
        no memory.
        """
        function = self._find(name)
        made = function.specialization
        layout = function.layout(args) if args else usual_layout(made.header)
        func = made.func if stage == "tir" else made.compiled_func(layout)
        return show_stage(func, layout, stage, may_reorder=made.may_reorder(layout))

    @api_edge
    def report(self, *args: Any, name: str | None = None) -> Report:
        """How each loop of a function runs and why not better, what is checked, the memory that it
        takes, and how the code came to be: see `Kernel.report`.

        With arguments, for the way they lie in memory; without, for arrays in C order that share
        no memory.
        """
        function = self._find(name)
        made = function.specialization
        if not args:
            return reports.report_on(made, usual_layout(made.header), ())
        specs, values = function.bind(args, {})
        return reports.report_on(made, made.layout(specs, values), flatten(specs, values))

    @api_edge
    def safety(self, name: str | None = None) -> Safety:
        """Which indices are proved to be inside their arrays, and which are checked, and where."""
        return find_safety(self._find(name).specialization.func)

    @api_edge
    def time_evaluator(
        self, name: str | None = None, device: object = None, number: int = 10, repeat: int = 3
    ) -> Callable[..., Timing]:
        """A function that measures: `module.time_evaluator("f", repeat=5)(a, b, c).mean`.

        It runs once to warm up, then `repeat` times `number` calls; each repeat gives the
        seconds of one call. There is one device, this processor: any other is not looked at.
        """
        function = self._find(name)
        if number < 1 or repeat < 1:
            raise ArgumentValueError(
                f"number and repeat must be at least 1, got {number} and {repeat}"
            )

        def measure(*args: Any) -> Timing:
            function(*args)
            function(*args)  # from the second call on, the dispatcher runs it
            return Timing(tuple(_time(function, args, number) for _ in range(repeat)))

        return measure

    @api_edge
    def export_library(self, path: str | os.PathLike[str]) -> None:
        """Write a shared library, and beside it a C header, that need nothing of hybridjit.

        `hj.load_module(path)` loads the library. The code is made for this processor, for arrays
        in C order that share no memory; parallel loops run in one thread.
        """
        export.export_library(self.functions, os.fspath(path))

    def __repr__(self) -> str:
        return f"hybridjit module: {', '.join(self.names)}"


def _time(function: Callable[..., Any], args: Sequence[Any], number: int) -> float:
    start = time.perf_counter()
    for _ in range(number):
        function(*args)
    return (time.perf_counter() - start) / number


def build(source: Any, args: Sequence[Any] | None = None) -> Module:
    """A module with a schedule, with tensors or with a function of the IR, as they are."""
    return build_functions(as_functions(source, args, None))


def build_functions(made: Mapping[str, Scheduled], passes: Sequence[Any] = ()) -> Module:
    """A module with these functions; `passes` rewrite each of them."""
    if not made:
        raise ArgumentValueError("a module needs at least one function")
    custom = read_passes(passes)
    return Module({key: _build_function(item, custom) for key, item in made.items()})


def _build_function(made: Scheduled, passes: Sequence[CustomPass]) -> BuiltFunction:
    functions = made.func, made.as_written, made.original
    func, as_written, original = (apply_passes(func, passes) for func in functions)
    check_kinds.check_unrolled(func)
    return BuiltFunction(BuiltSpecialization(func, as_written, original))
