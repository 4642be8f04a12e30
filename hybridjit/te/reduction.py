"""Reductions: sum, min, max and others over axes, at the top of a compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.frontend.comparisons import extremum
from hybridjit.frontend.conversion import store_value
from hybridjit.frontend.values import Scalar
from hybridjit.ir.dtype import BOOL, DType, ScalarType
from hybridjit.ir.expr import Const, Expr, Max, Min, Var, const
from hybridjit.te.expression import (
    Expression,
    as_condition,
    as_expression,
    as_scalar,
    dtype_of,
)
from hybridjit.te.tensor import Axis, AxisKind

Combine = Callable[[Any, Any], Any]
Identity = Callable[..., Any]


@dataclass(frozen=True, slots=True, eq=False)
class Reduction:
    """`sources` combined over `axes`, where `where` holds; starts with `init`.

    `left` and `right` are the variables of `combined`, the results of one step. `value_index`
    says which of several results is meant.
    """

    name: str
    sources: tuple[Expr, ...]
    axes: tuple[Axis, ...]
    where: Expr | None
    init: tuple[Expr, ...]
    left: tuple[Var, ...]
    right: tuple[Var, ...]
    combined: tuple[Expr, ...]

    @property
    def dtypes(self) -> tuple[DType, ...]:
        """The types of the results."""
        return tuple(source.dtype for source in self.sources)

    def _refuse(self, *_: object) -> NoReturn:
        raise ArgumentError(
            f"te.{self.name} must be the whole body of a te.compute",
            help="make a tensor of the reduction, and use its elements in another te.compute",
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __pow__ = __neg__ = __lt__ = __gt__ = _refuse


class Reducer:
    """A commutative reducer: `reducer(expr, axis=k)`, or `reducer(a, b, c)` to combine values."""

    def __init__(self, combine: Combine, identity: Identity, name: str) -> None:
        self.combine = combine
        self.identity = identity
        self.name = name

    def __call__(
        self,
        expr: Any,
        *others: Any,
        axis: Any = None,
        where: Any = None,
        init: Any = None,
    ) -> Any:
        """The reduction of `expr` over `axis`; without an axis, the values combined at once."""
        if others and axis is None and _is_axes(others[0]):
            axis, others = others[0], others[1:]
        if axis is None:
            return self._direct((expr, *others))
        axes = tuple(cast("Sequence[Any]", axis)) if isinstance(axis, (tuple, list)) else (axis,)
        return self._reduce(expr, axes, where, init)

    def _direct(self, values: Sequence[Any]) -> Any:
        result = values[0]
        for value in values[1:]:
            result = self.combine(result, value)
        return result

    def _reduce(self, expr: Any, axes: tuple[Any, ...], where: Any, init: Any) -> Reduction:
        for axis in axes:
            if not isinstance(axis, Axis) or axis.kind is not AxisKind.REDUCE:
                raise ArgumentError(
                    f"te.{self.name} reduces over axes made with te.reduce_axis, got {axis!r}"
                )
        is_tuple = isinstance(expr, (tuple, list))
        sources = [as_expression(item) for item in _results(expr, is_tuple)]
        types = [source.dtype for source in sources]
        left = tuple(Var(f"x{k}", dtype) for k, dtype in enumerate(types))
        right = tuple(Var(f"y{k}", dtype) for k, dtype in enumerate(types))
        step = self.combine(_operands(left, is_tuple), _operands(right, is_tuple))
        start = self._start(types, is_tuple, init)
        return Reduction(
            self.name,
            tuple(source.expr for source in sources),
            axes,
            None if where is None else as_condition(where),
            tuple(_stored(value, dtype) for value, dtype in zip(start, types, strict=True)),
            left,
            right,
            tuple(_stored(v, d) for v, d in zip(_results(step, is_tuple), types, strict=True)),
        )

    def _start(self, types: Sequence[DType], is_tuple: bool, init: Any) -> list[Any]:
        if init is not None:
            values = _results(init, isinstance(init, (tuple, list)))
        else:
            values = _results(self.identity(*(dtype.name for dtype in types)), is_tuple)
        if len(values) != len(types):
            raise ArgumentValueError(
                f"te.{self.name}: {len(values)} starting values for {len(types)} results"
            )
        return values


def _is_axes(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        items = cast("Sequence[Any]", value)
        return bool(items) and all(map(_is_axes, items))
    return isinstance(value, Axis) and value.kind is AxisKind.REDUCE


def _operands(variables: Sequence[Var], is_tuple: bool) -> Any:
    values = [Expression(Scalar(var, ScalarType(var.of))) for var in variables]
    return tuple(values) if is_tuple else values[0]


def _results(value: Any, is_tuple: bool) -> list[Any]:
    return list(value) if is_tuple else [value]


def _stored(value: Any, dtype: DType) -> Expr:
    return store_value(as_scalar(value), dtype, None)


def comm_reducer(combine: Combine, identity: Identity, name: str = "reduce") -> Reducer:
    """A reducer of your own: `combine(x, y)` of two values, or of two tuples of values.

    `identity(dtype)` gives what changes nothing; with tuples it is given one dtype for each.
    """
    return Reducer(combine, identity, name)


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
    return Expression(extremum(Min, as_scalar(x), as_scalar(y), None))


def _larger(x: Any, y: Any) -> Expression:
    return Expression(extremum(Max, as_scalar(x), as_scalar(y), None))


def _zero(dtype: str) -> int:
    return 0


def _one(dtype: str) -> int:
    return 1


sum = Reducer(_sum, _zero, "sum")
prod = Reducer(_product, _one, "prod")
min = Reducer(_smaller, max_value, "min")
max = Reducer(_larger, min_value, "max")
