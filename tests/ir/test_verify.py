"""The verifier: for each rule, IR that breaks it is refused and IR beside it passes."""

from collections.abc import Callable

import numpy as np
import pytest

from hybridjit.errors import InternalError, Span
from hybridjit.ir import expr as ir
from hybridjit.ir.dtype import (
    BFLOAT16,
    BOOL,
    COMPLEX64,
    COMPLEX128,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT32,
    INT64,
    UINT8,
    DType,
)
from hybridjit.ir.expr import (
    Add,
    Buffer,
    BufferRef,
    Call,
    Cast,
    Const,
    Expr,
    ExternCall,
    Load,
    Select,
    Var,
    const,
)
from hybridjit.ir.extern import Extern, Pointer
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.signature import ConstantArray, Result, ScalarParam, ScalarResult
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
from hybridjit.ir.verify import Stage, verify
from tests.ir.samples import (
    ONE,
    SAMPLES,
    SHOW,
    TRUE,
    ZERO,
    buffer,
    callback,
    every_statement,
    func,
    loop,
    matmul,
    register,
)

NOTHING = Seq(())


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
        "            ^^^^^"
    )


# Free in every test below; `check_expr` and `check_stmt` make them parameters.
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


# --- blocks


def block(*iters: Iter, body: Stmt = NOTHING, init: Stmt | None = None) -> Block:
    return Block("b", iters, body, init)


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


# --- types of expressions

REAL_OPERATORS = (ir.FloorDiv, ir.Mod)
NUMBER_OPERATORS = (ir.Add, ir.Sub, ir.Mul, ir.Pow)
BIT_OPERATORS = (ir.BitAnd, ir.BitOr, ir.BitXor)
SHIFTS = (ir.ShiftLeft, ir.ShiftRight)
ORDERS = (ir.Lt, ir.Le, ir.Gt, ir.Ge)
EQUALITIES = (ir.Eq, ir.Ne)
EXTREMES = (ir.Min, ir.Max)
LOGICAL = (ir.And, ir.Or)
TAKES: list[tuple[tuple[type[ir.Binary], ...], tuple[Var, ...]]] = [
    (NUMBER_OPERATORS, (i, n8, u8, x, h, w)),
    ((ir.Div,), (x, y, h, w)),
    (REAL_OPERATORS, (i, n8, u8, x, h)),
    (EXTREMES, (p, i, u8, x, h)),
    (BIT_OPERATORS, (p, i, u8)),
    (SHIFTS, (i, n8, u8)),
    (EQUALITIES, (p, i, u8, x, h, w)),
    (ORDERS, (p, i, u8, x, h)),
    (LOGICAL, (p,)),
]


@pytest.mark.parametrize(("operators", "operands"), TAKES)
def test_operator_takes_its_types_and_no_others(
    operators: tuple[type[ir.Binary], ...], operands: tuple[Var, ...]
) -> None:
    kinds = {operand.of.kind for operand in operands}
    for operator in operators:
        for var in SCALARS:
            if var.of.kind in kinds:
                check_expr(operator(var, var))
            else:
                with refuses(f"{operator.__name__} does not take {var.of}"):
                    check_expr(operator(var, var))


@pytest.mark.parametrize(
    ("operator", "operands"), [(ir.Neg, (i, u8, x, w)), (ir.Invert, (i, u8)), (ir.Not, (p,))]
)
def test_prefix_takes_its_types_and_no_others(
    operator: type[ir.Unary], operands: tuple[Var, ...]
) -> None:
    kinds = {operand.of.kind for operand in operands}
    for var in SCALARS:
        if var.of.kind in kinds:
            check_expr(operator(var))
        else:
            with refuses(f"{operator.__name__} does not take {var.of}"):
                check_expr(operator(var))


