"""Intrinsics that call foreign code on parts of arrays, with and without strides."""

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid, te
from hybridjit.errors import ArgumentValueError, ScheduleError
from hybridjit.intrinsics.registry import INTRINSICS
from tests.conftest import Golden
from tests.support.classic_runs import make_inputs, run_both

Array = Any
TALL, LONG = 2, 4


@pytest.fixture(autouse=True)
def no_intrinsics() -> Iterator[None]:
    yield
    INTRINSICS.clear()


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
def c_update(matrix: int, vector: int, sums: int, stride: int) -> None:
    x = (ctypes.c_int32 * LONG).from_address(vector)
    y = (ctypes.c_int32 * TALL).from_address(sums)
    for i in range(TALL):
        row = (ctypes.c_int32 * LONG).from_address(matrix + 4 * stride * i)
        y[i] += sum(a * b for a, b in zip(row, x, strict=True))


UPDATE = hybrid.extern(c_update, None, ["int32*", "int32*", "int32*", "int64"], name="update")


def python_update(a: Array, x: Array, y: Array) -> None:
    y += a @ x


def gemv(tall: int, long: int) -> tuple[te.Tensor, te.Tensor, Any]:
    a = te.placeholder((tall, long), "int32", "a")
    x = te.placeholder((long,), "int32", "x")
    k = te.reduce_axis((0, long), "k")
    return a, x, te.compute((tall,), lambda i: te.sum(a[i, k] * x[k], axis=k), name="y")


def with_strides() -> Any:
    a, _, y = gemv(TALL, LONG)
    rows = te.decl_buffer(a.shape, a.dtype, "rows", strides=[te.var("stride"), 1], offset_factor=1)

    def body(ins: Any, outs: Any) -> Any:
        call = UPDATE(ins[0].access_ptr("r"), ins[1], outs[0], ins[0].strides[0])
        return None, None, call

    return te.decl_tensor_intrin(y.op, body, "gemv", binds={a: rows})


def row_by_row() -> Any:
    """A call for each row, which is found by its offset."""
    a, _, y = gemv(TALL, LONG)
    rows = te.decl_buffer(a.shape, a.dtype, "rows", strides=[te.var("stride"), 1], offset_factor=1)

    def body(ins: Any, outs: Any) -> Any:
        calls = (
            DOT(ins[0].access_ptr("r", offset=i * ins[0].strides[0]), ins[1], outs[0], te.const(i))
            for i in range(TALL)
        )
        return None, None, list(calls)

    return te.decl_tensor_intrin(y.op, body, "gemv_of_rows", binds={a: rows})


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
def c_dot(row: int, vector: int, sums: int, place: int) -> None:
    x, y = ((ctypes.c_int32 * LONG).from_address(start) for start in (row, vector))
    total = ctypes.c_int32.from_address(sums + 4 * place)
    total.value += sum(a * b for a, b in zip(x, y, strict=True))


DOT = hybrid.extern(c_dot, None, ["int32*", "int32*", "int32*", "int64"], name="dot_row")


def without_strides() -> Any:
    _, _, y = gemv(TALL, LONG)

    def body(ins: Any, outs: Any) -> Any:
        return None, UPDATE(*ins, *outs, te.const(LONG))

    return te.decl_tensor_intrin(y.op, body, "gemv")


def by_python() -> Any:
    _, _, y = gemv(TALL, LONG)
    return te.decl_tensor_intrin(y.op, hybrid.packed(python_update), "gemv")


def tensorized(declare: Callable[[], Any], tall: int, long: int) -> tuple[Any, list[te.Tensor]]:
    a, x, y = gemv(tall, long)
    s = te.create_schedule(y.op)
    io, ii = s[y].split(y.op.axis[0], factor=TALL)
    ko, ki = s[y].split(y.op.reduce_axis[0], factor=LONG)
    s[y].reorder(io, ko, ii, ki)
    s[y].tensorize(ii, declare())
    return s, [a, x, y]


def test_c_code_is_told_the_strides(golden: Golden) -> None:
    s, args = tensorized(with_strides, 6, 12)
    golden.check(str(hj.lower(s, args)), "ir")
    run_both(s, args, make_inputs(args))


