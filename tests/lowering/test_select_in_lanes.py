"""Loops that look for an extremum run in lanes, and find what they find one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from hybridjit import hybrid

SIZES = (1, 2, 31, 32, 33, 63, 95, 96, 97, 130, 383, 384, 391, 1000)
DTYPES = ("float64", "float32", "int64", "int32", "int16", "uint8")


def largest(a: Any) -> Any:
    best = a[0]
    where = 0
    for i in range(a.shape[0]):
        if a[i] > best:
            best = a[i]
            where = i
    return where, best


def smallest_of_many(a: Any) -> Any:
    best = a[3 % a.shape[0]]
    where, beside = -7, 0.5
    for i in range(1, a.shape[0]):
        if best > a[i]:
            where = i + 5
            best = a[i]
            beside = a[i - 1] * 2.0
    return where, best, beside


def nearest(a: Any) -> Any:
    best = 2.0**100
    where = -1
    for i in range(a.shape[0]):
        far = (a[i] - 3.5) ** 2
        if far < best:
            best = far
            where = i
    return where, best


def in_rows(a: Any) -> Any:
    found = np.zeros(3, np.int64)
    for r in range(3):
        best = a[r]
        for i in range(r, a.shape[0]):
            if a[i] < best:
                best = a[i]
                found[r] = i * 2 + r
    return found


def of_numpy(a: Any) -> Any:
    return np.argmax(a), np.argmin(a), np.argmax(a.reshape(1, a.size), axis=1)


def along_columns(a: Any) -> Any:
    pairs = np.empty((a.size, 3), a.dtype)
    pairs[:, 0] = a
    pairs[:, 1] = a[::-1]
    pairs[:, 2] = a[0]
    return np.argmax(pairs, axis=0), np.argmin(pairs, axis=1)


LOOPS: list[Callable[..., Any]] = [
    *(largest, smallest_of_many, nearest, in_rows, of_numpy, along_columns)
]


def data(size: int, dtype: str) -> dict[str, Any]:
    """Arrays in which the first of equals, NaN or zeros with a sign make a difference."""
    generator = np.random.default_rng(size)
    mixed = generator.integers(0, 100, size)
    made = {
        "random": mixed,
        "few values": mixed // 25,
        "all equal": np.full(size, 7),
        "rising": np.arange(size),
        "falling": np.arange(size)[::-1],
        "last": np.arange(size) == size - 1,
    }
    arrays: dict[str, Any] = {name: values.astype(dtype) for name, values in made.items()}
    if dtype.startswith("float"):
        arrays["zeros"] = np.where(mixed % 2 == 0, 0.0, -0.0).astype(dtype)
        arrays["infinite"] = np.full(size, -np.inf, dtype)
        for name, where in {
            "one nan": [size // 2],
            "first nan": [0],
            "nans": range(0, size, 3),
        }.items():
            arrays[name] = mixed.astype(dtype)
            arrays[name][list(where)] = np.nan
        arrays["all nan"] = np.full(size, np.nan, dtype)
    return arrays


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_same_as_one_by_one(loop: Callable[..., Any], dtype: str) -> None:
    kernel: Any = hybrid.script(loop)
    least = 4 if loop is in_rows else 1
    for size in (size for size in SIZES if size >= least):
        for name, array in data(size, dtype).items():
            with np.errstate(all="ignore"):
                expected = loop(array)
            found = kernel(array)
            assert _bits(found) == _bits(expected), (name, size, found, expected)


def _bits(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_bits, cast("tuple[Any, ...]", value)))
    array: Any = np.asarray(value)
    # NaN has many bits; -0.0 is not 0.0.
    return [str(item) for item in array.ravel().tolist()]


@pytest.mark.parametrize("size", [40, 96, 200, "n"])
def test_interpreter_agrees(size: int | str) -> None:
    kernel: Any = hybrid.script(largest)
    for array in data(97 if size == "n" else int(size), "float32").values():
        assert _bits(kernel.interpret(array)) == _bits(kernel(array)) == _bits(largest(array))


def lowered(loop: Callable[..., Any], *args: Any) -> str:
    kernel: Any = hybrid.script(loop)
    return kernel.inspect("lowered", *args)


def test_lanes_are_taken_where_they_pay() -> None:
    for loop in (largest, smallest_of_many, nearest, in_rows, of_numpy):
        assert "places[" in lowered(loop, np.zeros(400)), loop
    assert "places[" not in lowered(largest, np.zeros(3))
    assert "int32" in lowered(largest, np.zeros(4000, np.float32)).split("places = ")[1][:30]


def counts(a: Any, count: Any) -> Any:
    best = a[0]
    for i in range(a.shape[0]):
        if a[i] > best:
            best = a[i]
            count[0] += 1  # how often: each of them counts


def reads_where(a: Any, b: Any) -> Any:
    best, where = a[0], 0
    for i in range(a.shape[0]):
        if a[i] > best + where:
            best, where = a[i], i
    b[0] = where


def stores_apart(a: Any, b: Any) -> Any:
    best = a[0]
    for i in range(a.shape[0]):
        if a[i] > best:
            best = a[i]
            b[i] = 1.0


def takes_equals(a: Any, b: Any) -> Any:
    best = a[0]
    for i in range(a.shape[0]):
        if a[i] >= best:
            best = a[i]
            b[0] = i


def may_fail(a: Any, b: Any) -> Any:
    best = 0
    for i in range(a.shape[0]):
        if 7 // int(a[i]) > best:
            best = 7 // int(a[i])
    b[0] = best


def looks_up(a: Any, b: Any) -> Any:
    best, found = a[0], 0.0
    for i in range(a.shape[0]):
        if a[i] > best:
            best = a[i]
            found = b[int(b[i])]  # of each that is better than those before, not of the best alone
    b[0] = found


def divides(a: Any, b: Any) -> Any:
    best, found = a[0], 0
    for i in range(a.shape[0]):
        if a[i] > best:
            best = a[i]
            found = 7 // int(b[i])
    b[0] = found


def test_what_is_noted_on_the_way_may_fail() -> None:
    a = np.arange(400.0)
    b = np.ones(400)
    assert "places[" not in lowered(looks_up, a, b)
    assert "places[" not in lowered(divides, a, b)
    b[200] = 1000
    with pytest.raises(IndexError, match="1000"):
        hybrid.script(looks_up)(a, b)
    b[200] = 0
    with pytest.raises(ZeroDivisionError, match="division"):
        hybrid.script(divides)(a, b)


def test_loops_that_do_more_stay_as_they_are() -> None:
    for loop in (counts, reads_where, stores_apart, takes_equals, may_fail):
        a = np.arange(400.0)[::-1] % 37 + 1
        assert "places[" not in lowered(loop, a, np.zeros(400)), loop
        ours, theirs = np.zeros(400), np.zeros(400)
        kernel: Any = hybrid.script(loop)
        kernel(a, ours)
        loop(a, theirs)
        assert ours.tolist() == theirs.tolist()
