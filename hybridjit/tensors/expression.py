"""Expressions over tensors: what the body of a `te.compute` is made of.

An `Expression` holds an expression of the IR and its type; operators mean what they mean in a
script, types included: a Python number gives way to a typed operand.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from hybridjit.errors import ArgumentError
from hybridjit.ir import expr as ir
from hybridjit.ir.dtype import BOOL, DTYPES, INT64, DType, ScalarType
from hybridjit.ir.expr import Binary, Compare, Expr
from hybridjit.ir.printer import format_expr
from hybridjit.ir.visit import walk
from hybridjit.lazy import lazy_module
from hybridjit.scalars.builtins import find_element_type
from hybridjit.scalars.comparisons import compare
from hybridjit.scalars.conversion import store_value, truth
from hybridjit.scalars.functions import apply
from hybridjit.scalars.operators import binary, unary
from hybridjit.scalars.scalar import Scalar, index, lift_number
from hybridjit.scalars.style import Style
from hybridjit.tensors.mixed_types import meet

if TYPE_CHECKING:
    from hybridjit.tensors import whole_tensors
else:
    whole_tensors = lazy_module("hybridjit.tensors.whole_tensors")


class Operand:
    """What arithmetic can be done with. Some kinds have no value, and say so in `scalar`."""

    __slots__ = ()
    # By this attribute a script that is called knows us, without loading te for other calls.
    __te_operand__ = True
    # Python would count the indices of a tensor up, without an end.
    __iter__ = None

    @property
    def scalar(self) -> Scalar:
        """The value, with the type that says how it meets other values."""
        raise NotImplementedError(type(self).__name__)

    def astype(self, dtype: object) -> Expression:
        """The value converted to `dtype`, as NumPy's astype does."""
        if _is_whole(self):
            return whole_tensors.convert(self, dtype)
        wanted = dtype_of(dtype)
        return Expression(Scalar(_cast(self.scalar, wanted), ScalarType(wanted)))

    def __add__(self, other: object) -> Expression:
        return _binary(ir.Add, self, other)

    def __radd__(self, other: object) -> Expression:
        return _binary(ir.Add, other, self)

    def __sub__(self, other: object) -> Expression:
        return _binary(ir.Sub, self, other)

    def __rsub__(self, other: object) -> Expression:
        return _binary(ir.Sub, other, self)

    def __mul__(self, other: object) -> Expression:
        return _binary(ir.Mul, self, other)

    def __rmul__(self, other: object) -> Expression:
        return _binary(ir.Mul, other, self)

    def __truediv__(self, other: object) -> Expression:
        return _binary(ir.Div, self, other)

    def __rtruediv__(self, other: object) -> Expression:
        return _binary(ir.Div, other, self)

    def __floordiv__(self, other: object) -> Expression:
        return _binary(ir.FloorDiv, self, other)

    def __rfloordiv__(self, other: object) -> Expression:
        return _binary(ir.FloorDiv, other, self)

    def __mod__(self, other: object) -> Expression:
        return _binary(ir.Mod, self, other)

    def __rmod__(self, other: object) -> Expression:
        return _binary(ir.Mod, other, self)

    def __pow__(self, other: object) -> Expression:
        return _binary(ir.Pow, self, other)

    def __rpow__(self, other: object) -> Expression:
        return _binary(ir.Pow, other, self)

    def __and__(self, other: object) -> Expression:
        return _binary(ir.BitAnd, self, other)

    def __rand__(self, other: object) -> Expression:
        return _binary(ir.BitAnd, other, self)

    def __or__(self, other: object) -> Expression:
        return _binary(ir.BitOr, self, other)

    def __ror__(self, other: object) -> Expression:
        return _binary(ir.BitOr, other, self)

    def __xor__(self, other: object) -> Expression:
        return _binary(ir.BitXor, self, other)

    def __rxor__(self, other: object) -> Expression:
        return _binary(ir.BitXor, other, self)

    def __lshift__(self, other: object) -> Expression:
        return _binary(ir.ShiftLeft, self, other)

    def __rlshift__(self, other: object) -> Expression:
        return _binary(ir.ShiftLeft, other, self)

    def __rshift__(self, other: object) -> Expression:
        return _binary(ir.ShiftRight, self, other)

    def __rrshift__(self, other: object) -> Expression:
        return _binary(ir.ShiftRight, other, self)

    def __neg__(self) -> Expression:
        if _is_whole(self):
            return whole_tensors.negate(self)
        return Expression(unary(ast.USub(), self.scalar, None))

    def __pos__(self) -> Expression:
        return Expression(unary(ast.UAdd(), self.scalar, None))

    def __invert__(self) -> Expression:
        return Expression(unary(ast.Invert(), self.scalar, None))

    def __abs__(self) -> Expression:
        return Expression(apply("abs", Style.LANGUAGE, [self.scalar], None))

    def __lt__(self, other: object) -> Expression:
        return _compare(ir.Lt, self, other)

    def __le__(self, other: object) -> Expression:
        return _compare(ir.Le, self, other)

    def __gt__(self, other: object) -> Expression:
        return _compare(ir.Gt, self, other)

    def __ge__(self, other: object) -> Expression:
        return _compare(ir.Ge, self, other)

    def __eq__(self, other: object) -> Any:
        return _compare(ir.Eq, self, other)

    def __ne__(self, other: object) -> Any:
        return _compare(ir.Ne, self, other)

    def equal(self, other: object) -> Expression:
        """`==` of the values, which an `if` in Python cannot ask."""
        return Expression(as_expression(self == other).scalar)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise ArgumentError(
            "a te expression has no truth value: it is computed for every element",
            help="use te.if_then_else(cond, a, b), te.all(a, b) or te.any(a, b)",
        )


