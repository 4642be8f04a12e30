"""The verifier: IR that breaks a rule of statements is refused, and IR beside it passes."""

from collections.abc import Callable

import pytest

from hybridjit.errors import InternalError, Span
from hybridjit.ir.dtype import FLOAT32, INT8
from hybridjit.ir.expr import Add, Buffer, BufferRef, Const, ExternCall, Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import (
    Allocate,
    Assert,
    Break,
    Continue,
    Evaluate,
    For,
    If,
    Iter,
    Let,
    LoopKind,
    Print,
    Raise,
    Reserve,
    Return,
    Seq,
    Stmt,
    Store,
    While,
    seq,
)
from hybridjit.ir.verify import Stage, verify
from tests.ir.samples import (
    ONE,
    SAMPLES,
    SHOW,
    ZERO,
    buffer,
    every_statement,
    func,
    loop,
    matmul,
    register,
)
from tests.ir.verifying import NOTHING, a, block, check_expr, check_stmt, i, n8, p, refuses, x, y


@pytest.mark.parametrize("make", SAMPLES)
def test_sample_is_valid(make: Callable[[], PrimFunc]) -> None:
    verify(make())


def test_refusal_shows_the_place() -> None:
    span = Span("kernel.py", 3, 4, 3, 9)
    made = func(seq(loop(Var("i"), 8, NOTHING), Break(span=span)))
    with pytest.raises(InternalError, match="Break outside of a loop") as caught:
        verify(made, pass_name="unroll_loops")

    assert caught.value.pass_name == "unroll_loops"
    assert str(caught.value).startswith("kernel.py:3:5: error: internal error in unroll_loops: ")
    assert str(caught.value).endswith(
        "the function is\n"
        "        def f():\n"
        "            for i in range(8):\n"
        "                pass\n"
        "            break\n"
        "            ^^^^^\n"
        "      = code: HJ900"
    )


# --- stages


def test_loops_stage_has_no_blocks() -> None:
    verify(every_statement(), Stage.LOOPS)
    with refuses("not valid at stage LOOPS: Block is not a statement of this stage"):
        verify(matmul(), Stage.LOOPS)


def test_what_is_no_node_is_refused() -> None:
    with refuses("int is not an expression of this stage"):
        check_expr(Load(a, (5,)))  # pyright: ignore[reportArgumentType]
    with refuses("Var is not a statement of this stage"):
        check_stmt(i)  # pyright: ignore[reportArgumentType]


# --- scope


def test_unbound_variable() -> None:
    with refuses("variable 'j' is used but not bound"):
        check_expr(Var("j"))


def test_unbound_buffer() -> None:
    with refuses("buffer 'c' is used but not bound"):
        check_expr(Load(buffer("c", 8), (i,)))
    with refuses("buffer 'c' is used but not bound"):
        check_stmt(Store(buffer("c", 8), (i,), x))
    with refuses("buffer 'c' is used but not bound"):
        check_stmt(Evaluate(ExternCall(SHOW, (BufferRef(buffer("c", 8)),))))


def test_loop_variable_ends_with_its_loop() -> None:
    j = Var("j")
    check_stmt(loop(j, 8, Evaluate(j)))
    with refuses("variable 'j' is used out of scope"):
        check_stmt(loop(j, 8, NOTHING), Evaluate(j))
    with refuses("variable 'j' is used but not bound"):
        check_stmt(loop(j, j, NOTHING))


def test_let_ends_with_its_sequence() -> None:
    j = Var("j")
    check_stmt(Let(j, i + 1), loop(Var("k"), 8, If(p, Evaluate(j))))
    with refuses("variable 'j' is used out of scope"):
        check_stmt(If(p, Let(j, i + 1)), Evaluate(j))
    with refuses("variable 'j' is used out of scope"):
        check_stmt(Seq((Let(j, i + 1),)), Evaluate(j))
    with refuses("variable 'j' is used but not bound"):
        check_stmt(Evaluate(j), Let(j, i + 1))
    with refuses("variable 'j' is used but not bound"):
        check_stmt(Let(j, j + 1))


def test_allocation_ends_with_its_sequence() -> None:
    c = buffer("c", 8)
    check_stmt(Allocate(c), Store(c, (i,), x))
    with refuses("buffer 'c' is used out of scope"):
        check_stmt(loop(Var("j"), 8, Allocate(c)), Store(c, (i,), x))


