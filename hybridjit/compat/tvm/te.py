"""`tvm.te`: tensor expressions, and `te.hybrid`.

What has no type of its own where a tensor is made of it, as the value of an axis has none, is an
int32 or a float32, as in TVM.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

from hybridjit import hybrid
from hybridjit import te as _te
from hybridjit.compat.tvm.constants import const as const
from hybridjit.compat.tvm.ir import Function, as_function
from hybridjit.errors import ArgumentError
from hybridjit.ir.dtype import FLOAT32, FLOAT64, INT32, INT64
from hybridjit.ir.expr import Const, ExternCall
from hybridjit.ir.fastmath import read_fastmath
from hybridjit.ir.stmt import Evaluate
from hybridjit.schedule.classic.inspection import made_by
from hybridjit.schedule.classic.schedule import ClassicSchedule
from hybridjit.schedule.classic.schedule import create_schedule as _create_schedule
from hybridjit.schedule.classic.stage import Stage
from hybridjit.schedule.classic.steps import Fuse, Split
from hybridjit.tensors.expression import Expression, as_expression, name_of
from hybridjit.tensors.function import MAIN
from hybridjit.tensors.inlined import Extern as ExternOp
from hybridjit.tensors.inlined import Hybrid as HybridOp
from hybridjit.tensors.intrinsic_calls import IntrinsicCall
from hybridjit.tensors.mixed_types import integers_give_way
from hybridjit.tensors.reduction import Reducer, Reduction, is_axes
from hybridjit.tensors.scan import Scan as ScanOp
from hybridjit.tensors.tensor import Compute as ComputeOp
from hybridjit.tensors.tensor import Operation, Tensor
from hybridjit.tensors.tensor import Placeholder as PlaceholderOp
from hybridjit.tir import call_packed

__all__ = [
    "ComputeOp",
    "ExternOp",
    "HybridOp",
    "PlaceholderOp",
    "ScanOp",
    "Schedule",
    "TensorComputeOp",
    "comm_reducer",
    "compute",
    "const",
    "create_prim_func",
    "create_schedule",
    "div",
    "hybrid",
    "round",
    "schedule",
    "tensor",
    "typed",
]

_SEQUENCE: tuple[type[Any], ...] = (tuple, list)
_LEAST, _MOST = INT32.bounds


class TensorComputeOp:
    """A compute whose body is a call of an intrinsic: here, a compute like all others."""


class Schedule(ClassicSchedule):
    """A schedule of tensors: `rfactor`, and other orders of reduced axes, may round otherwise."""

    @property
    def outputs(self) -> Any:
        """The operations that the schedule was made for."""
        return tuple(dict.fromkeys(tensor.op for tensor in self.graph.outputs))

    def rfactor(self, tensor: Any, axis: Any, factor_axis: int = 0) -> Any:
        """Give each value of a reduced axis a partial result, and combine these; gives them."""
        self._allow_any_order()
        return super().rfactor(tensor, axis, factor_axis)

    def settle(self) -> Schedule:
        """The schedule, which may round sums otherwise if it adds them in another order."""
        if not all(map(_keeps_order, self.stages)):
            self._allow_any_order()
        return self

    def _allow_any_order(self) -> None:
        self.fastmath = read_fastmath({*self.fastmath, "reassoc"})

    def _repr_html_(self) -> str:
        self.settle()
        shown = ClassicSchedule(self.graph.outputs, self.fastmath)
        shown.__dict__.update(self.__dict__)
        return shown._repr_html_()  # pyright: ignore[reportPrivateUsage]


def _keeps_order(stage: Stage) -> bool:
    """Whether the reduced axes run in the order in which the operation has them."""
    if not isinstance(stage.op, ComputeOp):
        return True
    wanted = [axis.var for axis in stage.op.reduce_axis]
    for relation in stage.relations:
        old = relation.parts if isinstance(relation, Fuse) else (relation.axis,)
        places = [wanted.index(axis.var) for axis in old if axis.var in wanted]
        if places:
            wanted[places[0] : places[-1] + 1] = [axis.var for axis in made_by(relation)]
    return wanted == [axis.var for axis in stage.leaf_iter_vars if axis.var in wanted]


def create_schedule(ops: Any, *, fastmath: Any = False) -> Schedule:
    """A schedule of the tensors that `ops` make, without steps; `fastmath` is that of hybridjit."""
    made = _create_schedule(ops, fastmath=fastmath)
    return Schedule(made.outputs, made.fastmath)


def create_prim_func(args: Any, name: str = MAIN) -> Function:
    """The function that computes the tensors in `args` which are not placeholders."""
    return as_function(_te.create_prim_func(args, name))


def compute(shape: Any, fcompute: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A tensor each element of which is `fcompute` of its indices."""

    @wraps(fcompute)
    def element(*indices: Any) -> Any:
        with integers_give_way(FLOAT32):
            return typed(fcompute(*indices))

    return _te.compute(shape, element, *args, **kwargs)


