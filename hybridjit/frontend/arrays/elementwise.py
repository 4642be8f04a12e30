"""Operations on whole arrays, element by element, with the shapes that NumPy gives them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from hybridjit.arith.ranges import ONE, ZERO, constant
from hybridjit.errors import BoundsError, ShapeMismatch
from hybridjit.frontend.arrays.memory import elements_of, whole
from hybridjit.frontend.arrays.same_values import prove_same
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.values import AnyArray, ArrayExpr, GrowingList, Items, Mask, Value
from hybridjit.ir.dtype import DType, ScalarType
from hybridjit.ir.expr import And, Cast, Const, Eq, Expr, Lt, Ne, Node, Select, Var
from hybridjit.ir.stmt import If, Let, Raise
from hybridjit.ir.texts import text_of
from hybridjit.ir.visit import rewrite, walk
from hybridjit.record import record
from hybridjit.scalars.scalar import Scalar

Elementwise = Callable[[list[Scalar]], Scalar]


@record
class _Stretch:
    """How one axis of an operand follows the axis of the result: as it is, or always at 0.

    Where that is known only at run time, `size` is the operand's.
    """

    axis: int
    is_one: bool = False
    size: Expr | None = None

    def index(self, indices: Sequence[Expr]) -> Expr:
        """The operand's index."""
        if self.is_one:
            return ZERO
        if self.size is None:
            return indices[self.axis]
        return Select(Eq(self.size, ONE), ZERO, indices[self.axis])


def elementwise(
    build: Builder, values: Sequence[Value], function: Elementwise, node: ast.expr
) -> ArrayExpr | Scalar:
    """`function` of the elements of `values`: arrays, of which there is one, and numbers.

    Beside an array, a list is one too.
    """
    operands = [_operand(build, value, node) for value in values]
    arrays = [operand for operand in operands if isinstance(operand, ArrayExpr)]
    if not _share_a_mask(build, arrays):
        operands = [_without_mask(build, operand, node) for operand in operands]
        arrays = [operand for operand in operands if isinstance(operand, ArrayExpr)]
    mask = next((array.mask for array in arrays if array.mask is not None), None)
    shape = broadcast_shape(build, [array.shape for array in arrays], node)
    if not shape and mask is None:
        return function([_only(operand) for operand in operands])
    parts = [
        broadcast_to(build, operand, shape, node) if isinstance(operand, ArrayExpr) else operand
        for operand in operands
    ]

    made = _on_stand_ins(build, parts, function)
    fitting = _fitting_numbers(build, made, parts)

    def element(indices: Sequence[Expr]) -> Scalar:
        result = function(
            [part.element(indices) if isinstance(part, ArrayExpr) else part for part in parts]
        )
        return _with_fitting(result, fitting) if fitting else result

    return ArrayExpr(shape, made.type.dtype, element, mask=mask)


def _operand(build: Builder, value: Value, node: ast.expr) -> ArrayExpr | Scalar:
    """An array, or a number that is computed once, before the loop over the elements."""
    value = without_list(build, value, node)
    if isinstance(value, AnyArray):
        return elements_of(build, value)
    scalar = build.as_scalar(value, node)
    return build.let(scalar, "t", scalar.expr.span)


def without_list(build: Builder, value: Value, node: ast.expr) -> Value:
    """An operand; a list of numbers or arrays becomes the array that it stands for."""
    if not isinstance(value, (Items, GrowingList)):
        return value
    return build.language.array_of_items(build, value, node)


def _only(operand: ArrayExpr | Scalar) -> Scalar:
    return operand.element(()) if isinstance(operand, ArrayExpr) else operand


def _fitting_numbers(
    build: Builder, made: Scalar, parts: Sequence[ArrayExpr | Scalar]
) -> dict[tuple[Expr, DType], Expr]:
    """Python numbers as the elements' type has them, by number and type.

    Whether they fit is asked here, once: also where there is no element, and so that the loop over
    the elements has nothing in it that can fail.
    """
    numbers = [part.expr for part in parts if isinstance(part, Scalar)]
    fitting: dict[tuple[Expr, DType], Expr] = {}
    for node in walk(made.expr):
        if isinstance(node, Cast) and node.checked and node.value in numbers:
            fitted = build.let(Scalar(node, ScalarType(node.dtype)), "t", node.span)
            fitting[node.value, node.to] = fitted.expr
    return fitting


def _with_fitting(result: Scalar, fitting: Mapping[tuple[Expr, DType], Expr]) -> Scalar:
    def fitted(node: Node) -> Node | None:
        if isinstance(node, Cast) and node.checked:
            return fitting.get((node.value, node.to))
        return None

    return replace(result, expr=rewrite(result.expr, fitted))


def _on_stand_ins(
    build: Builder, parts: Sequence[ArrayExpr | Scalar], function: Elementwise
) -> Scalar:
    """The result for stand-ins, which has its type: the elements are not there yet."""
    with build.collect():
        stand_ins = [
            Scalar(Var("x", part.dtype), ScalarType(part.dtype))
            if isinstance(part, ArrayExpr)
            else part
            for part in parts
        ]
        return function(stand_ins)


def _share_a_mask(build: Builder, arrays: Sequence[ArrayExpr]) -> bool:
    """Whether all arrays are selected by one mask, or none by any."""
    masks = [array.mask for array in arrays if array.mask is not None]
    others = [array for array in arrays if array.mask is None and array.shape]
    return not masks or (not others and all(same_mask(build, mask, masks[0]) for mask in masks))


def _without_mask(
    build: Builder, operand: ArrayExpr | Scalar, node: ast.expr
) -> ArrayExpr | Scalar:
    """An operand as an array with a shape."""
    if isinstance(operand, Scalar):
        return operand
    return elements_of(build, whole(build, operand, build.span(node)))


