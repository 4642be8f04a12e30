"""Structured arrays: fields and records, read and written, as NumPy does."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from hybridjit.errors import ArgumentError, ParseError
from tests.support.array_results import assert_close

np: Any = numpy
BODY = np.dtype([("x", "f8", 2), ("mass", "f4"), ("id", "i2")])


def bodies(n: int) -> Any:
    made = np.zeros(n, BODY)
    made["x"] = np.arange(2 * n).reshape(n, 2)
    made["mass"], made["id"] = np.arange(n) + 1, np.arange(n) - 1
    return made


@hybrid.script
def moved(a: Any, step: Any) -> Any:
    """Elements of fields and fields of elements, read, written and updated."""
    total = 0.0
    for i in range(len(a)):
        a[i]["x"][0] += step
        a["x"][i, 1] = a[i]["mass"] * 2
        a[i]["mass"] *= 3
        total += a["mass"][i] + a[i]["id"]
    return total, a.shape[0], a.size, a.ndim


@hybrid.script
def whole(a: Any) -> Any:
    """Fields as arrays, one record as it was, and a part."""
    first = a[0]
    before = first["mass"]
    a["mass"] = a["mass"] + 1
    a["id"][1:] = 7
    part = a[1:]
    return a["x"].sum(axis=1) * a["mass"], before, part["id"] + 1


@hybrid.script
def nested(a: Any) -> Any:
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j]["at"]["y"] * a["w"][i, j]
            a[i, j]["at"]["z"] = s
    return s


def assert_as_numpy(kernel: Any, array: Any, *others: Any) -> None:
    plain = array.copy()
    expected = kernel.py_func(plain, *others)
    for run in (kernel.interpret, kernel):
        given = array.copy()
        assert_close(run(given, *others), expected)
        assert given.tobytes() == plain.tobytes()


def test_as_numpy() -> None:
    for n in (1, 4, 9):
        assert_as_numpy(moved, bodies(n), 0.5)
        assert_as_numpy(whole, bodies(n))
    grid = np.zeros((2, 3), [("at", [("y", "f8"), ("z", "f8")]), ("w", "i4")])
    grid["at"]["y"], grid["w"] = np.arange(6).reshape(2, 3), 2
    assert_as_numpy(nested, grid)


def test_fields_of_every_other_record() -> None:
    given, plain = np.repeat(bodies(4), 2), bodies(4)
    moved(given[::2], 0.5)
    moved.py_func(plain, 0.5)
    assert (given[::2] == plain).all()
    assert (given[1::2] == bodies(4)).all()


def test_record_arrays_have_attributes(unchecked: None) -> None:
    @hybrid.script
    def total(a: Any) -> Any:
        s = 0.0
        for i in range(len(a)):
            s += a.mass[i] * a[i].id
        return s

    given = bodies(4).view(np.recarray)
    assert total(given) == sum(given.mass * given.id)


def test_fields_of_no_numbers() -> None:
    @hybrid.script
    def total(a: Any) -> Any:
        return a["mass"].sum()

    @hybrid.script
    def name(a: Any) -> Any:
        return a["name"][0]

    given = np.array([("sun", 2.0), ("moon", 1.0)], [("name", "U5"), ("mass", "f8")])
    assert total(given) == 3
    with pytest.raises(ParseError, match="has no field 'name' of numbers"):
        name(given)
    with pytest.raises(ArgumentError, match="which is not supported"):
        name(np.zeros(2, [("name", "U5")]))


def test_a_tuple_has_no_names() -> None:
    @hybrid.script
    def first(pair: Any) -> Any:
        return pair["x"]

    with pytest.raises(ParseError, match="'pair' has no field 'x'"):
        first((1.0, 2.0))