@pytest.mark.parametrize(
    "expr", [Add(x, y), ir.Lt(i, n8), ir.And(p, ir.Eq(x, y)), Select(p, x, y), Add(i, x + i)]
)
def test_operands_have_one_type(expr: Expr) -> None:
    with refuses(r"(Add|Lt|Eq|Select) of \w+ and \w+, which differ: "):
        check_expr(expr)


def test_type_of_a_nested_expression_is_checked() -> None:
    check_expr(Add(Cast(FLOAT64, Load(a, (i + 1,))), y))
    check_expr(ir.And(ir.Lt(x, x), ir.Not(p)))
    with refuses("Add of float32 and float64, which differ"):
        check_expr(Add(Load(a, (i,)), y))


def test_select() -> None:
    check_expr(Select(p, x, const(0, FLOAT32)))
    with refuses("the condition of a Select has type int64, not bool: i"):
        check_expr(Select(i, x, x))
    with refuses("the condition of a Select is the constant True"):
        check_expr(Select(TRUE, x, x))


def test_only_integers_have_a_checked_cast() -> None:
    check_expr(Cast(INT8, i, checked=True))
    check_expr(Cast(BOOL, w))
    with refuses("a checked Cast from float32 to int8: only integers have one"):
        check_expr(Cast(INT8, x, checked=True))
    with refuses("a checked Cast from int64 to float32"):
        check_expr(Cast(FLOAT32, i, checked=True))


def test_intrinsic() -> None:
    check_expr(Add(Call("abs", (w,)), x))
    check_expr(Call("atan2", (x, const(1, FLOAT32))))
    with refuses("there is no intrinsic called 'foo'"):
        check_expr(Call("foo", (x,)))
    with refuses("'atan2' takes 2 arguments, not 1"):
        check_expr(Call("atan2", (x,)))
    with refuses("Call of float32 and float64, which differ"):
        check_expr(Call("atan2", (x, y)))
    with refuses("'erf' takes float, not int64"):
        check_expr(Call("erf", (i,)))


def test_element() -> None:
    check_expr(Load(b, (i, ZERO)))
    with refuses("buffer 'b' has 2 dimensions but 1 indices"):
        check_expr(Load(b, (i,)))
    with refuses("an index of buffer 'a' has type int8, not int64: n8"):
        check_expr(Load(a, (n8,)))
    with refuses("an index of buffer 'a' has type int8, not int64: n8"):
        check_stmt(Store(a, (n8,), x))


# --- constants


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, BOOL),
        (-128, INT8),
        (255, UINT8),
        (0.1, FLOAT64),
        (0.5, FLOAT16),
        (float("nan"), FLOAT32),
        (float("inf"), BFLOAT16),
        (1 + 2j, COMPLEX64),
        (0.1j, COMPLEX128),
    ],
)
def test_constant_of_its_type(value: complex, dtype: DType) -> None:
    check_expr(Const(value, dtype))


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, BOOL),
        (True, INT64),
        (1.0, INT64),
        (128, INT8),
        (-1, UINT8),
        (2**63, INT64),
        (1, FLOAT64),
        (0.1, FLOAT32),
        (1e300, FLOAT32),
        (1.001, BFLOAT16),
        (1.0, COMPLEX64),
        (0.1j, COMPLEX64),
        (np.int64(1), INT64),
    ],
)
def test_constant_of_another_type_is_refused(value: complex, dtype: DType) -> None:
    with refuses(f"is not a value of type {dtype}"):
        check_expr(Const(value, dtype))


def test_negative_constant_is_no_negation() -> None:
    with refuses("Neg of the constant 5, which should be folded"):
        check_expr(ir.Neg(Const(5)))


def test_integer_constants_are_folded() -> None:
    check_expr(Add(i + 2, Const(3)))
    check_expr(Add(const(0.5, FLOAT32), const(0.25, FLOAT32)))
    with refuses(r"integer constants should be folded: 2 \* 3"):
        check_expr(Add(i, Const(2) * 3))
    with refuses(r"integer constants should be folded: int8\(2\) < int8\(3\)"):
        check_expr(ir.Lt(const(2, INT8), const(3, INT8)))


