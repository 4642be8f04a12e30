"""Expressions. Together with stmt.py this is the reference of the language.

Expressions are immutable, typed and free of side effects except `ExternCall`. Operands of one
operator have the same dtype: conversions are explicit `Cast`s. Operands are evaluated left to
right; `And`, `Or` and `Select` evaluate only what they need. Equality is structural and ignores
spans, so expressions can be dictionary keys; a `Var` and a `Buffer` are equal only to themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar, cast

import numpy as np

from hybridjit.errors import Span
from hybridjit.ir.dtype import BOOL, INT64, DType
from hybridjit.ir.extern import Extern
from hybridjit.ir.intrinsics import INTRINSICS
from hybridjit.record import record


@record(eq=False)
class Node:
    """Anything in the tree. The span says which source text the node came from."""

    # eq=False above is load-bearing: an inherited __eq__ would compare no fields at all.
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


class Expr(Node):
    """A value. Arithmetic operators build IR; `==` compares trees, `eq(a, b)` builds a node."""

    # As with every node class that adds no fields: all methods are inherited.
    __slots__ = ()

    @property
    def dtype(self) -> DType:
        raise NotImplementedError(type(self).__name__)

    def __add__(self, other: Expr | int) -> Expr:
        return _operation(Add, self, other)

    def __radd__(self, other: int) -> Expr:
        return _operation(Add, self, other, is_reversed=True)

    def __sub__(self, other: Expr | int) -> Expr:
        return _operation(Sub, self, other)

    def __rsub__(self, other: int) -> Expr:
        return _operation(Sub, self, other, is_reversed=True)

    def __mul__(self, other: Expr | int) -> Expr:
        return _operation(Mul, self, other)

    def __rmul__(self, other: int) -> Expr:
        return _operation(Mul, self, other, is_reversed=True)

    def __floordiv__(self, other: Expr | int) -> Expr:
        return _operation(FloorDiv, self, other)

    def __mod__(self, other: Expr | int) -> Expr:
        return _operation(Mod, self, other)

    def __neg__(self) -> Expr:
        return Neg(self)


@record(eq=False)
class Const(Expr):
    """A literal of a given type. Equal when type and bit pattern are equal: 0.0 is not -0.0."""

    value: bool | int | float | complex
    of: DType = INT64

    @property
    def dtype(self) -> DType:
        return self.of

    @property
    def bits(self) -> bytes:
        """The value as the machine stores it."""
        return np.asarray(self.value).astype(self.of.numpy).tobytes()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Const) or self.of is not other.of:
            return False
        if self.of.is_inexact:
            return self.bits == other.bits
        return self.value == other.value

    def __hash__(self) -> int:
        return hash((self.of, self.value))


@record(eq=False)
class Var(Expr):
    """A name for one value: a loop variable, a `Let`, a scalar parameter, a dimension.

    Identity is the variable: two Vars called i are different. Each is bound exactly once.
    """

    name: str
    of: DType = INT64

    @property
    def dtype(self) -> DType:
        return self.of


@record
class Unary(Expr):
    """An operator with one operand, whose type is the type of the result."""

    value: Expr

    @property
    def dtype(self) -> DType:
        return self.value.dtype


class Neg(Unary):
    """-x. Integers wrap: the negation of the smallest is itself."""

    __slots__ = ()


class Invert(Unary):
    """~x on integers: every bit flipped."""

    __slots__ = ()


class Not(Unary):
    """not x, on bool."""

    __slots__ = ()


@record
class Binary(Expr):
    """An operator whose two operands have the same type."""

    lhs: Expr
    rhs: Expr

    @property
    def dtype(self) -> DType:
        return self.lhs.dtype


class Add(Binary):
    """x + y. Integers wrap in two's complement, as in Sub and Mul."""

    __slots__ = ()


class Sub(Binary):
    """x - y."""

    __slots__ = ()


class Mul(Binary):
    """x * y."""

    __slots__ = ()


class Div(Binary):
    """x / y on float and complex, IEEE: division by zero gives an infinity or NaN."""

    __slots__ = ()


class FloorDiv(Binary):
    """x // y, rounded towards minus infinity. Integers: y = 0 is an error, MIN // -1 is MIN."""

    __slots__ = ()


class Mod(Binary):
    """x % y with the sign of y, the remainder of FloorDiv. Integers: y = 0 is an error."""

    __slots__ = ()


class Pow(Binary):
    """x ** y. Integers wrap, and a negative exponent is an error."""

    __slots__ = ()


class Min(Binary):
    """Python's min(x, y): y if y < x else x. So NaN in x stays, NaN in y loses."""

    __slots__ = ()


class Max(Binary):
    """Python's max(x, y): y if y > x else x."""

    __slots__ = ()


class BitAnd(Binary):
    """x & y on integers and bool, as BitOr and BitXor."""

    __slots__ = ()


class BitOr(Binary):
    """x | y."""

    __slots__ = ()


class BitXor(Binary):
    """x ^ y."""

    __slots__ = ()


class ShiftLeft(Binary):
    """x << y; 0 when y is negative or at least the width."""

    __slots__ = ()


class ShiftRight(Binary):
    """x >> y, arithmetic on signed types; by the width or more (or negative): 0, or -1 if x < 0."""

    __slots__ = ()


class Compare(Binary):
    """A comparison of two values of the same type; the result is bool. IEEE on NaN."""

    __slots__ = ()

    @property
    def dtype(self) -> DType:
        return BOOL


class Eq(Compare):
    """x == y."""

    __slots__ = ()


