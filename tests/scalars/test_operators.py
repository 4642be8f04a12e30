"""The type of every operator on every pair of types is the one that NumPy's scalars give."""

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hybridjit.errors import TypeMismatch
from hybridjit.ir.dtype import (
    BFLOAT16,
    BOOL,
    DTYPES,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT64,
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    WEAK_TYPES,
    DType,
    ScalarType,
    find_dtype,
)
from hybridjit.ir.expr import (
    Add,
    And,
    Const,
    Div,
    Eq,
    FloorDiv,
    Ge,
    Gt,
    Le,
    Lt,
    Max,
    Min,
    Mod,
    Mul,
    Ne,
    Or,
    Pow,
    ShiftLeft,
    ShiftRight,
    Sub,
    Var,
)
from hybridjit.scalars.comparisons import COMPARE, compare, extremum
from hybridjit.scalars.operators import BINARY, binary, conjunction, logical_not, select, unary
from hybridjit.scalars.scalar import Scalar
from tests.support.rows import in_each

_python: Any = operator  # typeshed leaves the types of half of these functions unknown

TYPES = (*(ScalarType(dtype) for dtype in DTYPES.values()), *WEAK_TYPES.values())
PYTHON_TYPES: dict[type, ScalarType] = {
    bool: WEAK_BOOL,
    int: WEAK_INT,
    float: WEAK_FLOAT,
    complex: WEAK_COMPLEX,
}
BINARY_OPERATORS: dict[type[ast.operator], Callable[..., Any]] = {
    ast.Add: _python.add,
    ast.Sub: _python.sub,
    ast.Mult: _python.mul,
    ast.Div: _python.truediv,
    ast.FloorDiv: _python.floordiv,
    ast.Mod: _python.mod,
    ast.Pow: _python.pow,
    ast.BitAnd: _python.and_,
    ast.BitOr: _python.or_,
    ast.BitXor: _python.xor,
    ast.LShift: _python.lshift,
    ast.RShift: _python.rshift,
}
COMPARISONS: dict[type[ast.cmpop], Callable[..., Any]] = {
    ast.Eq: _python.eq,
    ast.NotEq: _python.ne,
    ast.Lt: _python.lt,
    ast.LtE: _python.le,
    ast.Gt: _python.gt,
    ast.GtE: _python.ge,
}


def variable(type: ScalarType, name: str = "x") -> Scalar:
    return Scalar(Var(name, type.dtype), type)


def constant(value: Any) -> Scalar:
    """A Python number, or a NumPy scalar, that is known now."""
    type = type_of(value)
    return Scalar(Const(value if type.weak else value.item(), type.dtype), type)


def type_of(value: Any) -> ScalarType:
    """The type of a Python number or a NumPy scalar."""
    if value.__class__ in PYTHON_TYPES:
        return PYTHON_TYPES[value.__class__]
    dtype = find_dtype(value.dtype)
    assert dtype is not None
    return ScalarType(dtype)


def example(type: ScalarType) -> Any:
    """A number of that type, as plain Python computes with it."""
    if not type.weak:
        return type.dtype.numpy.type(1)
    (python_type,) = (cls for cls, weak in PYTHON_TYPES.items() if weak == type)
    return python_type(1)


def type_in_numpy(function: Callable[..., Any], *types: ScalarType) -> ScalarType | None:
    """The type of what plain Python computes, or None where it refuses to."""
    try:
        return type_of(function(*map(example, types)))
    except TypeError:
        return None


def type_in_script(build: Callable[..., Scalar], *types: ScalarType) -> ScalarType | None:
    try:
        result = build(*map(variable, types))
    except TypeMismatch:
        return None
    assert result.expr.dtype is result.type.dtype
    return result.type


def is_known_deviation(lhs: ScalarType, rhs: ScalarType) -> bool:
    """Where we differ on purpose, or refuse what NumPy's tables do not know.

    - bfloat16 stays what it is beside a Python float, as every other float type does.
    - bfloat16 meets no integer of more than 8 bits: NumPy has no common type for them.
    - A Python complex on the left of a float64 stays a Python complex, because np.float64 is a
      subclass of float; on the right it does not.
    """
    pair = {lhs, rhs}
    if ScalarType(BFLOAT16) in pair:
        return any(t == WEAK_FLOAT or (t.dtype.is_integer and t.dtype.bits > 8) for t in pair)
    return (lhs, rhs) == (WEAK_COMPLEX, ScalarType(FLOAT64))


