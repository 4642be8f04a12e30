"""Loops that run to what an array or a variable says: it is read once, before the loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.hybrid import allocate
from hybridjit.kernel import Kernel
from tests.conftest import Golden
from tests.schedule.programs import Steps, refuse
from tests.support.before_after import assert_unchanged
from tests.support.oracle import fresh_copies

Array = Any
AnyKernel = Kernel[..., Any]
# The first says how far the loops run: around vectors and blocks, and not at all.
ENDS = (0, 1, 5, 8, 37)


@hybrid.script
def end_in_an_array(b: Array, c: Array) -> None:
    for j in range(b[0]):
        b[j] = 3


@hybrid.script
def both_ends_in_an_array(b: Array, c: Array) -> None:
    for j in range(c[2], b[0]):
        b[j] = j + 7
        c[j] = b[j] - 50


@hybrid.script
def end_in_a_variable(b: Array, c: Array) -> None:
    n = b[0]
    n += 0
    for j in range(n):
        c[j] = b[j] + n
        n -= 2


@hybrid.script
def end_of_the_inner_loop(b: Array, c: Array) -> None:
    for i in range(3):
        for j in range(b[i]):
            b[j] = c[j] - 1


def _arguments(end: int) -> list[Any]:
    b, c = np.arange(40), np.arange(40) % 7
    b[0], c[2] = end, 1
    return [b, c]


STEPS: dict[str, Steps] = {
    "split": lambda s: s.split("j", factor=4),
    "split in parts": lambda s: s.split("j", nparts=3),
    "split, unrolled": lambda s: s.unroll(s.split("j", factor=4)[1]),
    "vectorize": lambda s: s.vectorize("j"),
    "parallel": lambda s: s.parallel("j"),
    "peel": lambda s: s.peel("j"),
    "partition": lambda s: s.partition("j", 3),
}
KERNELS = [end_in_an_array, both_ends_in_an_array, end_in_a_variable, end_of_the_inner_loop]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_loops_that_change_their_end(kernel: AnyKernel, steps: Steps) -> None:
    s = kernel.schedule(*_arguments(8))
    try:
        steps(s)
    except hj.ScheduleError:
        return
    for end in ENDS:
        args = _arguments(end)
        expected = fresh_copies(args)
        kernel.py_func(*expected)
        assert_unchanged(s.original, s.func, args)
        kernel.with_schedule(steps)(*args)
        for found, wanted in zip(args, expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_most_steps_are_taken() -> None:
    """What is refused above, as lanes that pass on values are, shows nothing."""
    taken = {kernel.__name__: _taken(kernel) for kernel in KERNELS}
    assert "split" in taken["end_in_a_variable"]
    assert {"split", "split in parts", "vectorize", "parallel", "peel"} <= taken["end_in_an_array"]
    assert {"split", "peel"} <= taken["end_of_the_inner_loop"]


def _taken(kernel: AnyKernel) -> set[str]:
    found: set[str] = set()
    for name, steps in STEPS.items():
        try:
            steps(kernel.schedule(*_arguments(8)))
        except hj.ScheduleError:
            continue
        found.add(name)
    return found


def test_a_name_is_given(golden: Golden) -> None:
    s = end_in_an_array.schedule(*_arguments(8))
    s.split("j", factor=4)
    golden.check(s.show(), "ir")


# -- a bound that is put in the place of a read


@hybrid.script
def end_is_computed(b: Array, c: Array) -> None:
    t = allocate((b.shape[0],), b.dtype)
    for i in range(b.shape[0]):
        t[i] = b[i] + 0
    for j in range(t[0]):
        b[j] = 3 - j
        c[j] = b[j] + 1


@hybrid.script
def start_is_computed(b: Array, c: Array) -> None:
    t = allocate((c.shape[0],), c.dtype)
    for i in range(c.shape[0]):
        t[i] = c[i] * 2
    for j in range(t[2], b.shape[0]):
        c[2] = c[2] + b[j]


INLINED: dict[str, Steps] = {
    **STEPS,
    "rfactor": lambda s: s.rfactor("j"),
    "split, rfactor": lambda s: s.rfactor(s.split("j", factor=4)[0]),
    "nothing": lambda s: None,
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("steps", INLINED.values(), ids=INLINED)
@pytest.mark.parametrize("kernel", [end_is_computed, start_is_computed])
def test_bounds_that_are_computed_where_they_are_read(kernel: AnyKernel, steps: Steps) -> None:
    s = kernel.schedule(*_arguments(8))
    s.compute_inline("t")
    try:
        steps(s)
    except hj.ScheduleError:
        return
    for end in ENDS:
        args = _arguments(end)
        assert_unchanged(s.original, s.func, args)
        expected = fresh_copies(args)
        kernel.py_func(*expected)
        kernel.with_schedule(s)(*args)
        for found, wanted in zip(args, expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


# -- what is read before a loop says nothing about the loops in it ---------------------------------

COUNTS: Sequence[str] = ("t[0]", "t[0] * t[1]", "t[0] // n", "min(t[0], n * n)", "n * n", "n")
ILLEGAL: dict[str, Steps] = {
    "parallel": lambda s: s.parallel("j"),
    "vectorize": lambda s: s.vectorize("j"),
    "bind": lambda s: s.bind("j", "threadIdx.x"),
    "reorder": lambda s: s.reorder("k", "j"),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("steps", ILLEGAL.values(), ids=ILLEGAL)
def test_loops_in_loops_to_a_name(count: str, steps: Steps) -> None:
    func = hj.parse(
        f"""
def f(a: float64[50, 50], t: int64[4], n: int):
    m = {count}
    for i in range(m):
        for j in range(1, 50):
            for k in range(49):
                a[j, k] = a[j - 1, k + 1] + 1.0
"""
    )
    refuse(func, steps, "cannot be|in iteration")
