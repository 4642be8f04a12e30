"""Foreign functions in loops that run on several threads: which parts of arrays they touch."""

import ctypes
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.errors import ScheduleError
from hybridjit.hybrid import extern, part

Array = Any
ROWS, COLUMNS = 512, 64

NEGATE = """
define void @negate(ptr %source, ptr %target, i64 %count) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr double, ptr %source, i64 %i
  %to = getelementptr double, ptr %target, i64 %i
  %x = load double, ptr %from, align 8
  %y = fneg double %x
  store double %y, ptr %to, align 8
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""
TYPES = ["const float64*", "float64*", "int64"]
negate = hybrid.llvm(NEGATE, None, TYPES)
in_order = hybrid.llvm(NEGATE, None, TYPES, reentrant=False)
writes_both = hybrid.llvm(NEGATE, None, ["float64*", "float64*", "int64"])


@hybrid.script
def rows(a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        negate(a[i], b[i], a.shape[1])


@hybrid.script
def blocks(a: Array, b: Array) -> None:
    for i in range(a.shape[0] // 4):
        negate(part(a, (i * 4, 0), (4, 64)), part(b, (i * 4, 0), (4, 64)), 256)


@hybrid.script
def overlapping(a: Array, b: Array) -> None:
    for i in range(a.shape[0] // 4):
        negate(part(a, (i, 0), (4, 64)), part(b, (i, 0), (4, 64)), 256)


@hybrid.script
def shared_source(a: Array, b: Array) -> None:
    for i in range(b.shape[0]):
        negate(a[0], b[i], a.shape[1])


@hybrid.script
def shared_and_written(a: Array, b: Array) -> None:
    for i in range(b.shape[0]):
        writes_both(a[0], b[i], a.shape[1])


@hybrid.script
def not_reentrant(a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        in_order(a[i], b[i], a.shape[1])


def arrays() -> list[Array]:
    return [np.random.default_rng(0).random((ROWS, COLUMNS)), np.zeros((ROWS, COLUMNS))]


def parallel(s: Any) -> None:
    s.parallel("i")


@pytest.mark.parametrize("kernel", [rows, blocks])
def test_parts_that_are_apart(kernel: Any) -> None:
    a, b = arrays()
    with hj.threads(2):
        kernel.with_schedule(parallel)(a, b)
    np.testing.assert_array_equal(b, -a)


def test_what_is_only_read_may_be_shared() -> None:
    a, b = arrays()
    a.flags.writeable = False  # which a pointer to constant elements respects
    with hj.threads(2):
        shared_source.with_schedule(parallel)(a, b)
    np.testing.assert_array_equal(b, np.broadcast_to(-a[0], b.shape))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (overlapping, r"`b\[\d, \d+\]` written by `b`"),
        (shared_and_written, r"`a\[0, \d+\]` written by `a`"),
        (not_reentrant, "depend on each other|runs first|effect|cannot be parallel"),
    ],
)
def test_what_would_depend_on_the_order(kernel: Any, message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        kernel.with_schedule(parallel)(*arrays())


@pytest.mark.parametrize("kind", ["vectorize", "unroll"])
def test_other_kinds_of_loops_call_one_by_one(kind: str) -> None:
    a, b = (array[:8].copy() for array in arrays())

    def in_kind(s: Any) -> None:
        getattr(s, kind)("i")

    rows.with_schedule(in_kind)(a, b)
    np.testing.assert_array_equal(b, -a)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
def c_copy(source: int, target: int) -> None:
    ctypes.memmove(target, source, 8)


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_function_of_c_is_what_it_is_said_to_be(reentrant: bool) -> None:
    copy = extern(c_copy, None, ["const float64*", "float64*"], name="copy", reentrant=reentrant)

    @hybrid.script
    def one_by_one(a: Array, b: Array) -> None:
        for i in range(a.shape[0]):
            copy(part(a, (i,), (1,)), part(b, (i,), (1,)))

    a, b = np.arange(20.0), np.zeros(20)
    if not reentrant:
        with pytest.raises(ScheduleError, match="cannot be parallel"):
            one_by_one.with_schedule(parallel)(a, b)
        return
    one_by_one.with_schedule(parallel)(a, b)
    np.testing.assert_array_equal(b, a)
