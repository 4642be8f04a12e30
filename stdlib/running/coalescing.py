"""Elementwise work over as few axes as possible: neighbours that lie in memory as one become one.

(32, 64, 14, 14) + (64, 1, 1)  -->  (32, 64, 196) + (1, 64, 1)

This is for arrays in C order, of which neighbouring axes always lie in memory as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

Shape = tuple[int, ...]


def coalesce(operands: Sequence[Shape], result: Shape) -> tuple[list[Shape], Shape]:
    """The shapes of the operands and of the result, with neighbouring axes merged.

    Axes are merged that every operand either has, or repeats its elements along.
    """
    padded = [(1,) * (len(result) - len(shape)) + shape for shape in operands]
    groups = _group_axes(padded, result)
    return [_merged(shape, groups) for shape in padded], _merged(result, groups)


def _merged(shape: Shape, groups: Sequence[Sequence[int]]) -> Shape:
    return tuple(prod(shape[axis] for axis in group) for group in groups)


def _group_axes(operands: Sequence[Shape], result: Shape) -> list[list[int]]:
    groups: list[list[int]] = []
    last: tuple[bool, ...] | None = None  # which operands have the axes of the last group
    for axis, size in enumerate(result):
        kind = tuple(shape[axis] == size for shape in operands) if size != 1 else last
        if groups and (kind == last or last is None):
            groups[-1].append(axis)
        else:
            groups.append([axis])
        last = kind
    return groups
