"""A row of the table: what is computed, how much work that is, and who computes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = Any
Function = Callable[..., Array]


@dataclass(frozen=True, slots=True)
class Row:
    """One computation. A way is made when it is wanted: `ways["xla"]()` gives what is called.

    `flops` are those that the mathematics needs, `moved` the bytes of arguments and results: the
    time that the machine needs for the larger of both is the roofline of the row.
    """

    family: str
    name: str
    args: tuple[Array, ...]
    ways: Mapping[str, Callable[[], Function]]
    flops: float
    tolerance: float = 1e-4
    reference: Function | None = None
    extra_bytes: int = 0
    moved: int = field(init=False)

    def __post_init__(self) -> None:
        result = self.expected()
        moved = sum(arg.nbytes for arg in self.args) + self.args[0].itemsize * result.size
        object.__setattr__(self, "moved", moved + self.extra_bytes)

    def expected(self) -> Array:
        """What comes out in float64, by NumPy or the row's own reference."""
        compute = self.reference or self.ways["numpy"]()
        return np.asarray(compute(*(_wide(arg) for arg in self.args)))


def _wide(arg: Array) -> Array:
    return arg.astype(np.float64) if arg.dtype.kind == "f" else arg


def random(*shape: int, dtype: Any = np.float32) -> Array:
    """Numbers that are the same in every process."""
    seed = sum((axis + 1) * size for axis, size in enumerate(shape))
    return (np.random.default_rng(seed).random(shape) - 0.5).astype(dtype)
