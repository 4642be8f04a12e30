"""The elements of arrays in another arrangement: repeated, rolled, taken by their indices."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hybridjit.arith.ranges import ONE, constant, minus, plus, tidy
from hybridjit.errors import ShapeMismatch
from hybridjit.frontend.arrays.axes import with_axis
from hybridjit.frontend.arrays.calls import computed
from hybridjit.frontend.arrays.creation import evaluate_array
from hybridjit.frontend.arrays.elementwise import (
    broadcast_to,
    refuse_shapes,
    require_natural,
    without_list,
)
from hybridjit.frontend.arrays.gather import array_part
from hybridjit.frontend.arrays.memory import elements_of, evaluate_all, fixed_index, whole
from hybridjit.frontend.arrays.shapes import axes_argument, product_of_sizes, reshape
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import arguments, shape_argument
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    Callee,
    ElementType,
    GrowingList,
    Items,
    PythonType,
    Value,
    View,
    describe,
)
from hybridjit.ir.dtype import DType, ScalarType
from hybridjit.ir.expr import Buffer, Const, Expr, FloorDiv, Lt, Mod
from hybridjit.ir.stmt import If, Raise
from hybridjit.lazy import lazy_module
from hybridjit.scalars.conversion import join_types
from hybridjit.scalars.scalar import Scalar

if TYPE_CHECKING:
    from hybridjit.frontend.library import selection as library_selection
else:
    library_selection = lazy_module("hybridjit.frontend.library.selection")

IndexMap = Callable[[Expr], Expr]


# elements named by a rule


def repeat(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.repeat(a, n, axis)`: each element n times, or as often as an array says."""
    args = arguments(build, node, "a", "repeats", "axis", required=2)
    often = build.evaluate(args["repeats"])
    if isinstance(often, (AnyArray, Items, GrowingList)):
        return build.language.inline(build, Callee(library_selection.repeat_each), node)
    owner, axis = along(build, args, node)
    times_each = _repetitions(build, often, args["repeats"])
    require_natural(build, times_each, node)
    size = product_of_sizes(build, (owner.shape[axis], times_each), node)
    return _renamed(build, owner, axis, size, lambda at: tidy(FloorDiv(at, times_each)))