@pytest.mark.parametrize(
    "twice",
    [
        (loop(i, 8, NOTHING),),
        (Allocate(a),),
        (Let(i, Add(i, i)),),
        (loop(k := Var("k"), 8, loop(k, 8, NOTHING)),),
        (loop(k := Var("k"), 8, NOTHING), loop(k, 8, NOTHING)),
        (shared := Allocate(buffer("c", 8)), shared),
    ],
)
def test_everything_is_bound_once(twice: tuple[Stmt, ...]) -> None:
    with refuses("'.*' is bound twice"):
        check_stmt(*twice)


def test_statement_that_binds_nothing_may_stand_twice() -> None:
    store = Store(a, (i,), x)
    check_stmt(store, store)


def test_buffers_are_told_apart_by_identity() -> None:
    twin = Buffer("a", FLOAT32, a.shape)
    with refuses("buffer 'a' is used but not bound"):
        check_expr(Load(twin, (i,)))


# --- blocks


def test_block_sees_loops_only_through_its_iters() -> None:
    j, v = Var("j"), Var("v")
    check_stmt(loop(j, 8, block(Iter(v, j), body=Evaluate(v), init=Evaluate(v))))
    with refuses("variable 'j' is used out of scope; a block sees"):
        check_stmt(loop(j, 8, block(Iter(v, j), body=Evaluate(j))))
    with refuses("variable 'j' is used out of scope"):
        check_stmt(loop(j, 8, block(Iter(v, j), init=Evaluate(j))))


def test_nested_block_sees_the_iters_around_it_but_no_loops() -> None:
    j, k, v, u = Var("j"), Var("k"), Var("v"), Var("u")
    inner = block(Iter(u, v, domain=(ZERO, Const(8))), body=Evaluate(u + v), init=Evaluate(v))
    check_stmt(loop(j, 8, block(Iter(v, j), body=inner)))
    with refuses("variable 'j' is used out of scope"):
        check_stmt(loop(j, 8, block(Iter(v, j), body=block(body=Evaluate(j)))))
    with refuses("variable 'k' is used out of scope"):
        check_stmt(loop(j, 8, block(Iter(v, j), body=loop(k, 8, block(body=Evaluate(v + k))))))


def test_nested_block_may_not_be_bound_to_an_iter_as_if_it_were_a_loop() -> None:
    j, v, u = Var("j"), Var("v"), Var("u")
    with refuses("an iter of block 'b' is bound to v, no loop, and has no domain"):
        check_stmt(loop(j, 8, block(Iter(v, j), body=block(Iter(u, v)))))


def test_block_sees_lets_registers_and_buffers() -> None:
    j, let, acc = Var("j"), Var("let"), register("acc")
    inner = block(body=seq(Store(acc, (), Load(a, (let,))), Evaluate(i)))
    check_stmt(Allocate(acc, zero=False), loop(j, 8, seq(Let(let, j + 1), inner)))


def test_loops_are_seen_again_after_a_block() -> None:
    j = Var("j")
    check_stmt(loop(j, 8, seq(block(), Evaluate(j))))


def test_iter_ends_with_its_block() -> None:
    j, v = Var("j"), Var("v")
    with refuses("variable 'v' is used out of scope"):
        check_stmt(loop(j, 8, seq(block(Iter(v, j)), Evaluate(v))))


def test_iter_has_a_domain_unless_it_is_a_loop_variable() -> None:
    j, to_8 = Var("j"), (ZERO, Const(8))
    check_stmt(loop(j, 8, block(Iter(Var("v"), j * 2, domain=to_8))))
    with refuses("an iter of block 'b' is bound to j \\* 2, no loop, and has no domain"):
        check_stmt(loop(j, 8, block(Iter(Var("v"), j * 2))))
    with refuses("an iter of block 'b' is bound to i, no loop, and has no domain"):
        check_stmt(block(Iter(Var("v"), i)))
    with refuses("is bound to loop 'j' and has a domain besides"):
        check_stmt(loop(j, 8, block(Iter(Var("v"), j, domain=to_8))))


def test_domain_sees_earlier_iters() -> None:
    u, v = Var("u"), Var("v")
    first = Iter(u, i + 1, domain=(ZERO, Const(8)))
    second = Iter(v, i + 2, domain=(ZERO, u))
    check_stmt(block(first, second))
    with refuses("variable 'u' is used but not bound"):
        check_stmt(block(second, first))
    with refuses("variable 'u' is used but not bound"):
        check_stmt(block(first, Iter(v, u + 1, domain=(ZERO, ONE))))


