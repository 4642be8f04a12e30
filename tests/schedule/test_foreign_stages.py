"""Stages computed in loops that hand parts of them to foreign code."""

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.analysis.inside import find_outside
from hybridjit.analysis.instances import infer_instances
from hybridjit.errors import ScheduleError
from hybridjit.hybrid import allocate, part
from tests.conftest import Golden

Array = Any

COPY = """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @copy(ptr %source, ptr %target, i64 %count) {
  %size = mul i64 %count, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %source, i64 %size, i1 false)
  ret void
}
"""
copy = hybrid.llvm(COPY, None, ["const float64*", "float64*", "int64"])
copy_or_write = hybrid.llvm(COPY, None, ["float64*", "float64*", "int64"])


@hybrid.script
def rows(a: Array, b: Array) -> None:
    t = allocate(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t[i, j] = a[i, j] * 2
    for x in range(a.shape[0]):
        copy(t[x], b[x], a.shape[1])


@hybrid.script
def halo(a: Array, b: Array) -> None:
    t = allocate((a.shape[0] + 2, a.shape[1]), a.dtype)
    for i in range(a.shape[0] + 2):
        for j in range(a.shape[1]):
            t[i, j] = i * 10 + j
    for x in range(a.shape[0]):
        copy(part(t, (x, 0), (3, 8)), part(b, (x, 0), (1, 8)), 8)


@hybrid.script
def written(a: Array, b: Array) -> None:
    t = allocate(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t[i, j] = a[i, j] * 2
    for x in range(a.shape[0]):
        copy_or_write(t[x], b[x], a.shape[1])


def arrays() -> list[Array]:
    return [np.random.default_rng(0).random((5, 8)), np.zeros((5, 8))]


def at_x(s: Any) -> None:
    s.compute_at("t", "x")


@pytest.mark.parametrize("kernel", [rows, halo])
def test_a_stage_is_computed_where_a_part_is_passed(kernel: Any, golden: Golden) -> None:
    golden.check(str(_scheduled(kernel).func), "ir")
    scheduled = kernel.with_schedule(at_x)
    for run, plain in ((scheduled, kernel), (scheduled.interpret, kernel.interpret)):
        found, expected = arrays(), arrays()
        run(*found)
        plain(*expected)
        np.testing.assert_array_equal(found[1], expected[1])


def test_what_the_callee_may_write_stays_where_it_is() -> None:
    with pytest.raises(ScheduleError, match="loop 'x' writes to 't' itself"):
        _scheduled(written)


def _scheduled(kernel: Any) -> Any:
    s = kernel.schedule(*arrays())
    at_x(s)
    return s


@pytest.mark.parametrize(
    ("first", "count", "is_inside"), [(0, 4, True), (0, 5, False), (-1, 4, False), (1, 3, True)]
)
def test_parts_are_known_to_be_inside(first: int, count: int, is_inside: bool) -> None:
    @hybrid.script
    def diagonal(a: Array, b: Array) -> None:
        for x in range(a.shape[0]):
            copy(part(a, (x, x + first), (1, count)), b[x], 3)

    func = diagonal.prim_func(*arrays())
    instances = infer_instances(func, func.body)
    assert (find_outside(instances, func.buffers[0]) is None) is is_inside
    assert find_outside(instances, func.buffers[1]) is None
