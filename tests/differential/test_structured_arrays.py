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


def doubled(body: Any) -> None:
    body["mass"] *= 2
    body["x"] += 1


@hybrid.script
def records_with_names(a: Any) -> Any:
    """A record shows the memory of its array, wherever it is written."""
    last, k = a[-1], 0
    first = a[k]
    k = 1
    a["mass"][0] = 50
    last["id"] = 9
    total = first["mass"] + a[len(a) - 1]["id"]
    for i, body in enumerate(a):
        body["id"] += i
        doubled(body)
        total += body["mass"] * body["x"][1]
    for body, other in zip(a[1:], a[:-1], strict=True):
        body["x"][0] = other["mass"] + last["mass"]
    mass = first["mass"]
    x, weight, number = a[0]
    return total, mass, first["mass"], x.sum() + weight * number, len(first)


@hybrid.script
def heaviest(a: Any) -> Any:
    best = a[0]
    for i in range(1, len(a)):
        if a[i]["mass"] > best["mass"]:
            best = a[i]
    return best["id"]


@hybrid.script
def rows_of_records(a: Any) -> Any:
    total = 0.0
    for row in a:
        for one in row:
            at = one["at"]
            at["z"] = total
            total += at["y"] * one["w"]
    a[1]["w"] = 5
    return total, a[1]["w"] + 1


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
        assert_as_numpy(records_with_names, bodies(n))
        assert_as_numpy(heaviest, np.arange(2 * n).view([("mass", "i8"), ("id", "i8")]))
    grid = np.zeros((2, 3), [("at", [("y", "f8"), ("z", "f8")]), ("w", "i4")])
    grid["at"]["y"], grid["w"] = np.arange(6).reshape(2, 3), 2
    assert_as_numpy(nested, grid)
    assert_as_numpy(rows_of_records, grid)


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


def test_records_that_a_name_changes_between_are_not_written() -> None:
    @hybrid.script
    def one_or_another(a: Any) -> Any:
        body = a[0]
        if body["mass"] > 0:
            body = a[1]
        a["mass"][1] = 99.0
        return body["mass"]

    with pytest.raises(ParseError, match="'body' would be another view of the elements"):
        one_or_another(bodies(3))


def test_records_are_written_field_by_field() -> None:
    @hybrid.script
    def moved_up(a: Any) -> Any:
        a[0] = (1.0, 2.0)

    with pytest.raises(TypeError, match=r"(?s)assign to its fields, as in a\[0\]\['x'\] = value"):
        moved_up(np.zeros(2, [("x", "f8"), ("y", "f8")]))