def same_mask(build: Builder, a: Mask, b: Mask) -> bool:
    """True if two masks select the same elements."""
    if a is b:
        return True
    if (a.first, a.last) != (b.first, b.last):
        return False
    if len(a.shape) != len(b.shape) or not all(map(build.ranges.same, a.shape, b.shape)):
        return False
    indices = [Var(f"i{axis}") for axis in range(len(a.shape))]
    block = build.body
    with build.collect() as stmts:
        ours, theirs = (mask.element(indices).expr for mask in (a, b))
    if not all(isinstance(stmt, Let) for stmt in stmts):
        return False
    return prove_same(ours, theirs, build.unit.let_values, [*block, *stmts])


# broadcasting


def broadcast_shape(
    build: Builder, shapes: Sequence[tuple[Expr, ...]], node: ast.AST
) -> tuple[Expr, ...]:
    """The shape in which arrays meet."""
    ndim = max(map(len, shapes), default=0)
    result: list[Expr] = []
    for axis in range(ndim):
        sizes = [shape[axis - ndim] for shape in shapes if axis - ndim >= -len(shape)]
        result.append(_meeting_size(build, sizes, shapes, node))
    return tuple(result)


def _meeting_size(
    build: Builder, sizes: Sequence[Expr], shapes: Sequence[tuple[Expr, ...]], node: ast.AST
) -> Expr:
    distinct: list[Expr] = []
    for size in sizes:
        if constant(size) != 1 and not any(build.ranges.same(size, d) for d in distinct):
            distinct.append(size)
    if len(distinct) <= 1:
        return distinct[0] if distinct else ONE
    known = [size for size in distinct if isinstance(size, Const)]
    if len(known) > 1:
        raise refuse_shapes(build, shapes, node)
    if known:
        return known[0]
    size = distinct[0]
    for other in distinct[1:]:
        size = Select(Eq(size, ONE), other, size)
    return build.let(Scalar(size, ScalarType(size.dtype)), "size", build.span(node)).expr


def broadcast_to(
    build: Builder, value: ArrayExpr, shape: tuple[Expr, ...], node: ast.AST
) -> ArrayExpr:
    """`value` with the shape `shape`; a size known only at run time is checked there."""
    shift = len(shape) - len(value.shape)
    stretches: list[_Stretch] = []
    for axis, size in enumerate(value.shape):
        wanted = shape[axis + shift]
        if build.ranges.same(size, wanted):
            stretches.append(_Stretch(axis + shift))
        elif constant(size) == 1:
            stretches.append(_Stretch(axis + shift, is_one=True))
        elif isinstance(size, Const) and isinstance(wanted, Const):
            raise refuse_shapes(build, [value.shape, shape], node)
        else:
            stretches.append(_stretch_at_run_time(build, axis + shift, size, wanted, node))
    if not shift and all(s.size is None and not s.is_one for s in stretches):
        return value

    def element(indices: Sequence[Expr]) -> Scalar:
        return value.element([stretch.index(indices) for stretch in stretches])

    return ArrayExpr(shape, value.dtype, element, mask=value.mask)


def _stretch_at_run_time(
    build: Builder, axis: int, size: Expr, wanted: Expr, node: ast.AST
) -> _Stretch:
    require_size(build, size, wanted, node, or_one=True)
    return _Stretch(axis) if isinstance(size, Const) else _Stretch(axis, size=size)


def require_size(
    build: Builder,
    size: Expr,
    wanted: Expr,
    node: ast.AST,
    *,
    or_one: bool = False,
    error: str = "ValueError",
) -> None:
    """An error at run time unless two sizes are equal."""
    fails: Expr = Ne(size, wanted)
    if or_one and not isinstance(size, Const):
        fails = And(fails, Ne(size, ONE))
    shapes = f"the shapes in `{ast.unparse(node)}` do not fit: sizes "
    span, message = build.span(node), text_of(shapes, size, " and ", wanted)
    failure = Raise(error, message, is_text=True, span=span)
    build.emit(If(fails, failure, span=span))


def require_natural(build: Builder, size: Expr, node: ast.AST) -> None:
    """NumPy's error, at run time if it is not known before, for a size below zero."""
    if build.ranges.is_natural(size):
        return
    span = build.span(node)
    if isinstance(size, Const):
        raise ShapeMismatch(f"a size must not be negative, found {size.value}", span)
    message = ("negative dimensions are not allowed",)
    build.emit(If(Lt(size, ZERO), Raise("ValueError", message, span=span), span=span))


def refuse_shapes(build: Builder, shapes: Sequence[Sequence[Expr]], node: ast.AST) -> ShapeMismatch:
    """The error for arrays whose shapes do not fit."""
    found = " and ".join(shape_text(shape) for shape in shapes)
    return ShapeMismatch(
        f"operands could not be broadcast together: the shapes in `{ast.unparse(node)}` are "
        f"{found}",
        build.span(node),
    )


def refuse_mask(
    build: Builder, mask: Sequence[Expr], shape: Sequence[Expr], node: ast.AST
) -> BoundsError:
    """The error for a mask that does not fit what it selects from."""
    return BoundsError(
        f"the mask in `{ast.unparse(node)}` has the shape {shape_text(mask)}, what it selects "
        f"from {shape_text(shape)}",
        build.span(node),
    )


def shape_text(shape: Sequence[Expr]) -> str:
    """A shape as Python writes it; a size known only at run time by its name."""
    sizes = [str(constant(s)) if isinstance(s, Const) else getattr(s, "name", "?") for s in shape]
    return f"({', '.join(sizes)}{',' * (len(sizes) == 1)})"
