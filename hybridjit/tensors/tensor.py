"""Tensors, axes and the operations that make tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from hybridjit.arith.simplify import simplify
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.dtype import INT64, DType, ScalarType
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Var
from hybridjit.ir.printer import format_expr
from hybridjit.record import record
from hybridjit.scalars.conversion import convert
from hybridjit.scalars.scalar import Scalar, index
from hybridjit.tensors.expression import Expression, Operand, as_scalar

if TYPE_CHECKING:
    from hybridjit.tensors.reduction import Reduction


class Range(NamedTuple):
    """The values of an axis: the first, and the one after the last."""

    start: Expr
    stop: Expr

    @property
    def min(self) -> Any:
        """The first value: a number, or an expression."""
        return _size(self.start)

    @property
    def extent(self) -> Any:
        """How many values there are: a number, or an expression."""
        return _size(simplify(self.stop - self.start))


class AxisKind(Enum):
    """What an axis of an operation is."""

    DATA = "data"
    REDUCE = "reduce"
    SCAN = "scan"
    THREAD = "thread"


class Axis(Expression):
    """An axis of an operation; in expressions, its variable."""

    __slots__ = ("kind", "start", "stop", "thread", "var")

    def __init__(
        self, var: Var, start: Expr, stop: Expr, kind: AxisKind, thread: str | None = None
    ) -> None:
        super().__init__(index(var))
        self.var = var
        self.start = start
        self.stop = stop
        self.kind = kind
        self.thread = thread

    @property
    def name(self) -> str:
        """The name of the variable."""
        return self.var.name

    @property
    def dom(self) -> Range:
        """The values that it takes on."""
        return Range(self.start, self.stop)

    def __repr__(self) -> str:
        return f"te axis {self.name}"


@record(eq=False)
class Operation:
    """What makes one or more tensors out of others."""

    name: str
    tag: str
    attrs: dict[str, Any]
    outputs: list[Tensor] = field(default_factory=list["Tensor"], kw_only=True)

    @property
    def num_outputs(self) -> int:
        """How many tensors it makes."""
        return len(self.outputs)

    def output(self, place: int) -> Tensor:
        """One of the tensors that it makes."""
        return self.outputs[place]

    @property
    def input_tensors(self) -> list[Tensor]:
        """The tensors that it reads, each once."""
        raise NotImplementedError(type(self).__name__)

    @property
    def axis(self) -> tuple[Axis, ...]:
        """The axes of its outputs; of a script, its loops in the order of the text."""
        raise self._has_no("axis")

    @property
    def reduce_axis(self) -> tuple[Axis, ...]:
        """The axes that are reduced over."""
        raise self._has_no("reduce_axis")

    def _has_no(self, name: str) -> AttributeError:
        kind = type(self).__name__.lower()
        return AttributeError(f"the {kind} '{self.name}' has no {name}; a te.compute or script has")

    def __repr__(self) -> str:
        return f"te {type(self).__name__.lower()} {self.name}"


@record(eq=False, repr=False)
class Placeholder(Operation):
    """A tensor that is passed in."""

    @property
    def input_tensors(self) -> list[Tensor]:
        return []


@record(eq=False)
class TensorizedAxes:
    """The axes of a compute that the intrinsic called `name` runs over."""

    name: str
    axes: tuple[Axis, ...]


@record(eq=False, repr=False)
class Compute(Operation):
    """Every element of the outputs by an expression over `axes`, or by one reduction.

    `intrinsic` is the one that was called in its body, if it was one.
    """

    axes: tuple[Axis, ...]
    body: tuple[Scalar, ...] | Reduction
    inputs: list[Tensor]
    intrinsic: TensorizedAxes | None = None

    @property
    def axis(self) -> tuple[Axis, ...]:
        return self.axes

    @property
    def reduce_axis(self) -> tuple[Axis, ...]:
        return () if isinstance(self.body, tuple) else self.body.axes

    @property
    def input_tensors(self) -> list[Tensor]:
        return self.inputs


@record(eq=False)
class TensorBuffer(Buffer):
    """The buffer of a tensor: it knows which operation makes it, and as which of its outputs."""

    op: Operation = field(kw_only=True)
    place: int = field(kw_only=True)


class Tensor(Operand):
    """An array that an operation makes. `T[i, j]`, `T[i][j]` and `T(i, j)` are its elements.

    A tensor without dimensions stands for its only element, too.
    """

    __slots__ = ("buffer", "op", "value_index")

    def __init__(self, op: Operation, value_index: int, buffer: TensorBuffer) -> None:
        self.op = op
        self.value_index = value_index
        self.buffer = buffer

    @property
    def name(self) -> str:
        """The name of the operation; of its outputs, if there are several."""
        return self.buffer.name

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self.buffer.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.buffer.ndim

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes: numbers, or expressions."""
        return tuple(_size(extent) for extent in self.buffer.shape)

    def __getitem__(self, indices: Any) -> Any:
        return _index(self, (), indices)

    def __call__(self, *indices: Any) -> Any:
        return _index(self, (), indices)

    @property
    def scalar(self) -> Scalar:
        if self.ndim > 0:
            raise ArgumentError(
                f"the tensor '{self.name}' has {self.ndim} dimensions, and a te expression is made "
                "of elements",
                help=f"index it, as in {self.name}[{', '.join('ijkl'[: self.ndim])}]",
            )
        return element(self, ())

    def __eq__(self, other: object) -> bool:
        """Whether both are the same tensor."""
        if self is not other and isinstance(other, Tensor) and self.ndim == other.ndim == 0:
            raise ArgumentValueError(
                f"'{self.name} == {other.name}' may mean the tensors or their elements",
                help=f"write {self.name}[()] == {other.name}[()], or {self.name} is {other.name}",
            )
        return self is other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        sizes = ", ".join(format_expr(extent) for extent in self.buffer.shape)
        return f"tensor {self.name}: {self.dtype}[{sizes}]"


