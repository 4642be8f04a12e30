"""Array subclasses whose attributes say what is not so: the layout is taken from the base array."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from tests.runtime.native_calls import hits, warm

CALLS = 4


class Liar(np.ndarray[Any, Any]):
    """Says that it is a long, contiguous, writeable vector."""

    flags: Any = SimpleNamespace(c_contiguous=True, aligned=True, writeable=True)
    shape: Any = (100_000,)
    strides: Any = (8,)
    size: Any = 100_000
    ndim: Any = 1


def as_class(array: Any, cls: Any) -> Any:
    return array.view(cls)


def lying(array: Any) -> Any:
    return as_class(array, Liar)


def plain(array: Any) -> Any:
    base: Any = np.ndarray
    return base.view(array, base)


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


class Named(np.ndarray[Any, Any]):
    """An array with an attribute of its own."""


def mapped(folder: Path) -> Any:
    return np.memmap(folder / "numbers", np.float64, "w+", shape=(5, 3))


MAKERS: dict[str, Callable[[Path], Any]] = {
    "memmap": mapped,
    "named": lambda _folder: as_class(np.empty((5, 3)), Named),
    "liar": lambda _folder: as_class(np.empty((5, 3)), Liar),
}
NUMBERS: Any = np.array([[3.0 * i + j for j in range(3)] for i in range(5)])


@pytest.fixture(params=MAKERS)
def array(request: Any, tmp_path: Path) -> Any:
    made = MAKERS[request.param](tmp_path)
    plain(made)[...] = NUMBERS
    return made


def test_the_second_call_runs_without_python(array: Any) -> None:
    @hybrid.script
    def add(a: Any, b: Any) -> None:
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                b[i, j] = a[i, j] + 1

    b = np.zeros((5, 3))
    warm(add, array, b)
    b[...] = 0
    add(array, b)
    assert hits(add) == 2
    assert b.tolist() == (NUMBERS + 1).tolist()


def test_what_is_returned_is_a_plain_array(array: Any) -> None:
    @hybrid.script
    def rows(a: Any) -> Any:
        return a[1:]

    @hybrid.script
    def same(a: Any) -> Any:
        return a

    for kernel, expected in ((rows, NUMBERS[1:]), (same, NUMBERS)):
        for _ in range(CALLS):
            found = kernel(array)
            assert type(found) is np.ndarray
            assert found.tolist() == expected.tolist()
            assert np.shares_memory(found, plain(array))


def test_classes_do_not_pass_for_one_another() -> None:
    @hybrid.script
    def total(a: Any) -> Any:
        return a.sum()

    numbers = np.arange(6.0)
    warm(total, numbers)
    for _ in range(3):
        total(as_class(numbers, Named))
    assert hits(total) == 2
    for given in (numbers, as_class(numbers, Named), lying(numbers[::2])):
        assert total(given) == plain(given).sum()
    with pytest.warns(PendingDeprecationWarning), pytest.raises(TypeError, match=r"np\.matrix"):
        total(np.matrix([[1.0, 2.0]]))
    with pytest.raises(TypeError, match="mask"):
        total(np.ma.masked_equal(numbers, 1.0))
