"""Code for arrays of given shapes and types, made of the definition of an operator."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from hybridjit import config
from hybridjit.errors import ScheduleError
from hybridjit.ir.expr import Buffer, Const
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Return, seq
from hybridjit.record import record
from hybridjit.runtime.dispatch.call_shape import CallShape
from hybridjit.runtime.modules.built_function import BuiltFunction
from hybridjit.runtime.modules.module import Module, build
from hybridjit.scalars.kinds import is_array
from hybridjit.schedule.recipe import apply_recipe
from hybridjit.schedule.schedule import Schedule
from hybridjit.stdlib.running.coalescing import coalesce
from hybridjit.stdlib.running.operands import Operand, stand_in
from hybridjit.te import Tensor, create_prim_func
from hybridjit.tuning.remembered import find_for_function

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
    """Code that makes the results of an operator.

    `opened` is the program with the steps that the code was made with. `views` are the shapes in
    which operands are passed, by their places, where these are not their own; `result_shape` is
    that of the result where the code gives it in another one.
    """

    code: Module
    opened: Schedule
    views: tuple[tuple[int, Shape], ...] = ()
    result_shape: Shape | None = None

    @property
    def function(self) -> BuiltFunction:
        """What runs."""
        return self.code.functions[0]

    def run(self, values: Sequence[Any], out: object = None) -> tuple[Any, CallShape | None]:
        """The results for arrays and numbers, and the call as it ran natively, if it did.

        They are in the arrays of `out` if the code can write to them.
        """
        result, ran = self.function.run(self.arguments(values), {}, self._as_seen(out))
        if self.result_shape is None:
            return result, ran
        if result.base is not None:
            return result.reshape(self.result_shape), ran
        result.resize(self.result_shape, refcheck=False)  # its own elements, all of them
        return result, ran

    def _as_seen(self, out: object) -> object:
        """The array of the caller in the shape in which the code sees it, None if it has none."""
        if self.result_shape is None or out is None:
            return out
        if not is_array(out) or out.shape != self.result_shape or not out.flags.c_contiguous:
            return None
        sizes = self.function.specialization.header.outputs[0].shape
        whole: Any = out
        return whole.reshape([int(size.value.real) for size in sizes if isinstance(size, Const)])

    def seen(self, values: Sequence[Any]) -> dict[Buffer, Shape]:
        """The shapes in which callers see arrays that the code sees in others."""
        header = self.function.specialization.header
        params: Any = header.params
        seen: dict[Buffer, Shape] = {params[place]: values[place].shape for place, _ in self.views}
        if self.result_shape is not None:
            seen[header.outputs[0]] = self.result_shape
        return seen

    def arguments(self, values: Sequence[Any]) -> list[Any]:
        """What the code is called with, to run on arrays and numbers."""
        passed = list(values)
        for place, view in self.views:
            passed[place] = passed[place].reshape(view)
        return passed


Make = Callable[[Schedule], tuple[Module, Schedule]]
"""Makes code of a program, with the steps taken that its recipe says; tells with which it was."""


def _build_opened(opened: Schedule) -> tuple[Module, Schedule]:
    """Under the steps that a search kept for the program, if it did."""
    found = None
    if config.tune_database() is not None:
        found = find_for_function(opened.original)
    if found is not None:
        opened = apply_recipe(opened.original, found)
    return build(opened), opened


def compile_operator(
    name: str,
    operands: Sequence[Operand],
    define: Callable[[Mapping[str, Any]], Any],
    recipe: Recipe,
    make: Make = _build_opened,
) -> Compiled:
    """The code of what `define` makes of placeholders for the operands."""
    shapes = [_shape_of(operand) for operand in operands]
    stand_ins = _stand_ins(operands, shapes)
    graph = define(stand_ins)
    shape = _as_tuple(graph)[0].shape
    views, result_view = shapes, shape
    if recipe.elementwise and _is_in_c_order(operands):
        views, result_view = coalesce(shapes, shape)
        if views != shapes:
            stand_ins = _stand_ins(operands, views)
            graph = define(stand_ins)
    func = _returning(create_prim_func([*stand_ins.values(), *_as_tuple(graph)], name), graph)
    func = dataclasses.replace(func, fastmath=recipe.fastmath, parallel=True)
    code, opened = _build(func, recipe, make)
    changed = tuple(
        (place, view)
        for place, (view, operand) in enumerate(zip(views, operands, strict=True))
        if not operand.is_number and view != shapes[place]
    )
    return Compiled(code, opened, changed, None if result_view == shape else shape)


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


def _returning(func: PrimFunc, graph: Any) -> PrimFunc:
    """`func`, whose last parameters are the tensors of `graph`: it returns them instead."""
    count = len(func.params) - len(_as_tuple(graph))
    results: Any = func.params[count:]
    return dataclasses.replace(
        func,
        params=func.params[:count],
        body=seq(func.body, Return()),
        outputs=results,
        returns=results,
        returns_tuple=isinstance(graph, tuple),
    )


def _build(func: PrimFunc, recipe: Recipe, make: Make) -> tuple[Module, Schedule]:
    if any(Const(0) in buffer.shape for buffer in (*func.buffers, *func.outputs)):
        return _build_opened(Schedule(func))
    return make(_schedule(func, recipe))


def _schedule(func: PrimFunc, recipe: Recipe) -> Schedule:
    """The program as the recipe schedules it; as it is written, if a step is refused for it."""
    schedule = Schedule(func)
    try:
        recipe.schedule(schedule)
    except REFUSALS:
        return Schedule(func)
    return schedule
