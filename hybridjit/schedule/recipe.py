"""Recipes: whatever says how to schedule a program, applied to one program after another."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from typing import Any

from hybridjit.errors import ArgumentError
from hybridjit.ir.func import PrimFunc
from hybridjit.schedule.schedule import Schedule
from hybridjit.schedule.trace import RecordedTrace, Trace

Recipe = Callable[[Schedule], Any] | Schedule | Trace | RecordedTrace | str
"""A function of a schedule, or the steps of one; text is the JSON of a trace."""


def check_recipe(recipe: object) -> Callable[[Schedule], Any] | RecordedTrace:
    """A recipe as it is kept: a function as it is, anything else as recorded steps."""
    match recipe:
        case Schedule():
            return RecordedTrace.of(recipe.trace)
        case Trace():
            return RecordedTrace.of(recipe)
        case RecordedTrace():
            return recipe
        case str():
            return Trace.from_json(recipe)
        case _ if callable(recipe):
            return recipe
        case _:
            raise ArgumentError(
                f"a schedule is a function of a Schedule, a Schedule or a trace, got {recipe!r}",
                help="write it as in `def tiled(s): s.split('i', factor=8)`",
            )


def apply_recipe(func: PrimFunc, recipe: Callable[[Schedule], Any] | RecordedTrace) -> Schedule:
    """A schedule of `func` with the steps of `recipe` taken."""
    schedule = Schedule(func)
    take_recipe(schedule, recipe)
    return schedule


def take_recipe(schedule: Schedule, recipe: Callable[[Schedule], Any] | RecordedTrace) -> None:
    """Take the steps of `recipe` on a schedule; those before one that is refused stay."""
    if isinstance(recipe, RecordedTrace):
        schedule.replay(recipe)
        return
    result: object = recipe(schedule)
    if isinstance(result, Schedule) and result is not schedule:
        raise ArgumentError("a schedule function must work on the schedule that it is given")
    if isinstance(result, Generator | Coroutine):
        result.close()
        kind = "generator" if isinstance(result, Generator) else "coroutine"
        raise ArgumentError(
            f"a schedule function must take its steps when it is called, got a {kind} function",
            help="write it with neither yield nor async",
        )
