"""Running every statement: loops, blocks, memory and messages."""

from typing import Any

import numpy as np
import pytest

from hybridjit.errors import (
    BoundsError,
    InternalError,
    UnboundVariable,
    UninitializedRead,
)
from hybridjit.interp.run import compile_func, interpret
from hybridjit.ir.dtype import (
    BFLOAT16,
    BOOL,
    COMPLEX128,
    DTYPES,
    FLOAT32,
    FLOAT64,
    INT64,
    DType,
)
from hybridjit.ir.expr import (
    Add,
    And,
    BufferRef,
    Const,
    Eq,
    Expr,
    ExternCall,
    Ge,
    Gt,
    Load,
    Lt,
    Mul,
    Or,
    Select,
    Sub,
    Var,
    const,
)
from hybridjit.ir.extern import Extern
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.raisable import RAISABLE
from hybridjit.ir.signature import ScalarParam, ScalarResult
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
    Store,
    While,
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
    needs_notes,
    notes,
    register,
    run,
    store,
    value_of,
)

# Loops


@pytest.mark.parametrize("kind", LoopKind)
def test_loops_of_every_kind_run_in_order(kind: LoopKind) -> None:
    i, record = Var("i"), Recorder()
    run(loop(i, 4, record.of(i), kind=kind))
    assert record.calls == [0, 1, 2, 3]
    assert all(type(value) is np.int64 for value in record.calls)


@pytest.mark.parametrize(
    ("start", "stop", "step"),
    [
        (0, 5, 1),
        (5, 0, -1),
        (5, 0, -2),
        (-3, 4, 3),
        (0, 0, 1),
        (3, 2, 1),
        (0, 5, -1),
        (1020, 1030, 3),
        (0, 2500, 1),
        (2500, -1, -700),
        (2**63 - 3, 2**63 - 1, 1),
        (2**63 - 5, 2**63 - 1, 3),
        (-(2**63), -(2**63) + 3, 2),
    ],
)
def test_loop_bounds(start: int, stop: int, step: int) -> None:
    i, record = Var("i"), Recorder()
    run(For(i, Const(start), Const(stop), Const(step), record.of(i)))
    assert record.calls == list(range(start, stop, step))


def test_a_huge_loop_can_be_left() -> None:
    i, record = Var("i"), Recorder()
    body = seq(record.of(i), If(Ge(i, Const(-(2**63) + 2)), Break()))
    run(For(i, Const(-(2**63)), Const(2**63 - 1), ONE, body))
    assert len(record.calls) == 3


def test_bounds_are_evaluated_once() -> None:
    i, n, record = Var("i"), register("n"), Recorder()
    body = loop(i, Load(n), Store(n, (), Const(1)), record.of(i))
    run(seq(Allocate(n, zero=False), Store(n, (), Const(3)), body))
    assert record.calls == [0, 1, 2]


@needs_notes
def test_zero_step_is_an_error() -> None:
    i, s = Var("i"), ScalarParam(Var("s"), weak=True)
    body = For(i, ZERO, Const(3), s.var, Seq(()), span=SPAN)
    with pytest.raises(ValueError, match="must not be zero") as caught:
        run(body, 0, params=(s,))
    assert "kernel.py:3:5: error: raised here" in notes(caught.value)[0]


def test_bounds_depend_on_outer_loops() -> None:
    i, j, record = Var("i"), Var("j"), Recorder()
    run(loop(i, 3, For(j, i, Const(3), ONE, record.of(i, j))))
    assert record.calls == [(i, j) for i in range(3) for j in range(i, 3)]


def test_break_and_continue_belong_to_the_innermost_loop() -> None:
    i, j, record = Var("i"), Var("j"), Recorder()
    inner = loop(
        j,
        9,
        If(Eq(j, ONE), Continue()),
        If(Eq(j, Const(3)), Break()),
        record.of(i, j),
    )
    run(loop(i, 2, inner, record.of(i)))
    assert record.calls == [(0, 0), (0, 2), 0, (1, 0), (1, 2), 1]


