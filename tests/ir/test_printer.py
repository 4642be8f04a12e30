"""The printed form: literal texts, valid Python, and the tree that Python reads from it."""

import ast
import math
from collections.abc import Callable

import astunparse  # pyright: ignore[reportMissingTypeStubs]
import numpy as np
import pytest
from hypothesis import given

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
    UINT64,
    DType,
    find_dtype,
)
from hybridjit.ir.expr import Buffer, Call, Cast, Const, Expr, ExternCall, Load, Select, Var, const
from hybridjit.ir.extern import Extern
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import format_expr, format_stmt, print_func
from hybridjit.ir.signature import ConstantArray, ScalarParam, ScalarResult
from hybridjit.ir.stmt import (
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
    Store,
    seq,
)
from tests.ir.samples import (
    SAMPLES,
    ZERO,
    buffer,
    callback,
    every_statement,
    func,
    loop,
    matmul,
    tiled_copy,
)
from tests.support.strategies import BOOL_VARS, INT_VARS, int_exprs

MATMUL = """\
def matmul(a: float32["n", 64], b: float32[64, "m"]):
    c = output_tensor((a.shape[0], b.shape[1]), "float32")
    for i in parallel(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(64):
                with block("c", i, j, reduce(k)):
                    with init():
                        c[i, j] = 0.0
                    c[i, j] = c[i, j] + a[i, k] * b[k, j]
    return c"""

TILED_COPY = """\
def f(a: float32[64], b: float32[64]):
    for i_0 in range(2):
        for i_1 in vectorize(32):
            with block("b", spatial(i_0 * 32 + i_1, 0, 64)) as (i,):
                b[i] = a[i]
        with block("note", iters=()):
            show(b)"""

EVERY_STATEMENT = """\
def every(a: float32[8], z: float32[()], x: float, count: int32) -> (float, int32):
    table = constant_array([[0.1, 2.0], [3.0, inf]], "float32")
    acc: float32
    scratch = allocate((8,), "float32", "local")
    acc = 0.1
    half = x * 0.5
    for i in range(7, -1, -1):
        if i > 3:
            break
        else:
            continue
    for t in bind(8, "threadIdx.x"):
        scratch[t] = table[0, 1]
    while acc < 10.0:
        acc = acc ** 2.0
    if half > 1.0:
        z[()] = acc
    elif half < 0.0:
        raise ValueError("x is", x)
    assert half > 0.0
    assert half > 0.0, "not positive"
    assert half > 0.0, ("half is", half)
    print("half =", half)
    for i_1 in range(8):
        pass
    show(a, acc)
    return z, float64(acc), count"""


@pytest.mark.parametrize(
    ("make", "text"),
    [(matmul, MATMUL), (tiled_copy, TILED_COPY), (every_statement, EVERY_STATEMENT)],
)
def test_function_prints_as_hybrid_script(make: Callable[[], PrimFunc], text: str) -> None:
    assert print_func(make()) == str(make()) == text


@pytest.mark.filterwarnings(r"ignore:ast\.\w+ is deprecated:DeprecationWarning")  # astunparse's own
@pytest.mark.parametrize("make", SAMPLES)
def test_text_is_python_to_an_independent_unparser(make: Callable[[], PrimFunc]) -> None:
    tree = ast.parse(print_func(make()))
    again: str = astunparse.unparse(tree)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    assert ast.dump(ast.parse(again)) == ast.dump(tree)


