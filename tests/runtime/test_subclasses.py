"""Array subclasses whose attributes say what is not so: the layout is taken from the base array."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid

CALLS = 4


class Liar(np.ndarray[Any, Any]):
    """Says that it is a long, contiguous, writeable vector."""

    flags: Any = SimpleNamespace(c_contiguous=True, aligned=True, writeable=True)
    shape: Any = (100_000,)
    strides: Any = (8,)
    size: Any = 100_000
    ndim: Any = 1


def lying(array: Any) -> Any:
    return array.view(Liar)


def test_reading_stays_inside() -> None:
    @hybrid.script
    def total(a: Any) -> Any:
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i]
        return s

    for array in (np.arange(20.0)[::2], np.arange(20.0)[::-2] - 1, np.arange(20.0)[:10] * 2):
        for way in (total.interpret, *[total] * CALLS):
            assert way(lying(array)) == 90


def test_read_only_memory_is_not_written() -> None:
    @hybrid.script
    def fill(a: Any) -> None:
        for i in range(a.shape[0]):
            a[i] = 1

    frozen: Any = np.zeros(4)
    frozen.flags.writeable = False
    for way in (fill.interpret, *[fill] * CALLS):
        with pytest.raises(ValueError, match="it is read-only"):
            way(lying(frozen))
    assert frozen.tolist() == [0, 0, 0, 0]


def test_arrays_that_overlap_are_seen() -> None:
    @hybrid.script
    def shift(a: Any, b: Any) -> None:
        for i in range(a.shape[0]):
            b[i] = a[i] + 1

    for way in (shift.py_func, shift.interpret, *[shift] * CALLS):
        memory = np.zeros(9)
        a, b = memory[:-1], memory[1:]
        if way is shift.py_func:
            way(a, b)
        else:
            way(lying(a), lying(b))
        assert memory.tolist() == list(range(9))


def test_c_function_gets_contiguous_memory_only() -> None:
    compare = hybrid.extern("memcmp", "int32", ["const float64*", "const float64*", "int64"])
    a: Any = np.arange(4.0)
    with pytest.raises(TypeError, match="must be C-contiguous"):
        compare(lying(a[::2]), a, 16)