# Types


@in_each("lhs", TYPES)
@pytest.mark.parametrize("op", BINARY_OPERATORS, ids=lambda op: op.__name__)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_binary_operator_has_the_type_of_numpy(op: type[ast.operator], lhs: ScalarType) -> None:
    def build(a: Scalar, b: Scalar) -> Scalar:
        return binary(BINARY[op], a, b, None)

    others = [rhs for rhs in TYPES if not is_known_deviation(lhs, rhs)]
    expected = {rhs: type_in_numpy(BINARY_OPERATORS[op], lhs, rhs) for rhs in others}
    assert {rhs: type_in_script(build, lhs, rhs) for rhs in others} == expected


@in_each("lhs", TYPES)
@pytest.mark.parametrize("op", COMPARISONS, ids=lambda op: op.__name__)
def test_a_comparison_has_the_type_of_numpy(op: type[ast.cmpop], lhs: ScalarType) -> None:
    def build(a: Scalar, b: Scalar) -> Scalar:
        return compare(COMPARE[op], a, b, None)

    others = [
        rhs
        for rhs in TYPES
        if not is_known_deviation(lhs, rhs) and not (is_ordered(op) and is_complex(lhs, rhs))
    ]
    expected = {rhs: type_in_numpy(COMPARISONS[op], lhs, rhs) for rhs in others}
    assert {rhs: type_in_script(build, lhs, rhs) for rhs in others} == expected


def is_ordered(op: type[ast.cmpop]) -> bool:
    return op not in (ast.Eq, ast.NotEq)


def is_complex(*types: ScalarType) -> bool:
    return any(type.dtype.is_complex for type in types)


@in_each("type", TYPES)
@pytest.mark.parametrize(
    ("op", "function"),
    [
        (ast.USub(), _python.neg),
        (ast.UAdd(), _python.pos),
        (ast.Invert(), _python.invert),
        (ast.Not(), _python.not_),
    ],
)
@pytest.mark.filterwarnings("ignore:Bitwise inversion:DeprecationWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_unary_operator_has_the_type_of_numpy(
    op: ast.unaryop, function: Callable[..., Any], type: ScalarType
) -> None:
    def build(x: Scalar) -> Scalar:
        return unary(op, x, None)

    assert type_in_script(build, type) == type_in_numpy(function, type)


@pytest.mark.parametrize("op", [Lt, Le, Gt, Ge])
def test_complex_numbers_have_no_order(op: Any) -> None:
    with pytest.raises(TypeMismatch, match="complex numbers have no order"):
        compare(op, variable(WEAK_COMPLEX), variable(WEAK_FLOAT), None)


@pytest.mark.parametrize("type", [INT16, INT32, INT64, UINT64], ids=str)
def test_bfloat16_meets_no_wide_integer(type: DType) -> None:
    with pytest.raises(TypeMismatch, match="have no common type in NumPy"):
        binary(Add, variable(ScalarType(BFLOAT16)), variable(ScalarType(type)), None)


def test_bfloat16_stays_beside_a_python_float() -> None:
    result = binary(Mul, variable(ScalarType(BFLOAT16)), constant(2.0), None)
    assert result.type == ScalarType(BFLOAT16)


# Python ints


def test_python_ints_known_now_are_exact() -> None:
    product = binary(Mul, constant(1 << 40), constant(1 << 40), None)
    assert product.constant == 1 << 80


def test_a_python_int_too_large_for_its_partner_is_refused() -> None:
    with pytest.raises(TypeMismatch, match="the Python integer 300 does not fit in int8"):
        binary(Add, variable(ScalarType(INT8)), constant(300), None)


@pytest.mark.parametrize("op", [FloorDiv, Mod])
def test_division_by_a_constant_zero_is_left_for_the_run(op: Any) -> None:
    result = binary(op, constant(1), constant(0), None)
    assert isinstance(result.expr, op)


def test_a_python_int_to_a_negative_power_is_a_float() -> None:
    assert binary(Pow, variable(WEAK_INT), constant(-1), None).type == WEAK_FLOAT