class Ne(Compare):
    """x != y."""

    __slots__ = ()


class Lt(Compare):
    """x < y, not on complex; so are Le, Gt and Ge."""

    __slots__ = ()


class Le(Compare):
    """x <= y."""

    __slots__ = ()


class Gt(Compare):
    """x > y."""

    __slots__ = ()


class Ge(Compare):
    """x >= y."""

    __slots__ = ()


class And(Binary):
    """x and y, on bool. y is not evaluated when x is false."""

    __slots__ = ()


class Or(Binary):
    """x or y, on bool. y is not evaluated when x is true."""

    __slots__ = ()


@record
class Select(Expr):
    """`then` if `cond` else `otherwise`. Only the chosen side is evaluated."""

    cond: Expr
    then: Expr
    otherwise: Expr

    @property
    def dtype(self) -> DType:
        return self.then.dtype


@record
class Cast(Expr):
    """`value` converted to type `to`.

    Integers wrap; float to integer truncates and saturates, NaN gives 0; anything to bool is
    `value != 0`; complex to real drops the imaginary part. A *checked* cast, integer to integer,
    is an OverflowError where the value does not fit: how NumPy converts a Python int.
    """

    to: DType
    value: Expr
    checked: bool = False

    @property
    def dtype(self) -> DType:
        return self.to


@record(eq=False)
class Buffer:
    """An array in memory: a parameter, an output, a constant, or scratch made by `Allocate`.

    Identity is the buffer. `scope` says where it lives: "global" is main memory, "local" and
    "shared" are TVM's, "register" is a scalar variable (no dimensions, read by its bare name).

    A "growing" one is made without elements, and gets them from `Reserve`. Its first axis has no
    end that would be known: `MANY` stands for it. No index is checked along that axis, and none is
    negative: who emits an access knows that the element was reserved.
    """

    REGISTER: ClassVar[str] = "register"
    GROWING: ClassVar[str] = "growing"
    MANY: ClassVar[int] = 1 << 40

    name: str
    dtype: DType
    shape: tuple[Expr, ...]
    scope: str = "global"

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def is_register(self) -> bool:
        return self.scope == Buffer.REGISTER

    @property
    def is_growing(self) -> bool:
        return self.scope == Buffer.GROWING


@record
class Load(Expr):
    """The element of `buffer` at `indices` (int64, one per dimension).

    A negative index counts from the end, as in NumPy; one outside [-n, n) is an IndexError.
    """

    buffer: Buffer
    indices: tuple[Expr, ...] = ()

    @property
    def dtype(self) -> DType:
        return self.buffer.dtype


@record
class Bounded(Expr):
    """An index into an axis of size `extent`, checked when it is evaluated.

    A negative index counts from the end; one outside [-extent, extent) is an IndexError that
    names `buffer` and `axis`. Lowering puts one around every index that it cannot prove, and
    from then on the indices of `Load` and `Store` are inside [0, n).
    """

    index: Expr
    extent: Expr
    buffer: str
    axis: int

    @property
    def dtype(self) -> DType:
        return INT64


@record
class Call(Expr):
    """A pure function of ir/intrinsics.py applied to arguments of one type."""

    name: str
    args: tuple[Expr, ...]

    @property
    def dtype(self) -> DType:
        return INTRINSICS[self.name].result_dtype(self.args[0].dtype)


@record
class BufferRef(Expr):
    """A buffer, or a part of one, as an argument of an `ExternCall`; a whole one in a `Return`.

    A part begins at the element at `starts` and has `extents` elements along each dimension. Where
    the extent is None, the part stays at the start, which is an index as in a `Load`, and has no
    such dimension. Elsewhere, a part that is not inside its buffer is an IndexError.
    """

    buffer: Buffer
    starts: tuple[Expr, ...] = ()
    extents: tuple[Expr | None, ...] = ()

    @property
    def shape(self) -> tuple[Expr, ...]:
        """The sizes of what is passed."""
        if not self.starts:
            return self.buffer.shape
        return tuple(extent for extent in self.extents if extent is not None)

    @property
    def dtype(self) -> DType:
        return self.buffer.dtype


@record(eq=False)
class ExternCall(Expr):
    """A call of a C function or of a Python callback. May read and write the buffers it is given.

    Has effects: it is never repeated or dropped, moved only if the callee is reentrant, and each
    call is equal only to itself.
    A callee without a result may only stand in an `Evaluate`.
    """

    callee: Extern
    args: tuple[Expr, ...]

    @property
    def dtype(self) -> DType:
        return self.callee.result if self.callee.result is not None else INT64


def _operation(
    make: Callable[[Expr, Expr], Expr], own: Expr, other: Any, *, is_reversed: bool = False
) -> Expr:
    """What an operator of Python makes; what is no number may know what to make of us."""
    if not isinstance(other, Expr | int | float | complex | np.generic):
        return NotImplemented
    operand = other if isinstance(other, Expr) else Const(cast(Any, other), own.dtype)
    return make(operand, own) if is_reversed else make(own, operand)


def const(value: Any, dtype: DType = INT64) -> Const:
    """A constant of type `dtype`, its value rounded to what that type can hold."""
    if dtype.is_bool:
        return Const(bool(value), dtype)
    if dtype.is_integer:
        return Const(int(value), dtype)
    with np.errstate(all="ignore"):
        rounded = (
            np.asarray(value)
            .astype(dtype.numpy)
            .astype(np.complex128 if dtype.is_complex else np.float64)
        )
    return Const(rounded.item(), dtype)