def test_c_code_gets_rows() -> None:
    s, args = tensorized(row_by_row, 6, 12)
    run_both(s, args, make_inputs(args))


def test_python_code_gets_views() -> None:
    s, args = tensorized(by_python, 6, 12)
    run_both(s, args, make_inputs(args))


def test_c_code_without_strides_needs_one_piece() -> None:
    s, args = tensorized(without_strides, 6, LONG)
    run_both(s, args, make_inputs(args))
    s, args = tensorized(without_strides, 6, 12)
    with pytest.raises(ScheduleError, match="a part of 'a' to C, and its elements do not lie"):
        hj.lower(s, args)


def test_a_copy_in_one_piece() -> None:
    """cache_read packs the rows that one call needs."""
    a, x, y = gemv(6, 12)
    s = te.create_schedule(y.op)
    tiles = te.compute((3, 3, TALL, LONG), lambda i, k, p, q: a[i * TALL + p, k * LONG + q])
    p, q = te.reduce_axis((0, 3), "p"), te.reduce_axis((0, LONG), "q")
    z: Any = te.compute(
        (3, TALL), lambda i, j: te.sum(tiles[i, p, j, q] * x[p * LONG + q], axis=[p, q]), name="z"
    )
    s = te.create_schedule(z.op)
    i, j = z.op.axis
    s[z].reorder(i, p, j, q)
    s[z].tensorize(j, without_strides())
    run_both(s, [a, x, z], make_inputs([a, x, z]))


def test_all_of_a_reduction_by_its_update() -> None:
    """Without a statement for the whole, the starting values are set before."""
    s, args = tensorized(with_strides, TALL, LONG)
    assert "y_init" in str(hj.lower(s, args))
    run_both(s, args, make_inputs(args))


def test_foreign_code_is_tried_when_it_is_declared() -> None:
    def wrong(a: Array, x: Array, y: Array) -> None:
        y += 1

    _, _, y = gemv(TALL, LONG)
    with pytest.raises(ArgumentValueError, match="does not compute what the description does"):
        te.decl_tensor_intrin(y.op, hybrid.packed(wrong), "gemv")


def test_foreign_code_must_not_write_to_its_inputs() -> None:
    def greedy(a: Array, x: Array, y: Array) -> None:
        y += a @ x
        x[0] += 1

    _, _, y = gemv(TALL, LONG)
    with pytest.raises(ArgumentValueError, match="does not compute what the description does"):
        te.decl_tensor_intrin(y.op, hybrid.packed(greedy), "gemv")


def test_a_step_is_needed_inside_of_a_reduction() -> None:
    def declare() -> Any:
        _, _, y = gemv(TALL, LONG)

        def body(ins: Any, outs: Any) -> Any:
            return whole(*ins, *outs)

        return te.decl_tensor_intrin(y.op, body, "gemv")

    def product(a: Array, x: Array, y: Array) -> None:
        y[...] = a @ x

    whole = hybrid.packed(product)
    s, args = tensorized(declare, 6, 12)
    with pytest.raises(ScheduleError, match="a loop around reduces, too"):
        hj.lower(s, args)
    a, x, y = gemv(6, LONG)
    s = te.create_schedule(y.op)
    _, inner = s[y].split(y.op.axis[0], factor=TALL)
    s[y].tensorize(inner, declare())
    assert "y_init" not in str(hj.lower(s, [a, x, y]))
    run_both(s, [a, x, y], make_inputs([a, x, y]))


def test_rounding_is_found_by_trying() -> None:
    a, x = te.placeholder((8,), name="a"), te.placeholder((8,), name="x")
    k = te.reduce_axis((0, 8), "k")
    y: Any = te.compute((), lambda: te.sum(a[k] * x[k], axis=k), name="y")

    def pairwise(a: Array, x: Array, y: Array) -> None:
        y += np.float32(np.sum(a[::2] * x[::2]) + np.sum(a[1::2] * x[1::2]))

    dot = te.decl_tensor_intrin(y.op, hybrid.packed(pairwise), "dot")
    s = te.create_schedule(y.op)
    s[y].tensorize(k, dot)
    with pytest.raises(ScheduleError, match="rounds otherwise"):
        hj.lower(s, [a, x, y])
