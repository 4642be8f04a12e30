"""Reduced axes that run in lanes or in threads: the init runs by itself first."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import te
from hybridjit.errors import ScheduleError
from hybridjit.tensors.reduction import Reducer
from tests.conftest import Golden
from tests.support.classic_runs import make_inputs, run_both


def row_sums(dtype: str) -> tuple[te.Tensor, Any]:
    a = te.placeholder((5, 37), dtype, "a")
    k = te.reduce_axis((0, 37), "k")
    return a, te.compute((5,), lambda i: te.sum(a[i, k], axis=k), name="sums")


@pytest.mark.parametrize("kind", ["vectorize", "parallel"])
@pytest.mark.parametrize("reducer", [te.sum, te.max, te.min])
def test_a_reduced_axis(kind: str, reducer: Reducer) -> None:
    a = te.placeholder((5, 37), "int32", "a")
    k = te.reduce_axis((0, 37), "k")
    c = te.compute((5,), lambda i: reducer(a[i, k], axis=k), name="c")
    s = te.create_schedule(c.op)
    getattr(s[c], kind)(k)
    run_both(s, [a, c], make_inputs([a, c]))


def test_the_inner_part_of_a_reduced_axis(golden: Golden) -> None:
    a, c = row_sums("int32")
    s = te.create_schedule(c.op)
    _, inner = s[c].split(c.op.reduce_axis[0], factor=8)
    s[c].vectorize(inner)
    golden.check(str(hj.lower(s, [a, c])), "ir")
    run_both(s, [a, c], make_inputs([a, c]))


def test_a_reduced_axis_around_another() -> None:
    """The init of all rows runs before the axis, which is the outermost loop now."""
    a, c = row_sums("int32")
    s = te.create_schedule(c.op)
    s[c].reorder(c.op.reduce_axis[0], c.op.axis[0])
    s[c].vectorize(c.op.axis[0])
    s[c].parallel(c.op.reduce_axis[0])
    with pytest.raises(ScheduleError, match="reduction of many elements"):
        hj.lower(s, [a, c])
    s[c].unroll(c.op.reduce_axis[0])
    run_both(s, [a, c], make_inputs([a, c]))


def test_sums_of_floats_keep_their_order() -> None:
    a, c = row_sums("float32")
    s = te.create_schedule(c.op)
    s[c].vectorize(c.op.reduce_axis[0])
    with pytest.raises(ScheduleError, match="reassoc"):
        hj.lower(s, [a, c])
    s = te.create_schedule(c.op, fastmath={"reassoc"})
    s[c].vectorize(c.op.reduce_axis[0])
    x, y = make_inputs([a, c])
    hj.build(s, [a, c])(x, y)
    np.testing.assert_allclose(y, x.sum(axis=1), atol=1e-5)


@pytest.mark.parametrize("part", ["whole", "outer", "inner"])
def test_partial_results_of_a_range_that_ends_before_it_starts(part: str) -> None:
    n = te.var("n")
    A, k = te.placeholder((n,), "int64", "A"), te.reduce_axis((3, n), "k")
    B = te.compute((), lambda: te.sum(A[k], axis=k), name="B")
    s = te.create_schedule(B.op)
    axis = k
    if part != "whole":
        axis = s[B].split(k, factor=4)[part == "inner"]
    s.rfactor(B, axis)
    module = hj.build(s, [A, B])
    for size in (0, 1, 3, 4, 9):
        for call in (module, module.interpret):
            total = np.full((), 9)
            call(np.arange(size), total)
            assert total == np.arange(size)[3:].sum()


RANGES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "to an axis": (lambda i: 0, lambda i: i + 1),
    "from an axis": (lambda i: i, lambda i: 13),
    "around an axis": (lambda i: te.max(i - 2, 0), lambda i: te.min(i + 3, 13)),
}


def ragged_sums(case: str) -> tuple[te.Tensor, te.Tensor]:
    start, stop = RANGES[case]
    a = te.placeholder((13, 13), "int64", "a")

    def body(i: Any) -> Any:
        k = te.reduce_axis((start(i), stop(i)), "k")
        return te.sum(a[i, k] * a[k, i], axis=k)

    return a, te.compute((13,), body, name="c")


@pytest.mark.parametrize("case", RANGES)
def test_partial_results_of_ranges_that_depend_on_an_axis(case: str) -> None:
    a, c = ragged_sums(case)
    s = te.create_schedule(c.op)
    _, inner = s[c].split(c.op.reduce_axis[0], factor=4)
    partial = s.rfactor(c, inner, 1)
    s[partial].parallel(partial.op.axis[0])
    run_both(s, [a, c], make_inputs([a, c]))


@pytest.mark.parametrize("case", RANGES)
def test_a_part_for_each_step_of_such_a_range_is_refused(case: str) -> None:
    _, c = ragged_sums(case)
    s = te.create_schedule(c.op)
    outer, _ = s[c].split(c.op.reduce_axis[0], factor=4)
    with pytest.raises(ScheduleError, match="how far axis 'k_0' of 'c' goes depends on 'i'"):
        s.rfactor(c, outer)
