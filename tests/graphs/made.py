"""A tensor of a random graph together with what it is in NumPy, worked out without te."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from hybridjit.tensors.tensor import Tensor

Array = Any
Evaluate = Callable[[Array], Array] | Callable[[Array, Array], Array]


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """A tensor, its shape in numbers (its own sizes may be variables), and how NumPy makes it.

    `evaluate` takes the arrays of `inputs`; a placeholder has neither.
    """

    tensor: Tensor
    sizes: tuple[int, ...]
    inputs: tuple[Made, ...] = ()
    evaluate: Evaluate | None = None

    @property
    def dims(self) -> tuple[Any, ...]:
        """The sizes as the tensor has them."""
        return self.tensor.shape

    @property
    def dtype(self) -> Any:
        """The type of the elements, for NumPy."""
        return self.tensor.dtype.numpy


def same_shape(a: Made, b: Made) -> bool:
    """Whether both have one shape, variables included."""
    return a.sizes == b.sizes and a.tensor.buffer.shape == b.tensor.buffer.shape


def changed(
    source: Made, axis: int, change: Callable[[Any], Any]
) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """The shape of `source` with one size changed: as it is written, and in numbers."""
    dims = tuple(change(d) if k == axis else d for k, d in enumerate(source.dims))
    return dims, tuple(change(d) if k == axis else d for k, d in enumerate(source.sizes))


def evaluate_all(made: Sequence[Made], values: dict[Made, Array]) -> dict[Made, Array]:
    """The arrays of all tensors, by NumPy alone, given those of the placeholders."""
    found = dict(values)
    with np.errstate(all="ignore"):
        for item in made:
            if item.evaluate is not None:
                evaluate = cast("Callable[..., Array]", item.evaluate)
                found[item] = evaluate(*(found[source] for source in item.inputs))
    return found