i, j, k = Var("i"), Var("j"), Var("k")
p, q = Var("p", BOOL), Var("q", BOOL)
x, y = Var("x", FLOAT32), Var("y", FLOAT32)
w = Var("w", COMPLEX64)
a, s = buffer("a", 8, 8), Buffer("s", FLOAT32, (), Buffer.REGISTER)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (i + j + k, "i + j + k"),
        (i + (j + k), "i + (j + k)"),
        (i - (j - k), "i - (j - k)"),
        ((i + j) * k, "(i + j) * k"),
        (i // j % k, "i // j % k"),
        (i * (j // k), "i * (j // k)"),
        (-(i + j), "-(i + j)"),
        (-i * j, "-i * j"),
        (ir.Neg(-i), "--i"),
        (ir.Pow(-i, j), "(-i) ** j"),
        (ir.Neg(ir.Pow(i, j)), "-i ** j"),
        (ir.Pow(i, -j), "i ** -j"),
        (ir.Pow(i, ir.Pow(j, k)), "i ** j ** k"),
        (ir.Pow(ir.Pow(i, j), k), "(i ** j) ** k"),
        (ir.Pow(Const(-2), i), "(-2) ** i"),
        (ir.Pow(i, Const(-2)), "i ** -2"),
        (i - Const(-2), "i - -2"),
        (ir.Invert(i + j), "~(i + j)"),
        (ir.BitOr(ir.BitAnd(i, j), ir.BitXor(j, k)), "i & j | j ^ k"),
        (ir.BitAnd(ir.BitOr(i, j), k), "(i | j) & k"),
        (ir.ShiftLeft(i, j + k), "i << j + k"),
        (ir.ShiftLeft(i, j) + k, "(i << j) + k"),
        (ir.ShiftRight(i, ir.ShiftRight(j, k)), "i >> (j >> k)"),
        (ir.Lt(i + j, k), "i + j < k"),
        (ir.Eq(ir.Lt(i, j), ir.Ge(j, k)), "(i < j) == (j >= k)"),
        (ir.Ne(ir.Not(p), q), "(not p) != q"),
        (ir.Not(ir.Le(i, j)), "not i <= j"),
        (ir.Or(ir.And(p, q), ir.Not(p)), "p and q or not p"),
        (ir.And(p, ir.And(q, p)), "p and (q and p)"),
        (ir.And(ir.Or(p, q), ir.Gt(i, j)), "(p or q) and i > j"),
        (ir.Min(i, ir.Max(j, k)), "min(i, max(j, k))"),
        (Select(p, i, j), "(i if p else j)"),
        (Select(ir.Or(p, q), i, Select(q, j, k)), "(i if p or q else (j if q else k))"),
        (Load(a, (i, j + 1)), "a[i, j + 1]"),
        (Load(s), "s"),
        (Load(Buffer("z", FLOAT32, ())), "z[()]"),
        (ir.Div(x, y), "x / y"),
        (Call("exp", (x,)), "exp(x)"),
        (Call("minimum", (x, const(2, FLOAT32))), "minimum(x, 2.0)"),
        (
            Call("atan2", (const(1, FLOAT32), const(2, FLOAT32))),
            "atan2(float32(1.0), float32(2.0))",
        ),
        (Call("real", (w,)), "w.real"),
        (Call("imag", (ir.Add(w, w),)), "(w + w).imag"),
        (Call("conj", (w,)), "w.conjugate()"),
        (Call("abs", (-i,)), "abs(-i)"),
        (Cast(FLOAT32, i), "float32(i)"),
        (Cast(BOOL, x), "bool(x)"),
        (Cast(INT64, Var("n", INT8)), "int64(n)"),
        (Cast(INT8, i, checked=True), "int8(i, checked=True)"),
        (Cast(INT8, i), "int8(i, checked=False)"),
        (Cast(INT8, Var("n", INT32)), "int8(n)"),
        (Cast(INT8, Var("n", INT32), checked=True), "int8(n, checked=True)"),
        (Cast(INT8, x), "int8(x)"),
    ],
)
def test_expression(expr: Expr, text: str) -> None:
    assert format_expr(expr) == text


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (Const(-5), "-5"),
        (Const(-(2**63)), "-9223372036854775808"),
        (Const(True, BOOL), "True"),
        (const(0.1, FLOAT64), "0.1"),
        (const(-0.0, FLOAT64), "-0.0"),
        (const(1e22, FLOAT64), "1e+22"),
        (const(math.inf, FLOAT64), "inf"),
        (const(-math.inf, FLOAT64), "-inf"),
        (const(math.nan, FLOAT64), "nan"),
        (const(1 - 2j, COMPLEX128), "complex(1.0, -2.0)"),
        (const(2, FLOAT32), "float32(2.0)"),
        (const(3, INT8), "int8(3)"),
        (const(2**64 - 1, UINT64), "uint64(18446744073709551615)"),
        (const(0.1 + 2j, COMPLEX64), "complex64(complex(0.1, 2.0))"),
        (const(-math.inf, FLOAT16), "float16(-inf)"),
        (x * const(2, FLOAT32), "x * 2.0"),
        (const(2, FLOAT32) * x, "2.0 * x"),
        (ir.Lt(x, const(0.1, FLOAT32)), "x < 0.1"),
        (ir.Pow(const(-2, FLOAT32), x), "(-2.0) ** x"),
        (ir.Mul(const(2, FLOAT32), const(3, FLOAT32)), "float32(2.0) * float32(3.0)"),
        (ir.Add(w, const(2j, COMPLEX64)), "w + complex(0.0, 2.0)"),
        (Select(p, x, const(0, FLOAT32)), "(x if p else 0.0)"),
        (Select(p, const(1, FLOAT32), const(0, FLOAT32)), "(float32(1.0) if p else float32(0.0))"),
        (ir.Neg(const(2, FLOAT32)), "-float32(2.0)"),
        (Call("exp", (const(2, FLOAT32),)), "exp(float32(2.0))"),
        (Cast(FLOAT64, const(2, FLOAT32)), "float64(float32(2.0))"),
    ],
)
def test_constant_shows_its_type_unless_its_place_does(expr: Expr, text: str) -> None:
    assert format_expr(expr) == text