def test_break_leaves_a_loop_from_inside_a_block() -> None:
    i, vi, record = Var("i"), Var("vi"), Recorder()
    block = Block("b", (Iter(vi, i),), seq(record.of(vi), If(Eq(vi, ONE), Break())))
    run(loop(i, 5, block))
    assert record.calls == [0, 1]


def test_while() -> None:
    n, record = register("n"), Recorder()
    body = seq(
        Store(n, (), Sub(Load(n), ONE)),
        If(Eq(Load(n), Const(5)), Continue()),
        If(Lt(Load(n), Const(3)), Break()),
        record.of(Load(n)),
    )
    loop_ = While(Gt(Load(n), ZERO), body)
    run(seq(Allocate(n, zero=False), Store(n, (), Const(7)), loop_))
    assert record.calls == [6, 4, 3]


def test_while_that_never_runs() -> None:
    record = Recorder()
    run(While(Const(False, BOOL), record.of(ZERO)))
    assert record.calls == []


def test_return_leaves_all_loops() -> None:
    i, j = Var("i"), Var("j")
    found = If(Eq(Mul(i, j), Const(6)), Return((i, j)))
    forever = While(Const(True, BOOL), Return((Const(-1), Const(-1))))
    body = seq(loop(i, 9, loop(j, 9, found)), forever)
    result = ScalarResult(INT64, weak=True)
    func = PrimFunc("f", (), body, returns=(result, result), returns_tuple=True)
    assert interpret(func, ()) == (1, 6)


def test_return_inside_while() -> None:
    body = While(Const(True, BOOL), Return((ONE,)))
    func = PrimFunc("f", (), body, returns=(ScalarResult(INT64),))
    assert interpret(func, ()) == 1


# Blocks


def reduction(start: int, step: int, domain: bool) -> tuple[PrimFunc, int]:
    """A sum over 4 iterations whose init adds 100, so that the result counts the inits."""
    c, k, vk = buffer("c", 1), Var("k"), Var("vk")
    stop = start + 4 * step
    item = Iter(vk, k, IterKind.REDUCE)
    if domain:
        item = Iter(vk, Mul(k, Const(2)), IterKind.REDUCE, (Const(2 * start), Const(2 * stop)))
    block = Block("c", (item,), increment(c, ZERO), increment(c, ZERO, by=Const(100)))
    nest = For(k, Const(start), Const(stop), Const(step), block)
    return PrimFunc("f", (), nest, (c,), returns=(c,)), 104


@pytest.mark.parametrize("domain", [False, True])
@pytest.mark.parametrize(("start", "step"), [(0, 1), (3, 1), (-2, 3), (8, -1)])
def test_init_runs_at_the_start_of_the_reduction(start: int, step: int, domain: bool) -> None:
    func, expected = reduction(start, step, domain)
    assert interpret(func, ()) == [expected]


def test_init_runs_once_per_element_when_every_reduce_iter_is_at_its_start() -> None:
    c = buffer("c", 2)
    i, j, k = Var("i"), Var("j"), Var("k")
    vi, vj, vk = Var("vi"), Var("vj"), Var("vk")
    iters = (
        Iter(vi, i),
        Iter(vj, j, IterKind.REDUCE),
        Iter(vk, Add(k, ONE), IterKind.REDUCE, (ONE, Const(4))),
    )
    block = Block("c", iters, increment(c, vi), increment(c, vi, by=Const(100)))
    nest = loop(j, 2, loop(k, 3, loop(i, 2, block)))
    func = PrimFunc("f", (), nest, (c,), returns=(c,))
    np.testing.assert_array_equal(interpret(func, ()), [106, 106])


def test_init_without_reduction_runs_each_time() -> None:
    c, i, vi = buffer("c", 3), Var("i"), Var("vi")
    block = Block("c", (Iter(vi, i),), increment(c, vi), store(c, vi, 7))
    func = PrimFunc("f", (), loop(i, 3, block), (c,), returns=(c,))
    np.testing.assert_array_equal(interpret(func, ()), [8, 8, 8])


