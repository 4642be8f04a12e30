"""One mechanism says what may fail, intrinsics of the user's own included."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid, tir
from hybridjit.arith.totality import is_total, may_fail, operation_may_fail
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Add, Buffer, Call, Const, Expr, FloorDiv, Load, Mod, Var
from hybridjit.ir.intrinsics import clear_intrinsics
from tests.support.oracle import run_interpreted, run_once
from tests.support.poisoned import run_poisoned

X, Y = Var("x", INT64), Var("y", INT64)


@pytest.fixture
def quot() -> Iterator[Any]:
    yield tir.register_intrin("quot", lambda x, y: x // y, domain="integer")
    clear_intrinsics()


@pytest.mark.parametrize(
    ("expr", "fails"),
    [
        (FloorDiv(X, Y), True),
        (FloorDiv(X, Const(3)), False),
        (Mod(X, Const(0)), True),
        (Call("fmod", (X, Y)), True),
        (Call("fmod", (X, Const(3))), False),
        (Call("fmod", (X, Const(0))), True),
        (Add(X, Y), False),
    ],
)
def test_operators(expr: Expr, fails: bool) -> None:
    assert may_fail(expr) is operation_may_fail(expr) is fails


def test_an_access_may_fail_while_nothing_is_known_of_its_indices() -> None:
    load = Load(Buffer("a", INT64, (Const(3),)), (X,))
    assert may_fail(load)
    assert not operation_may_fail(load)


def test_an_intrinsic_fails_where_its_expansion_does(quot: Any) -> None:
    assert not is_total(Call("quot", (X, Y)))
    assert is_total(Call("quot", (X, Const(2))))


@pytest.mark.parametrize("run", [run_interpreted, run_poisoned])
def test_nothing_is_stored_before_an_intrinsic_fails(quot: Any, run: Any) -> None:
    @hybrid.vectorize
    def divide(x: Any, y: Any) -> Any:
        return quot(x, y)

    def kernel(a: Any, b: Any, c: Any) -> Any:
        t: Any = divide(a, b)
        c[:] = 7
        return t + c

    args = [np.arange(4), np.array([1, 2, 0, 1]), np.ones(4, dtype=np.int64)]
    script: Any = hybrid.script(kernel)
    found = run_once(run, script, args)
    assert isinstance(found.error, ZeroDivisionError)
    np.testing.assert_array_equal(found.arguments[2], np.ones(4))