def typed(value: Any) -> Any:
    """A value, or a tuple of them, with the type that TVM gives it."""
    if isinstance(value, _SEQUENCE):
        return tuple(typed(item) for item in value)
    if isinstance(value, Reduction | IntrinsicCall):
        return value
    if isinstance(value, Evaluate):
        return _packed_value(value)
    found = as_expression(value)
    if not found.scalar.type.weak:
        return found
    match found.expr, found.dtype:
        case Const(int(number)), _ if not _LEAST <= number <= _MOST:
            return found
        case _, kind if kind is INT64 or kind is FLOAT64:
            return found.astype(INT32 if kind is INT64 else FLOAT32)
        case _:
            return found


def _packed_value(call: Evaluate) -> Any:
    """What a packed function gives where a value is needed: an int32, as in TVM."""
    match call.value:
        case ExternCall(callee, args) if callee.is_packed:
            return call_packed(callee.call, *map(as_expression, args), dtype=INT32)
        case _:
            raise ArgumentError("a call of a C function without a result has no value")


class TypedReducer(Reducer):
    """A reducer of values that have the types of TVM."""

    def __call__(self, *values: Any, axis: Any = None, where: Any = None, init: Any = None) -> Any:
        """The reduction of a value over `axis`; without an axis, the values combined at once."""
        if axis is not None or any(map(is_axes, values[1:])):
            values = (typed(values[0]), *values[1:])
        return super().__call__(*values, axis=axis, where=where, init=init)


def comm_reducer(combine: Any, identity: Any, name: str = "reduce") -> TypedReducer:
    """A reducer of your own: see te.comm_reducer."""
    return TypedReducer(combine, identity, name_of(name, "a reducer"))


def _as_typed(reducer: Reducer) -> TypedReducer:
    return TypedReducer(reducer.combine, reducer.identity, reducer.name, reducer.read)


_REDUCERS = {name: _as_typed(getattr(_te, name)) for name in ("sum", "prod", "min", "max")}


def div(x: Any, y: Any) -> Expression:
    """x / y; of integers, rounded towards zero."""
    a, b = as_expression(x), as_expression(y)
    are_integers = a.dtype.is_integer and b.dtype.is_integer
    return _te.truncdiv(a, b) if are_integers else a / b


def round(x: Any) -> Expression:
    """The nearest integer, halves away from zero; `nearbyint` has them to even."""
    value = as_expression(x)
    if not value.dtype.is_float:
        return value
    whole = _te.trunc(value)
    is_near = _te.abs(value - whole) < 0.5
    return _te.if_then_else(is_near, whole, whole + _te.copysign(_te.const(1, value.dtype), value))


def __getattr__(name: str) -> Any:
    if name in _REDUCERS:
        return _REDUCERS[name]
    try:
        return getattr(_te, name)
    except AttributeError:
        raise AttributeError(f"te has no {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*__all__, *_REDUCERS, *dir(_te)})


schedule = ModuleType("tvm.te.schedule")
schedule.__dict__.update(
    {name: step for name, step in vars(_te.schedule).items() if name.startswith("AutoInline")},
    Schedule=Schedule,
    Stage=Stage,
    Split=Split,
    Fuse=Fuse,
    create_schedule=create_schedule,
)
tensor = ModuleType("tvm.te.tensor")
tensor.__dict__.update(
    Tensor=Tensor,
    Operation=Operation,
    PlaceholderOp=PlaceholderOp,
    ComputeOp=ComputeOp,
    TensorComputeOp=TensorComputeOp,
    ScanOp=ScanOp,
    ExternOp=ExternOp,
    HybridOp=HybridOp,
)