@pytest.mark.parametrize(
    ("iters", "message"),
    [
        (Iter(Var("v"), x, domain=(ZERO, ONE)), "an iter of block 'b' has type float32, not int64"),
        (Iter(Var("v"), i, domain=(ZERO, x)), "the domain of iter 'v' has type float32, not int64"),
        (Iter(Var("v", INT8), i, domain=(ZERO, ONE)), "variable 'v' counts but has type int8"),
    ],
)
def test_iters_are_int64(iters: Iter, message: str) -> None:
    with refuses(message):
        check_stmt(block(iters))


# --- statements


@pytest.mark.parametrize(
    ("stmt", "message"),
    [
        (If(i, NOTHING), "the condition of an If has type int64, not bool: i"),
        (While(i, NOTHING), "the condition of a While has type int64, not bool: i"),
        (Assert(i), "the condition of an Assert has type int64, not bool: i"),
        (Assert(p, (Add(x, y),)), "Add of float32 and float64"),
        (Assert(p, ("p is", p)), "an Assert has one message, or a tuple"),
        (Print((Var("j"),)), "variable 'j' is used but not bound"),
        (Raise("SystemExit"), "'SystemExit' is not an exception that can be raised"),
        (Raise("ValueError", (Add(x, y),)), "Add of float32 and float64"),
        (Store(a, (i,), y), "the value stored to 'a' has type float64, not float32: y"),
        (Let(Var("l"), x + x), "the value of Let 'l' has type float32, not int64"),
        (loop(Var("j"), n8, NOTHING), "a bound of loop 'j' has type int8, not int64"),
        (loop(Var("j", INT8), 8, NOTHING), "variable 'j' counts but has type int8, not int64"),
        (Allocate(buffer("c", x)), "an extent of buffer 'c' has type float32, not int64: x"),
        (Allocate(buffer("c", -1)), "buffer 'c' has the negative extent -1"),
        (Allocate(register("r")), "register 'r' is allocated as zero"),
        (Allocate(buffer("r", 8, scope="register"), zero=False), "register 'r' has dimensions"),
        (Allocate(buffer("g", 8, scope="growing"), zero=False), "has an end along its first axis"),
        (Allocate(buffer("g", Buffer.MANY, scope="growing")), "it has no elements"),
        (Reserve(BufferRef(a), i), "Reserve for something else than a growing buffer"),
    ],
)
def test_statement_is_refused(stmt: Stmt, message: str) -> None:
    with refuses(message):
        check_stmt(stmt)


@pytest.mark.parametrize("kind", [kind for kind in LoopKind if kind is not LoopKind.BOUND])
def test_only_a_bound_loop_has_a_thread(kind: LoopKind) -> None:
    check_stmt(loop(Var("j"), 8, NOTHING, kind))
    check_stmt(For(Var("j"), ZERO, ONE, ONE, NOTHING, LoopKind.BOUND, "threadIdx.x"))
    with refuses(f"loop 'j' is {kind.name} with thread threadIdx.x"):
        check_stmt(For(Var("j"), ZERO, ONE, ONE, NOTHING, kind, "threadIdx.x"))
    with refuses("loop 'j' is BOUND with thread None"):
        check_stmt(For(Var("j"), ZERO, ONE, ONE, NOTHING, LoopKind.BOUND))


# --- leaving loops


def test_break_and_continue_stand_in_a_loop() -> None:
    check_stmt(loop(Var("j"), 8, If(p, Break(), Continue())))
    check_stmt(While(p, block(body=Break())))
    with refuses("Break outside of a loop"):
        check_stmt(Break())
    with refuses("Continue outside of a loop"):
        check_stmt(loop(Var("j"), 8, NOTHING), If(p, Continue()))


@pytest.mark.parametrize("kind", [LoopKind.PARALLEL, LoopKind.VECTORIZED, LoopKind.BOUND])
def test_nothing_leaves_a_concurrent_loop(kind: LoopKind) -> None:
    inner = loop(Var("k"), 8, If(p, Break()))
    check_stmt(loop(Var("j"), 8, seq(inner, If(p, Continue())), kind), Return())
    with refuses("Break out of a loop whose iterations may run at the same time"):
        check_stmt(loop(Var("j"), 8, If(p, Break()), kind))
    with refuses("Return out of a loop whose iterations may run at the same time"):
        check_stmt(loop(Var("j"), 8, loop(Var("k"), 8, Return()), kind))
