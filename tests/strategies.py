"""The home of all hypothesis strategies."""

from hypothesis import strategies as st

from hybridjit.ir import expr as ir
from hybridjit.ir.dtype import BOOL
from hybridjit.ir.expr import Const, Expr, Var

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
