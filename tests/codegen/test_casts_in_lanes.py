"""Floats become integers lane by lane as one by one: towards zero, at most to the limits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.hybrid import vectorize
from tests.corpus.case import Array
from tests.support.processors import PROCESSORS, compiling_for

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
SIZES = (3, 33)


def convert(a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        b[i] = a[i]


def convert_in_lanes(a: Array, b: Array) -> None:
    for i in vectorize(len(a)):
        b[i] = a[i]


def values(dtype: str) -> Array:
    """Around every limit of every type, on both sides of zero, and what is no number."""
    kind: Any = np.dtype(dtype).type
    places = [2.0**bits for bits in (0, 7, 8, 15, 16, 31, 32, 63, 64)]
    near = [
        kind(sign * place + step) for place in places for sign in (1, -1) for step in (-1, 0, 1)
    ]
    beside = [np.nextafter(x, kind(to)) for x in near for to in (-np.inf, np.inf)]
    others = [kind(x) for x in (0.0, -0.0, 0.5, -0.5, 0.99, -0.99, 1e30, -1e30)]
    ends = [kind(x) for x in (np.inf, -np.inf, np.nan, -np.nan)]
    random: Any = np.random.default_rng(0).standard_normal(200) * 1e3
    return np.array([*near, *beside, *others, *ends, *random], dtype)


def saturated(x: float, dtype: str) -> int:
    """What `x` becomes, by whole numbers of Python."""
    info = np.iinfo(dtype)
    if math.isnan(x):
        return 0
    if math.isinf(x):
        return int(info.max if x > 0 else info.min)
    return min(max(math.trunc(x), int(info.min)), int(info.max))


@pytest.mark.parametrize("cpu", PROCESSORS)
@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", ["float16", "float32", "float64"])
@pytest.mark.sampled(6)
def test_every_limit(source: str, target: str, cpu: str) -> None:
    with np.errstate(all="ignore"):
        given = values(source if source != "float16" else "float32").astype(source)
    expected = np.array([saturated(float(x), target) for x in given], target)
    with compiling_for(cpu):
        for function in (convert, convert_in_lanes):
            kernel = hybrid.script(function)
            found = np.zeros_like(expected)
            kernel(given, found)
            np.testing.assert_array_equal(found, expected)
            for size in SIZES:
                kernel(given[:size], found[:size])
                np.testing.assert_array_equal(found[:size], expected[:size])