def test_init_does_not_run_in_an_empty_reduction() -> None:
    c, k, vk = buffer("c", 1), Var("k"), Var("vk")
    block = Block("c", (Iter(vk, k, IterKind.REDUCE),), Seq(()), store(c, 0, 5))
    func = PrimFunc("f", (), loop(k, 0, block), (c,), returns=(c,))
    np.testing.assert_array_equal(interpret(func, ()), [0])


def test_nested_blocks_pass_on_the_start_of_the_loop() -> None:
    c, k, vk, wk = buffer("c", 1), Var("k"), Var("vk"), Var("wk")
    inner = Block(
        "inner",
        (Iter(wk, vk, IterKind.REDUCE),),
        increment(c, ZERO),
        increment(c, ZERO, by=Const(100)),
    )
    outer = Block("outer", (Iter(vk, k, IterKind.REDUCE),), inner)
    nest = For(k, Const(5), Const(8), ONE, outer)
    func = PrimFunc("f", (), nest, (c,), returns=(c,))
    np.testing.assert_array_equal(interpret(func, ()), [103])


def test_domain_may_mention_earlier_iters() -> None:
    c = buffer("c", 3)
    i, k, vi, vk = Var("i"), Var("k"), Var("vi"), Var("vk")
    iters = (
        Iter(vi, Add(i, ZERO), domain=(ZERO, Const(3))),
        Iter(vk, Add(k, i), IterKind.REDUCE, (vi, Add(vi, Const(4)))),
    )
    block = Block("c", iters, increment(c, vi), increment(c, vi, by=Const(100)))
    func = PrimFunc("f", (), loop(i, 3, loop(k, 4, block)), (c,), returns=(c,))
    np.testing.assert_array_equal(interpret(func, ()), [104, 104, 104])


def test_reduce_iter_without_a_range_is_our_fault() -> None:
    c, vk = buffer("c", 1), Var("vk")
    block = Block("c", (Iter(vk, ZERO, IterKind.REDUCE),), Seq(()), store(c, 0, 5))
    with pytest.raises(InternalError, match="reduce iter 'vk' of block 'c' has no range"):
        interpret(PrimFunc("f", (), block, (c,)), ())


# Memory


def test_if_and_select_evaluate_one_side() -> None:
    a, i = buffer("a", 2), Var("i")
    guarded = Select(Lt(i, Const(2)), Load(a, (i,)), Const(-1))
    c = buffer("c", 4)
    body = loop(i, 4, If(Ge(i, ONE), store(c, i, guarded), store(c, i, 9)))
    func = PrimFunc("f", (a,), body, (c,), returns=(c,))
    np.testing.assert_array_equal(interpret(func, [np.array([5, 6])]), [9, 6, -1, -1])


def test_and_and_or_stop_early() -> None:
    a, i = buffer("a", 2), ScalarParam(Var("i"), weak=True)
    inside = Lt(i.var, Const(2))
    both = And(inside, Gt(Load(a, (i.var,)), ZERO))
    either = Or(Ge(i.var, Const(2)), Gt(Load(a, (i.var,)), ZERO))
    data = np.array([1, 0])
    for index, (expected_both, expected_either) in enumerate(
        [(True, True), (False, False), (False, True)]
    ):
        assert value_of(both, data, index, params=(a, i)) == expected_both
        assert value_of(either, data, index, params=(a, i)) == expected_either
        assert type(value_of(both, data, index, params=(a, i))) is np.bool_


def test_value_is_evaluated_before_the_indices() -> None:
    record = Recorder(INT64, 0)
    first, second = ExternCall(record.extern, (ONE,)), ExternCall(record.extern, (Const(2),))
    a = buffer("a", 1)
    run(Store(a, (second,), first), np.zeros(1, np.int64), params=(a,))
    assert record.calls == [1, 2]


def test_let_binds_for_the_rest_of_the_sequence() -> None:
    x, y, record = Var("x"), Var("y"), Recorder()
    i = Var("i")
    run(loop(i, 3, Let(x, Add(i, ONE)), Let(y, Mul(x, x)), record.of(y)))
    assert record.calls == [1, 4, 9]


