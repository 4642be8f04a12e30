"""Options of te.decl_tensor_intrin: buffers of all tensors, numbers, symbols that come later."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import te, tir
from hybridjit.errors import ArgumentError, ArgumentValueError, ScheduleError
from hybridjit.intrinsics.registry import INTRINSICS
from hybridjit.ir.expr import Add, Const, Load, Mul
from hybridjit.ir.stmt import Store, seq
from hybridjit.runtime import externs
from tests.support.classic_runs import make_inputs, run_both

SIZE = 4


@pytest.fixture(autouse=True)
def no_intrinsics() -> Iterator[None]:
    yield
    INTRINSICS.clear()


def scaled(size: Any, factor: Any, shift: Any) -> tuple[Any, Any]:
    a = te.placeholder((size,), "float32", "a")
    return a, te.compute((size,), lambda i: a[i] * factor + shift, name="c")


def declare_scaled(**options: Any) -> Any:
    factor, shift = te.var("factor", "float32"), te.var("shift", "float32")
    _, c = scaled(SIZE, factor, shift)

    def body(ins: Any, outs: Any, scalars: Any) -> Any:
        return seq(
            *(
                Store(
                    outs[0],
                    (Const(k),),
                    Add(Mul(Load(ins[0], (Const(k),)), scalars[0].expr), scalars[1].expr),
                )
                for k in range(SIZE)
            )
        )

    return te.decl_tensor_intrin(c.op, body, "scale4", scalar_params=[factor, shift], **options)


@pytest.mark.parametrize("is_known", [True, False])
def test_numbers_are_those_of_the_program(is_known: bool) -> None:
    alpha = te.var("alpha", "float32")
    a, c = scaled(12, te.const(2.5, "float32") if is_known else alpha, te.const(0.5, "float32"))
    s = te.create_schedule(c.op)
    s[c].tensorize(s[c].split(c.op.axis[0], SIZE)[1], declare_scaled())
    args = [a, c] if is_known else [alpha, a, c]
    func = hj.build(s, args)
    for call in (func, func.interpret):
        x: Any = np.arange(12, dtype="float32")
        found = np.zeros(12, "float32")
        call(*([] if is_known else [np.float32(2.5)]), x, found)
        np.testing.assert_array_equal(found, x * np.float32(2.5) + np.float32(0.5))


def test_numbers_of_a_call() -> None:
    scale = declare_scaled()
    a = te.placeholder((3, SIZE), name="A")
    alpha = te.var("alpha", "float32")
    c = te.compute((3, SIZE), lambda i: scale(a[i, 0:SIZE], alpha, 2), name="C")
    func = hj.build(te.create_schedule(c.op), [alpha, a, c])
    x: Any = np.reshape(np.arange(12, dtype="float32"), (3, SIZE))
    found = np.zeros((3, SIZE), "float32")
    func(np.float32(3), x, found)
    np.testing.assert_array_equal(found, x * 3 + 2)
    with pytest.raises(ArgumentValueError, match="takes 1 parts of tensors and 2 numbers"):
        te.compute((3, SIZE), lambda i: scale(a[i, 0:SIZE], alpha), name="C")


def test_a_number_of_each_iteration_is_refused() -> None:
    a = te.placeholder((8,), "float32", "a")
    c = te.compute((8,), lambda i: a[i] * i.astype("float32") + 1.0, name="c")
    s = te.create_schedule(c.op)
    s[c].tensorize(s[c].split(c.op.axis[0], SIZE)[1], declare_scaled())
    with pytest.raises(ScheduleError, match="does not do what 'scale4' describes"):
        hj.lower(s, [a, c])


def test_what_is_no_variable_is_refused() -> None:
    _, c = scaled(SIZE, 2.0, 1.0)
    with pytest.raises(ArgumentError, match=r"a scalar is a te\.var, got 3"):
        te.decl_tensor_intrin(c.op, None, "wrong", scalar_params=[3])


def test_a_wrong_number_is_noticed() -> None:
    factor = te.var("factor", "float32")
    _, c = scaled(SIZE, factor, 1.0)

    def body(ins: Any, outs: Any, scalars: Any) -> Any:
        return seq(
            *(
                Store(outs[0], (Const(k),), Add(Load(ins[0], (Const(k),)), scalars[0].expr))
                for k in range(SIZE)
            )
        )

    with pytest.raises(ArgumentValueError, match="does not compute what the description does"):
        te.decl_tensor_intrin(c.op, body, "wrong", scalar_params=[factor])


def test_options_of_all_buffers() -> None:
    seen: list[Any] = []

    def body(ins: Any, outs: Any, scalars: Any) -> Any:
        seen.extend([*ins, *outs])
        return seq(
            *(
                Store(outs[0], (Const(k),), Mul(Load(ins[0], (Const(k),)), scalars[0].expr))
                for k in range(SIZE)
            )
        )

    factor = te.var("factor", "float32")
    a = te.placeholder((SIZE,), "float32", "a")
    c = te.compute((SIZE,), lambda i: a[i] * factor, name="c")
    usual = {"offset_factor": 1, "data_alignment": 64, "strides": [te.var("s")]}
    te.decl_tensor_intrin(c.op, body, "scale", scalar_params=[factor], default_buffer_params=usual)
    assert [buffer.strides[0].name for buffer in seen] == ["s", "s"]
    with pytest.raises(ArgumentError, match="decl_buffer takes no argument 'colour'"):
        te.decl_tensor_intrin(c.op, body, "scale", default_buffer_params={"colour": 1})


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
def c_double(source: int, target: int) -> None:
    values = (ctypes.c_int32 * SIZE).from_address(source)
    (ctypes.c_int32 * SIZE).from_address(target)[:] = [2 * value for value in values]


def doubled(size: int) -> tuple[Any, Any]:
    a = te.placeholder((size,), "int32", "a")
    return a, te.compute((size,), lambda i: a[i] * 2, name="c")


def test_a_symbol_may_come_later(monkeypatch: pytest.MonkeyPatch) -> None:
    def body(ins: Any, outs: Any) -> Any:
        return tir.call_extern(None, "later_double", ins[0], outs[0])

    intrinsic = te.decl_tensor_intrin(doubled(SIZE)[1].op, body, "double4")
    a, c = doubled(12)
    s = te.create_schedule(c.op)
    s[c].tensorize(s[c].split(c.op.axis[0], SIZE)[1], intrinsic)
    with pytest.raises(ArgumentError, match="there is no C function 'later_double'"):
        hj.lower(s, [a, c])
    address = ctypes.cast(c_double, ctypes.c_void_p).value

    def found(function: str) -> tuple[int | None, str]:
        return address, function

    monkeypatch.setattr(externs, "_address", found)
    run_both(s, [a, c], make_inputs([a, c]))
