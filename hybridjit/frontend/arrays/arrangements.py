"""The elements of arrays in another arrangement: repeated, rolled, joined, along other axes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from hybridjit.errors import ShapeMismatch
from hybridjit.frontend.arrays.elementwise import shape_text
from hybridjit.frontend.arrays.extents import ONE, ZERO, constant, minus, plus, tidy, times
from hybridjit.frontend.arrays.shapes import ArrayShapes
from hybridjit.frontend.conversion import join_types
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    ElementType,
    Items,
    Nothing,
    Place,
    PythonType,
    Scalar,
    Value,
    View,
    describe,
)
from hybridjit.ir.dtype import DType, ScalarType
from hybridjit.ir.expr import Buffer, Const, Expr, FloorDiv, Max, Min, Mod, Sub

IndexMap = Callable[[Expr], Expr]
# How many dimensions each part is given at least, and along which axis they are joined; hstack
# joins arrays of one dimension along their only axis.
_STACKING = {"hstack": (1, 1), "vstack": (2, 0), "dstack": (3, 2)}


class ArrayArrangements(ArrayShapes):
    """Views with other axes, arrays that name elements of others, and arrays put together."""

    # -- axes ----------------------------------------------------------------------------------

    def swap_axes(self, name: str, node: ast.Call) -> Value:
        """`np.swapaxes(a, i, j)`."""
        args = self.arguments(node, "a", "axis1", "axis2", required=3)
        owner = self.owner(args["a"])
        order = list(range(len(owner.shape)))
        first, second = (self._axis(args[key], owner) for key in ("axis1", "axis2"))
        order[first], order[second] = order[second], order[first]
        return self.transposed(owner, order, node)

    def move_axis(self, name: str, node: ast.Call) -> Value:
        """`np.moveaxis(a, i, j)`."""
        args = self.arguments(node, "a", "source", "destination", required=3)
        owner = self.owner(args["a"])
        source, destination = (self._axis(args[key], owner) for key in ("source", "destination"))
        order = [axis for axis in range(len(owner.shape)) if axis != source]
        order.insert(destination, source)
        return self.transposed(owner, order, node)

    def expand_axis(self, name: str, node: ast.Call) -> Value:
        """`np.expand_dims(a, i)`."""
        args = self.arguments(node, "a", "axis", required=2)
        owner = self.owner(args["a"])
        axis = self.axis_of(self.evaluate(args["axis"]), len(owner.shape) + 1, args["axis"])
        return self.with_axis(owner, axis, node)

    def with_axis(self, owner: AnyArray, axis: int, node: ast.AST) -> AnyArray:
        """A view with a new axis of size one."""
        places = tuple(Place(ZERO, 1, k + (k >= axis)) for k in range(len(owner.shape)))
        shape = (*owner.shape[:axis], ONE, *owner.shape[axis:])
        return self.shown(owner, places, shape, node)

    def squeeze(self, name: str, node: ast.Call) -> Value:
        """`np.squeeze(a)`, `np.squeeze(a, axis)`: without axes of size one."""
        args = self.arguments(node, "a", "axis", required=1)
        owner = self.owner(args["a"])
        axes = self.axes_argument(args.get("axis"), len(owner.shape))
        ones = [axis for axis, size in enumerate(owner.shape) if constant(size) == 1]
        for axis in axes or ():
            if axis not in ones:
                raise ShapeMismatch(
                    f"axis {axis} of an array of shape {shape_text(owner.shape)} does not have "
                    "the size 1",
                    self.span(node),
                )
        dropped = ones if axes is None else axes
        kept = [axis for axis in range(len(owner.shape)) if axis not in dropped]
        places = tuple(
            Place(ZERO, 1, kept.index(axis)) if axis in kept else Place(ZERO)
            for axis in range(len(owner.shape))
        )
        part = self.shown(owner, places, tuple(owner.shape[axis] for axis in kept), node)
        return self.element_or_part(part, node)

    def diagonal(self, name: str, node: ast.Call) -> Value:
        """`np.diagonal(a, offset)`: a view of the elements whose last two indices go together."""
        args = self.arguments(node, "a", "offset", required=1)
        owner = self.owner(args["a"])
        offset = (
            self.fixed_index(self.index(args["offset"], "offset")) if "offset" in args else ZERO
        )
        if len(owner.shape) != 2:
            raise self.mismatch(f"expected two dimensions, found {describe(owner)}", node)
        rows, columns = owner.shape
        down, right = tidy(Max(Sub(ZERO, offset), ZERO)), tidy(Max(offset, ZERO))
        size = tidy(Max(Min(minus(rows, down), minus(columns, right)), ZERO))
        return self.shown(owner, (Place(down, 1, 0), Place(right, 1, 0)), (size,), node)

    def _axis(self, node: ast.expr, owner: AnyArray) -> int:
        return self.axis_of(self.evaluate(node), len(owner.shape), node)

    # -- elements named by a rule --------------------------------------------------------------

    def repeat(self, name: str, node: ast.Call) -> Value:
        """`np.repeat(a, n, axis)`: each element n times."""
        args = self.arguments(node, "a", "repeats", "axis", required=2)
        owner, axis = self.along(args, node)
        times_each = self._repetitions(args["repeats"])
        size = times(owner.shape[axis], times_each)
        return self._renamed(owner, axis, size, lambda at: tidy(FloorDiv(at, times_each)))

    def tile(self, name: str, node: ast.Call) -> Value:
        """`np.tile(a, reps)`: the array several times along each axis."""
        args = self.arguments(node, "A", "reps", required=2)
        result = self.owner(args["A"])
        value = self.evaluate(args["reps"])
        counts = value.items if isinstance(value, Items) else (value,)
        while len(result.shape) < len(counts):
            result = self.with_axis(result, 0, node)
        first = len(result.shape) - len(counts)
        for axis, count in enumerate(counts, first):
            number = self.fixed_index(
                self.as_index(self.as_scalar(count, node), args["reps"], "reps")
            )
            old = result.shape[axis]
            result = self._renamed(
                result, axis, times(old, number), lambda at, size=old: tidy(Mod(at, size))
            )
        return result

    def roll(self, name: str, node: ast.Call) -> Value:
        """`np.roll(a, shift, axis)`: what leaves at one end comes in at the other."""
        args = self.arguments(node, "a", "shift", "axis", required=2)
        owner, axis = self.along(args, node)
        shift = self.fixed_index(self.index(args["shift"], "shift"))
        size = owner.shape[axis]
        rolled = self._renamed(owner, axis, size, lambda at: tidy(Mod(minus(at, shift), size)))
        if "axis" in args:
            return rolled
        return self.reshape(rolled, self.owner(args["a"]).shape, node)

    def take(self, name: str, node: ast.Call) -> Value:
        """`np.take(a, indices, axis)`."""
        args = self.arguments(node, "a", "indices", "axis", required=2)
        owner, axis = self.along(args, node)
        everything = ast.copy_location(ast.Slice(None, None, None), node)
        entries = [everything] * axis + [args["indices"]]
        subscript = ast.Subscript(args["a"], ast.Tuple(entries, ast.Load()), ast.Load())
        found = self.array_part(
            owner, ast.fix_missing_locations(ast.copy_location(subscript, node))
        )
        return self.computed(found) if isinstance(found, AnyArray) else found

    def broadcast(self, name: str, node: ast.Call) -> Value:
        """`np.broadcast_to(a, shape)`."""
        args = self.arguments(node, "array", "shape", required=2)
        value = self.array_argument(args["array"])
        shape = tuple(self.fixed_index(size) for size in self.shape_argument(args["shape"]))
        if len(value.shape) > len(shape):
            raise self.refuse_shapes([value.shape, shape], node)
        return self.broadcast_to(value, shape, node)

    def along(self, args: dict[str, ast.expr], node: ast.Call) -> tuple[AnyArray, int]:
        """The array and the axis of a function that takes the flat array if none is given."""
        owner = self.owner(args["a"])
        axes = self.axes_argument(args.get("axis"), len(owner.shape))
        if axes is not None:
            return owner, axes[0]
        flat = self.reshape(owner, (Const(-1),), node)
        assert isinstance(flat, AnyArray)
        return flat, 0

    def _repetitions(self, node: ast.expr) -> Expr:
        value = self.evaluate(node)
        if isinstance(value, AnyArray):
            raise self.refuse(
                "a number of times for each element gives an array whose size is known only "
                "when the script runs",
                node,
                help="give one number for all elements, or write a loop",
            )
        return self.fixed_index(self.as_index(self.as_scalar(value, node), node, "repeats"))

    def _renamed(self, owner: AnyArray, axis: int, size: Expr, rule: IndexMap) -> ArrayExpr:
        """The array whose element `i` along an axis is element `rule(i)` of another."""
        source = self.array(owner)

        def element(indices: Sequence[Expr]) -> Scalar:
            return source.element([*indices[:axis], rule(indices[axis]), *indices[axis + 1 :]])

        shape = (*source.shape[:axis], size, *source.shape[axis + 1 :])
        return ArrayExpr(shape, source.dtype, element)

    # -- arrays put together -------------------------------------------------------------------

    def concatenate(self, name: str, node: ast.Call) -> Value:
        """`np.concatenate((a, b), axis, dtype=...)`."""
        args = self.arguments(node, "arrays", "axis", "dtype", required=1)
        parts = self._array_items(args["arrays"])
        axis = 0
        if "axis" in args and isinstance(self.evaluate(args["axis"]), Nothing):
            parts = [self._flat(part, node) for part in parts]
        elif "axis" in args:
            axis = self._axis(args["axis"], parts[0])
        dtype = self.dtype_argument(args["dtype"]) if "dtype" in args else None
        return self.joined(parts, axis, node, dtype)

    def _flat(self, part: AnyArray, node: ast.Call) -> AnyArray:
        flat = self.reshape(part, (Const(-1),), node)
        assert isinstance(flat, AnyArray)
        return flat

    def stack_arrays(self, name: str, node: ast.Call) -> Value:
        """`np.stack((a, b), axis)`: along a new axis."""
        args = self.arguments(node, "arrays", "axis", required=1)
        parts = self._array_items(args["arrays"])
        axis = 0
        if "axis" in args:
            axis = self.axis_of(self.evaluate(args["axis"]), len(parts[0].shape) + 1, args["axis"])
        return self.joined([self.with_axis(part, axis, node) for part in parts], axis, node)

    def stack_along(self, name: str, node: ast.Call) -> Value:
        """np.hstack, np.vstack, np.dstack and np.column_stack."""
        args = self.arguments(node, "tup", required=1)
        parts = self._array_items(args["tup"])
        if name == "column_stack":
            parts = [
                self.with_axis(part, 1, node) if len(part.shape) == 1 else part for part in parts
            ]
            return self.joined(parts, 1, node)
        least, axis = _STACKING[name]
        parts = [self._at_least(part, least, node) for part in parts]
        return self.joined(parts, min(axis, len(parts[0].shape) - 1), node)

    def _at_least(self, part: AnyArray, ndim: int, node: ast.AST) -> AnyArray:
        """An array with so many axes: new ones in front, the third one at the end."""
        while len(part.shape) < min(ndim, 2):
            part = self.with_axis(part, 0, node)
        return self.with_axis(part, 2, node) if len(part.shape) < ndim else part

    def _array_items(self, node: ast.expr) -> list[AnyArray]:
        value = self.evaluate(node)
        if not isinstance(value, Items) or not value.items:
            raise self.mismatch(f"expected a tuple of arrays, found {describe(value)}", node)
        return [self.as_array(item, node) for item in value.items]

    def as_array(self, value: Value, node: ast.AST) -> AnyArray:
        """An array; a number becomes one without dimensions."""
        if isinstance(value, AnyArray):
            self.check_whole(value, self.span(node))
            return value
        number = self.as_scalar(value, node, "an array")
        return ArrayExpr((), number.type.dtype, lambda _: number)

    def joined(
        self, parts: Sequence[AnyArray], axis: int, node: ast.Call, dtype: DType | None = None
    ) -> ArrayExpr:
        """Arrays one after the other along an axis, in memory of their own."""
        span, first = self.span(node), parts[0]
        self._check_joinable(parts, axis, node)
        size: Expr = ZERO
        for part in parts:
            size = plus(size, part.shape[axis])
        dtype = dtype or self._common_dtype([self.array(part).dtype for part in parts], node)
        shape = (*first.shape[:axis], size, *first.shape[axis + 1 :])
        whole = ArrayExpr(shape, dtype, self.array(first).element)
        buffer = self.scratch("joined", whole, span)
        start: Expr = ZERO
        for part in parts:
            places = tuple(
                Place(start if k == axis else ZERO, 1, k) for k in range(len(first.shape))
            )
            self.store_array(View(buffer, places, part.shape), self.array(part), span)
            start = plus(start, part.shape[axis])
        return self.owned(buffer)

    def owned(self, buffer: Buffer) -> ArrayExpr:
        """An array in memory that nothing else refers to."""
        return replace(self.array(Array(buffer)), buffer=buffer)

    def _check_joinable(self, parts: Sequence[AnyArray], axis: int, node: ast.Call) -> None:
        first = parts[0]
        for part in parts[1:]:
            if len(part.shape) != len(first.shape):
                raise self._refuse_joining(parts, node)
            for k, (size, wanted) in enumerate(zip(part.shape, first.shape, strict=True)):
                if k == axis or self.ranges.same(size, wanted):
                    continue
                if isinstance(size, Const) and isinstance(wanted, Const):
                    raise self._refuse_joining(parts, node)
                self.require_size(size, wanted, node)

    def _refuse_joining(self, parts: Sequence[AnyArray], node: ast.Call) -> ShapeMismatch:
        shapes = " and ".join(shape_text(part.shape) for part in parts)
        return ShapeMismatch(
            f"the arrays in `{ast.unparse(node)}` do not fit together: their shapes are {shapes}",
            self.span(node),
            help="all but the size along the axis on which they are joined must be equal",
        )

    # -- types ---------------------------------------------------------------------------------

    def result_type(self, name: str, node: ast.Call) -> Value:
        """`np.result_type(a, b, np.float64)`: the type in which they meet."""
        found = [self._type_of(value, node) for value in self.evaluate_all(node.args)]
        result = found[0]
        for type in found[1:]:
            result = join_types(result, type, self.span(node))
        return ElementType(result.dtype)

    def _type_of(self, value: Value, node: ast.Call) -> ScalarType:
        match value:
            case Scalar(_, type):
                return type
            case ElementType(dtype):
                return ScalarType(dtype)
            case PythonType(type):
                return ScalarType(type.dtype)
            case Array() | View() | ArrayExpr():
                return ScalarType(self.array(value).dtype)
            case _:
                raise self.mismatch(f"expected an array or a dtype, found {describe(value)}", node)

    def _common_dtype(self, dtypes: Sequence[DType], node: ast.Call) -> DType:
        result = ScalarType(dtypes[0])
        for dtype in dtypes[1:]:
            result = join_types(result, ScalarType(dtype), self.span(node))
        return result.dtype
