"""Arrays of others: the same memory, read and written, as arguments and as `out=`."""

from __future__ import annotations

import array
import ctypes
from collections.abc import Callable
from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from hybridjit.errors import ArgumentError, ArgumentValueError
from tests.brought.classes import ByDlpack, ByInterface, Column

np: Any = numpy
pytestmark = pytest.mark.usefixtures("unchecked")


class OnDevice(ByDlpack):
    device = 2


class OfObject:
    """As an object that is given the attribute."""

    def __init__(self, data: Any) -> None:
        self.data = data
        self.__array_interface__ = data.__array_interface__


class Computed(Column):
    """A column that is converted whenever it is asked for."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.data.copy()


class Subclass(numpy.ndarray[Any, Any]):
    pass


KINDS: dict[str, Callable[[Any], Any]] = {
    "memoryview": memoryview,
    "array.array": lambda a: array.array("d", a),
    "ctypes": lambda a: (ctypes.c_double * len(a))(*a),
    "dlpack": ByDlpack,
    "interface": ByInterface,
    "interface of an object": OfObject,
    "column": Column,
    "subclass": lambda a: a.view(Subclass),
}


@hybrid.script
def doubled(a: Any) -> Any:
    for i in range(len(a)):
        a[i] *= 2


@hybrid.script
def plus_one(a: Any) -> Any:
    return a + 1


def _data(value: Any) -> list[float]:
    return np.asarray(getattr(value, "data", value)).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_memory_is_shared(kind: str) -> None:
    given = KINDS[kind](np.arange(3.0))
    for run in (doubled, doubled.interpret):
        run(given)
    assert _data(given) == [0, 4, 8]


@pytest.mark.parametrize("kind", KINDS)
def test_as_out(kind: str) -> None:
    given = KINDS[kind](np.zeros(3))
    assert plus_one(given, out=given) is given
    assert _data(given) == [1, 1, 1]


def test_in_tuples() -> None:
    @hybrid.script
    def total(parts: Any) -> Any:
        return parts[0][0] + parts[1][1]

    assert total((memoryview(np.arange(3.0)), array.array("d", [1, 2]))) == 2
    assert total([np.arange(3.0), (ctypes.c_double * 2)(3, 4)]) == 4


def test_a_copy_is_read_and_not_written() -> None:
    given = Computed(np.arange(3.0))
    assert plus_one(given).tolist() == [1, 2, 3]
    with pytest.raises(ArgumentValueError, match="'a' is written, but it is read-only"):
        doubled(given)


def test_read_only_memory() -> None:
    with pytest.raises(ArgumentValueError, match="'a' is written, but it is read-only"):
        doubled(memoryview(b"abc"))
    with pytest.raises(ArgumentValueError, match="out= is read-only"):
        plus_one(np.zeros(3, np.uint8), out=memoryview(b"abc"))


def test_memory_of_another_device() -> None:
    with pytest.raises(ArgumentError, match="the memory of another device"):
        plus_one(OnDevice(np.zeros(2)))