def tile(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.tile(a, reps)`: the array several times along each axis."""
    args = arguments(build, node, "A", "reps", required=2)
    result = evaluate_array(build, args["A"])
    value = build.evaluate(args["reps"])
    counts = value.items if isinstance(value, Items) else (value,)
    while len(result.shape) < len(counts):
        result = with_axis(build, result, 0, node)
    first = len(result.shape) - len(counts)
    for axis, count in enumerate(counts, first):
        number = fixed_index(
            build, build.as_index(build.as_scalar(count, node), args["reps"], "reps")
        )
        require_natural(build, number, node)
        old = result.shape[axis]
        size = product_of_sizes(build, (old, number), node)
        result = _renamed(build, result, axis, size, lambda at, size=old: tidy(Mod(at, size)))
    return result


def roll(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.roll(a, shift, axis)`: what leaves at one end comes in at the other."""
    args = arguments(build, node, "a", "shift", "axis", required=2)
    owner = evaluate_array(build, args["a"])
    value = build.evaluate(args["shift"])
    shifts = [
        fixed_index(build, build.as_index(build.as_scalar(item, node), args["shift"], "shift"))
        for item in (value.items if isinstance(value, Items) else (value,))
    ]
    axes = axes_argument(build, args.get("axis"), len(owner.shape))
    if axes is None:
        rolled, _ = along(build, args, node)
        for shift in shifts:
            rolled = _rolled(build, rolled, 0, shift)
        return reshape(build, rolled, owner.shape, node)
    count = max(len(shifts), len(axes))
    shifts, axes = shifts * (count // len(shifts)), axes * (count // len(axes))
    if len(shifts) != len(axes):
        raise build.mismatch("`shift` and `axis` of np.roll must go together", node)
    for axis, shift in zip(axes, shifts, strict=True):
        owner = _rolled(build, owner, axis, shift)
    return owner


def _rolled(build: Builder, owner: AnyArray, axis: int, shift: Expr) -> ArrayExpr:
    size = owner.shape[axis]
    return _renamed(build, owner, axis, size, lambda at: tidy(Mod(minus(at, shift), size)))


def take(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.take(a, indices, axis)`."""
    args = arguments(build, node, "a", "indices", "axis", required=2)
    owner, axis = along(build, args, node)
    everything = ast.copy_location(ast.Slice(None, None, None), node)
    entries = [everything] * axis + [args["indices"]]
    subscript = ast.Subscript(args["a"], ast.Tuple(entries, ast.Load()), ast.Load())
    found = array_part(build, owner, ast.fix_missing_locations(ast.copy_location(subscript, node)))
    return computed(build, found) if isinstance(found, AnyArray) else found


def broadcast(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.broadcast_to(a, shape)`."""
    args = arguments(build, node, "array", "shape", required=2)
    array = as_array(build, build.evaluate(args["array"]), node)
    value = elements_of(build, array)
    shape = tuple(fixed_index(build, size) for size in shape_argument(build, args["shape"]))
    for size in shape:
        require_natural(build, size, node)
    if len(value.shape) > len(shape):
        raise refuse_shapes(build, [value.shape, shape], node)
    found = broadcast_to(build, value, shape, node)
    return replace(found, buffer=None, part_of=_memory_of(array))


def _memory_of(array: AnyArray) -> Buffer | None:
    """What a part of an array would show, if the array is one in memory."""
    is_computed = isinstance(array, ArrayExpr)
    return array.shown or array.part_of if is_computed else array.buffer


def slide(build: Builder, name: str, node: ast.Call) -> Value:
    """`sliding_window_view(a, shape, axis)`: the windows at all places, their axes the last ones.

    out[i, k] = a[i + k]
    """
    args = arguments(build, node, "x", "window_shape", "axis", required=2)
    array = as_array(build, build.evaluate(args["x"]), node)
    value = elements_of(build, array)
    ndim = len(value.shape)
    window = [fixed_index(build, size) for size in shape_argument(build, args["window_shape"])]
    found = axes_argument(build, args.get("axis"), ndim)
    axes = tuple(range(ndim)) if found is None else found
    if len(window) != len(axes):
        raise build.mismatch("a window has a size for each of the axes it slides along", node)
    places = list(value.shape)
    for axis, size in zip(axes, window, strict=True):
        require_natural(build, size, node)
        places[axis] = minus(places[axis], minus(size, ONE))
        _require_place(build, places[axis], node)

    def element(indices: Sequence[Expr]) -> Scalar:
        at = list(indices[:ndim])
        for axis, offset in zip(axes, indices[ndim:], strict=True):
            at[axis] = plus(at[axis], offset)
        return value.element(at)

    made = ArrayExpr((*places, *window), value.dtype, element)
    return replace(made, part_of=_memory_of(array))


def _require_place(build: Builder, places: Expr, node: ast.Call) -> None:
    """NumPy's error for a window that is larger than the array."""
    if build.ranges.is_at_most(ONE, places):
        return
    span, message = build.span(node), "window shape cannot be larger than input array shape"
    if constant(places) is not None:
        raise ShapeMismatch(message, span)
    failure = Raise("ValueError", (message,), span=span)
    build.emit(If(Lt(places, ONE), failure, span=span))


def along(build: Builder, args: dict[str, ast.expr], node: ast.Call) -> tuple[AnyArray, int]:
    """The array and the axis of a function that takes the flat array if none is given."""
    owner = evaluate_array(build, args["a"])
    axes = axes_argument(build, args.get("axis"), len(owner.shape))
    if axes:
        return owner, axes[0]
    flat = reshape(build, owner, (Const(-1),), node)
    assert isinstance(flat, AnyArray)
    return flat, 0


def as_array(build: Builder, value: Value, node: ast.expr) -> AnyArray:
    """An array; a list becomes one, and a number one without dimensions.

    The types of arrays are not weak: of a Python int it is an array of int64.
    """
    value = without_list(build, value, node)
    if isinstance(value, AnyArray):
        return whole(build, value, build.span(node))
    number = build.as_scalar(value, node, "an array")
    element = Scalar(number.expr, ScalarType(number.type.dtype))
    return ArrayExpr((), element.type.dtype, lambda _: element)


def _repetitions(build: Builder, value: Value, node: ast.expr) -> Expr:
    return fixed_index(build, build.as_index(build.as_scalar(value, node), node, "repeats"))


def _renamed(build: Builder, owner: AnyArray, axis: int, size: Expr, rule: IndexMap) -> ArrayExpr:
    """The array whose element `i` along an axis is element `rule(i)` of another."""
    source = elements_of(build, owner)

    def element(indices: Sequence[Expr]) -> Scalar:
        return source.element([*indices[:axis], rule(indices[axis]), *indices[axis + 1 :]])

    shape = (*source.shape[:axis], size, *source.shape[axis + 1 :])
    return ArrayExpr(shape, source.dtype, element)


# types


def result_type(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.result_type(a, b, np.float64)`: the type in which they meet."""
    nodes = [arg.value if isinstance(arg, ast.Starred) else arg for arg in node.args]
    found: list[ScalarType] = []
    for arg, value in zip(node.args, evaluate_all(build, nodes), strict=True):
        if isinstance(arg, ast.Starred) and isinstance(value, Items):
            found += [_type_of(build, item, node) for item in value.items]
        else:
            found.append(_type_of(build, value, node))
    result = found[0]
    for type in found[1:]:
        result = join_types(result, type, build.span(node))
    return ElementType(result.dtype)


def _type_of(build: Builder, value: Value, node: ast.Call) -> ScalarType:
    match value:
        case Scalar(_, type):
            return type
        case ElementType(dtype):
            return ScalarType(dtype)
        case PythonType(type):
            return ScalarType(type.dtype)
        case Array() | View() | ArrayExpr():
            return ScalarType(elements_of(build, value).dtype)
        case Items():
            return ScalarType(elements_of(build, as_array(build, value, node)).dtype)
        case _:
            raise build.mismatch(f"expected an array or a dtype, found {describe(value)}", node)


def common_dtype(build: Builder, dtypes: Sequence[DType], node: ast.expr) -> DType:
    result = ScalarType(dtypes[0])
    for dtype in dtypes[1:]:
        result = join_types(result, ScalarType(dtype), build.span(node))
    return result.dtype
