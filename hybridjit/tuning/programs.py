"""What is tuned, as workers see it: something that makes a callable of a candidate's steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from hybridjit.ir.func import PrimFunc
from hybridjit.record import record
from hybridjit.runtime.modules.module import Module, build
from hybridjit.schedule.recipe import apply_recipe
from hybridjit.schedule.trace import Trace

Run = Callable[..., Any]


class Program(Protocol):
    """It is pickled, and so is what `make` takes; None is the program without any steps."""

    def make(self, recipe: Any) -> Run:
        """What runs the program as `recipe` says."""
        ...


@record(eq=False)
class Script:
    """A kernel; a recipe is the JSON of a trace."""

    kernel: Any

    def make(self, recipe: str | None) -> Run:
        """The kernel under other steps."""
        return self.kernel if recipe is None else self.kernel.with_schedule(recipe)


@record(eq=False)
class Function:
    """A function of the IR; a recipe is the JSON of a trace. `usual` is the one to beat."""

    func: PrimFunc
    usual: str | None = None

    def make(self, recipe: str | None) -> Run:
        """The function, built with these steps taken."""
        chosen = self.usual if recipe is None else recipe
        if chosen is None:
            return build(self.func)
        return build(apply_recipe(self.func, Trace.from_json(chosen)))


@record(eq=False)
class Built:
    """A function that a template makes anew for each candidate: what it made is the recipe."""

    plain: PrimFunc

    def make(self, recipe: PrimFunc | None) -> Run:
        """The function that was made, built."""
        return build(self.plain if recipe is None else recipe)


def compile_ahead(run: Run, args: Sequence[Any]) -> None:
    """Make native code for these arguments now, so that the first run is as long as others."""
    if isinstance(run, Module):
        (function,) = run.functions
        function.specialization.compile(function.layout(args))
    else:
        compile_kernel: Run | None = getattr(run, "compile", None)
        if compile_kernel is not None:
            compile_kernel(*args)
