"""Code for arrays of given shapes and types, made of the definition of an operator."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from hybridjit.errors import ScheduleError
from hybridjit.ir.func import PrimFunc
from hybridjit.record import record
from hybridjit.runtime.modules.module import build
from hybridjit.schedule.schedule import Schedule
from hybridjit.stdlib.running.coalescing import coalesce
from hybridjit.stdlib.running.operands import Operand, stand_in
from hybridjit.te import Tensor, create_prim_func

Shape = tuple[int, ...]
# A schedule makes an operator faster; that it does not fit some shape is no error of the caller.
REFUSALS: tuple[type[Exception], ...] = (ScheduleError,)


@record
class Recipe:
    """How an operator is compiled for arrays.

    `schedule` is given the program, with one nest of loops for each tensor of the definition.
    `fastmath` is what it is for scripts. An operator that is `elementwise` runs over as few axes
    as the layout of its operands allows.
    """

    schedule: Callable[[Schedule], None]
    fastmath: tuple[str, ...] = ()
    elementwise: bool = False


def scheduled_by(schedule: Callable[[Schedule], None], *, fastmath: tuple[str, ...] = ()) -> Recipe:
    """The recipe with this schedule."""
    return Recipe(schedule, fastmath)


@record
class Compiled:
    """Code, and the results that it fills.

    `views` are the shapes in which operands are passed, by their places, where these are not
    their own; `result_view` is that of the results.
    """

    code: Callable[..., None]
    results: tuple[tuple[Shape, np.dtype[Any]], ...]
    is_tuple: bool
    views: tuple[tuple[int, Shape], ...] = ()
    result_view: Shape | None = None

    def __call__(self, values: list[Any]) -> Any:
        """Run it on arrays and numbers."""
        results: list[Any] = [np.empty(shape, dtype) for shape, dtype in self.results]
        for place, view in self.views:
            values[place] = values[place].reshape(view)
        if self.result_view is None:
            self.code(*values, *results)
        else:
            self.code(*values, *(result.reshape(self.result_view) for result in results))
        return tuple(results) if self.is_tuple else results[0]


Make = Callable[[Schedule], Callable[..., None]]
"""Makes code of a program, with the steps taken that its recipe says."""


def compile_operator(
    name: str,
    operands: Sequence[Operand],
    define: Callable[[Mapping[str, Any]], Any],
    recipe: Recipe,
    make: Make = build,
) -> Compiled:
    """The code of what `define` makes of placeholders for the operands."""
    shapes = [_shape_of(operand) for operand in operands]
    made = _as_tuple(define(_stand_ins(operands, shapes)))
    results = tuple((tensor.shape, tensor.dtype.numpy) for tensor in made)
    views, result_view = shapes, made[0].shape
    if recipe.elementwise and _is_in_c_order(operands):
        views, result_view = coalesce(shapes, result_view)
    stand_ins = _stand_ins(operands, views)
    graph = define(stand_ins)
    code = _build(name, [*stand_ins.values(), *_as_tuple(graph)], recipe, make)
    changed = tuple(
        (place, view)
        for place, (view, operand) in enumerate(zip(views, operands, strict=True))
        if not operand.is_number and view != shapes[place]
    )
    same = result_view == made[0].shape
    return Compiled(code, results, isinstance(graph, tuple), changed, None if same else result_view)


def _is_in_c_order(operands: Sequence[Operand]) -> bool:
    return all(operand.is_number or operand.value.flags.c_contiguous for operand in operands)


def _shape_of(operand: Operand) -> Shape:
    return () if operand.is_number else operand.value.shape


def _stand_ins(operands: Sequence[Operand], shapes: Sequence[Shape]) -> dict[str, Any]:
    return {
        operand.name: stand_in(operand, shape)
        for operand, shape in zip(operands, shapes, strict=True)
    }


def _as_tuple(graph: Any) -> tuple[Tensor, ...]:
    return cast("tuple[Tensor, ...]", graph) if isinstance(graph, tuple) else (graph,)


def _build(name: str, args: Sequence[Any], recipe: Recipe, make: Make) -> Callable[..., None]:
    func = dataclasses.replace(create_prim_func(args, name), fastmath=recipe.fastmath)
    if any(0 in arg.shape for arg in args if isinstance(arg, Tensor)):
        return build(func)
    return make(_schedule(func, recipe))


def _schedule(func: PrimFunc, recipe: Recipe) -> Schedule:
    """The program as the recipe schedules it; as it is written, if a step is refused for it."""
    schedule = Schedule(func)
    try:
        recipe.schedule(schedule)
    except REFUSALS:
        return Schedule(func)
    return schedule
