"""Arguments, results, and what the interpreter says about broken trees."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hybridjit.errors import (
    ArgumentError,
    ArgumentValueError,
    InternalError,
)
from hybridjit.interp.run import compile_func, interpret
from hybridjit.ir.dtype import (
    BFLOAT16,
    BOOL,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    INT64,
    UINT8,
    DType,
)
from hybridjit.ir.expr import (
    Add,
    Buffer,
    Const,
    Expr,
    Load,
    Mul,
    Var,
    const,
)
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.signature import ConstantArray, ScalarParam, ScalarResult
from hybridjit.ir.stmt import (
    Evaluate,
    Return,
    Seq,
)
from tests.interp.builders import ONE, ZERO, Recorder, buffer, increment, loop, run, value_of

# Arguments and results


def test_run_time_dimensions() -> None:
    n, m = Var("n"), Var("m")
    a, b = buffer("a", n, m), buffer("b", Add(n, ONE))
    c = buffer("c", m, n)
    func = PrimFunc(
        "f",
        (a, b),
        Return((Add(Mul(n, Const(10)), m),)),
        (c,),
        returns=(c, ScalarResult(INT64, weak=True)),
        returns_tuple=True,
    )
    result: Any = interpret(func, [np.zeros((2, 3), np.int64), np.zeros(3, np.int64)])
    assert result[0].shape == (3, 2)
    assert result[1] == 23
    with pytest.raises(ArgumentValueError, match=r"'b' must have shape \(3,\), not \(2,\)"):
        interpret(func, [np.zeros((2, 3), np.int64), np.zeros(2, np.int64)])


def test_dimension_that_is_a_scalar_parameter() -> None:
    n = ScalarParam(Var("n"), weak=True)
    a = buffer("a", n.var)
    run(Seq(()), np.zeros(3, np.int64), 3, params=(a, n))
    with pytest.raises(ArgumentValueError, match=r"'a' must have shape \(4,\), not \(3,\)"):
        run(Seq(()), np.zeros(3, np.int64), 4, params=(a, n))


@pytest.mark.parametrize(
    ("arg", "message"),
    [
        ([1, 2], "argument 'a' must be an array, not list"),
        (np.float32(1), "argument 'a' must be an array, not float32"),
        (np.zeros((2, 3)), "argument 'a' must be an array of float32, not float64"),
        (np.zeros((2, 3), ">f4"), "argument 'a' must be an array of float32, not >f4"),
        (np.zeros(2, np.float32), "argument 'a' must have 2 dimensions, not 1"),
        (np.zeros((2, 4), np.float32), r"argument 'a' must have shape \(2, 3\), not \(2, 4\)"),
    ],
)
def test_wrong_array(arg: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        run(Seq(()), arg, params=(buffer("a", 2, 3, dtype=FLOAT32),))


def test_wrong_number_of_arguments() -> None:
    with pytest.raises(ArgumentError, match="'f' takes 1 arguments, not 2"):
        run(Seq(()), 1, 2, params=(ScalarParam(Var("x")),))


@pytest.mark.parametrize(
    ("arg", "dtype", "expected"),
    [
        (3, INT64, "np.int64(3)"),
        (True, INT64, "np.int64(1)"),
        (3, FLOAT64, "np.float64(3.0)"),
        (0.1, FLOAT32, "np.float32(0.1)"),
        (np.float32(0.1), FLOAT32, "np.float32(0.1)"),
        (2, COMPLEX128, "np.complex128(2+0j)"),
        (np.float64(0.5), FLOAT64, "np.float64(0.5)"),
        (255, UINT8, "np.uint8(255)"),
    ],
)
def test_scalar_arguments(arg: object, dtype: DType, expected: str) -> None:
    x = ScalarParam(Var("x", dtype))
    assert repr(value_of(x.var, arg, params=(x,))) == expected


@pytest.mark.parametrize(
    ("arg", "dtype", "message"),
    [
        (0.5, INT64, "argument 'x' must be int64, not float"),
        (1j, FLOAT64, "argument 'x' must be float64, not complex"),
        (1, BOOL, "argument 'x' must be bool, not int"),
        (np.float64(1), FLOAT32, "argument 'x' must be float32, not float64"),
        (np.int32(1), INT64, "argument 'x' must be int64, not int32"),
        ("1", INT64, "argument 'x' must be a number, not str"),
        (256, UINT8, "argument 'x': 256 does not fit uint8"),
        (1 << 63, INT64, "argument 'x': 9223372036854775808 does not fit int64"),
        (1 << 80, INT64, "argument 'x': 1208925819614629174706176 does not fit int64"),
    ],
)
def test_wrong_scalar(arg: object, dtype: DType, message: str) -> None:
    x = ScalarParam(Var("x", dtype))
    with pytest.raises(ArgumentError, match=message):
        value_of(x.var, arg, params=(x,))


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (Const(3), "3"),
        (const(0.5, FLOAT64), "0.5"),
        (Const(True, BOOL), "True"),
        (const(2j, COMPLEX128), "2j"),
    ],
)
def test_weak_results_are_python_numbers(expr: Expr, expected: str) -> None:
    assert repr(value_of(expr, weak=True)) == expected


A, C = buffer("a", 2), buffer("c", 2)


def results(returns: tuple[Buffer | ScalarResult, ...] | None, *, as_tuple: bool = False) -> Any:
    """What a function of A that makes C and returns 4 returns, where A is [1, 2]."""
    scalars = (Const(4),) * sum(isinstance(item, ScalarResult) for item in returns or ())
    func = PrimFunc("f", (A,), Return(scalars), (C,), returns=returns, returns_tuple=as_tuple)
    return interpret(func, [np.array([1, 2])])


def test_results() -> None:
    assert results(None) is None
    assert results((A,)).tolist() == [1, 2]
    assert results((C,)).tolist() == [0, 0]
    assert results((ScalarResult(INT64),)) == 4


def test_tuples_of_results() -> None:
    assert results((), as_tuple=True) == ()
    assert results((ScalarResult(INT64),), as_tuple=True) == (4,)
    scalar, output, param = results((ScalarResult(INT64), C, A))
    assert (scalar, output.tolist(), param.tolist()) == (4, [0, 0], [1, 2])


def test_an_array_that_is_returned_is_the_one_that_was_passed() -> None:
    array = np.array([1, 2])
    assert interpret(PrimFunc("f", (A,), Return(), returns=(A,)), [array]) is array


def test_outputs_are_new_in_each_run() -> None:
    c = buffer("c", 2)
    func = compile_func(PrimFunc("f", (), increment(c, ZERO), (c,), returns=(c,)))
    first, second = func(()), func(())
    assert first is not second
    np.testing.assert_array_equal(first, [1, 0])
    np.testing.assert_array_equal(second, [1, 0])


def test_missing_return_is_our_fault() -> None:
    with pytest.raises(InternalError, match="'f' returned 0 values, not 1"):
        interpret(PrimFunc("f", (), Seq(()), returns=(ScalarResult(INT64),)), ())


def test_constants() -> None:
    table = ConstantArray(
        buffer("table", 2, 2, dtype=BFLOAT16), np.eye(2, dtype=ml_dtypes.bfloat16)
    )
    expr = Load(table.buffer, (ONE, ONE))
    func = PrimFunc("f", (), Return((expr,)), constants=(table,), returns=(ScalarResult(BFLOAT16),))
    assert interpret(func, ()) == 1.0


def test_array_subclasses_are_plain_arrays_inside() -> None:
    a, record = buffer("a", 2), Recorder()
    masked: Any = np.ma.masked_array([1, 2], mask=[True, False])
    run(record.of(Load(a, (ZERO,))), masked, params=(a,))
    assert record.calls == [1]


# Trees that are not functions of the language


def test_unbound_names_are_our_fault() -> None:
    with pytest.raises(InternalError, match="'x' is used but not bound"):
        value_of(Var("x"))
    with pytest.raises(InternalError, match="'a' is used but not bound"):
        value_of(Load(buffer("a", 1), (ZERO,)))


def test_a_name_bound_twice_is_our_fault() -> None:
    i = Var("i")
    with pytest.raises(InternalError, match="'i' is bound twice"):
        run(loop(i, 2, loop(i, 2, Seq(()))))


def test_wrong_number_of_indices_is_our_fault() -> None:
    a = buffer("a", 2, 2)
    with pytest.raises(InternalError, match="'a' has 2 dimensions but 1 indices"):
        run(Evaluate(Load(a, (ZERO,))), np.zeros((2, 2), np.int64), params=(a,))
