"""The verifier: types of expressions, constants and calls."""

import numpy as np
import pytest

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
    INT64,
    UINT8,
    DType,
)
from hybridjit.ir.expr import (
    Add,
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
from hybridjit.ir.stmt import Allocate, Assert, Break, Evaluate, If, Let, Store, While
from tests.ir.samples import ONE, SHOW, TRUE, ZERO, callback, register
from tests.ir.verifying import (
    NOTHING,
    SCALARS,
    a,
    b,
    check_expr,
    check_stmt,
    h,
    i,
    n8,
    p,
    refuses,
    u8,
    w,
    x,
    y,
)

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


def test_depth_of_200_passes() -> None:
    deep: Expr = i
    for _ in range(200):
        deep = Add(deep, i)
    check_expr(deep)
    check_expr(Load(a, (deep,)))


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
