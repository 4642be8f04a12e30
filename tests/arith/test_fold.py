"""Folding of constants agrees with NumPy, and refuses what is an error."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridjit.arith.fold import fold_integer, fold_unary, wrap
from hybridjit.ir.dtype import BOOL, DTYPES, INT8, INT64, UINT8, DType
from hybridjit.ir.expr import (
    Add,
    And,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Div,
    Eq,
    FloorDiv,
    Ge,
    Gt,
    Invert,
    Le,
    Lt,
    Max,
    Min,
    Mod,
    Mul,
    Ne,
    Neg,
    Not,
    Or,
    Pow,
    ShiftLeft,
    ShiftRight,
    Sub,
)

INTEGERS = [dtype for dtype in DTYPES.values() if dtype.is_integer]

NUMPY: dict[type[Binary], Callable[[Any, Any], Any]] = {
    Add: np.add,
    Sub: np.subtract,
    Mul: np.multiply,
    FloorDiv: np.floor_divide,
    Mod: np.remainder,
    Pow: np.power,
    Min: np.minimum,
    Max: np.maximum,
    BitAnd: np.bitwise_and,
    BitOr: np.bitwise_or,
    BitXor: np.bitwise_xor,
    ShiftLeft: np.left_shift,
    ShiftRight: np.right_shift,
    Eq: np.equal,
    Ne: np.not_equal,
    Lt: np.less,
    Le: np.less_equal,
    Gt: np.greater,
    Ge: np.greater_equal,
}


def integers(dtype: DType) -> st.SearchStrategy[int]:
    """Values of `dtype`, the edges and the small ones often."""
    low, high = dtype.bounds
    edges = [low, low + 1, high - 1, high, *range(max(low, -3), 9)]
    return st.one_of(st.sampled_from(edges), st.integers(low, high))


def is_error(op: type[Binary], b: int) -> bool:
    return (op in (FloorDiv, Mod) and b == 0) or (op is Pow and b < 0)


@given(st.data(), st.sampled_from(INTEGERS), st.sampled_from(list(NUMPY)))
def test_folding_agrees_with_numpy(data: st.DataObject, dtype: DType, op: type[Binary]) -> None:
    a, b = data.draw(integers(dtype)), data.draw(integers(dtype))
    folded = fold_integer(op, a, b, dtype)
    if is_error(op, b):
        assert folded is None
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        expected = NUMPY[op](dtype.numpy.type(a), dtype.numpy.type(b))
    assert folded == expected.item()
    assert type(folded) is type(expected.item())


@pytest.mark.parametrize("op", [FloorDiv, Mod])
def test_division_by_zero_is_not_folded(op: type[Binary]) -> None:
    assert fold_integer(op, 1, 0, INT64) is None


def test_negative_exponent_is_not_folded() -> None:
    assert fold_integer(Pow, 2, -1, INT64) is None


def test_true_division_does_not_exist_on_integers() -> None:
    assert fold_integer(Div, 4, 2, INT64) is None


def test_smallest_divided_by_minus_one_wraps() -> None:
    assert fold_integer(FloorDiv, -128, -1, INT8) == -128
    assert fold_integer(Mod, -128, -1, INT8) == 0


@pytest.mark.parametrize("amount", [-1, 8, 100])
def test_shifts_past_the_width_are_defined(amount: int) -> None:
    assert fold_integer(ShiftLeft, 3, amount, INT8) == 0
    assert fold_integer(ShiftRight, 3, amount, INT8) == 0
    assert fold_integer(ShiftRight, -3, amount, INT8) == -1


def test_a_huge_power_is_quick() -> None:
    assert fold_integer(Pow, 3, (1 << 63) - 1, INT64) == wrap(pow(3, (1 << 63) - 1, 1 << 64), INT64)


@pytest.mark.parametrize("a", [False, True])
@pytest.mark.parametrize("b", [False, True])
def test_logic_on_bool(a: bool, b: bool) -> None:
    assert fold_integer(And, a, b, BOOL) is (a and b)
    assert fold_integer(Or, a, b, BOOL) is (a or b)
    assert fold_integer(BitXor, a, b, BOOL) is (a != b)
    assert fold_integer(Min, a, b, BOOL) is (a and b)
    assert fold_integer(Lt, a, b, BOOL) is (a < b)


def test_arithmetic_does_not_exist_on_bool() -> None:
    assert fold_integer(Add, True, True, BOOL) is None
    assert fold_integer(FloorDiv, True, True, BOOL) is None
    assert fold_unary(Neg, True, BOOL) is None


@given(st.data(), st.sampled_from(INTEGERS))
def test_unary_operators_agree_with_numpy(data: st.DataObject, dtype: DType) -> None:
    a = data.draw(integers(dtype))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        assert fold_unary(Neg, a, dtype) == (-dtype.numpy.type(a)).item()
    assert fold_unary(Invert, a, dtype) == (~dtype.numpy.type(a)).item()


def test_not_exists_on_bool_alone() -> None:
    assert fold_unary(Not, True, BOOL) is False
    assert fold_unary(Not, 1, INT64) is None


@given(st.integers(), st.sampled_from(INTEGERS))
def test_wrap_is_the_conversion_of_numpy(value: int, dtype: DType) -> None:
    low, high = dtype.bounds
    assert low <= wrap(value, dtype) <= high
    assert (wrap(value, dtype) - value) % (1 << dtype.bits) == 0


def test_wrap_at_the_edges() -> None:
    assert [wrap(v, INT8) for v in (127, 128, -129, 256)] == [127, -128, 127, 0]
    assert [wrap(v, UINT8) for v in (255, 256, -1)] == [255, 0, 255]
    assert wrap(int(np.iinfo(np.int64).max) + 1, INT64) == np.iinfo(np.int64).min
