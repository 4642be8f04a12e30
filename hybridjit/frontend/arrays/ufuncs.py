"""Methods of the functions of NumPy: `np.add.at`, `np.maximum.reduce`, `np.add.accumulate`."""

from __future__ import annotations

import ast

from hybridjit.frontend.arrays.functions import ArrayFunctions
from hybridjit.frontend.arrays.gather import Entry, Gathered, place_in
from hybridjit.frontend.arrays.reductions import fold_of, sum_dtype
from hybridjit.frontend.conversion import store_value
from hybridjit.frontend.functions import apply, arity_of
from hybridjit.frontend.style import Style
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    Items,
    NumpyFunction,
    Scalar,
    Value,
    View,
    describe,
)
from hybridjit.ir.dtype import ScalarType
from hybridjit.ir.expr import Expr, Load
from hybridjit.ir.stmt import Store

# The reduction that a function of two numbers makes.
_REDUCTIONS = {
    **{"+": "sum", "*": "prod", "minimum": "min", "maximum": "max"},
    **{"logical_and": "all", "logical_or": "any"},
    **{"&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor"},
}


class ArrayUfuncs(ArrayFunctions):
    """What a function of numbers does with whole arrays, other than element by element."""

    def call_ufunc_method(self, ufunc: NumpyFunction, method: str, node: ast.Call) -> Value:
        """The value of `np.add.reduce(a)` and its kin."""
        match method:
            case "outer":
                return self._all_pairs(ufunc.name, node)
            case "at":
                return self._update_at(ufunc.name, node)
            case "reduce":
                return self._reduce_by(ufunc, node)
            case _:
                return self._accumulate_by(ufunc, node)

    def _all_pairs(self, function: str, node: ast.Call) -> Value:
        args, span = self.arguments(node, "a", "b", required=2), self.span(node)
        a, b = (self.array_argument(args[key]) for key in ("a", "b"))
        return self.outer_of(a, b, lambda p: apply(function, Style.NUMPY, p, span), node)

    # -- updates at places that may be equal ---------------------------------------------------

    def _update_at(self, function: str, node: ast.Call) -> Value:
        """`np.add.at(a, indices, b)`: one after the other, equal indices too."""
        args = self.arguments(node, "a", "indices", "b", required=arity_of(function) + 1)
        owner = self.evaluate(args["a"])
        if not isinstance(owner, (Array, View)):
            raise self.mismatch(f"expected an array, found {describe(owner)}", args["a"])
        self.check_writable(owner.buffer, args["a"])
        place = self._places(owner, args, node)
        operands = [self._spread(self.evaluate(args["b"]), place, node)] if "b" in args else []

        def body(indices: tuple[Expr, ...]) -> None:
            span = self.span(node)
            where = tuple(
                self.let(Scalar(index, ScalarType(index.dtype)), "t", span).expr
                for index in place_in(place, indices)
            )
            old = Scalar(Load(owner.buffer, where, span=span), ScalarType(owner.buffer.dtype))
            parts = [old, *(operand.element(indices) for operand in operands)]
            new = store_value(apply(function, Style.NUMPY, parts, span), owner.buffer.dtype, span)
            self.emit(Store(owner.buffer, where, new, span=span))

        self.nest(place.shape, body, self.span(node))
        return owner

    def _places(self, owner: Array | View, args: dict[str, ast.expr], node: ast.Call) -> Gathered:
        subscript = ast.Subscript(args["a"], args["indices"], ast.Load())
        subscript = ast.fix_missing_locations(ast.copy_location(subscript, node))
        value = self.evaluate(args["indices"])
        entries: list[Entry] = list(value.items) if isinstance(value, Items) else [value]
        if not any(isinstance(entry, AnyArray) for entry in entries) or self.has_mask(entries):
            raise self.refuse(
                f"{ast.unparse(node.func)} takes arrays of indices",
                args["indices"],
                help="where no index comes twice, write a[indices] += b",
            )
        return self.scattered(owner, entries, subscript)

    def _spread(self, value: Value, place: Gathered, node: ast.Call) -> ArrayExpr:
        """What is combined with the elements, with their shape."""
        operand = self.array(self.as_array(value, node))
        if self.may_read(operand, place.view.buffer):
            operand = self.array(Array(self.copied(operand, "t", self.span(node))))
        return self.broadcast_to(operand, place.shape, node)

    # -- reductions ----------------------------------------------------------------------------

    def _reduce_by(self, ufunc: NumpyFunction, node: ast.Call) -> Value:
        name = self._reduction_name(ufunc, node)
        names = ("array", "axis", "dtype", "keepdims", "initial", "where")
        args = self.arguments(node, *names, required=1)
        value = self.array_argument(args.pop("array"))
        args.setdefault("axis", ast.copy_location(ast.Constant(0), node))
        return self.reduction(name, value, args, node)

    def _accumulate_by(self, ufunc: NumpyFunction, node: ast.Call) -> Value:
        name = self._reduction_name(ufunc, node)
        args = self.arguments(node, "array", "axis", "dtype", required=1)
        value = self.array_argument(args["array"])
        axes = self.axes_argument(args.get("axis"), len(value.shape)) or (0,)
        dtype = sum_dtype(value.dtype) if name in ("sum", "prod") else value.dtype
        if "dtype" in args:
            dtype = self.dtype_argument(args["dtype"])
        fold = fold_of(name, dtype, self.span(node))
        return self.accumulated(self.as_dtype(value, dtype, self.span(node)), axes[0], fold, node)

    def _reduction_name(self, ufunc: NumpyFunction, node: ast.Call) -> str:
        if ufunc.name not in _REDUCTIONS:
            raise self.refuse(
                f"'{ast.unparse(node.func)}' is not supported inside a script",
                node.func,
                help="write a loop over the elements",
            )
        return _REDUCTIONS[ufunc.name]
