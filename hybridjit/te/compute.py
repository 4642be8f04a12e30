"""placeholder, var, compute: tensors that are passed in, and tensors made element by element."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, cast

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.frontend.conversion import store_value
from hybridjit.frontend.values import Scalar
from hybridjit.ir.dtype import FLOAT32, INT64, DType, ScalarType
from hybridjit.ir.expr import Const, Expr, Load, Node, Var
from hybridjit.ir.expr import const as make_const
from hybridjit.ir.visit import walk
from hybridjit.te.expression import Expression, as_scalar, dtype_of
from hybridjit.te.reduction import Reduction
from hybridjit.te.tags import current_tag
from hybridjit.te.tensor import (
    Axis,
    AxisKind,
    Compute,
    Operation,
    Placeholder,
    Tensor,
    TensorBuffer,
    index_expr,
)

_SEQUENCE: tuple[type[Any], ...] = (tuple, list)
Shape = int | Expression | Sequence[Any]


def var(name: str = "n", dtype: object = "int64") -> Expression:
    """A number that is known when the program runs: a size, or a scalar argument."""
    wanted = dtype_of(dtype)
    variable = Var(name, wanted)
    return Expression(Scalar(variable, ScalarType(wanted, weak=wanted is INT64)))


def size_var(name: str = "n", dtype: object = "int64") -> Expression:
    """A size, which is not negative."""
    return var(name, dtype)


def const(value: Any, dtype: object = None) -> Expression:
    """A number of a given type; without one, a Python number, which gives way to typed ones."""
    if dtype is None:
        return Expression(as_scalar(value))
    wanted = dtype_of(dtype)
    return Expression(Scalar(make_const(value, wanted), ScalarType(wanted)))


def placeholder(shape: Shape, dtype: object = None, name: str = "placeholder") -> Tensor:
    """A tensor that is passed in. Its type is float32 unless it is given."""
    op = Placeholder(name, "", {})
    wanted = FLOAT32 if dtype is None else dtype_of(dtype)
    return make_outputs(op, [name], [wanted], as_shape(shape))[0]


def reduce_axis(dom: Sequence[Any], name: str = "rv", thread_tag: str | None = None) -> Axis:
    """An axis to reduce over, from `dom[0]` up to, not including, `dom[1]`."""
    start, stop = (index_expr(bound) for bound in dom)
    return Axis(Var(name), start, stop, AxisKind.REDUCE, thread_tag)


def thread_axis(dom: Any = None, tag: str = "", name: str = "") -> Axis:
    """A thread axis, such as te.thread_axis("threadIdx.x") or te.thread_axis((0, 8), "vthread")."""
    if isinstance(dom, str):
        dom, tag = None, dom
    if not tag:
        raise ArgumentValueError(
            "a thread axis needs a tag", help='as in thread_axis("threadIdx.x")'
        )
    bounds: Any = (0, 0) if dom is None else dom if isinstance(dom, _SEQUENCE) else (0, dom)
    start, stop = (index_expr(bound) for bound in bounds)
    return Axis(Var(name or tag), start, stop, AxisKind.THREAD, tag)


def compute(
    shape: Shape,
    fcompute: Callable[..., Any],
    name: str = "compute",
    tag: str = "",
    attrs: dict[str, Any] | None = None,
) -> Any:
    """A tensor each element of which is `fcompute` of its indices.

    `fcompute` is called once, with the axes; it returns an expression, a reduction such as
    te.sum(...), or a tuple of expressions, which makes a tuple of tensors.

    >>> B = te.compute((8,), lambda i: A[i] * 2, name="B")
    """
    extents = as_shape(shape)
    axes = tuple(
        Axis(Var(axis), Const(0), extent, AxisKind.DATA)
        for axis, extent in zip(_axis_names(fcompute, len(extents)), extents, strict=True)
    )
    result = fcompute(*axes)
    if isinstance(result, Reduction):
        return _make_reduction(result, axes, extents, (name, tag, attrs))
    several = isinstance(result, (tuple, list))
    values = [
        as_scalar(value) for value in (cast("Sequence[Any]", result) if several else (result,))
    ]
    dtypes = [value.type.dtype for value in values]
    body = tuple(
        Scalar(store_value(value, dtype, None), ScalarType(dtype))
        for value, dtype in zip(values, dtypes, strict=True)
    )
    inputs = find_inputs([scalar.expr for scalar in body])
    op = Compute(name, _tag(tag), dict(attrs or {}), axes, body, inputs)
    outputs = make_outputs(op, _output_names(name, len(body)), dtypes, extents)
    return tuple(outputs) if several else outputs[0]


def _make_reduction(
    reduction: Reduction,
    axes: tuple[Axis, ...],
    extents: tuple[Expr, ...],
    options: tuple[str, str, dict[str, Any] | None],
) -> Any:
    name, tag, attrs = options
    exprs = [*reduction.sources, *reduction.init, *reduction.combined]
    exprs += [] if reduction.where is None else [reduction.where]
    bounds = [bound for axis in reduction.axes for bound in axis.dom]
    op = Compute(
        name, _tag(tag), dict(attrs or {}), axes, reduction, find_inputs([*exprs, *bounds])
    )
    count = len(reduction.sources)
    outputs = make_outputs(op, _output_names(name, count), reduction.dtypes, extents)
    return tuple(outputs) if count > 1 else outputs[0]


def _tag(tag: str) -> str:
    scoped = current_tag()
    if tag and scoped:
        raise ArgumentValueError("a tag is given twice: by tag= and by te.tag_scope")
    return tag or scoped


def _output_names(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}_v{place}" for place in range(count)]


def make_outputs(
    op: Operation, names: Sequence[str], dtypes: Sequence[DType], shape: tuple[Expr, ...]
) -> list[Tensor]:
    """The tensors that `op` makes, all of one shape."""
    for place, (name, dtype) in enumerate(zip(names, dtypes, strict=True)):
        buffer = TensorBuffer(name, dtype, shape, op=op, place=place)
        op.outputs.append(Tensor(op, place, buffer))
    return op.outputs


def find_inputs(exprs: Sequence[Expr]) -> list[Tensor]:
    """The tensors that expressions read, each once, in the order they are met."""
    nodes: list[Node] = [node for expr in exprs for node in walk(expr)]
    return list(
        dict.fromkeys(
            node.buffer.op.outputs[node.buffer.place]
            for node in nodes
            if isinstance(node, Load) and isinstance(node.buffer, TensorBuffer)
        )
    )


def as_shape(shape: Any) -> tuple[Expr, ...]:
    """A shape as it is given: one size, or a sequence of sizes."""
    if isinstance(shape, (tuple, list)):
        return tuple(index_expr(extent) for extent in cast("Sequence[Any]", shape))
    return (index_expr(shape),)


def _axis_names(fcompute: Callable[..., Any], rank: int) -> list[str]:
    """Names of axes: those of the parameters; i0, i1 ... for *indices."""
    parameters = list(inspect.signature(fcompute).parameters.values())
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ArgumentError(f"fcompute takes indices, found the keyword '{parameter.name}'")
    names = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]
    if len(names) < len(parameters):
        return [*names, *(f"i{place}" for place in range(rank - len(names)))]
    if len(names) != rank:
        raise ArgumentValueError(
            f"fcompute takes {len(names)} indices ({', '.join(names)}), the shape has {rank} "
            "dimensions"
        )
    return names
