"""Statements and expressions for the verifier: what is free in them is made a parameter."""

import pytest

from hybridjit.errors import InternalError
from hybridjit.ir.dtype import BFLOAT16, BOOL, COMPLEX64, FLOAT32, FLOAT64, INT8, UINT8
from hybridjit.ir.expr import Expr, Var
from hybridjit.ir.signature import ScalarParam
from hybridjit.ir.stmt import Block, Evaluate, Iter, Seq, Stmt
from hybridjit.ir.verify import Stage, verify
from tests.ir.samples import buffer, func

NOTHING = Seq(())
# Free in every test; `check_expr` and `check_stmt` make them parameters.
i, p = Var("i"), Var("p", BOOL)
x, y = Var("x", FLOAT32), Var("y", FLOAT64)
n8, u8, w = Var("n8", INT8), Var("u8", UINT8), Var("w", COMPLEX64)
h = Var("h", BFLOAT16)
a, b = buffer("a", 8), buffer("b", 8, 8)
SCALARS = (i, p, x, y, n8, u8, w, h)
PARAMS = (*(ScalarParam(var) for var in SCALARS), a, b)


def check_stmt(*stmts: Stmt, stage: Stage = Stage.BLOCKS) -> None:
    verify(func(Seq(stmts), *PARAMS), stage)


def check_expr(expr: Expr) -> None:
    check_stmt(Evaluate(expr))


def refuses(message: str) -> pytest.RaisesExc[InternalError]:
    return pytest.raises(InternalError, match=message)


def block(*iters: Iter, body: Stmt = NOTHING, init: Stmt | None = None) -> Block:
    return Block("b", iters, body, init)
