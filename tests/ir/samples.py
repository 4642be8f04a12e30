"""Small functions of the IR that the tests of this folder share. Each call makes a new one."""

import numpy as np

from hybridjit.ir.dtype import BOOL, FLOAT32, FLOAT64, INT32, DType
from hybridjit.ir.expr import (
    Add,
    Buffer,
    BufferRef,
    Cast,
    Const,
    Expr,
    ExternCall,
    Gt,
    Load,
    Lt,
    Mul,
    Pow,
    Var,
    const,
)
from hybridjit.ir.extern import Extern
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.signature import ConstantArray, Param, ScalarParam, ScalarResult
from hybridjit.ir.stmt import (
    Allocate,
    Assert,
    Block,
    Break,
    Continue,
    Evaluate,
    For,
    If,
    Iter,
    IterKind,
    Let,
    LoopKind,
    Print,
    Raise,
    Return,
    Seq,
    Stmt,
    Store,
    While,
    seq,
)

ZERO, ONE, TRUE = Const(0), Const(1), Const(True, BOOL)


def buffer(name: str, *shape: int | Expr, dtype: DType = FLOAT32, scope: str = "global") -> Buffer:
    """A buffer with the given extents."""
    extents = tuple(Const(extent) if isinstance(extent, int) else extent for extent in shape)
    return Buffer(name, dtype, extents, scope)


def register(name: str, dtype: DType = FLOAT32) -> Buffer:
    """A scalar variable."""
    return Buffer(name, dtype, (), Buffer.REGISTER)


def loop(var: Var, stop: int | Expr, body: Stmt, kind: LoopKind = LoopKind.SERIAL) -> For:
    """A loop from 0 to `stop`."""
    thread = "threadIdx.x" if kind is LoopKind.BOUND else None
    return For(var, ZERO, Const(stop) if isinstance(stop, int) else stop, ONE, body, kind, thread)


def func(body: Stmt, *params: Param) -> PrimFunc:
    """A function without results."""
    return PrimFunc("f", params, body)


def callback(*args: object) -> None:
    """A packed function."""


SHOW = Extern("show", callback, None)


def matmul() -> PrimFunc:
    """A reduction block under three loops, with run-time dimensions."""
    n, m = Var("n"), Var("m")
    a, b, c = buffer("a", n, 64), buffer("b", 64, m), buffer("c", n, m)
    i, j, k = Var("i"), Var("j"), Var("k")
    vi, vj, vk = Var("vi"), Var("vj"), Var("vk")
    update = Add(Load(c, (vi, vj)), Mul(Load(a, (vi, vk)), Load(b, (vk, vj))))
    block = Block(
        "c",
        (Iter(vi, i), Iter(vj, j), Iter(vk, k, IterKind.REDUCE)),
        Store(c, (vi, vj), update),
        Store(c, (vi, vj), const(0, FLOAT32)),
    )
    nest = loop(i, n, loop(j, m, loop(k, 64, block)), LoopKind.PARALLEL)
    return PrimFunc("matmul", (a, b), seq(nest, Return()), (c,), returns=(c,))


def tiled_copy() -> PrimFunc:
    """A block whose iter is not a loop variable, and one without iters."""
    a, b = buffer("a", 64), buffer("b", 64)
    i_0, i_1, i = Var("i_0"), Var("i_1"), Var("i")
    index = Add(Mul(i_0, Const(32)), i_1)
    copy = Block("b", (Iter(i, index, domain=(ZERO, Const(64))),), Store(b, (i,), Load(a, (i,))))
    note = Block("note", (), Evaluate(ExternCall(SHOW, (BufferRef(b),))))
    nest = loop(i_0, 2, seq(loop(i_1, 32, copy, LoopKind.VECTORIZED), note))
    return func(nest, a, b)


def every_statement() -> PrimFunc:
    """One of every other kind of statement, and every part of a signature."""
    a, z, scratch = buffer("a", 8), buffer("z"), buffer("scratch", 8, scope="local")
    x, count = ScalarParam(Var("x", FLOAT64), weak=True), ScalarParam(Var("count", INT32))
    table = ConstantArray(buffer("table", 2, 2), np.array([[0.1, 2], [3, np.inf]], np.float32))
    acc, half = register("acc"), Var("half", FLOAT64)
    i, j, t = Var("i"), Var("i"), Var("t")
    body = seq(
        Allocate(acc, zero=False),
        Allocate(scratch),
        Store(acc, (), const(0.1, FLOAT32)),
        Let(half, Mul(x.var, const(0.5, FLOAT64))),
        For(i, Const(7), Const(-1), Const(-1), If(Gt(i, Const(3)), Break(), Continue())),
        loop(t, 8, Store(scratch, (t,), Load(table.buffer, (ZERO, ONE))), LoopKind.BOUND),
        While(
            Lt(Load(acc), const(10, FLOAT32)),
            Store(acc, (), Pow(Load(acc), const(2, FLOAT32))),
        ),
        If(
            Gt(half, const(1, FLOAT64)),
            Store(z, (), Load(acc)),
            If(Lt(half, const(0, FLOAT64)), Raise("ValueError", ("x is", x.var)), Seq(())),
        ),
        Assert(Gt(half, const(0, FLOAT64))),
        Assert(Gt(half, const(0, FLOAT64)), ("not positive",)),
        Assert(Gt(half, const(0, FLOAT64)), ("half is", half), True),
        Print(("half =", half)),
        loop(j, 8, Seq(())),
        Evaluate(ExternCall(SHOW, (BufferRef(a), Load(acc)))),
        Return((Cast(FLOAT64, Load(acc)), count.var)),
    )
    results = (z, ScalarResult(FLOAT64, weak=True), ScalarResult(INT32))
    return PrimFunc("every", (a, z, x, count), body, (), (table,), results)


SAMPLES = (matmul, tiled_copy, every_statement)
