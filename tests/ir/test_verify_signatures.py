"""The verifier: parameters, outputs, constant arrays and results."""

import numpy as np

from hybridjit.ir.dtype import FLOAT32, FLOAT64, INT32, INT64
from hybridjit.ir.expr import BufferRef, Cast, Expr, ExternCall, Load, Var, const
from hybridjit.ir.extern import Extern
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.signature import ArrayResult, ConstantArray, Result, ScalarParam, ScalarResult
from hybridjit.ir.stmt import Allocate, Return, Stmt, Store, seq
from hybridjit.ir.verify import verify
from tests.ir.samples import ZERO, buffer, callback, func, loop, register
from tests.ir.verifying import NOTHING, PARAMS, a, b, i, refuses, x


def test_dimension_is_bound_by_a_shape() -> None:
    n = Var("n")
    verify(func(loop(Var("j"), n, NOTHING), buffer("c", 2, n), buffer("d", n + 1)))
    with refuses("variable 'n' is used but not bound"):
        verify(func(NOTHING, buffer("d", n + 1)))
    with refuses("variable 'n' is bound twice"):
        verify(func(NOTHING, ScalarParam(n), buffer("c", n)))
    with refuses("variable 'n' counts but has type int32, not int64"):
        verify(func(NOTHING, buffer("c", Var("n", INT32))))


def test_parameter_stands_once() -> None:
    with refuses("buffer 'a' is bound twice"):
        verify(func(NOTHING, a, a))


def test_array_from_outside_is_in_main_memory() -> None:
    with refuses("buffer 'c' comes from outside but is local"):
        verify(func(NOTHING, buffer("c", 8, scope="local")))
    with refuses("buffer 'c' comes from outside but is register"):
        verify(PrimFunc("f", (), NOTHING, (register("c"),)))


def output(extent: Expr) -> PrimFunc:
    return PrimFunc("f", PARAMS, NOTHING, (buffer("out", extent),))


def test_shape_of_an_output_depends_on_parameters_only() -> None:
    verify(output(i + 1))
    with refuses("variable 'j' is used but not bound"):
        verify(output(Var("j")))
    with refuses(r"the shape of buffer 'out' depends on more than .*: int64\(a\[0\]\)"):
        verify(output(Cast(INT64, Load(a, (ZERO,)))))
    with refuses("the shape of buffer 'out' depends on more than"):
        verify(output(ExternCall(Extern("g", callback, INT64), ())))


def constant(data: np.ndarray[tuple[int], np.dtype[np.float32]], body: Stmt = NOTHING) -> PrimFunc:
    table = buffer("table", 2)
    return PrimFunc("f", (), body, constants=(ConstantArray(table, data),))


def test_constant_array_holds_what_it_says() -> None:
    verify(constant(np.zeros(2, np.float32)))
    with refuses(r"constant 'table' holds data of shape \(3,\)"):
        verify(constant(np.zeros(3, np.float32)))
    with refuses("constant 'table' of float32 holds float64"):
        verify(constant(np.zeros(2, np.float64)))  # pyright: ignore[reportArgumentType]


def test_constant_array_is_not_stored_to() -> None:
    table = ConstantArray(buffer("table", 2), np.zeros(2, np.float32))
    store = Store(table.buffer, (ZERO,), const(1, FLOAT32))
    with refuses("store to constant 'table'"):
        verify(PrimFunc("f", (), store, constants=(table,)))


def returning(*values: Expr, returns: tuple[Result, ...] | None) -> PrimFunc:
    return PrimFunc("f", PARAMS, Return(values), returns=returns)


def test_return_gives_the_scalar_results() -> None:
    verify(returning(returns=None))
    verify(returning(x, returns=(a, ScalarResult(FLOAT32), b)))
    with refuses("Return of 0 values in a function with 1"):
        verify(returning(returns=(ScalarResult(FLOAT32),)))
    with refuses("Return of 1 values in a function with 0"):
        verify(returning(x, returns=(a,)))
    with refuses("a result has type float32, not float64: x"):
        verify(returning(x, returns=(ScalarResult(FLOAT64),)))


def test_return_gives_away_what_the_function_makes() -> None:
    made, wanted = buffer("c", 8), (ArrayResult(FLOAT32, 1),)

    def giving(value: Expr, *before: Stmt, returns: tuple[Result, ...] = wanted) -> PrimFunc:
        return PrimFunc("f", (a,), seq(*before, Return((value,))), returns=returns)

    verify(giving(BufferRef(made), Allocate(made)))
    with refuses("'c' is not visible here|buffer 'c'"):
        verify(giving(BufferRef(made)))
    with refuses("Return gives away 'a', which the function does not make"):
        verify(giving(BufferRef(a)))
    with refuses("Return of something else where an array is a result"):
        verify(giving(const(1, FLOAT32)))
    with refuses("Return gives 'c' for an array of float64"):
        verify(giving(BufferRef(made), Allocate(made), returns=(ArrayResult(FLOAT64, 1),)))


def test_returned_array_belongs_to_the_signature() -> None:
    with refuses("result 'c' is neither a parameter nor an output"):
        verify(returning(returns=(buffer("c", 8),)))
    with refuses("a function without results returns a tuple"):
        verify(PrimFunc("f", (), NOTHING, returns_tuple=True))