@pytest.mark.parametrize("dtype", [FLOAT16, BFLOAT16, FLOAT32])
def test_float_literal_is_short_and_rounds_back(dtype: DType) -> None:
    raw = np.random.default_rng(0).bytes(300 * dtype.numpy.itemsize)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        values = np.frombuffer(raw, dtype.numpy).astype(np.float64)
    for value in values[np.isfinite(values)].tolist():
        text = format_expr(ir.Add(x, Const(value, dtype))).removeprefix("x + ")
        assert const(float(text), dtype) == Const(value, dtype)
        assert len(text) <= len(repr(value))


@pytest.mark.parametrize(("value", "dtype"), [(0.1, BFLOAT16), (0.1, FLOAT16), (3e-39, FLOAT32)])
def test_float_literal_is_the_shortest(value: float, dtype: DType) -> None:
    assert format_expr(const(value, dtype)) == f"{dtype}({value})"


@given(int_exprs())
def test_parentheses_keep_the_tree(expr: Expr) -> None:
    assert read_expr(ast.parse(format_expr(expr), mode="eval").body) == expr


OPERATORS: dict[type[ast.AST], type[ir.Binary]] = {
    ast.Add: ir.Add,
    ast.Sub: ir.Sub,
    ast.Mult: ir.Mul,
    ast.FloorDiv: ir.FloorDiv,
    ast.Mod: ir.Mod,
    ast.Pow: ir.Pow,
    ast.BitAnd: ir.BitAnd,
    ast.BitOr: ir.BitOr,
    ast.BitXor: ir.BitXor,
    ast.LShift: ir.ShiftLeft,
    ast.RShift: ir.ShiftRight,
    ast.Eq: ir.Eq,
    ast.NotEq: ir.Ne,
    ast.Lt: ir.Lt,
    ast.LtE: ir.Le,
    ast.Gt: ir.Gt,
    ast.GtE: ir.Ge,
    ast.And: ir.And,
    ast.Or: ir.Or,
}
PREFIXES: dict[type[ast.AST], type[ir.Unary]] = {
    ast.USub: ir.Neg,
    ast.Invert: ir.Invert,
    ast.Not: ir.Not,
}
FUNCTIONS = {"min": ir.Min, "max": ir.Max}