@pytest.mark.parametrize(
    "expr", [ir.FloorDiv(ONE, ZERO), ir.Mod(ONE, ZERO), ir.Pow(Const(2), Const(-1))]
)
def test_error_that_constants_make_stays(expr: Expr) -> None:
    check_expr(expr)


@pytest.mark.parametrize(("value", "text"), [(ONE, "1"), (x, "x")])
def test_let_computes_something(value: Expr, text: str) -> None:
    with refuses(f"Let 'l' only renames {text}: substitute it"):
        check_stmt(Let(Var("l", value.dtype), value))


def test_condition_is_not_constant_but_for_while_true() -> None:
    check_stmt(While(TRUE, Break()))
    check_stmt(Assert(Const(False, BOOL)))
    with refuses("the condition of a While is the constant False"):
        check_stmt(While(Const(False, BOOL), NOTHING))
    with refuses("the condition of an If is the constant True"):
        check_stmt(If(TRUE, NOTHING))


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


# --- calls to the outside

CFUNC = Extern("norm", callback, FLOAT32, (Pointer(FLOAT32), INT64))


def test_extern_call() -> None:
    check_stmt(Let(Var("l", FLOAT32), ExternCall(CFUNC, (BufferRef(a), i))))
    check_stmt(Evaluate(ExternCall(SHOW, (BufferRef(b), x, i))))
    with refuses("'norm' takes 2 arguments, not 1"):
        check_expr(ExternCall(CFUNC, (BufferRef(a),)))
    with refuses(r"'norm' takes an array of float32, not float32"):
        check_expr(ExternCall(CFUNC, (x, i)))
    with refuses("'norm' takes int64, not int8"):
        check_expr(ExternCall(CFUNC, (BufferRef(a), n8)))


def test_call_without_a_result_is_a_statement() -> None:
    with refuses("'show' has no result but is used as a value"):
        check_stmt(Let(Var("l"), ExternCall(SHOW, ())))
    with refuses("'show' has no result but is used as a value"):
        check_expr(ExternCall(SHOW, (ExternCall(SHOW, ()),)))


def test_whole_buffer_is_only_an_argument() -> None:
    with refuses("the whole buffer 'a' used as a value"):
        check_expr(BufferRef(a))
    with refuses("the whole buffer 'a' used as a value"):
        check_expr(Call("exp", (BufferRef(a),)))


def test_register_is_not_passed_as_an_array() -> None:
    acc = register("acc")
    with refuses("register 'acc' is passed as an array"):
        check_stmt(Allocate(acc, zero=False), Evaluate(ExternCall(SHOW, (BufferRef(acc),))))


# --- signatures


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
    with refuses("Return of 0 scalars in a function with 1"):
        verify(returning(returns=(ScalarResult(FLOAT32),)))
    with refuses("Return of 1 scalars in a function with 0"):
        verify(returning(x, returns=(a,)))
    with refuses("a result has type float32, not float64: x"):
        verify(returning(x, returns=(ScalarResult(FLOAT64),)))


def test_returned_array_belongs_to_the_signature() -> None:
    with refuses("result 'c' is neither a parameter nor an output"):
        verify(returning(returns=(buffer("c", 8),)))
    with refuses("a function without results returns a tuple"):
        verify(PrimFunc("f", (), NOTHING, returns_tuple=True))


def test_depth_of_200_passes() -> None:
    deep: Expr = i
    for _ in range(200):
        deep = Add(deep, i)
    check_expr(deep)
    check_expr(Load(a, (deep,)))


def test_buffers_are_told_apart_by_identity() -> None:
    twin = Buffer("a", FLOAT32, a.shape)
    with refuses("buffer 'a' is used but not bound"):
        check_expr(Load(twin, (i,)))
