"""Structural equality: blind to names and spans, and to nothing else."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from hybridjit.errors import Span
from hybridjit.ir.dtype import BOOL, FLOAT32, FLOAT64, INT32, INT64, DType
from hybridjit.ir.equal import find_difference, structural_equal
from hybridjit.ir.expr import Add, Buffer, Const, Expr, ExternCall, Load, Mul, Node, Var, const
from hybridjit.ir.extern import Extern
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.signature import ConstantArray, ScalarParam, ScalarResult
from hybridjit.ir.stmt import (
    Allocate,
    Assert,
    Block,
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
)
from hybridjit.ir.visit import fresh_copy, walk
from tests.ir.samples import ONE, SAMPLES, SHOW, ZERO, buffer, callback, func, loop, matmul

NOTHING = Seq(())
SPAN = Span("kernel.py", 1, 0, 1, 1)


@pytest.mark.parametrize("make", SAMPLES)
def test_function_equals_its_double(make: Callable[[], PrimFunc]) -> None:
    assert find_difference(make(), make()) is None


@pytest.mark.parametrize("make", SAMPLES)
def test_body_equals_its_fresh_copy(make: Callable[[], PrimFunc]) -> None:
    body = make().body
    assert structural_equal(body, fresh_copy(body))


@pytest.mark.parametrize("make", SAMPLES)
def test_every_statement_differs_from_nothing(make: Callable[[], PrimFunc]) -> None:
    for node in walk(make().body):
        if isinstance(node, Stmt) and not isinstance(node, Seq):
            assert not structural_equal(node, NOTHING)


def test_names_and_spans_do_not_count() -> None:
    def made(name: str, span: Span | None) -> PrimFunc:
        array, var = buffer(name, 8), Var(name)
        body = loop(var, 8, Store(array, (var,), const(0, FLOAT32), span=span))
        return PrimFunc(name, (array,), body, span=span)

    assert structural_equal(made("a", None), made("b", SPAN))


def test_sequences_count_as_their_statements() -> None:
    one, two = Evaluate(ZERO), Evaluate(ONE)
    assert structural_equal(Seq((one,)), one)
    assert structural_equal(Seq((Seq((one, NOTHING)), two)), Seq((one, Seq((two,)))))
    assert not structural_equal(Seq((one, two)), Seq((two, one)))


def test_missing_else_is_an_empty_one() -> None:
    cond = Var("p", BOOL)
    assert structural_equal(If(cond, NOTHING), If(cond, NOTHING, NOTHING))
    assert not structural_equal(If(cond, NOTHING), If(cond, NOTHING, Evaluate(ZERO)))


def test_free_variable_equals_only_itself() -> None:
    i = Var("i")
    assert structural_equal(i + 1, i + 1)
    assert find_difference(i + 1, Var("i") + 1) == "lhs: i (Var) != i (Var)"


def test_renaming_is_one_to_one() -> None:
    """Were it only a map, `for i: for j: i + j` would equal `for i: for j: i + i` one way round."""

    def nest(pick: Callable[[Var, Var], Expr]) -> Stmt:
        i, j = Var("i"), Var("j")
        return loop(i, 8, loop(j, 8, Evaluate(pick(i, j))))

    mixed, same = nest(lambda i, j: Add(i, j)), nest(lambda i, j: Add(i, i))
    assert not structural_equal(mixed, same)
    assert not structural_equal(same, mixed)
    assert not structural_equal(mixed, nest(lambda i, j: Add(j, i)))


def test_bound_variable_is_not_the_free_one_of_the_other_side() -> None:
    i, free = Var("i"), Var("i")
    bound_use, free_use = loop(i, 8, Evaluate(i)), loop(Var("i"), 8, Evaluate(free))
    assert not structural_equal(bound_use, free_use)
    assert not structural_equal(free_use, bound_use)
    # Here the free variable of one side is the bound one of the other.
    assert not structural_equal(bound_use, loop(Var("i"), 8, Evaluate(i)))


i, v, p = Var("i"), Var("v"), Var("p", BOOL)
a, b = buffer("a", 8), buffer("a", 8)


def iterated(kind: IterKind = IterKind.SPATIAL, stop: int = 8, name: str = "b") -> Stmt:
    return Block(name, (Iter(Var("v"), i + 1, kind, (ZERO, Const(stop))),), NOTHING)


DIFFERENT: list[tuple[Node, Node, str]] = [
    (Add(i, i), Mul(i, i), "root: i + i (Add) != i * i (Mul)"),
    (Const(1), const(1, INT32), "root: 1 (Const) != int32(1) (Const)"),
    (const(0.0, FLOAT64), const(-0.0, FLOAT64), "root: 0.0 (Const) != -0.0 (Const)"),
    (Load(a, (i,)), Load(b, (i,)), "buffer: Buffer a != Buffer a"),
    (Load(a, (i,)), Load(a, (ZERO,)), "indices[0]: i (Var) != 0 (Const)"),
    (
        loop(i, 8, NOTHING),
        loop(i, 8, NOTHING, LoopKind.PARALLEL),
        "kind: <LoopKind.SERIAL: 'range'> != <LoopKind.PARALLEL: 'parallel'>",
    ),
    (
        For(i, ZERO, ONE, ONE, NOTHING, LoopKind.BOUND, "threadIdx.x"),
        For(i, ZERO, ONE, ONE, NOTHING, LoopKind.BOUND, "threadIdx.y"),
        "thread: 'threadIdx.x' != 'threadIdx.y'",
    ),
    (loop(i, 8, NOTHING), loop(i, 9, NOTHING), "stop: 8 (Const) != 9 (Const)"),
    (loop(i, 8, Evaluate(i)), loop(i, 8, NOTHING), "body count: 1 != 0"),
    (
        Let(Var("x", INT32), const(1, INT32)),
        Let(Var("x"), const(1, INT32)),
        "var.dtype: int32 != int64",
    ),
    (Allocate(a), Allocate(a, zero=False), "zero: True != False"),
    (
        Allocate(a),
        Allocate(Buffer("a", FLOAT32, a.shape, "local")),
        "buffer.scope: 'global' != 'local'",
    ),
    (Allocate(a), Allocate(buffer("a", 9)), "buffer.shape[0]: 8 (Const) != 9 (Const)"),
    (Allocate(a), Allocate(buffer("a", 8, 8)), "buffer.shape count: 1 != 2"),
    (Allocate(a), Allocate(buffer("a", 8, dtype=FLOAT64)), "buffer.dtype: "),
    (iterated(), iterated(name="c"), "name: 'b' != 'c'"),
    (iterated(), iterated(IterKind.REDUCE), "iters[0].kind: "),
    (iterated(), iterated(stop=9), "iters[0].domain[1]: 8 (Const) != 9 (Const)"),
    (
        Block("b", (Iter(v, i),), NOTHING),
        Block("b", (Iter(v, i, domain=(ZERO, ONE)),), NOTHING),
        "iters[0].domain count: 0 != 2",
    ),
    (Block("b", (), NOTHING), Block("b", (), NOTHING, Evaluate(i)), "init count: 0 != 1"),
    (Assert(p, ("x",)), Assert(p, ("y",)), "message[0]: 'x' != 'y'"),
    (Print(("x",)), Print((i,)), "message[0]: 'x' != i (Var)"),
    (Raise("ValueError"), Raise("KeyError"), "error: 'ValueError' != 'KeyError'"),
    (
        Evaluate(ExternCall(SHOW, ())),
        Evaluate(ExternCall(Extern("show", callback, None), ())),
        "value.callee: Extern(name='show'",
    ),
    (Return((i,)), Return((i, i)), "values count: 1 != 2"),
]


@pytest.mark.parametrize(("one", "other", "text"), DIFFERENT)
def test_difference_is_found_and_named(one: Node, other: Node, text: str) -> None:
    difference = find_difference(one, other)
    assert difference is not None
    assert difference.startswith(text)
    assert find_difference(other, one) is not None


def scalar(dtype: DType, weak: bool) -> PrimFunc:
    return func(NOTHING, ScalarParam(Var("x", dtype), weak))


def constant(value: float, dtype: DType = FLOAT32) -> PrimFunc:
    array = ConstantArray(buffer("t", 1, dtype=dtype), np.array([value], dtype.numpy))
    return PrimFunc("f", (), NOTHING, constants=(array,))


def square(rows: Var, columns: Var) -> PrimFunc:
    return func(NOTHING, buffer("a", rows, columns))


def result(*which: int, as_tuple: bool = False) -> PrimFunc:
    arrays = (buffer("a", 8), buffer("b", 8))
    returns = tuple(arrays[index] for index in which)
    return PrimFunc("f", arrays, Return(), returns=returns, returns_tuple=as_tuple)


n, m = Var("n"), Var("m")


@pytest.mark.parametrize(
    ("one", "other", "text"),
    [
        (scalar(FLOAT64, True), scalar(FLOAT64, False), "params[0].weak: True != False"),
        (scalar(FLOAT64, True), scalar(FLOAT32, True), "params[0].dtype: "),
        (scalar(FLOAT64, True), func(NOTHING), "params count: 1 != 0"),
        (scalar(FLOAT64, True), func(NOTHING, a), "params[0]: ScalarParam x != Buffer a"),
        (constant(1), constant(2), "constants[0].data: [1.0] != [2.0]"),
        (constant(0.0), constant(-0.0), "constants[0].data: [0.0] != [-0.0]"),
        (constant(1), constant(1, FLOAT64), "constants[0].dtype: "),
        (square(n, n), square(n, m), "dimensions count: 1 != 2"),
        (result(0), result(1), "returns[0]: Buffer a != Buffer b"),
        (result(0), result(0, as_tuple=True), "returns as a tuple: False != True"),
        (result(), func(NOTHING, a, b), "returns: () != None"),
        (
            PrimFunc("f", (), NOTHING, (a,)),
            PrimFunc("f", (), NOTHING, (buffer("a", 9),)),
            "outputs[0].shape[0]: 8 (Const) != 9 (Const)",
        ),
        (
            PrimFunc("f", (), NOTHING, returns=(ScalarResult(INT64),)),
            PrimFunc("f", (), NOTHING, returns=(ScalarResult(INT64, weak=True),)),
            "returns[0]: ScalarResult(",
        ),
    ],
)
def test_signatures_are_compared(one: PrimFunc, other: PrimFunc, text: str) -> None:
    difference = find_difference(one, other)
    assert difference is not None
    assert difference.startswith(text)
    assert find_difference(other, one) is not None


def test_dimensions_correspond_by_place() -> None:
    """Not by name: n of one side may be m of the other."""

    def made(first: Var, second: Var) -> PrimFunc:
        array = buffer("a", first, second)
        return PrimFunc("f", (array,), loop(Var("i"), second, NOTHING))

    assert structural_equal(made(n, m), made(m, n))


def test_function_differs_from_its_body() -> None:
    made = matmul()
    assert not structural_equal(made, made.body)


def test_a_change_deep_inside_is_found_by_its_path() -> None:
    made = matmul()
    changed = dataclasses.replace(made, outputs=(dataclasses.replace(made.outputs[0]),))
    assert find_difference(made, changed) is not None


def test_depth_is_no_concern() -> None:
    one: Expr = i
    other: Expr = i
    for _ in range(5000):
        one, other = Add(one, i), Add(other, i)
    assert structural_equal(one, other)
    assert not structural_equal(one, Add(other, i))