class Expression(Operand):
    """A value that is computed for every element: arithmetic on it builds a larger one."""

    __slots__ = ("_scalar",)

    def __init__(self, scalar: Scalar) -> None:
        self._scalar = scalar

    @property
    def scalar(self) -> Scalar:
        return self._scalar

    @property
    def expr(self) -> Expr:
        """The expression of the IR."""
        return self._scalar.expr

    @property
    def dtype(self) -> DType:
        """The type of the value."""
        return self._scalar.type.dtype

    @property
    def name(self) -> str:
        """The name of a te.var."""
        if not isinstance(self.expr, ir.Var):
            raise AttributeError(f"only a te.var has a name, this is {format_expr(self.expr)}")
        return self.expr.name

    def __repr__(self) -> str:
        return f"te expression {format_expr(self.expr)}"


class Equality(Expression):
    """`==` or `!=` of axes or sizes, which is also about what they are: `if axis == other:`."""

    __slots__ = ("_holds",)

    def __init__(self, scalar: Scalar, holds: bool) -> None:
        super().__init__(scalar)
        self._holds = holds

    def __bool__(self) -> bool:
        """Whether both are the same axis, or the same expression of sizes."""
        return self._holds


def _cast(scalar: Scalar, wanted: DType) -> Expr:
    """The value as `wanted`: constants are converted now, integers wrap."""
    typed = Scalar(scalar.expr, ScalarType(scalar.type.dtype))
    return scalar.expr if scalar.type.dtype is wanted else store_value(typed, wanted, None)


def _binary(op: type[Binary], lhs: object, rhs: object) -> Any:
    if _is_whole(lhs) or _is_whole(rhs):
        return whole_tensors.combine(op, lhs, rhs)
    left, right = meet([as_scalar(lhs), as_scalar(rhs)])
    return Expression(binary(op, left, right, None))


def _is_whole(value: object) -> bool:
    """Whether `value` is a tensor with dimensions."""
    return isinstance(value, Operand) and getattr(value, "ndim", 0) > 0


def _compare(op: type[Compare], lhs: object, rhs: object) -> Expression:
    left, right = as_scalar(lhs), as_scalar(rhs)
    made = compare(op, left, right, None)
    if op not in (ir.Eq, ir.Ne) or not (_is_index(left.expr) and _is_index(right.expr)):
        return Expression(made)
    return Equality(made, (left.expr == right.expr) is (op is ir.Eq))


def _is_index(expr: Expr) -> bool:
    """Whether `expr` is made of axes, sizes and numbers, not of elements."""
    return all(isinstance(node, ir.Var | ir.Const | Binary) for node in walk(expr))


def as_scalar(value: object) -> Scalar:
    """What an operand stands for: an expression, or a number."""
    if isinstance(value, Operand):
        return value.scalar
    if isinstance(value, Expr):  # the variable of an axis, `k.var`, and what is made of it
        return index(value) if value.dtype is INT64 else Scalar(value, ScalarType(value.dtype))
    lifted = lift_number(value)
    if lifted is None:
        raise ArgumentError(
            f"a te expression is made of tensor elements and numbers, got {value!r}",
            help="index tensors, as in A[i, j]",
        )
    return lifted


def as_expression(value: object) -> Expression:
    """`value` as an expression."""
    return value if isinstance(value, Expression) else Expression(as_scalar(value))


def as_condition(value: object) -> Expr:
    """`value` as a condition."""
    return truth(as_scalar(value), None)


def condition(expr: Expr) -> Expression:
    """The expression of a condition."""
    return Expression(Scalar(expr, ScalarType(BOOL)))


def dtype_of(value: object) -> DType:
    """The element type that `value` names: "float32", np.float32, hj.float32."""
    if isinstance(value, DType):
        return value
    found = DTYPES.get(value) if isinstance(value, str) else find_element_type(value)
    if found is None:
        raise ArgumentError(f"{value!r} is no element type", help='write it as in "float32"')
    return found


def name_of(value: object, what: str) -> str:
    """The name that is given to something: a text, for it is printed and compiled."""
    if not isinstance(value, str):
        raise ArgumentError(f"the name of {what} is a text, got {value!r}", help='as in name="n"')
    return value
