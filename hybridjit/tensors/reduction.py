"""Reductions: sum, min, max and others over axes, at the top of a compute."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any, cast

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.dtype import BOOL, DType, ScalarType
from hybridjit.ir.expr import And, Const, Expr, Max, Min, Or, Var, const
from hybridjit.ir.visit import walk
from hybridjit.record import record
from hybridjit.scalars.comparisons import extremum
from hybridjit.scalars.conversion import store_value
from hybridjit.scalars.functions import apply
from hybridjit.scalars.operators import conjunction
from hybridjit.scalars.scalar import Scalar
from hybridjit.scalars.style import Style
from hybridjit.tensors.expression import (
    Expression,
    Operand,
    as_condition,
    as_expression,
    as_scalar,
    condition,
    dtype_of,
    name_of,
)
from hybridjit.tensors.mixed_types import meet
from hybridjit.tensors.tensor import Axis, AxisKind

Combine = Callable[[Any, Any], Any]
Identity = Callable[..., Any]


@record(eq=False)
class Reduction(Operand):
    """`sources` combined over `axes`, where `where` holds; starts with `init`.

    `left` and `right` are the variables of `combined`, the results of one step. `identity` is
    what changes nothing, which `init` is unless it was given.
    """

    name: str
    sources: tuple[Expr, ...]
    axes: tuple[Axis, ...]
    where: Expr | None
    init: tuple[Expr, ...]
    left: tuple[Var, ...]
    right: tuple[Var, ...]
    combined: tuple[Expr, ...]
    identity: tuple[Expr, ...]

    @property
    def dtypes(self) -> tuple[DType, ...]:
        """The types of the results."""
        return tuple(source.dtype for source in self.sources)

    @property
    def scalar(self) -> Scalar:
        raise ArgumentError(
            f"te.{self.name} must be the whole body of a te.compute",
            help="make a tensor of the reduction, and use its elements in another te.compute; "
            "te.comm_reducer reduces to several values at once",
        )


class Reducer:
    """A commutative reducer: `reducer(expr, axis=k)`, or `reducer(a, b, c)` to combine values."""

    def __init__(
        self,
        combine: Combine,
        identity: Identity,
        name: str,
        read: Callable[[object], Expression] = as_expression,
    ) -> None:
        self.combine = combine
        self.identity = identity
        self.name = name
        self.read = read  # how a value that is reduced is understood

    def __repr__(self) -> str:
        return f"te reducer {self.name}"

    def __call__(
        self,
        *values: Any,
        axis: Any = None,
        where: Any = None,
        init: Any = None,
    ) -> Any:
        """The reduction of a value over `axis`; without an axis, the values combined at once."""
        if axis is None and len(values) == 2 and is_axes(values[1]):
            values, axis = values[:1], values[1]
        if axis is None:
            return self._direct(values)
        if len(values) != 1:
            raise ArgumentError(
                f"te.{self.name} over an axis takes one value, found {len(values)}",
                help="reduce several values as a tuple, with a te.comm_reducer of tuples",
            )
        axes = tuple(cast("Sequence[Any]", axis)) if isinstance(axis, (tuple, list)) else (axis,)
        self._check_axes(axes)
        return self._reduce(values[0], axes, where, init)

    def _direct(self, values: Sequence[Any]) -> Any:
        if not values:
            raise ArgumentError(f"te.{self.name} needs values, or a value and an axis")
        result, *others = map(self._read, values)
        for value in others:
            result = self.combine(result, value)
        return result

    def _read(self, value: Any) -> Any:
        """What is combined: a value, or a tuple of values."""
        if isinstance(value, tuple):
            return tuple(self.read(item) for item in cast("Sequence[Any]", value))
        return self.read(value)

    def _check_axes(self, axes: tuple[Any, ...]) -> None:
        for axis in axes:
            if not isinstance(axis, Axis) or axis.kind is not AxisKind.REDUCE:
                raise ArgumentError(
                    f"te.{self.name} reduces over axes made with te.reduce_axis, got {axis!r}"
                )
        if len(axes) == 0:
            raise ArgumentValueError(
                f"te.{self.name} needs an axis to reduce over",
                help=f"as in te.{self.name}(A[i, k], axis=k), with k = te.reduce_axis((0, n))",
            )
        if len({axis.var for axis in axes}) < len(axes):
            raise ArgumentValueError(f"te.{self.name} names an axis twice")
        for place, axis in enumerate(axes):
            later = {other.var for other in axes[place:]}
            if builtins.any(node in later for bound in axis.dom for node in walk(bound)):
                raise ArgumentValueError(
                    f"te.{self.name}: the range of '{axis.name}' depends on an axis that is named "
                    "after it",
                    help="name the outer axis first, as in axis=[outer, inner]",
                )

    def _reduce(self, expr: Any, axes: tuple[Any, ...], where: Any, init: Any) -> Reduction:
        is_tuple = isinstance(expr, (tuple, list))
        sources = [self.read(item) for item in _results(expr, is_tuple)]
        types = [source.dtype for source in sources]
        left = tuple(Var(f"x{k}", dtype) for k, dtype in enumerate(types))
        right = tuple(Var(f"y{k}", dtype) for k, dtype in enumerate(types))
        step = self.combine(_operands(left, is_tuple), _operands(right, is_tuple))
        combined = self._checked("results of combine", _results(step, is_tuple), types)
        identity = self._checked("starting values", self._identity(types, is_tuple), types)
        start = identity
        if init is not None:
            given = _results(init, isinstance(init, (tuple, list)))
            start = self._checked("starting values", given, types)
        self._check_start(start, axes)
        return Reduction(
            self.name,
            tuple(source.expr for source in sources),
            axes,
            None if where is None else as_condition(where),
            start,
            left,
            right,
            combined,
            identity,
        )

    def _identity(self, types: Sequence[DType], is_tuple: bool) -> list[Any]:
        return _results(self.identity(*(dtype.name for dtype in types)), is_tuple)

    def _checked(self, what: str, values: list[Any], types: list[DType]) -> tuple[Expr, ...]:
        """The values as what is stored in elements of `types`."""
        if len(values) != len(types):
            raise ArgumentValueError(
                f"te.{self.name}: found {len(values)} {what} for {len(types)} values"
            )
        return tuple(
            store_value(as_scalar(value), dtype, None)
            for value, dtype in zip(values, types, strict=True)
        )

    def _check_start(self, start: Sequence[Expr], axes: Sequence[Axis]) -> None:
        reduced = {axis.var for axis in axes}
        for node in (node for expr in start for node in walk(expr)):
            if node in reduced:
                raise ArgumentValueError(
                    f"te.{self.name}: the starting value depends on a reduced axis"
                )


def is_axes(value: Any) -> bool:
    """Whether `value` is a reduced axis, or some of them."""
    if isinstance(value, (tuple, list)):
        items = cast("Sequence[Any]", value)
        return bool(items) and builtins.all(map(is_axes, items))
    return isinstance(value, Axis) and value.kind is AxisKind.REDUCE


def _operands(variables: Sequence[Var], is_tuple: bool) -> Any:
    values = [Expression(Scalar(var, ScalarType(var.of))) for var in variables]
    return tuple(values) if is_tuple else values[0]


def _results(value: Any, is_tuple: bool) -> list[Any]:
    if is_tuple and isinstance(value, (tuple, list)):
        return list(cast("Sequence[Any]", value))
    return [value]


def comm_reducer(combine: Combine, identity: Identity, name: str = "reduce") -> Reducer:
    """A reducer of your own: `combine(x, y)` of two values, or of two tuples of values.

    `identity(dtype)` gives what changes nothing; with tuples it is given one dtype for each. Values
    may be combined in any order and grouping: that this changes nothing is taken on trust where
    rfactor uses it. An argmax has to compare the places of equal values, too.
    """
    return Reducer(combine, identity, name_of(name, "a reducer"))


def min_value(dtype: str) -> Expression:
    """The smallest value of a type."""
    return _limit(dtype, lowest=True)


def max_value(dtype: str) -> Expression:
    """The largest value of a type."""
    return _limit(dtype, lowest=False)


def _limit(name: str, *, lowest: bool) -> Expression:
    dtype = dtype_of(name)
    if dtype is BOOL:
        value = Const(not lowest, BOOL)
    elif dtype.is_integer:
        value = Const(dtype.bounds[0 if lowest else 1], dtype)
    else:
        value = const(float("-inf") if lowest else float("inf"), dtype)
    return Expression(Scalar(value, ScalarType(dtype)))


def _sum(x: Any, y: Any) -> Any:
    return x + y


def _product(x: Any, y: Any) -> Any:
    return x * y


def _smaller(x: Any, y: Any) -> Expression:
    return _extremum(Min, "minimum", as_scalar(x), as_scalar(y))


def _larger(x: Any, y: Any) -> Expression:
    return _extremum(Max, "maximum", as_scalar(x), as_scalar(y))


def _extremum(op: type[Min] | type[Max], function: str, x: Scalar, y: Scalar) -> Expression:
    """As NumPy does it: of floats, NaN is the extremum. Of integers, it may be an index."""
    x, y = meet([x, y])
    if x.type.dtype.is_float or y.type.dtype.is_float:
        return Expression(apply(function, Style.LANGUAGE, [x, y], None))
    return Expression(extremum(op, x, y, None))


def _zero(dtype: str) -> int:
    return 0


def _one(dtype: str) -> int:
    return 1


def _false(dtype: str) -> bool:
    return False


def _true(dtype: str) -> bool:
    return True


def _both(x: Expression, y: Expression) -> Expression:
    return condition(conjunction(And, x.expr, y.expr, None))


def _either(x: Expression, y: Expression) -> Expression:
    return condition(conjunction(Or, x.expr, y.expr, None))


def _read_condition(value: object) -> Expression:
    return condition(as_condition(value))


sum = Reducer(_sum, _zero, "sum")
prod = Reducer(_product, _one, "prod")
min = Reducer(_smaller, max_value, "min")
max = Reducer(_larger, min_value, "max")
all = Reducer(_both, _true, "all", _read_condition)
any = Reducer(_either, _false, "any", _read_condition)
