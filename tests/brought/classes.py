"""Classes as people bring them, and objects that show arrays of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


class Pair(NamedTuple):
    x: Any
    y: Any

    def weighed(self, by: Any = 2) -> Any:
        return self.x.sum() * by + self.y

    def moved(self, by: Any) -> Any:
        return self._replace(x=self.x + by)

    @property
    def half(self) -> Any:
        return self.y / 2


@dataclass
class Body:
    at: Any
    mass: Any


@dataclass(frozen=True)
class Model:
    weights: Any
    inner: Pair
    bias: float = 0.5


class ByDlpack:
    """As what only speaks DLPack."""

    device = 1

    def __init__(self, data: Any) -> None:
        self.data = data

    def __dlpack__(self, **options: Any) -> Any:
        return self.data.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0


class ByInterface:
    """As images and arrays of other packages."""

    def __init__(self, data: Any) -> None:
        self.data = data

    @property
    def __array_interface__(self) -> Any:
        return self.data.__array_interface__


class Column(ByDlpack):
    """As a tensor of torch, or a column of pandas or xarray: `__array__` shows its memory."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.data