def read_expr(node: ast.expr) -> Expr:
    """The expression that Python's own parser sees, for what `int_exprs` makes."""
    match node:
        case ast.Constant(value=int(value)):
            return Const(value)
        case ast.Name(id=name):
            return (INT_VARS | BOOL_VARS)[name]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return Const(-value)
        case ast.UnaryOp(op=op, operand=operand):
            return PREFIXES[type(op)](read_expr(operand))
        case (
            ast.BinOp(left=lhs, op=op, right=rhs)
            | ast.Compare(left=lhs, ops=[op], comparators=[rhs])
        ):
            return OPERATORS[type(op)](read_expr(lhs), read_expr(rhs))
        case ast.BoolOp(op=op, values=[first, *rest]):
            result = read_expr(first)
            for value in rest:
                result = OPERATORS[type(op)](result, read_expr(value))
            return result
        case ast.IfExp(test=cond, body=then, orelse=otherwise):
            return Select(read_expr(cond), read_expr(then), read_expr(otherwise))
        case ast.Call(func=ast.Name(id=name), args=[lhs, rhs]):
            return FUNCTIONS[name](read_expr(lhs), read_expr(rhs))
        case _:
            raise AssertionError(ast.dump(node))


def test_depth_is_no_concern() -> None:
    deep: Expr = i
    for _ in range(5000):
        deep = ir.Add(j, deep)
    assert format_expr(deep).count("(") == 4999


@pytest.mark.parametrize(
    ("bounds", "kind", "header"),
    [
        ((0, 8, 1), LoopKind.SERIAL, "for i in range(8):"),
        ((2, 8, 1), LoopKind.UNROLLED, "for i in unroll(2, 8):"),
        ((0, 8, 2), LoopKind.SCAN, "for i in scan(0, 8, 2):"),
        ((8, 0, -1), LoopKind.SERIAL, "for i in range(8, 0, -1):"),
        ((0, 8, 1), LoopKind.BOUND, 'for i in bind(8, "blockIdx.x"):'),
        ((2, 8, 1), LoopKind.BOUND, 'for i in bind(2, 8, 1, "blockIdx.x"):'),
    ],
)
def test_loop_header(bounds: tuple[int, int, int], kind: LoopKind, header: str) -> None:
    thread = "blockIdx.x" if kind is LoopKind.BOUND else None
    start, stop, step = map(Const, bounds)
    assert format_stmt(For(i, start, stop, step, Seq(()), kind, thread)) == f"{header}\n    pass"


def block_header(*iters: Iter) -> str:
    return format_stmt(Block("b", iters, Seq(()))).partition("\n")[0]


def test_block_header() -> None:
    to_8 = (ZERO, Const(8))
    u, v = Var("u"), Var("v")
    assert block_header() == 'with block("b"):'
    assert block_header(Iter(u, i)) == 'with block("b", i):'
    assert (
        block_header(Iter(u, i, IterKind.SCAN), Iter(v, j, IterKind.REDUCE))
        == 'with block("b", scan(i), reduce(j)):'
    )
    assert (
        block_header(Iter(u, i, IterKind.REDUCE), Iter(v, j + 1, IterKind.REDUCE, to_8))
        == 'with block("b", reduce(i), reduce(j + 1, 0, 8)) as (u, v):'
    )
    assert block_header(Iter(u, i, domain=to_8)) == 'with block("b", spatial(i, 0, 8)) as (u,):'


def test_two_iters_on_one_loop_are_not_compact() -> None:
    """In `with block("b", i, i)` the name i would mean both."""
    u, v = Var("u"), Var("v")
    assert block_header(Iter(u, i), Iter(v, i)) == 'with block("b", i, i) as (u, v):'


