"""The decorator `@hybrid.script` with its options, and the declaration of intrinsics."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast, overload

from hybridjit.errors import ArgumentError
from hybridjit.ir.fastmath import Fastmath, read_fastmath
from hybridjit.kernel import Kernel
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.intrinsics import registry as intrinsics
    from hybridjit.ir.func import PrimFunc
    from hybridjit.schedule import recipe as recipes
    from hybridjit.schedule.recipe import Recipe
else:
    intrinsics = lazy_module("hybridjit.intrinsics.registry")
    recipes = lazy_module("hybridjit.schedule.recipe")

P = ParamSpec("P")
R = TypeVar("R")


@overload
def script(
    function: Callable[P, R],
    *,
    fastmath: Fastmath = False,
    schedule: Recipe | None = None,
    parallel: bool | None = None,
) -> Kernel[P, R]: ...
@overload
def script(
    function: None = None,
    *,
    fastmath: Fastmath = False,
    schedule: Recipe | None = None,
    parallel: bool | None = None,
) -> Callable[[Callable[P, R]], Kernel[P, R]]: ...
def script(
    function: Callable[..., Any] | None = None,
    *,
    fastmath: Fastmath = False,
    schedule: Recipe | None = None,
    parallel: bool | None = None,
) -> Any:
    """Make a kernel of a function over NumPy arrays: `@hybrid.script`.

    The function is read, never executed. It is translated at the first call with arguments of
    new types. `fastmath=True`, or a set of "contract", "reassoc", "nnan", "ninf", "nsz", "arcp"
    and "afn", lets native code round otherwise than NumPy; of inlined scripts it does not count.
    `schedule` says how its loops are run: a function of a `Schedule`, or a trace.

    `parallel=True` lets loops run on all cores, where their iterations are proved independent and
    the work is worth it; sums, too, where any order gives the same result. What is computed does
    not depend on the number of threads (`hj.threads`). Without it HYBRIDJIT_PARALLEL decides, or
    `hj.config.scope(parallel=True)` around the first call. A schedule says itself what is parallel.
    """
    flags = read_fastmath(fastmath)
    _check_switch(parallel)
    if function is None:
        return functools.partial(script, fastmath=flags, schedule=schedule, parallel=parallel)
    recipe = None if schedule is None else recipes.check_recipe(schedule)
    if isinstance(function, Kernel):
        kernel = cast("Kernel[..., Any]", function)
        is_same = parallel is None or parallel is kernel.options["parallel"]
        if schedule is None and (not flags or flags == kernel.fastmath) and is_same:
            return kernel
        function = kernel.__hybrid_function__
    if isinstance(function, FunctionType):
        function = getattr(function, "__hybrid_function__", function)
    if not isinstance(function, FunctionType):
        raise ArgumentError(f"@hybrid.script decorates a function, got {function!r}")
    made: Kernel[..., Any] = Kernel(function, flags, recipe, parallel=parallel)
    return made


def _check_switch(parallel: object) -> None:
    if parallel is not None and not isinstance(parallel, bool):
        raise ArgumentError(f"parallel must be True or False, got {parallel!r}")


def intrinsic(
    name: str,
    description: Kernel[..., Any] | PrimFunc,
    implementation: Kernel[..., Any] | PrimFunc,
) -> None:
    """Declare a tensor intrinsic: a small program, and a better way to do the same.

    Both are scripts over annotated arrays of constant sizes, such as `a: hj.f32[16]`, that write
    to their arguments. `s.tensorize(loop, name)` then puts the one in the place of the other.
    """
    pair = (_function_of(description), _function_of(implementation))
    intrinsics.INTRINSICS.declare(name, *pair)


def _function_of(side: Kernel[..., Any] | PrimFunc) -> PrimFunc:
    return side.annotated() if isinstance(side, Kernel) else side