def test_each_execution_of_allocate_makes_a_new_buffer() -> None:
    i, tmp, record = Var("i"), buffer("tmp", 2), Recorder()
    run(loop(i, 2, Allocate(tmp), increment(tmp, ZERO), record.of(Load(tmp, (ZERO,)))))
    assert record.calls == [1, 1]


def test_extents_of_an_allocation_may_depend_on_a_loop() -> None:
    i, record = Var("i"), Recorder()
    tmp = buffer("tmp", i, 2)
    run(loop(i, 3, Allocate(tmp), record.of(BufferRef(tmp))))
    assert [array.shape for array in record.calls] == [(0, 2), (1, 2), (2, 2)]


@needs_notes
def test_negative_extent() -> None:
    n = ScalarParam(Var("n"), weak=True)
    tmp = buffer("tmp", n.var)
    with pytest.raises(ValueError, match="negative dimensions are not allowed") as caught:
        run(Allocate(tmp, span=SPAN), -1, params=(n,))
    assert "kernel.py:3:5" in notes(caught.value)[0]


def test_unset_register() -> None:
    x = register("x")
    body = seq(Allocate(x, zero=False), Return((Load(x, span=SPAN),)))
    func = PrimFunc("f", (), body, returns=(ScalarResult(INT64),))
    with pytest.raises(UnboundVariable, match="variable 'x' is read before it is assigned") as got:
        interpret(func, ())
    assert got.value.span == SPAN


def test_register_is_unset_again_in_each_round() -> None:
    x, i = register("x"), Var("i")
    use = If(Eq(i, ZERO), Store(x, (), ONE), Store(x, (), Load(x, span=SPAN)))
    with pytest.raises(UnboundVariable, match="in iteration i=1"):
        run(loop(i, 2, Allocate(x, zero=False), use))


def test_register_that_starts_at_zero() -> None:
    x = register("x", FLOAT32)
    func = PrimFunc("f", (), seq(Allocate(x), Return((Load(x),))), returns=(ScalarResult(FLOAT32),))
    assert repr(interpret(func, ())) == "np.float32(0.0)"


def test_unset_element() -> None:
    tmp, i = buffer("tmp", 3, 2), Var("i")
    read = increment(tmp, i, ONE)
    body = seq(
        Allocate(tmp, zero=False),
        Store(tmp, (ZERO, ONE), Const(5)),
        loop(i, 2, read),
    )
    message = r"element \[1, 1\] of 'tmp' is read before it is written(.|\n)*in iteration i=1"
    with pytest.raises(UninitializedRead, match=message) as caught:
        run(body)
    assert caught.value.span == SPAN


def test_index_into_unset_elements_is_checked_first() -> None:
    tmp = buffer("tmp", 3)
    body = seq(Allocate(tmp, zero=False), Evaluate(Load(tmp, (Const(3),))))
    with pytest.raises(BoundsError, match="index 3 is out of bounds for axis 0 of 'tmp'"):
        run(body)


def test_negative_index_sets_and_reads_the_same_element() -> None:
    tmp = buffer("tmp", 3)
    body = seq(Allocate(tmp, zero=False), store(tmp, -1, 4), Return((Load(tmp, (Const(2),)),)))
    assert interpret(PrimFunc("f", (), body, returns=(ScalarResult(INT64),)), ()) == 4


def test_extern_may_fill_unset_elements() -> None:
    tmp = buffer("tmp", 3)

    def fill(array: Any) -> None:
        array[:] = 7

    call = Evaluate(ExternCall(Extern("fill", fill, None), (BufferRef(tmp),)))
    body = seq(Allocate(tmp, zero=False), call, Return((Load(tmp, (ONE,)),)))
    assert interpret(PrimFunc("f", (), body, returns=(ScalarResult(INT64),)), ()) == 7


