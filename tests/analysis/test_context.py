"""infer_context: what is known about the surroundings of each statement."""

from hybridjit.analysis.context import infer_context
from hybridjit.ir.dtype import BOOL, INT64
from hybridjit.ir.expr import Buffer, Const, Var
from hybridjit.ir.stmt import (
    Allocate,
    Block,
    Break,
    For,
    If,
    Iter,
    Let,
    Return,
    Seq,
    Stmt,
    Store,
    While,
)

i, j, t, x = Var("i"), Var("j"), Var("t"), Var("x")
p, q = Var("p", BOOL), Var("q", BOOL)
BUFFER = Buffer("b", INT64, (Const(4),))
STORE = Store(BUFFER, (Const(0),), Const(1))


def loop(var: Var, *body: Stmt) -> For:
    return For(var, Const(0), Const(4), Const(1), Seq(body))


def test_bindings_and_allocations_know_their_loop() -> None:
    block = Block("c", (Iter(x, j),), STORE)
    root = Seq((Let(t, i + 1), loop(i, loop(j, Allocate(BUFFER), While(p, block)))))
    context = infer_context(root)
    assert context.bindings[t].loop is None
    assert (context.bindings[x].value, context.bindings[x].loop) == (j, j)
    assert context.allocations == {BUFFER: j}


def test_guards_stand_outermost_first() -> None:
    root = If(p, loop(i, While(q, STORE)), otherwise=Store(BUFFER, (Const(1),), Const(1)))
    context = infer_context(root)
    assert [(guard.value, guard.loop) for guard in context.guards[STORE]] == [(p, None), (q, i)]
    assert root.otherwise is not None
    assert [guard.value for guard in context.guards[root.otherwise]] == [p]


def test_a_break_leaves_one_loop_and_a_return_all() -> None:
    assert infer_context(loop(i, loop(j, If(p, Break())))).left_early == {j}
    assert infer_context(loop(i, loop(j, While(p, Break())))).left_early == frozenset()
    assert infer_context(loop(i, While(p, loop(j, If(q, Return()))))).left_early == {i, j}


def test_the_init_of_a_block_counts() -> None:
    block = Block("c", (), Seq(()), init=STORE)
    assert STORE in infer_context(block).guards
