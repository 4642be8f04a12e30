"""Evaluating loads, operators and calls, and the text of their errors."""

import ctypes
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hybridjit.errors import (
    ArgumentError,
    BoundsError,
    DivisionByZero,
    InternalError,
    NarrowingError,
)
from hybridjit.interp.run import interpret
from hybridjit.ir.dtype import (
    BOOL,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    INT8,
    INT32,
    INT64,
    UINT8,
    DType,
)
from hybridjit.ir.expr import (
    Add,
    Binary,
    BufferRef,
    Call,
    Cast,
    Const,
    Expr,
    ExternCall,
    FloorDiv,
    Load,
    Mod,
    Mul,
    Ne,
    Pow,
    Var,
    const,
)
from hybridjit.ir.extern import Extern, Pointer
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.signature import ConstantArray, ScalarParam
from hybridjit.ir.stmt import (
    Allocate,
    Evaluate,
    For,
    Stmt,
    Store,
    seq,
)
from tests.interp.builders import (
    ONE,
    SPAN,
    ZERO,
    Recorder,
    buffer,
    increment,
    loop,
    register,
    run,
    store,
    value_of,
)


def matrix(rows: int, columns: int) -> Any:
    numbers: Any = np.arange(rows * columns)
    return numbers.reshape(rows, columns)


# Bounds


def test_negative_indices_wrap() -> None:
    a, i = buffer("a", 4), Var("i")
    array = np.array([1, 2, 3, 4])
    body = For(i, Const(-4), ZERO, ONE, increment(a, i, by=Const(10)))
    run(body, array, params=(a,))
    assert array.tolist() == [11, 12, 13, 14]


@pytest.mark.parametrize("index", [10, -11, 2**62, -(2**63)])
def test_index_out_of_bounds(index: int) -> None:
    a = buffer("a", 10)
    expected = f"index {index} is out of bounds for axis 0 of 'a' with size 10"
    with pytest.raises(BoundsError, match=expected) as caught:
        run(Evaluate(Load(a, (Const(index),), span=SPAN)), np.zeros(10, np.int64), params=(a,))
    assert str(caught.value) == f"kernel.py:3:5: error: {expected}\n      = code: HJ301"
    with pytest.raises(IndexError, match=expected):
        run(store(a, index, 0), np.zeros(10, np.int64), params=(a,))


def test_index_out_of_bounds_says_in_which_iteration() -> None:
    a, i, j = buffer("a", 4, 5), Var("i"), Var("j")
    read = Evaluate(Load(a, (i, Add(j, i))), span=SPAN)
    with pytest.raises(BoundsError, match="index 5 is out of bounds") as caught:
        run(loop(i, 4, loop(j, 3, read)), np.zeros((4, 5), np.int64), params=(a,))
    assert str(caught.value) == (
        "kernel.py:3:5: error: index 5 is out of bounds for axis 1 of 'a' with size 5\n"
        "      = note: in iteration i=3, j=2\n"
        "      = code: HJ301"
    )


def test_index_of_an_index_is_blamed() -> None:
    a, b = buffer("a", 2), buffer("b", 9)
    nested = Evaluate(Load(a, (Load(b, (Const(9),)),)))
    with pytest.raises(BoundsError, match="index 9 is out of bounds for axis 0 of 'b'"):
        run(nested, np.zeros(2, np.int64), np.zeros(9, np.int64), params=(a, b))


def test_size_zero_arrays() -> None:
    n = Var("n")
    a, i = buffer("a", n), Var("i")
    c = buffer("c", n)
    copy = loop(i, n, Store(c, (i,), Load(a, (i,))))
    func = PrimFunc("f", (a,), copy, (c,), returns=(c,))
    empty: Any = interpret(func, [np.zeros(0, np.int64)])
    assert empty.shape == (0,)
    with pytest.raises(BoundsError, match="index 0 is out of bounds for axis 0 of 'a' with size 0"):
        run(Evaluate(Load(a, (ZERO,))), np.zeros(0, np.int64), params=(a,))