def test_zero_dimensional_arrays() -> None:
    z = buffer("z", dtype=FLOAT32)
    array = np.array(2.0, np.float32)
    run(Store(z, (), Mul(Load(z), Load(z))), array, params=(z,))
    assert array == 4.0


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_elements_of_every_type(dtype: DType) -> None:
    a, i = buffer("a", 3, dtype=dtype), Var("i")
    c = buffer("c", 3, dtype=dtype)
    func = PrimFunc(
        "f", (a,), loop(i, 3, Store(c, (i,), Load(a, (Sub(Const(2), i),)))), (c,), returns=(c,)
    )
    data = np.array([0, 1, 2]).astype(dtype.numpy)
    result: Any = interpret(func, [data])
    assert result.dtype == dtype.numpy
    assert result.tolist() == data[::-1].tolist()


# Messages


def test_print(capsys: pytest.CaptureFixture[str]) -> None:
    values = (
        "x =",
        Const(3),
        Const(True, BOOL),
        const(0.1, FLOAT64),
        const(0.1, FLOAT32),
        const(1e16, FLOAT64),
        const(1 + 2j, COMPLEX128),
        const(1.5, BFLOAT16),
        const(float("nan"), FLOAT32),
    )
    run(seq(Print(values), Print(())))
    assert capsys.readouterr().out == "x = 3 True 0.1 0.1 1e+16 (1+2j) 1.5 nan\n\n"


def test_print_goes_to_the_current_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    func = compile_func(PrimFunc("f", (), Print(("hello",))))
    func(())
    func(())
    assert capsys.readouterr().out == "hello\nhello\n"


@pytest.mark.parametrize(
    ("message", "is_tuple", "args", "text"),
    [
        ((), False, (), "^$"),
        (("x is wrong",), False, ("x is wrong",), "x is wrong"),
        (("x is", Var("x")), True, (("x is", 5),), r"\('x is', 5\)"),
        ((), True, ((),), r"\(\)"),
    ],
)
def test_assert_and_raise(
    message: tuple[str | Expr, ...], is_tuple: bool, args: tuple[object, ...], text: str
) -> None:
    variables = [part for part in message if isinstance(part, Var)]
    params = tuple(ScalarParam(var, weak=True) for var in variables)
    given = [5 for _ in params]

    with pytest.raises(AssertionError, match=text) as asserted:
        run(Assert(Const(False, BOOL), message, is_tuple), *given, params=params)
    with pytest.raises(KeyError, match=text) as raised:
        run(Raise("KeyError", message, is_tuple), *given, params=params)

    assert asserted.value.args == args
    assert raised.value.args == args
    assert type(raised.value) is KeyError


@pytest.mark.parametrize("name", RAISABLE)
def test_every_exception_can_be_raised(name: str) -> None:
    with pytest.raises(Exception, match="no") as caught:
        run(Raise(name, ("no",)))
    assert type(caught.value).__name__ == name


def test_message_values_are_python_numbers_where_they_may_be() -> None:
    parts = (Const(3), const(0.5, FLOAT64), const(0.5, FLOAT32))
    with pytest.raises(ValueError, match=r"3, 0\.5") as caught:
        run(Raise("ValueError", parts))
    assert repr(caught.value) == "ValueError(3, 0.5, np.float32(0.5))"


def test_message_is_evaluated_only_on_failure() -> None:
    a = buffer("a", 1)
    run(Assert(Const(True, BOOL), (Load(a, (Const(5),)),)), np.zeros(1, np.int64), params=(a,))


@needs_notes
def test_raise_has_a_note_with_the_place() -> None:
    i = Var("i")
    with pytest.raises(ValueError, match="no") as caught:
        run(loop(i, 3, If(Eq(i, ONE), Raise("ValueError", ("no",), span=SPAN))))
    assert notes(caught.value) == [
        "kernel.py:3:5: error: raised here\n      = note: in iteration i=1"
    ]


def test_unknown_exception_is_our_fault() -> None:
    with pytest.raises(InternalError, match="'SystemExit' cannot be raised"):
        run(Raise("SystemExit"))
