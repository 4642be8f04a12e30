"""A kernel whose result, in the memory of its arguments, shows what was written when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hybridjit import hybrid
from hybridjit.hybrid import output_tensor

LENGTH = 40  # so many that not all are loaded before one is stored


@hybrid.script
def mirrored(a: Any, b: Any) -> Any:
    """Element i takes what lies as far from the other end, and its neighbour."""
    c = output_tensor((40,), "float64")
    for i in range(40):
        c[i] = a[39 - i] + 100.0 * b[i] + 10.0 * b[39 - i]
    return c


def run_on_views(call: Callable[..., Any], views: Sequence[tuple[int, int]]) -> bytes:
    """What is in memory after a call on parts of it, the last of which takes the result.

    Each part begins at some element and goes on in steps.
    """
    memory = np.arange(256.0)
    *args, out = (_part(memory, start, step) for start, step in views)
    assert call(*args, out=out) is out
    return memory.tobytes()


def _part(memory: Any, start: int, step: int) -> Any:
    if step == 0:
        return np.broadcast_to(memory[start], (LENGTH,))
    return memory[start:][::step][:LENGTH] if step > 0 else memory[: start + 1][::step][:LENGTH]
