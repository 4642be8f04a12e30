"""The elements of arrays in another arrangement: repeated, rolled, taken by their indices."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from hybridjit.arith.ranges import minus, tidy
from hybridjit.frontend.arrays.axes import ArrayAxes
from hybridjit.frontend.conversion import join_types
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    ElementType,
    Items,
    PythonType,
    Scalar,
    Value,
    View,
    describe,
)
from hybridjit.ir.dtype import DType, ScalarType
from hybridjit.ir.expr import Const, Expr, FloorDiv, Mod

IndexMap = Callable[[Expr], Expr]


class ArrayArrangements(ArrayAxes):
    """Arrays that name elements of others by a rule."""

    # -- elements named by a rule --------------------------------------------------------------

    def repeat(self, name: str, node: ast.Call) -> Value:
        """`np.repeat(a, n, axis)`: each element n times."""
        args = self.arguments(node, "a", "repeats", "axis", required=2)
        owner, axis = self.along(args, node)
        times_each = self._repetitions(args["repeats"])
        self.require_natural(times_each, node)
        size = self.product_of_sizes((owner.shape[axis], times_each), node)
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
            self.require_natural(number, node)
            old = result.shape[axis]
            size = self.product_of_sizes((old, number), node)
            result = self._renamed(result, axis, size, lambda at, size=old: tidy(Mod(at, size)))
        return result

    def roll(self, name: str, node: ast.Call) -> Value:
        """`np.roll(a, shift, axis)`: what leaves at one end comes in at the other."""
        args = self.arguments(node, "a", "shift", "axis", required=2)
        owner = self.owner(args["a"])
        value = self.evaluate(args["shift"])
        shifts = [
            self.fixed_index(self.as_index(self.as_scalar(item, node), args["shift"], "shift"))
            for item in (value.items if isinstance(value, Items) else (value,))
        ]
        axes = self.axes_argument(args.get("axis"), len(owner.shape))
        if axes is None:
            flat, _ = self.along(args, node)
            return self.reshape(self._rolled(flat, 0, shifts[0]), owner.shape, node)
        count = max(len(shifts), len(axes))
        shifts, axes = shifts * (count // len(shifts)), axes * (count // len(axes))
        if len(shifts) != len(axes):
            raise self.mismatch("`shift` and `axis` of np.roll must go together", node)
        for axis, shift in zip(axes, shifts, strict=True):
            owner = self._rolled(owner, axis, shift)
        return owner

    def _rolled(self, owner: AnyArray, axis: int, shift: Expr) -> ArrayExpr:
        size = owner.shape[axis]
        return self._renamed(owner, axis, size, lambda at: tidy(Mod(minus(at, shift), size)))

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
        value = self.array(self.as_array(self.evaluate(args["array"]), node))
        shape = tuple(self.fixed_index(size) for size in self.shape_argument(args["shape"]))
        for size in shape:
            self.require_natural(size, node)
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

    def as_array(self, value: Value, node: ast.expr) -> AnyArray:
        """An array; a list becomes one, and a number one without dimensions."""
        value = self.without_list(value, node)
        if isinstance(value, AnyArray):
            self.check_whole(value, self.span(node))
            return value
        number = self.as_scalar(value, node, "an array")
        return ArrayExpr((), number.type.dtype, lambda _: number)

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

    def _common_dtype(self, dtypes: Sequence[DType], node: ast.expr) -> DType:
        result = ScalarType(dtypes[0])
        for dtype in dtypes[1:]:
            result = join_types(result, ScalarType(dtype), self.span(node))
        return result.dtype