VIEWS: dict[str, Callable[[Any], Any]] = {
    "strided": lambda matrix: np.repeat(matrix, 2, axis=1)[:, ::2],
    "negative": lambda matrix: matrix[::-1, ::-1],
    "fortran": lambda matrix: np.asfortranarray(matrix),
    "broadcast": lambda matrix: np.broadcast_to(matrix[0], (4, 3)),
}


@pytest.mark.parametrize("name", VIEWS)
def test_arrays_of_any_strides(name: str) -> None:
    a, c = buffer("a", 4, 3), buffer("c", 3, 4)
    i, j = Var("i"), Var("j")
    body = loop(i, 4, loop(j, 3, Store(c, (j, i), Load(a, (i, j)))))
    func = PrimFunc("f", (a,), body, (c,), returns=(c,))
    view = VIEWS[name](matrix(4, 3))
    np.testing.assert_array_equal(interpret(func, [view]), view.T)


def test_writing_through_a_view() -> None:
    a, i = buffer("a", 3), Var("i")
    base = np.arange(7)
    run(loop(i, 3, increment(a, i, by=Const(100))), base[5::-2], params=(a,))
    assert base.tolist() == [0, 101, 2, 103, 4, 105, 6]


# Arithmetic


def test_errors_of_operators_have_a_place() -> None:
    i, x = Var("i"), ScalarParam(Var("x"), weak=True)

    def evaluate(cls: type[Binary]) -> Stmt:
        return loop(i, 1, Evaluate(cls(ONE, x.var, span=SPAN)))

    for cls in (FloorDiv, Mod):
        with pytest.raises(DivisionByZero, match=r"by zero(.|\n)*in iteration i=0") as caught:
            run(evaluate(cls), 0, params=(x,))
        assert caught.value.span == SPAN
    with pytest.raises(ValueError, match="negative integer powers"):
        run(evaluate(Pow), -1, params=(x,))
    with pytest.raises(DivisionByZero, match="integer modulo by zero"):
        run(Evaluate(Call("fmod", (ONE, x.var))), 0, params=(x,))


def test_checked_cast_has_a_place() -> None:
    x = ScalarParam(Var("x"), weak=True)
    with pytest.raises(NarrowingError, match="Python integer 300 out of bounds for int8") as caught:
        run(Evaluate(Cast(INT8, x.var, checked=True, span=SPAN)), 300, params=(x,))
    assert caught.value.span == SPAN
    assert value_of(Cast(INT8, x.var, checked=False), 300, params=(x,)) == 44


def test_no_warning_escapes_and_callbacks_see_the_state_outside() -> None:
    x = ScalarParam(Var("x", FLOAT32))
    states: list[object] = []
    look = Extern("look", lambda: states.append(np.geterr()), None)
    body = seq(
        Evaluate(Mul(x.var, x.var)),
        Evaluate(Call("log", (const(-1.0, FLOAT32),))),
        Evaluate(Cast(INT32, Mul(x.var, x.var))),
        Evaluate(ExternCall(look, ())),
    )
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        expected = np.geterr()
        run(body, np.float32(3e38), params=(x,))
    assert states == [expected]


def test_deep_expressions() -> None:
    x = ScalarParam(Var("x"), weak=True)
    expr: Expr = x.var
    for _ in range(200):
        expr = Add(expr, x.var)
    assert value_of(expr, 2, params=(x,)) == 402


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (Const(-5), "np.int64(-5)"),
        (const(0.1, FLOAT32), "np.float32(0.1)"),
        (Const(200, UINT8), "np.uint8(200)"),
        (Const(True, BOOL), "np.True_"),
        (Const(1 - 2j, COMPLEX128), "np.complex128(1-2j)"),
        (Ne(ONE, ZERO), "np.True_"),
        (Call("complex", (const(1, FLOAT64), const(2, FLOAT64))), "np.complex128(1+2j)"),
        (Call("hypot", (const(3, FLOAT32), const(4, FLOAT32))), "np.float32(5.0)"),
        (Call("sqrt", (const(4, FLOAT64),)), "np.float64(2.0)"),
    ],
)
def test_values(expr: Expr, expected: str) -> None:
    assert repr(value_of(expr)) == expected