def test_domain_may_mention_an_earlier_iter() -> None:
    u, v = Var("u"), Var("u")
    iters = (Iter(u, i + 1, domain=(ZERO, Const(8))), Iter(v, j, domain=(ZERO, u)))
    assert (
        block_header(*iters)
        == 'with block("b", spatial(i + 1, 0, 8), spatial(j, 0, u)) as (u, u_1):'
    )


def test_nested_block_counts_only_the_loops_inside_the_outer_one() -> None:
    inner = Block("inner", (), Evaluate(ZERO))
    outer = Block("outer", (Iter(Var("u"), i),), inner)
    assert 'with block("inner"):' in format_stmt(loop(i, 8, outer))


def test_empty_else_and_init_are_not_printed() -> None:
    stmt = Block("b", (), If(p, Evaluate(ZERO), Seq(())), Seq(()))
    assert format_stmt(stmt) == 'with block("b"):\n    if p:\n        0'


def test_nested_sequences_print_flat() -> None:
    assert format_stmt(Seq((Seq((Evaluate(i), Seq(()))), Evaluate(j)))) == "i\nj"


def test_long_elif_chain_does_not_nest() -> None:
    chain = If(p, Evaluate(i))
    for _ in range(500):
        chain = If(p, Evaluate(i), chain)
    assert format_stmt(chain).count("\nelif p:") == 500


@pytest.mark.parametrize(
    ("stmt", "text"),
    [
        (Assert(p, (i,)), "assert p, i"),
        (Assert(p, (i,), True), "assert p, (i,)"),
        (Assert(p, (), True), "assert p, ()"),
        (Raise("ValueError", ("i", i), True), 'raise ValueError(("i", i))'),
        (Raise("KeyError"), "raise KeyError()"),
        (Print(()), "print()"),
        (Print(("a 'b' \"c\" \\ \n é",)), 'print("a \'b\' \\"c\\" \\\\ \\n é")'),
        (Store(s, (), const(2, FLOAT32)), "s = 2.0"),
        (Return(), "return"),
    ],
)
def test_small_statement(stmt: Seq, text: str) -> None:
    assert format_stmt(stmt) == text
    ast.parse(text)


@pytest.mark.parametrize(
    "text", ["", "'", '"', "\\'", '\\"', "'\"", "\\", "\x00\x85\u2028\ud800", "{x}"]
)
def test_string_is_a_literal_of_itself(text: str) -> None:
    (line,) = format_stmt(Print((text,))).splitlines()
    assert ast.literal_eval(line.removeprefix("print(").removesuffix(")")) == text


@pytest.mark.parametrize(
    ("returns", "returns_tuple", "annotation", "statement"),
    [
        (None, False, "", "return"),
        ((), True, "", "return ()"),
        ((ScalarResult(FLOAT64, weak=True),), False, " -> float", "return x"),
        ((ScalarResult(FLOAT64),), True, " -> float64", "return (x,)"),
    ],
)
def test_results(
    returns: tuple[ScalarResult, ...] | None, returns_tuple: bool, annotation: str, statement: str
) -> None:
    param = ScalarParam(Var("x", FLOAT64))
    body = Return((param.var,) if returns else ())
    made = PrimFunc("f", (param,), body, returns=returns, returns_tuple=returns_tuple)
    assert print_func(made) == f"def f(x: float64){annotation}:\n    {statement}"


def test_typed_bool_differs_from_a_python_bool() -> None:
    typed, weak = ScalarParam(Var("typed", BOOL)), ScalarParam(Var("weak", BOOL), weak=True)
    assert print_func(func(Seq(()), typed, weak)) == "def f(typed: bool_, weak: bool):\n    pass"