class TensorPart(Operand):
    """`T[i]` of `T[i][j]`: a tensor with some of its indices given."""

    __slots__ = ("indices", "tensor")

    def __init__(self, tensor: Tensor, indices: tuple[Expr, ...]) -> None:
        self.tensor = tensor
        self.indices = indices

    @property
    def scalar(self) -> Scalar:
        found = len(self.indices)
        raise ArgumentValueError(
            f"tensor '{self.tensor.name}' has {self.tensor.ndim} dimensions, found {found} "
            f"{'index' if found == 1 else 'indices'}"
        )

    def __getitem__(self, indices: Any) -> Any:
        return _index(self.tensor, self.indices, indices)

    def __repr__(self) -> str:
        return f"part of tensor {self.tensor.name}"


class TensorSlice:
    """A part of a tensor, as an intrinsic takes it: `A[i, 0:16]`.

    It begins at `starts` and has `extents` elements; None where it stays at the start.
    """

    __slots__ = ("extents", "starts", "tensor")

    def __init__(
        self, tensor: Tensor, starts: Sequence[Expr], extents: Sequence[Expr | None]
    ) -> None:
        self.tensor = tensor
        self.starts = tuple(starts)
        self.extents = tuple(extents)

    def indices(self, inside: Sequence[Expr]) -> tuple[Expr, ...]:
        """Where an element of the part is in the tensor."""
        rest = iter(inside)
        return tuple(
            start if extent is None else start + next(rest)
            for start, extent in zip(self.starts, self.extents, strict=True)
        )

    def __repr__(self) -> str:
        return f"part of tensor {self.tensor.name}"


def _slice(tensor: Tensor, items: Sequence[Any]) -> TensorSlice:
    if len(items) != tensor.ndim:
        raise ArgumentValueError(
            f"a part of tensor '{tensor.name}' needs {tensor.ndim} entries, found {len(items)}"
        )
    starts: list[Expr] = []
    extents: list[Expr | None] = []
    for item, size in zip(items, tensor.buffer.shape, strict=True):
        entry: Any = item
        if not isinstance(item, slice):
            starts.append(index_expr(entry))
            extents.append(None)
            continue
        if entry.step not in (None, 1):
            raise ArgumentValueError(f"a part of tensor '{tensor.name}' has no steps")
        start = Const(0) if entry.start is None else index_expr(entry.start)
        stop = size if entry.stop is None else index_expr(entry.stop)
        starts.append(start)
        extents.append(simplify(stop - start))
    return TensorSlice(tensor, starts, extents)


def _size(extent: Expr) -> Any:
    return extent.value if isinstance(extent, Const) else Expression(index(extent))


def _index(tensor: Tensor, given: tuple[Expr, ...], indices: Any) -> Any:
    items: Sequence[Any] = (
        cast("Sequence[Any]", indices) if isinstance(indices, (tuple, list)) else (indices,)
    )
    if any(isinstance(item, slice) for item in items):
        return _slice(tensor, [*(Expression(index(expr)) for expr in given), *items])
    found = (*given, *(index_expr(item) for item in items))
    if len(found) > tensor.ndim:
        raise ArgumentValueError(
            f"tensor '{tensor.name}' has {tensor.ndim} dimensions, found {len(found)} indices"
        )
    if len(found) < tensor.ndim:
        return TensorPart(tensor, found)
    return Expression(element(tensor, found))


def element(tensor: Tensor, indices: tuple[Expr, ...]) -> Scalar:
    """The element of a tensor at `indices`, one for each dimension."""
    placed = tuple(map(_from_start, indices, tensor.buffer.shape))
    return Scalar(Load(tensor.buffer, placed), ScalarType(tensor.dtype))


def _from_start(position: Expr, extent: Expr) -> Expr:
    """A constant index, counted from the start."""
    match position, extent:
        case Const(int(offset)), Const(int(size)) if -size <= offset < 0:
            return Const(size + offset)
        case _:
            return position


def index_expr(value: object) -> Expr:
    """`value` as an index or a size: an int64."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    scalar = as_scalar(value)
    if not scalar.type.dtype.is_integer:
        raise ArgumentError(
            f"an index or a size must be an integer, found {scalar.type}",
            help='convert it, as in x.astype("int64")',
        )
    return convert(scalar, INT64, None)


def operations_of(tensors: Sequence[Tensor]) -> list[Operation]:
    """The operations that `tensors` are made by, directly or not, each after its inputs."""
    order: dict[Operation, None] = {}
    stack: list[tuple[Operation, bool]] = [(tensor.op, False) for tensor in reversed(tensors)]
    while stack:
        op, is_ready = stack.pop()
        if op in order:
            continue
        if is_ready:
            order[op] = None
            continue
        stack.append((op, True))
        stack += [(tensor.op, False) for tensor in reversed(op.input_tensors)]
    return list(order)