# Calls


def test_packed_call_gets_views_and_scalars() -> None:
    a, record = buffer("a", 2, 2), Recorder()
    base = matrix(2, 4)
    view = base[:, ::2]
    run(record.of(BufferRef(a), const(0.5, FLOAT32)), view, params=(a,))
    [(array, scalar)] = record.calls
    assert np.shares_memory(array, base)
    assert array.strides == view.strides
    assert type(scalar) is np.float32


def test_constants_are_read_only_for_callbacks() -> None:
    table, record = buffer("table", 2), Recorder()
    constant = ConstantArray(table, np.array([1, 2]))
    interpret(PrimFunc("f", (), record.of(BufferRef(table)), constants=(constant,)), ())
    assert not record.calls[0].flags.writeable
    assert constant.data.flags.writeable


@pytest.mark.parametrize(
    ("dtype", "returned", "expected"),
    [
        (INT8, 300, "np.int8(44)"),
        (FLOAT32, 0.1, "np.float32(0.1)"),
        (INT32, np.float64(2.9), "np.int32(2)"),
        (BOOL, 7, "np.True_"),
    ],
)
def test_packed_result_is_converted(dtype: DType, returned: object, expected: str) -> None:
    assert repr(value_of(ExternCall(Recorder(dtype, returned).extern, ()))) == expected


def test_packed_result_that_is_no_number() -> None:
    call = ExternCall(Recorder(INT64, "three").extern, ())
    with pytest.raises(
        TypeError, match="'record' returned str, not a number that converts to int64"
    ):
        value_of(call)


def test_exception_of_a_callback_comes_out_as_itself() -> None:
    error = LookupError("mine")

    def fail() -> None:
        raise error

    with pytest.raises(LookupError, match="mine") as caught:
        run(Evaluate(ExternCall(Extern("fail", fail, None), ())))
    assert caught.value is error


def c_function(function: Any, restype: Any, *argtypes: Any) -> Any:
    """A ctypes-callable that runs Python code."""
    return ctypes.CFUNCTYPE(restype, *argtypes)(function)


def test_c_call_passes_addresses_and_numbers() -> None:
    def scale(address: int, count: int, factor: float) -> float:
        values = (ctypes.c_double * count).from_address(address)
        for i in range(count):
            values[i] *= factor
        return sum(values)

    call = c_function(scale, ctypes.c_double, ctypes.c_void_p, ctypes.c_int64, ctypes.c_double)
    extern = Extern("scale", call, FLOAT64, (Pointer(FLOAT64), INT64, FLOAT64))
    a = buffer("a", 3, dtype=FLOAT64)
    array = np.array([1.0, 2.0, 3.0])
    total = value_of(
        ExternCall(extern, (BufferRef(a), Const(3), const(2.0, FLOAT64))), array, params=(a,)
    )
    assert repr(total) == "np.float64(12.0)"
    assert array.tolist() == [2.0, 4.0, 6.0]


def test_c_call_needs_contiguous_arrays() -> None:
    extern = Extern("sum", sum, INT32, (Pointer(INT64),))
    a = buffer("a", 2)
    call = ExternCall(extern, (BufferRef(a),), span=SPAN)
    with pytest.raises(ArgumentError, match="'a' must be C-contiguous to be passed to 'sum'"):
        value_of(call, np.arange(4)[::2], params=(a,))


def test_register_has_no_address() -> None:
    x, record = register("x"), Recorder()
    with pytest.raises(InternalError, match="register 'x' has no address"):
        run(seq(Allocate(x, zero=False), record.of(BufferRef(x))))