def test_names_are_unique_and_not_words_of_the_language() -> None:
    """Two loops over i, a variable exp beside the function exp, a keyword, a dotted name."""
    out = buffer("exp", 8)
    first, second, third = Var("i"), Var("i"), Var("i_1")
    let, dotted = Var("lambda", FLOAT32), Var("out.local")
    body = seq(
        loop(first, 8, loop(second, 8, loop(third, 8, Seq(())))),
        loop(
            dotted,
            8,
            seq(Let(let, Call("exp", (Load(out, (dotted,)),))), Store(out, (dotted,), let)),
        ),
    )
    assert (
        print_func(func(body, out))
        == """\
def f(exp_1: float32[8]):
    for i in range(8):
        for i_1 in range(8):
            for i_1_1 in range(8):
                pass
    for out_local in range(8):
        lambda_1 = exp(exp_1[out_local])
        exp_1[out_local] = lambda_1"""
    )


def test_variables_give_way_to_external_functions() -> None:
    extern = Extern("g", callback, None)
    body = seq(loop(Var("g"), 8, Seq(())), Evaluate(ExternCall(extern, ())))
    assert print_func(func(body)) == "def f():\n    for g_1 in range(8):\n        pass\n    g()"


def test_same_name_in_two_spellings_is_one_name() -> None:
    """Python reads identifiers in NFKC."""
    body = seq(loop(Var("ﬁ"), 8, Seq(())), loop(Var("fi"), 8, Seq(())))
    assert "for fi_1 in" in format_stmt(body)


def test_dimension_prints_as_an_entry_of_the_first_shape() -> None:
    n = Var("n")
    tensor, twice = buffer("a", 4, n), buffer("b", n * 2, n)
    assert (
        print_func(func(loop(i, n, Seq(())), tensor, twice))
        == """\
def f(a: float32[4, "n"], b: float32["n * 2", "n"]):
    for i in range(a.shape[1]):
        pass"""
    )


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (np.int8(3), 'constant_array(3, "int8")'),
        (np.array([True, False]), 'constant_array([True, False], "bool")'),
        (np.array([1 + 2j], np.complex64), 'constant_array([complex(1.0, 2.0)], "complex64")'),
        (np.array([0.1, np.nan], np.float16), 'constant_array([0.1, nan], "float16")'),
        (np.zeros((0,), np.int64), 'constant_array([], "int64")'),
        (np.zeros((2, 0), np.int64), 'constant_array([[], []], "int64")'),
        (np.zeros((0, 2), np.int64), 'constant_array([], "int64", shape=(0, 2))'),
    ],
)
def test_constant_array(data: np.ndarray[tuple[int, ...], np.dtype[np.generic]], text: str) -> None:
    array = np.asarray(data)
    dtype = find_dtype(array.dtype)
    assert dtype is not None
    constant = ConstantArray(buffer("t", *array.shape, dtype=dtype), array)
    made = PrimFunc("f", (), Seq(()), constants=(constant,))
    assert print_func(made) == f"def f():\n    t = {text}"


def test_marked_loop_is_underlined() -> None:
    made = matmul()
    nest = made.body
    assert isinstance(nest, Seq)
    outer = nest.stmts[0]
    assert isinstance(outer, For)
    assert isinstance(outer.body, For)
    lines = print_func(made, marks=(outer.body.var, nest.stmts[1])).splitlines()
    assert lines[3:5] == ["        for j in range(b.shape[1]):", "        " + "^" * 26]
    assert lines[-2:] == ["    return c", "    ^^^^^^^^"]


def test_free_names_print_as_they_are() -> None:
    assert format_stmt(Store(a, (i, j), x)) == "a[i, j] = x"


def test_broken_ir_prints_too() -> None:
    """The verifier shows what it refuses."""
    broken = Store(a, (5,), Call("nonsense", ()))  # pyright: ignore[reportArgumentType]
    unknown = Cast(INT8, Call("nonsense", ()))
    assert format_stmt(broken) == "a[<int>] = nonsense()"
    assert format_expr(unknown) == "int8(nonsense())"
