"""DESIGN 2.9: named tuples, structured arrays, arrays of others, lists and tuples as arguments, and
views that are returned."""

from __future__ import annotations

import array
import ctypes
from typing import Any, NamedTuple

import numpy

from hybridjit import hybrid
from tests.corpus.case import Array, Number, call, case, numbers, sweep

np: Any = numpy


class Pair(NamedTuple):
    x: Any
    y: Any


class Line(NamedTuple):
    first: Pair
    last: Pair
    width: Any = 1.0


# Named tuples


def weight(pair: Any) -> Number:
    x, y = pair
    return x.sum() * 2 + y


@hybrid.script
def moved_pair(pair: Any, by: Number) -> Any:
    pair.x[...] = pair.x + by
    made = Pair(y=pair.y * by, x=pair.x[::-1] * 2)
    return made, pair, weight(made), isinstance(pair, Pair)


@hybrid.script
def between(line: Any) -> Any:
    middle = Pair((line.first.x + line.last.x) / 2, line.width * 2)
    return Line(middle, line.last), middle.y + line[2]


# Structured arrays

BODY = np.dtype([("mass", "f8"), ("at", "f4", 2), ("id", "i2")])


def bodies(n: int, step: int = 1) -> Array:
    made = np.zeros(n * step, BODY)[::step]
    made["mass"], made["id"] = np.arange(n) % 5 - 1.5, np.arange(n)
    made["at"] = np.arange(2 * n).reshape(n, 2)
    return made


@hybrid.script
def moved_bodies(a: Any, by: Number) -> Any:
    total = 0.0
    for i, body in enumerate(a):
        body["mass"] += by
        body["at"][1] = a[i]["mass"] * 2
        total += body["mass"] * body["id"]
    a["id"][1:] += 1
    a["at"][:, 0] = 3
    return total, a["mass"], a["at"][::-1], a.shape


@hybrid.script
def heaviest_body(a: Any) -> Number:
    best = 0
    for i in range(1, len(a)):
        if a[i]["mass"] > a[best]["mass"]:
            best = i
    return a["id"][best]


# Arrays of others


@hybrid.script
def sum_of_squares(a: Any) -> Number:
    total = 0.0
    for i in range(len(a)):
        total += a[i] * a[i]
    return total


# Lists and tuples of numbers


@hybrid.script
def polynomial(coefficients: Any, x: Number) -> Number:
    total = 0.0
    for c in reversed(coefficients):
        total = total * x + c
    return total, coefficients, sum(coefficients), coefficients[int(x) % len(coefficients)]


@hybrid.script
def first_above(items: Any, least: Number) -> Number:
    found = -1
    for place, item in enumerate(items):
        if item > least:
            found = place
            break
    return found, tuple(items), [item * 2 for item in items], np.array(items).sum()


# Views


@hybrid.script
def views_of_an_argument(a: Array, k: Number) -> Any:
    return a[1:], a.T, a[::-1, k:], a.reshape(-1), a[:, None], (a[:, 1], a)


@hybrid.script
def views_of_a_local(a: Array) -> Any:
    t = a * 2
    return t, t[1:], t[::-1].T, t.reshape(-1)


_NAMES = {"Pair": Pair, "Line": Line}
_FLOATS = [1.5, -2.0, 4.0]

CASES = (
    case(moved_pair, sweep(lambda d: (Pair(d.out(d.n), 2.5), 3)), names=_NAMES),
    case(
        between,
        sweep(lambda d: (Line(Pair(d(d.n), 1), Pair(d(d.n), 2), 0.5),)),
        names=_NAMES,
    ),
    case(
        moved_bodies, *(call(bodies(n, s), 0.5) for n in (4, 0, 1, 17) for s in (1, 2)), joined=True
    ),
    case(heaviest_body, *(call(bodies(n)) for n in (1, 4, 9))),
    case(
        sum_of_squares,
        call(memoryview(np.arange(5.0))),
        call(memoryview(np.arange(8, dtype=np.int32))[::-2]),
        call(array.array("d", _FLOATS)),
        call(array.array("q", [1, 2, 3])),
        call((ctypes.c_float * 3)(*_FLOATS)),
        call((ctypes.c_double * 0)()),
        joined=True,
    ),
    case(
        polynomial,
        *(call(items, x) for items in ([1, 2, 3], _FLOATS, (7, 9)) for x in (0.5, 2.0)),
        joined=True,
    ),
    case(
        first_above,
        *(call(items, k) for items in ([1, 5, 3], _FLOATS, (7, 9)) for k in (-3, 2, 9)),
        joined=True,
    ),
    case(views_of_an_argument, sweep(lambda d: (d(d.n, 3), 1), dtypes=("float64", "int16"))),
    case(views_of_a_local, *(call(numbers((n, 3), "float32", -5, 5, n)) for n in (0, 1, 7))),
)
