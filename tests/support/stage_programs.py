"""Programs of two stages, as text, for the tests of the steps that move stages."""

from __future__ import annotations

from typing import Any

import numpy as np

import hybridjit as hj
from hybridjit.schedule.schedule import Schedule
from tests.support.before_after import assert_unchanged

ELEMENTWISE = """
def elementwise(a: float32["n"], c: float32["n"]):
    t = allocate((a.shape[0],), "float32")
    for i in range(a.shape[0]):
        t[i] = a[i] * 2.0
    for j in range(a.shape[0]):
        c[j] = t[j] + 1.0
"""
STENCIL = """
def stencil(a: float32["n"], c: float32["n"]):
    t = allocate((a.shape[0],), "float32")
    for i in range(a.shape[0]):
        t[i] = a[i] * 2.0
    for j in range(a.shape[0] - 2):
        c[j] = t[j] + t[j + 1] + t[j + 2]
"""
PADDED = """
def padded(a: float32["n"], c: float32["n"]):
    t = allocate((a.shape[0],), "float32")
    for i in range(a.shape[0]):
        t[i] = a[i] * 2.0
    for j in range(a.shape[0]):
        c[j] = (t[j - 1] if j > 0 else 0.0) + t[j] + (t[j + 1] if j + 1 < a.shape[0] else 0.0)
"""
MATMUL = """
def matmul(a: float32["n", "m"], b: float32["m", "k"], c: float32["n", "k"]):
    t = allocate((a.shape[0], b.shape[1]), "float32")
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for r in range(a.shape[1]):
                t[i, j] += a[i, r] * b[r, j]
    for y in range(a.shape[0]):
        for x in range(b.shape[1]):
            c[y, x] = max(t[y, x], 0.0)
"""
TWO_NESTS = """
def two_nests(a: float32["n", "n"], c: float32["n"]):
    t = allocate((a.shape[0],), "float32", "global", zero=False)
    for i in range(a.shape[0]):
        t[i] = 0.5
    for i in range(a.shape[0]):
        for r in range(a.shape[0]):
            t[i] += a[i, r]
    for j in range(a.shape[0]):
        c[j] = t[j] + t[a.shape[0] - 1 - j]
"""
RUNNING_SUM = """
def running_sum(a: float32["n"], c: float32["n"]):
    t = allocate((a.shape[0],), "float32")
    acc = 0.0
    for i in range(a.shape[0]):
        acc += a[i]
        t[i] = acc
    for j in range(a.shape[0]):
        c[j] = t[j]
"""
PREFIX = """
def prefix(a: float32["n"], c: float32["n"]):
    t = allocate((a.shape[0],), "float32")
    for i in range(a.shape[0]):
        t[i] = a[i] + (t[i - 1] if i > 0 else 0.0)
    for j in range(a.shape[0]):
        c[j] = t[j]
"""
IN_PLACE = """
def in_place(a: float32["n"]):
    t = allocate((a.shape[0],), "float32")
    for i in range(a.shape[0]):
        t[i] = a[i] * 2.0
    for j in range(a.shape[0] - 1):
        a[j + {shift}] = t[j] + 1.0
"""
LOST_INDEX_ERROR = """
def lost_index_error(a: float32["n"], c: float32["n"]):
    t = allocate((a.shape[0],), "float32")
    for i in range(a.shape[0]):
        t[i] = a[i + 1]
    for j in range(a.shape[0] - 1):
        c[j] = t[j]
"""
TO_OUTPUT = """
def to_output(a: float32["n"], t: float32["n"], c: float32["n"]):
    for i in range(a.shape[0]):
        t[i] = a[i] * 2.0
    for j in range(a.shape[0]):
        c[j] = t[j]{more}
"""
WHERE_ONLY = """
def where_only(a: float32["n"], c: float32["n"]):
    t = allocate((a.shape[0],), "float32")
    for i in range(a.shape[0]):
        t[i] = a[i] - 1.0
    for j in range(a.shape[0]):
        if t[j] > 0.0:
            c[j] = 1.0
"""
BACKWARDS = """
def backwards(a: float32["n"], c: float32["n"]):
    t = allocate((a.shape[0],), "float32")
    for i in range(a.shape[0] - 1, -1, -1):
        t[i] = a[i] * 2.0
    for j in range(a.shape[0] - 1):
        c[j] = t[j] + t[j + 1]
"""
SIZES = (0, 1, 2, 3, 7, 13)


def make(text: str) -> Schedule:
    """A schedule of the program `text`."""
    return Schedule(hj.parse(text))


def arguments(text: str, size: int) -> list[Any]:
    """Arguments of that size, floats whose sums depend on the order."""
    generator = np.random.default_rng(size)
    header = text.split("(")[1].split(")")[0]
    sides = {"n": size, "m": size + 1, "k": max(size - 1, 0)}
    arrays: list[Any] = []
    for param in header.split("],"):
        shape = [sides[name] for name in param.split("[")[1].split('"')[1::2]]
        arrays.append(generator.standard_normal(shape).astype("float32"))
    return arrays


def check(text: str, schedule: Schedule) -> None:
    """Fail unless the schedule of a program computes what the program does, at all sizes."""
    for size in SIZES:
        args = arguments(text, size)
        assert_unchanged(schedule.original, schedule.func, args, native=size == 7)