def test_a_typed_int_to_a_negative_power_is_refused() -> None:
    with pytest.raises(TypeMismatch, match="an integer to the negative power -1"):
        binary(Pow, variable(ScalarType(INT32)), constant(-1), None)


@pytest.mark.parametrize("op", [ShiftLeft, ShiftRight])
def test_a_negative_shift_of_python_ints_is_refused(op: Any) -> None:
    with pytest.raises(TypeMismatch, match="negative shift count -1"):
        binary(op, constant(1), constant(-1), None)


def test_an_absurd_power_is_refused_before_it_fills_the_memory() -> None:
    with pytest.raises(TypeMismatch, match="far past the range of int64"):
        binary(Pow, constant(3), constant(10**9), None)


# Constants


@pytest.mark.parametrize(
    ("op", "function"),
    [(Add, _python.add), (Sub, _python.sub), (Mul, _python.mul), (FloorDiv, _python.floordiv)],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_constants_are_folded_as_numpy_computes(op: Any, function: Callable[..., Any]) -> None:
    a, b = np.int8(-128), np.int8(-1)
    assert binary(op, constant(a), constant(b), None).constant == function(a, b)


def test_float32_constants_are_folded_in_float32() -> None:
    one: Any = np.float32(1)
    three: Any = np.float32(3)
    third = binary(Div, constant(one), constant(three), None)
    assert third.constant == float(one / three)


def test_the_negation_of_the_smallest_integer_wraps() -> None:
    assert unary(ast.USub(), constant(np.int8(-128)), None).constant == -128


def test_the_inversion_of_an_unsigned_constant_wraps() -> None:
    assert unary(ast.Invert(), constant(np.uint8(1)), None).constant == 254


def test_numpy_does_not_subtract_bools() -> None:
    with pytest.raises(TypeMismatch, match="NumPy does not subtract bools"):
        binary(Sub, variable(ScalarType(BOOL)), variable(ScalarType(BOOL)), None)


# Comparisons of integers are exact


@pytest.mark.parametrize(("op", "expected"), [(Lt, True), (Gt, False), (Eq, False), (Ne, True)])
def test_a_python_int_out_of_range_decides_a_comparison(op: Any, expected: bool) -> None:
    result = compare(op, variable(ScalarType(UINT8)), constant(256), None)
    assert result.constant is expected


def test_a_python_int_below_the_range_decides_from_the_left_too() -> None:
    assert compare(Lt, constant(-1), variable(ScalarType(UINT64)), None).constant is True


def test_int64_and_uint64_are_not_compared_as_floats() -> None:
    result = compare(Lt, variable(ScalarType(INT64)), variable(ScalarType(UINT64), "y"), None)
    assert isinstance(result.expr, Or)


# Conditions


def test_a_decisive_constant_decides_a_conjunction() -> None:
    true, x = Const(True, BOOL), Var("x", BOOL)
    assert conjunction(Or, x, true, None) == true


def test_a_neutral_constant_leaves_the_other_side() -> None:
    true, x = Const(True, BOOL), Var("x", BOOL)
    assert conjunction(And, true, x, None) is x


def test_not_of_a_number_asks_whether_it_is_zero() -> None:
    assert logical_not(constant(0.0), None).constant is True


def test_select_joins_the_types_of_its_sides() -> None:
    cond = Var("c", BOOL)
    result = select(cond, variable(ScalarType(FLOAT32)), constant(1), None)
    assert result.type == ScalarType(FLOAT32)


def test_select_of_a_known_condition_is_one_side_in_the_common_type() -> None:
    result = select(Const(False, BOOL), variable(ScalarType(FLOAT32)), constant(1), None)
    assert (result.constant, result.type) == (1.0, ScalarType(FLOAT32))


@pytest.mark.parametrize(("op", "expected"), [(Min, 3), (Max, 1 << 70)])
def test_min_and_max_of_known_python_ints_are_exact(op: Any, expected: int) -> None:
    assert extremum(op, constant(3), constant(1 << 70), None).constant == expected


def test_the_extremum_of_a_bool_and_a_number_is_a_number() -> None:
    found = extremum(Min, constant(True), constant(2), None).constant
    assert (type(found), found) == (int, 1)


def test_min_of_complex_numbers_is_refused() -> None:
    with pytest.raises(TypeMismatch, match="complex numbers have no order"):
        extremum(Min, variable(WEAK_COMPLEX), constant(1), None)
