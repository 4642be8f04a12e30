"""Short ways to build functions of the IR and to run them."""

import sys
from typing import Any

import pytest

from hybridjit.errors import (
    Span,
)
from hybridjit.interp.run import interpret
from hybridjit.ir.dtype import (
    INT64,
    DType,
)
from hybridjit.ir.expr import (
    Add,
    Buffer,
    Const,
    Expr,
    ExternCall,
    Load,
    Var,
)
from hybridjit.ir.extern import Extern
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.signature import Param, ScalarResult
from hybridjit.ir.stmt import (
    Evaluate,
    For,
    LoopKind,
    Return,
    Stmt,
    Store,
    seq,
)

ZERO, ONE = Const(0), Const(1)
SPAN = Span("kernel.py", 3, 4, 3, 9)
needs_notes = pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes")


def lift(value: int | Expr) -> Expr:
    return Const(value) if isinstance(value, int) else value


def buffer(name: str, *shape: int | Expr, dtype: DType = INT64, scope: str = "global") -> Buffer:
    return Buffer(name, dtype, tuple(lift(extent) for extent in shape), scope)


def register(name: str, dtype: DType = INT64) -> Buffer:
    return buffer(name, dtype=dtype, scope=Buffer.REGISTER)


def loop(var: Var, stop: int | Expr, *body: Stmt, kind: LoopKind = LoopKind.SERIAL) -> For:
    return For(var, ZERO, lift(stop), ONE, seq(*body), kind)


def store(target: Buffer, index: int | Expr, value: int | Expr) -> Store:
    return Store(target, (lift(index),), lift(value), span=SPAN)


def increment(target: Buffer, *indices: Expr, by: Expr = ONE) -> Store:
    return Store(target, indices, Add(Load(target, indices, span=SPAN), by), span=SPAN)


def run(body: Stmt, *args: object, params: tuple[Param, ...] = ()) -> object:
    return interpret(PrimFunc("f", params, body), args)


def value_of(expr: Expr, *args: object, params: tuple[Param, ...] = (), weak: bool = False) -> Any:
    """What a function that returns `expr` returns."""
    results = (ScalarResult(expr.dtype, weak),)
    return interpret(PrimFunc("f", params, Return((expr,)), returns=results), args)


class Recorder:
    """A callback that keeps what it is called with."""

    def __init__(self, result: DType | None = None, returned: object = None) -> None:
        self.calls: list[Any] = []
        self.returned = returned
        self.extern = Extern("record", self, result)

    def __call__(self, *args: object) -> object:
        self.calls.append(args[0] if len(args) == 1 else args)
        return self.returned

    def of(self, *args: Expr) -> Evaluate:
        """The statement that calls it."""
        return Evaluate(ExternCall(self.extern, args))


def notes(error: BaseException) -> list[str]:
    """The notes that an exception carries, from Python 3.11 on."""
    return getattr(error, "__notes__", [])
