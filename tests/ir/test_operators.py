"""Operators of Python make expressions of expressions and numbers, of nothing else."""

from __future__ import annotations

import operator
from typing import Any

import pytest

from hybridjit.ir.dtype import FLOAT64
from hybridjit.ir.expr import Const, Mul, Var


class Friend:
    """Knows what to make of an expression."""

    def __rmul__(self, other: object) -> str:
        return f"{other!r} times a friend"


def test_operators_leave_what_is_no_number_to_the_other_side() -> None:
    i: Any = Var("i")
    friend: Any = Friend()
    assert operator.mul(i, friend) == f"{i!r} times a friend"
    operations: list[Any] = [operator.add, operator.sub, operator.mod]
    pairs: list[Any] = [(i, friend), (None, i), (i, "1")]
    for operation in operations:
        for pair in pairs:
            with pytest.raises(TypeError, match=r"unsupported operand|can only|must be"):
                operation(*pair)


def test_numbers_have_the_type_of_the_other_side() -> None:
    half: Any = Const(0.5, FLOAT64)
    assert 2 * half == Mul(Const(2, FLOAT64), half)
    assert half * 2 == Mul(half, Const(2, FLOAT64))
