"""Outputs that a kernel sets completely come without zeros; of others, nobody sees what was there.

All memory of new arrays is full of a pattern here (`tests/support/poisoned.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import config, hybrid
from hybridjit.analysis import first_writes, tiled_indices
from hybridjit.hybrid import output_tensor
from tests.planted.bugs import Bug, always, replaced
from tests.planted.native_checks import compared
from tests.planted.trying import assert_noticed, needs_fork
from tests.runtime.native_calls import AnyKernel
from tests.support.oracle import fresh
from tests.support.poisoned import poisoned_arrays

A = np.random.default_rng(0).random((40, 30))


@hybrid.script
def looped(a: Any) -> Any:
    c = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            c[i, j] = a[i, j] * 2.0
    return c


@hybrid.script
def whole(a: Any) -> Any:
    return a[1:] * 2.0 + a[:-1], np.where(a > 0.5, a, 1.0), a.sum(axis=0), np.full(a.shape, 2.5)


@hybrid.script
def in_some_round(a: Any, limit: float) -> Any:
    c = output_tensor(a.shape[0], a.dtype)
    for k in range(2):
        if a[0, k] > limit:
            for i in range(a.shape[0]):
                c[i] = a[i, k]
    return c


@hybrid.script
def some(a: Any) -> Any:
    c = np.empty(a.shape)
    for i in range(a.shape[0]):
        for j in range(1, a.shape[1]):
            c[i, j] = a[i, j]
    return c


@hybrid.script
def mirrored(a: Any) -> Any:
    c = np.zeros(a.shape[0])
    d = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        c[i] = a[i, 0]
        d[i] = c[a.shape[0] - 1 - i]
    return c, d


@hybrid.script
def summed(a: Any) -> Any:
    c = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            c[i] += a[i, j]
    return c


@hybrid.script
def left_early(a: Any, limit: Any) -> Any:
    c = np.zeros(a.shape)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > limit:
                break
            c[i, j] = a[i, j]
    return c


@hybrid.script
def returned_early(a: Any, limit: Any) -> Any:
    c = np.zeros(a.shape[0])
    if a[0, 0] > limit:
        return c
    for i in range(a.shape[0]):
        c[i] = a[i, 0]
    return c


CALLS = [
    (looped, (A,), (0,)),
    (whole, (A,), (1, 2, 3)),  # the sum begins with the zeros of its memory
    (some, (A,), ()),
    (mirrored, (A,), (1,)),
    (summed, (A,), ()),
    (left_early, (A, 0.9), ()),
    (returned_early, (A, 0.0), ()),
    (returned_early, (A, 1.0), ()),
]


def _id(value: Any) -> str:
    return getattr(value, "__name__", "")


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("kernel", "args", "are_set"), CALLS, ids=_id)
def test_nobody_sees_what_was_in_memory(kernel: AnyKernel, args: Any, are_set: Any) -> None:
    made = fresh(kernel)
    compared(made, args)()
    made(*args)

    (native,) = made.specializations[0].natives.values()
    assert native.code.set_outputs == are_set


def test_sizes_that_are_known_at_run_time() -> None:
    made = fresh(whole)
    compared(made, (A,), (A[1:],), (A[:1],), (A[:, :0],))()


def test_what_comes_from_the_disk_is_known_to_be_set(tmp_path: Any) -> None:
    found: list[Any] = []
    with config.scope(cache_dir=str(tmp_path), cache_enabled=True):
        for _ in range(2):
            made = fresh(whole)
            made(A)
            found += made.specializations[0].natives.values()

    assert [native.code.set_outputs for native in found] == [(1, 2, 3)] * 2


@hybrid.script
def fails_halfway(a: Any, limit: Any) -> Any:
    c = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > limit:
                raise ValueError("too large")
            c[i, j] = a[i, j]
    return c


def test_an_error_leaves_the_array_of_the_caller_alone() -> None:
    out = np.full(A.shape, 3.0)
    for limit in (1.0, 1.0, 1.0, 0.9):
        with poisoned_arrays():
            if limit == 1.0:
                assert np.array_equal(fails_halfway(A, limit), A)
            else:
                with pytest.raises(ValueError, match="too large"):
                    fails_halfway(A, limit, out=out)
    assert (out == 3.0).all()


def test_a_function_that_is_given_an_output_sees_zeros() -> None:
    seen: list[Any] = []

    def keep(array: Any) -> None:
        seen.append(array.copy())

    note = hybrid.packed(keep, name="note")

    @hybrid.script
    def noted(a: Any) -> Any:
        c = output_tensor(a.shape[0], a.dtype)
        note(c)
        for i in range(a.shape[0]):
            c[i] = a[i, 0]
        note(c)
        return c

    with poisoned_arrays():
        for _ in range(3):
            noted(A)
    assert all((array == 0.0).all() for array in seen[::2])
    assert all((array == A[:, 0]).all() for array in seen[1::2])


# Planted bugs


def _any_indices(indices: Any, buffer: Any, around: Any) -> Any:
    return {var: axis for axis, var in enumerate(indices) if var in around.loops}


BUGS = (
    Bug(
        "what is read after a store counts as set",
        [replaced(first_writes, "_stays_inside", always(True))],
        compared(mirrored, (A,)),
    ),
    Bug(
        "what is left early counts as run",
        [replaced(first_writes, "_jumps", always(False))],
        compared(left_early, (A, 0.9)),
    ),
    Bug(
        "what is returned early counts as run",
        [replaced(first_writes, "_has_return", always(False))],
        compared(returned_early, (A, 0.0)),
    ),
    Bug(
        "an update counts as a store",
        [
            replaced(first_writes, "_reads", always(False)),
            replaced(first_writes, "_reads_any", always(False)),
            replaced(first_writes, "_slice_of", _any_indices),
        ],
        compared(summed, (A,)),
    ),
    Bug(
        "any round of a loop counts as its last",
        [replaced(tiled_indices, "is_last_round", always(True))],
        compared(in_some_round, (A, 0.9)),
    ),
    Bug(
        "every output counts as set",
        [replaced(first_writes, "prove_set", always(True))],
        compared(some, (A,)),
    ),
)


@pytest.mark.usefixtures("unchecked")
@needs_fork
@pytest.mark.parametrize("bug", BUGS, ids=str)
def test_bug_is_noticed(bug: Bug) -> None:
    assert_noticed(bug)
