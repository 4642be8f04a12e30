"""`axes=` and `axis=`: which axes of the operands and results of a gufunc are the core ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.scalars.kinds import is_array
from hybridjit.ufuncs.signature import CoreSignature

Axes = tuple[int, ...]


def read_axes(core: CoreSignature, axes: Any, axis: Any) -> list[Axes | None]:
    """The core axes of each operand and result; None where they are the last ones."""
    cores = (*core.inputs, *core.outputs)
    if axis is not None:
        if axes is not None:
            raise ArgumentError("axis= and axes= cannot both be given")
        if not all(len(entry) <= 1 for entry in cores):
            raise ArgumentValueError(f"axis= needs a single core dimension, not {core}")
        return [(int(axis),) if entry else () for entry in cores]
    if axes is None:
        return [None] * len(cores)
    if not isinstance(axes, list):
        raise ArgumentError("axes= must be a list with a tuple of axes for each operand")
    given = cast("list[Any]", axes)
    if len(given) == len(core.inputs) and not any(core.outputs):
        given = [*given, *[()] * len(core.outputs)]
    if len(given) != len(cores):
        raise ArgumentValueError(f"axes= has {len(given)} entries for {len(cores)} operands")
    return [
        _entry(item, len(entry), position)
        for position, (item, entry) in enumerate(zip(given, cores, strict=True))
    ]


def _entry(item: Any, ndim: int, position: int) -> Axes:
    found = cast("Axes", item) if isinstance(item, tuple) else (int(item),)
    if len(found) != ndim:
        raise ArgumentValueError(f"axes= has {len(found)} axes for {ndim} in entry {position}")
    return found


def moved_inputs(values: Sequence[Any], axes: Sequence[Axes | None]) -> Any:
    """Operands with their core axes moved to the end."""
    moved = [
        value if not entry or not is_array(value) else np.moveaxis(value, entry, _last(entry))
        for value, entry in zip(values, axes, strict=False)
    ]
    return tuple(moved) if isinstance(values, tuple) else moved


def moved_output(value: Any, axes: Axes | None) -> Any:
    """A result with its core axes, which are the last ones, moved to their places."""
    return value if not axes else np.moveaxis(value, _last(axes), axes)


def _last(axes: Axes) -> tuple[int, ...]:
    return tuple(range(-len(axes), 0))
