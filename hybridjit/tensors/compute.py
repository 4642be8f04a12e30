"""placeholder, var, compute: tensors that are passed in, and tensors made element by element."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, cast

from hybridjit.config import api_edge
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.dtype import FLOAT32, INT64, DType, ScalarType
from hybridjit.ir.expr import Const, Expr, Load, Node, Var
from hybridjit.ir.expr import const as make_const
from hybridjit.ir.printer import format_expr
from hybridjit.ir.visit import walk
from hybridjit.scalars.conversion import store_value
from hybridjit.scalars.scalar import Scalar
from hybridjit.tensors.expression import Expression, as_scalar, dtype_of, name_of
from hybridjit.tensors.intrinsic_calls import IntrinsicCall
from hybridjit.tensors.reduction import Reduction
from hybridjit.tensors.sizes import same_size
from hybridjit.tensors.tags import current_tag
from hybridjit.tensors.tensor import (
    Axis,
    AxisKind,
    Compute,
    Operation,
    Placeholder,
    Tensor,
    TensorBuffer,
    TensorizedAxes,
    index_expr,
)

_SEQUENCE: tuple[type[Any], ...] = (tuple, list)
Shape = int | Expression | Sequence[Any]
# One for each number of axes: so type checkers know the parameters of lambdas.
Body = (
    Callable[[], Any]
    | Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any], Any]
)


@api_edge
def var(name: str = "n", dtype: object = "int64") -> Expression:
    """A number that is known when the program runs: a size, or a scalar argument."""
    wanted = dtype_of(dtype)
    variable = Var(name_of(name, "a variable"), wanted)
    return Expression(Scalar(variable, ScalarType(wanted, weak=wanted is INT64)))


@api_edge
def size_var(name: str = "n", dtype: object = "int64") -> Expression:
    """A size, which is not negative."""
    return var(name, dtype)


@api_edge
def const(value: Any, dtype: object = None) -> Expression:
    """A number of a given type; without one, a Python number, which gives way to typed ones."""
    if dtype is None:
        return Expression(as_scalar(value))
    wanted = dtype_of(dtype)
    return Expression(Scalar(make_const(value, wanted), ScalarType(wanted)))


@api_edge
def placeholder(shape: Shape, dtype: object = None, name: str = "placeholder") -> Tensor:
    """A tensor that is passed in. Its type is float32 unless it is given."""
    op = Placeholder(name_of(name, "a tensor"), "", {})
    wanted = FLOAT32 if dtype is None else dtype_of(dtype)
    return make_outputs(op, [name], [wanted], as_shape(shape))[0]


@api_edge
def reduce_axis(dom: Any, name: str = "rv", thread_tag: str | None = None) -> Axis:
    """An axis to reduce over, from `dom[0]` up to, not including, `dom[1]`."""
    if not isinstance(dom, (tuple, list)) or len(cast("Sequence[Any]", dom)) != 2:
        raise ArgumentError(
            f"a reduce_axis needs a start and a stop, got {dom!r}", help="as in reduce_axis((0, n))"
        )
    start, stop = (index_expr(bound) for bound in cast("Sequence[Any]", dom))
    return Axis(Var(name_of(name, "an axis")), start, stop, AxisKind.REDUCE, thread_tag)


@api_edge
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
    label = name_of(name or tag, "an axis")
    return Axis(Var(label), start, stop, AxisKind.THREAD, tag)


@api_edge
def compute(
    shape: Shape,
    fcompute: Body,
    name: str = "compute",
    tag: str = "",
    attrs: dict[str, Any] | None = None,
    varargs_names: Sequence[str] | None = None,
) -> Any:
    """A tensor each element of which is `fcompute` of its indices.

    `fcompute` is called once, with the axes; it returns an expression, a reduction such as
    te.sum(...), or a tuple of expressions, which makes a tuple of tensors. The axes have the names
    of its parameters; those of `*indices` have `varargs_names`, or are i0, i1 ...

    >>> B = te.compute((8,), lambda i: A[i] * 2, name="B")
    """
    name_of(name, "a tensor")
    extents = as_shape(shape)
    names, missing = axis_names(fcompute, len(extents), varargs_names)
    axes = tuple(
        Axis(Var(axis), Const(0), extent, AxisKind.DATA)
        for axis, extent in zip(names, extents, strict=True)
    )
    outer = len(axes) - missing
    result = cast("Callable[..., Any]", fcompute)(*axes[:outer])
    _check_rank(result, outer, missing, axes)
    is_tuple = isinstance(result, (tuple, list))
    body, intrinsic = _read(result, axes[outer:], is_tuple)
    inputs = find_inputs(exprs_of(body))
    op = Compute(name, choose_tag(tag), dict(attrs or {}), axes, body, inputs, intrinsic)
    dtypes = _dtypes_of(body)
    outputs = make_outputs(op, output_names(name, len(dtypes)), dtypes, extents)
    return tuple(outputs) if is_tuple or len(outputs) > 1 else outputs[0]


def _check_rank(result: object, given: int, missing: int, axes: Sequence[Axis]) -> None:
    """Without an intrinsic, the function takes an index for each dimension."""
    if not isinstance(result, IntrinsicCall):
        if missing:
            raise ArgumentValueError(_other_rank(given, len(axes)))
        return
    described = [axis.stop for axis in result.op.axis]
    wanted = [axis.stop for axis in axes[given:]]
    if missing != result.rank or not all(map(same_size, described, wanted)):
        raise ArgumentValueError(
            f"intrinsic '{result.name}' makes {_shape_text(described)}, the dimensions that "
            f"fcompute leaves to it are {_shape_text(wanted)}"
        )


def _shape_text(extents: Sequence[Expr]) -> str:
    return f"({', '.join(map(format_expr, extents))})"


def _read(
    result: Any, inner: tuple[Axis, ...], is_tuple: bool
) -> tuple[tuple[Scalar, ...] | Reduction, TensorizedAxes | None]:
    """What a compute does, and the intrinsic that was called for it."""
    if isinstance(result, Reduction):
        return result, None
    if not isinstance(result, IntrinsicCall):
        return _read_body(result, is_tuple), None
    body = result.body(inner)
    reduced = body.axes[len(result.around) :] if isinstance(body, Reduction) else ()
    return body, TensorizedAxes(result.name, (*inner, *reduced))


def _read_body(result: Any, is_tuple: bool) -> tuple[Scalar, ...]:
    values = cast("Sequence[Any]", result) if is_tuple else (result,)
    if len(values) == 0:
        raise ArgumentValueError("fcompute returned an empty tuple, which makes no tensor")
    scalars = map(as_scalar, values)
    return tuple(
        Scalar(store_value(scalar, scalar.type.dtype, None), ScalarType(scalar.type.dtype))
        for scalar in scalars
    )


def _dtypes_of(body: tuple[Scalar, ...] | Reduction) -> tuple[DType, ...]:
    if isinstance(body, Reduction):
        return body.dtypes
    return tuple(scalar.type.dtype for scalar in body)


def exprs_of(body: tuple[Scalar, ...] | Reduction) -> list[Expr]:
    """All expressions that a body evaluates."""
    if not isinstance(body, Reduction):
        return [scalar.expr for scalar in body]
    condition = [] if body.where is None else [body.where]
    bounds = [bound for axis in body.axes for bound in axis.dom]
    return [*body.sources, *body.init, *body.combined, *condition, *bounds]


def choose_tag(tag: str) -> str:
    """The tag that is given, or that of the `tag_scope` around."""
    scoped = current_tag()
    if tag and scoped:
        raise ArgumentValueError("a tag is given twice: by tag= and by te.tag_scope")
    return tag or scoped


def output_names(name: str, count: int) -> list[str]:
    """The names of the tensors of an operation."""
    return [name] if count == 1 else [f"{name}_v{place}" for place in range(count)]


def make_outputs(
    op: Operation, names: Sequence[str], dtypes: Sequence[DType], shape: tuple[Expr, ...]
) -> list[Tensor]:
    """The tensors that `op` makes: after those that it has, more of one shape."""
    for name, dtype in zip(names, dtypes, strict=True):
        place = len(op.outputs)
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
    sizes = cast("Sequence[Any]", shape) if isinstance(shape, (tuple, list)) else (shape,)
    extents = tuple(map(index_expr, sizes))
    for extent in extents:
        if isinstance(extent, Const) and int(extent.value.real) < 0:
            raise ArgumentValueError(f"a size is not negative, found {extent.value}")
    return extents


def axis_names(
    fcompute: Callable[..., Any], rank: int, varargs_names: Sequence[str] | None
) -> tuple[list[str], int]:
    """Names of axes, and how many of them the function does not take.

    They are those of the parameters; of `*indices` those given, or i0, i1 ...
    """
    names, has_varargs = _parameter_names(fcompute)
    more = rank - len(names)
    if not has_varargs and more >= 0:
        return [*names, *(f"ax{place}" for place in range(more))], more
    if not has_varargs:
        raise ArgumentValueError(_other_rank(len(names), rank))
    if more < 0:
        raise ArgumentValueError(
            f"fcompute takes at least {_counted(len(names), 'index', 'indices')}, "
            f"the shape has {_counted(rank, 'dimension', 'dimensions')}"
        )
    if varargs_names is None:
        return [*names, *(f"i{place}" for place in range(more))], 0
    if len(varargs_names) != more:
        raise ArgumentValueError(
            f"varargs_names has {_counted(len(varargs_names), 'name', 'names')} for "
            f"{_counted(more, 'index', 'indices')}"
        )
    return [*names, *varargs_names], 0


def _other_rank(given: int, rank: int) -> str:
    return (
        f"fcompute takes {_counted(given, 'index', 'indices')}, "
        f"the shape has {_counted(rank, 'dimension', 'dimensions')}"
    )


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _parameter_names(fcompute: Callable[..., Any]) -> tuple[list[str], bool]:
    """The names of the positional parameters, and whether there is `*indices` besides."""
    names: list[str] = []
    has_varargs = False
    for parameter in inspect.signature(fcompute).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            has_varargs = True
        elif parameter.kind in (parameter.VAR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ArgumentError(
                f"fcompute takes indices by position, found the keyword '{parameter.name}'"
            )
        elif parameter.default is not parameter.empty:
            raise ArgumentError(
                f"fcompute takes indices, found the default of '{parameter.name}'",
                help="bind other values with a closure or functools.partial",
            )
        else:
            names.append(parameter.name)
    return names, has_varargs
