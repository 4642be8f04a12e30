"""The home of all hypothesis strategies.

Random programs are made by `tests.programs` from a row of choices, which a seed provides
(`program_from_seed`, fast, for long runs) or hypothesis (`programs`): then every choice is a draw
of its own and 0 is the simplest, so that a failing program shrinks by whole statements and
operands, to a few lines. Drawing costs a few milliseconds for each program, as much as running it.
"""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from hybridjit.ir import expr as ir
from hybridjit.ir.dtype import BOOL
from hybridjit.ir.expr import Const, Expr, Var
from tests.programs import types as ty
from tests.programs.data import edge_values, random_array
from tests.programs.kinds import WILD
from tests.programs.program import Program, make_program
from tests.support.choices import drawn

INT_VARS = {name: Var(name) for name in "abc"}
BOOL_VARS = {name: Var(name, BOOL) for name in "pq"}

_INT_BINARY = (
    *(ir.Add, ir.Sub, ir.Mul, ir.FloorDiv, ir.Mod, ir.Pow, ir.Min, ir.Max),
    *(ir.BitAnd, ir.BitOr, ir.BitXor, ir.ShiftLeft, ir.ShiftRight),
)
_COMPARE = (ir.Eq, ir.Ne, ir.Lt, ir.Le, ir.Gt, ir.Ge)
_LOGICAL = (ir.And, ir.Or, ir.Eq, ir.BitXor)


@st.composite
def int_exprs(draw: st.DrawFn, depth: int = 4) -> Expr:
    """An int64 expression over INT_VARS and BOOL_VARS, with every operator that int64 has."""

    def operand() -> Expr:
        return draw(int_exprs(depth - 1))

    match draw(st.sampled_from(("leaf", "sign", "binary", "select") if depth else ("leaf",))):
        case "sign":
            value = operand()
            negated = draw(st.sampled_from((ir.Neg, ir.Invert)))
            return value if isinstance(value, Const) else negated(value)
        case "binary":
            return draw(st.sampled_from(_INT_BINARY))(operand(), operand())
        case "select":
            return ir.Select(draw(bool_exprs(depth - 1)), operand(), operand())
        case _:
            return draw(st.sampled_from((*INT_VARS.values(), Const(-2), Const(0), Const(3))))


@st.composite
def bool_exprs(draw: st.DrawFn, depth: int = 4) -> Expr:
    """A bool expression over INT_VARS and BOOL_VARS."""
    match draw(st.sampled_from(("leaf", "not", "logical", "compare") if depth else ("leaf",))):
        case "not":
            return ir.Not(draw(bool_exprs(depth - 1)))
        case "logical":
            lhs, rhs = draw(bool_exprs(depth - 1)), draw(bool_exprs(depth - 1))
            return draw(st.sampled_from(_LOGICAL))(lhs, rhs)
        case "compare":
            lhs, rhs = draw(int_exprs(depth - 1)), draw(int_exprs(depth - 1))
            return draw(st.sampled_from(_COMPARE))(lhs, rhs)
        case _:
            return draw(st.sampled_from(tuple(BOOL_VARS.values())))


# -- data ------------------------------------------------------------------------------------------

# Sizes that break things: none, one, odd, and past a vector of eight.
SIZES = (1, 0, 3, 2, 5, 9)


def dtypes() -> st.SearchStrategy[np.dtype[Any]]:
    """Every element type of the language."""
    return st.sampled_from(ty.TYPED).map(ty.numpy_dtype)


def shapes(max_rank: int = 3) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of few elements, empty ones among them."""
    return st.lists(st.sampled_from(SIZES), max_size=max_rank).map(tuple)


def scalars(dtype: np.dtype[Any]) -> st.SearchStrategy[Any]:
    """NumPy scalars of a type, the edges of its range among them."""
    return st.sampled_from(edge_values(dtype)).map(dtype.type)


@st.composite
def arrays(
    draw: st.DrawFn, dtype: np.dtype[Any] | None = None, shape: tuple[int, ...] | None = None
) -> NDArray[Any]:
    """Arrays of edge values in every layout: C, F, reversed, strided, inside a larger block."""
    kind = draw(dtypes()) if dtype is None else dtype
    size = draw(shapes()) if shape is None else shape
    return random_array(drawn(draw), kind, size)


@st.composite
def overlapping_views(draw: st.DrawFn) -> NDArray[Any]:
    """Small arrays of any strides into one piece of memory: many meet themselves, some do not."""
    rank = draw(st.integers(0, 3))
    shape = draw(st.lists(st.integers(0, 4), min_size=rank, max_size=rank))
    strides = draw(st.lists(st.integers(-12, 12), min_size=rank, max_size=rank))
    dtype = np.dtype(draw(st.sampled_from(("int8", "int16", "int32"))))
    memory = np.zeros(256, np.int8)
    return np.ndarray(tuple(shape), dtype, memory.data, 120, tuple(strides))


# -- programs --------------------------------------------------------------------------------------


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """A script and arguments for it; every index is in bounds."""
    return make_program(drawn(draw))


@st.composite
def wild_programs(draw: st.DrawFn) -> Program:
    """A script some of whose indices may be negative, depend on data or be out of bounds."""
    return make_program(drawn(draw), WILD)
