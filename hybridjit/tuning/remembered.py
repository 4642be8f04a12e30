"""The schedules that searches kept: which database is in use, and what it has for a program."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

from hybridjit import config
from hybridjit.errors import HybridError, TuneError
from hybridjit.ir.expr import Buffer, Const
from hybridjit.ir.func import PrimFunc
from hybridjit.processor import current_target
from hybridjit.scalars.specs import Spec
from hybridjit.schedule.recipe import apply_recipe
from hybridjit.schedule.trace import RecordedTrace, Trace
from hybridjit.tuning.database import Database
from hybridjit.tuning.identity import Shapes, identify, shapes_of_specs


def database_in_use() -> Database | None:
    """The database that was opened, if one was."""
    path = config.tune_database()
    return None if path is None else Database(path)


def options_of(fastmath: Sequence[str], *, is_parallel: bool) -> list[Any]:
    """What a program is compiled with, as databases know it."""
    threads = (config.current().num_threads or os.cpu_count()) if is_parallel else 1
    return [sorted(fastmath), is_parallel, threads]


def find_remembered(
    func: PrimFunc, specs: Sequence[Spec], fastmath: Sequence[str], is_parallel: bool
) -> RecordedTrace | None:
    """The steps that won for a program, or for one like it, if they can be taken on it."""
    return _find(func, shapes_of_specs(specs), options_of(fastmath, is_parallel=is_parallel))


def find_for_function(func: PrimFunc) -> RecordedTrace | None:
    """The same of a function of known sizes, such as that of an operator."""
    shapes = [
        tuple(int(size.value.real) if isinstance(size, Const) else 0 for size in param.shape)
        for param in func.params
        if isinstance(param, Buffer) and param.shape
    ]
    return _find(func, tuple(shapes), options_of(func.fastmath, is_parallel=False))


def _find(func: PrimFunc, shapes: Shapes, options: list[Any]) -> RecordedTrace | None:
    database = database_in_use()
    if database is None:
        return None
    try:
        winner = database.winner(identify(func, shapes, current_target(), options))
    except TuneError as error:
        warnings.warn(f"running without what was tuned: {error}", stacklevel=5)
        return None
    if winner is None or not winner.recipe:
        return None
    try:
        trace = Trace.from_json(winner.recipe)
        apply_recipe(func, trace)
    except HybridError:
        return None  # steps for other shapes need not fit these
    return trace
