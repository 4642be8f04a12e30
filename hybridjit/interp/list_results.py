"""Lists that a function returns, from the arrays that it gives away in their stead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from hybridjit.ir.signature import IN_LIST, ArrayResult, Result

Lists = Sequence[Sequence[int]]
"""The positions of arrays that are one list, for each result."""


def find_lists(results: Sequence[Result]) -> list[tuple[ArrayResult, ...]]:
    """What each result that the caller sees is made of: nothing for one that is as it is."""
    found: list[tuple[ArrayResult, ...]] = []
    for result in results:
        if not isinstance(result, ArrayResult) or result.place is None:
            found.append(())
        elif result.begins_list:
            found.append((result,))
        else:
            found[-1] = (*found[-1], result)
    return found


def put_together(
    values: Sequence[Any], lists: Sequence[tuple[ArrayResult, ...]]
) -> tuple[Any, ...]:
    """The results that the caller sees."""
    left = iter(values)
    return tuple(
        [_list(parts, [next(left) for _ in parts]) if parts else next(left) for parts in lists]
    )


def _list(parts: Sequence[ArrayResult], arrays: Sequence[NDArray[Any]]) -> list[Any]:
    columns = {
        part.place or (): array.tolist() if part.weak else list(array)
        for part, array in zip(parts, arrays, strict=True)
    }
    return _items(columns)


def _items(columns: Mapping[tuple[int, ...], list[Any]]) -> list[Any]:
    """The items from the numbers at each place of them."""
    if () in columns:
        return columns[()]
    parts: dict[int, dict[tuple[int, ...], list[Any]]] = {}
    for place, column in columns.items():
        parts.setdefault(place[0], {})[place[1:]] = column
    items = zip(*map(_items, parts.values()), strict=True)
    return list(map(list, items)) if min(parts) >= IN_LIST else list(items)
