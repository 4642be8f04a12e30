"""The functions of numpy, and the methods of arrays, that take arrays as a whole."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from hybridjit.frontend.arrays.calls import cast_element
from hybridjit.frontend.arrays.contractions import ArrayContractions
from hybridjit.frontend.arrays.grids import ArrayGrids
from hybridjit.frontend.arrays.padding import ArrayPadding
from hybridjit.frontend.arrays.reductions import Axes, Fold, fold_of, sum_dtype
from hybridjit.frontend.functions import apply
from hybridjit.frontend.style import Style
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    Items,
    Scalar,
    Value,
    describe,
    index,
    integer,
)
from hybridjit.ir.dtype import ScalarType
from hybridjit.ir.expr import Const, Expr

REDUCTIONS = ("sum", "prod", "min", "max", "any", "all", "mean", "var", "std", "argmin", "argmax")
Handler = Callable[[Any, str, ast.Call], Value]
_REDUCTION_ARGUMENTS = {
    **dict.fromkeys(("sum", "prod"), ("axis", "dtype", "out", "keepdims", "initial", "where")),
    "mean": ("axis", "dtype", "out", "keepdims"),
    **dict.fromkeys(("min", "max"), ("axis", "out", "keepdims", "initial", "where")),
    **dict.fromkeys(("any", "all"), ("axis", "out", "keepdims", "where")),
    **dict.fromkeys(("argmin", "argmax"), ("axis", "out", "keepdims")),
    **dict.fromkeys(("var", "std"), ("axis", "dtype", "out", "ddof", "keepdims")),
}


class ArrayFunctions(ArrayPadding):
    """Which function does what."""

    def call_array_function(self, name: str, node: ast.Call) -> Value:
        """The value of `np.sum(a)`, `np.zeros(n)` and their kind."""
        if name in REDUCTIONS:
            args = self.arguments(node, "a", *_REDUCTION_ARGUMENTS[name], required=1)
            value = self.evaluate(args.pop("a"))
            return self.reduction(name, self._reducible(value, node), args, node)
        return self._ARRAY_HANDLERS[name](self, name, node)

    def array_method(self, owner: AnyArray, name: str, node: ast.Call) -> Value:
        """The value of `a.sum()`, `a.reshape(n, m)` and their kind."""
        if name in REDUCTIONS:
            args = self.arguments(node, *_REDUCTION_ARGUMENTS[name], required=0)
            return self.reduction(name, self.array(owner), args, node)
        match name:
            case "reshape":
                values = self.evaluate_all(node.args)
                if len(values) == 1 and isinstance(values[0], Items):
                    values = list(values[0].items)
                return self.reshape(owner, self._sizes(values, node), node)
            case "transpose":
                items = [self.evaluate(arg) for arg in node.args]
                if len(items) == 1 and isinstance(items[0], Items):
                    items = list(items[0].items)
                axes = [self.axis_of(item, len(owner.shape), node) for item in items]
                return self.transposed(owner, axes or None, node)
            case "flatten" | "ravel":
                self.arguments(node, required=0)
                flat = self.reshape(owner, self._sizes([integer(-1)], node), node)
                return self.computed(flat) if name == "flatten" else flat
            case "dot":
                args = self.arguments(node, "b", required=1)
                return self.dot(owner, self.evaluate(args["b"]), node)
            case "fill":
                args = self.arguments(node, "value", required=1)
                return self._fill_owner(owner, self.scalar(args["value"]), node)
            case _:
                return super().array_method(owner, name, node)

    def count_selected(self, value: ArrayExpr, node: ast.expr) -> Scalar:
        assert value.mask is not None
        ndim = len(value.mask.shape)
        count = self.reduce("sum", value.mask, Axes(tuple(range(ndim)), ndim), node)
        assert isinstance(count, Scalar)
        return index(count.expr)

    def _reducible(self, value: Value, node: ast.Call) -> ArrayExpr:
        if isinstance(value, Scalar):
            return ArrayExpr((), value.type.dtype, lambda _: value)
        if isinstance(value, Items):
            return self.array(self.array_of_items(value, node))
        if not isinstance(value, AnyArray):
            raise self.mismatch(f"expected an array, found {describe(value)}", node)
        return self.array(value)

    def reduction(
        self, name: str, value: ArrayExpr, args: dict[str, ast.expr], node: ast.Call
    ) -> Value:
        """The value of a reduction whose arguments, other than the array, are given by name."""
        if "out" in args:
            out = args.pop("out")
            return self.store_out(out, self.reduction(name, value, args, node), node)
        ndim = len(value.shape)
        found = self.axes_argument(args.get("axis"), ndim)
        keepdims = self.scalar(args["keepdims"]).constant if "keepdims" in args else False
        axes = Axes(tuple(range(ndim)) if found is None else found, ndim, bool(keepdims))
        dtype = self.dtype_argument(args["dtype"]) if "dtype" in args else None
        match name:
            case "mean":
                return self.mean(value, axes, node, dtype)
            case "var" | "std":
                ddof = self.scalar(args["ddof"]) if "ddof" in args else integer(0)
                source = value if dtype is None else self.as_dtype(value, dtype, self.span(node))
                result = self.variance(source, axes, node, ddof)
                return result if name == "var" else self._root(result, node)
            case "argmin" | "argmax":
                return self.find_extremum(name, value, axes, node)
            case _ if "initial" in args or "where" in args:
                return self._reduced_from(name, value, axes, args, node)
            case _:
                return self.reduce(name, value, axes, node, dtype)

    def _reduced_from(
        self, name: str, value: ArrayExpr, axes: Axes, args: dict[str, ast.expr], node: ast.Call
    ) -> Value:
        """A reduction of the elements where a condition holds, and of a number to begin with."""
        span = self.span(node)
        self.check_order(name, value, node)
        dtype = self.dtype_argument(args["dtype"]) if "dtype" in args else None
        if dtype is None:
            dtype = sum_dtype(value.dtype) if name in ("sum", "prod") else value.dtype
        fold = fold_of(name, dtype, span)
        source = self.as_dtype(value, fold.dtype, span) if name not in ("any", "all") else value
        if "where" in args:
            source = self._where(source, args, fold, node)
        result = self.fold(source, axes, fold, node)
        if "initial" in args:
            given = cast_element(self.scalar(args["initial"]), fold.dtype, span)
            result = self._begun_with(self.let(given, "initial", span), result, fold, node)
        return result if fold.name in ("any", "all") else self.converted_to(result, dtype, span)

    def _begun_with(
        self, initial: Scalar, result: Scalar | ArrayExpr, fold: Fold, node: ast.Call
    ) -> Scalar | ArrayExpr:
        if isinstance(result, Scalar):
            return fold.combine(result, initial)
        return self.elementwise([result, initial], lambda p: fold.combine(p[0], p[1]), node)

    def _where(
        self, value: ArrayExpr, args: dict[str, ast.expr], fold: Fold, node: ast.Call
    ) -> ArrayExpr:
        """The array, with what changes nothing where a condition does not hold."""
        if fold.name in ("min", "max") and "initial" not in args:
            raise self.refuse(
                f"{ast.unparse(node.func)} with where= needs a number to begin with",
                node,
                help="give it, as in initial=0",
            )
        nothing = Scalar(fold.start, ScalarType(fold.dtype))
        condition = self.evaluate(args["where"])
        chosen = self.elementwise(
            [condition, value, nothing], lambda p: apply("select", Style.NUMPY, p, None), node
        )
        assert isinstance(chosen, ArrayExpr)
        return chosen

    def _root(self, value: Scalar | ArrayExpr, node: ast.Call) -> Value:
        span = self.span(node)
        if isinstance(value, Scalar):
            return apply("sqrt", Style.NUMPY, [value], span)
        return self.elementwise([value], lambda p: apply("sqrt", Style.NUMPY, p, span), node)

    def _sizes(self, values: Sequence[Value], node: ast.Call) -> list[Expr]:
        return [
            self.fixed_index(self.as_index(self.as_scalar(value, node), node, "a size"))
            for value in values
        ]

    def _fill_owner(self, owner: AnyArray, value: Scalar, node: ast.Call) -> Value:
        if isinstance(owner, ArrayExpr):
            raise self.refuse("fill needs an array with a name", node)
        view = self.view(owner)
        self.check_writable(view.buffer, node)
        kept = self.let(value, "value", self.span(node))
        filling = ArrayExpr(view.shape, kept.type.dtype, lambda _: kept)
        self.store_array(view, filling, self.span(node))
        return Array(view.buffer)

    # -- functions of numpy --------------------------------------------------------------------

    def _arrays(self, node: ast.Call, *names: str) -> list[Value]:
        args = self.arguments(node, *names, required=len(names))
        return self.evaluate_all([args[name] for name in names])

    def _product_of(self, name: str, node: ast.Call) -> Value:
        args = self.arguments(node, "a", "b", "out", required=2)
        a, b = self.evaluate_all([args["a"], args["b"]])
        result = self.dot(a, b, node) if name == "dot" else self.product(a, b, node)
        return self.store_out(args["out"], result, node) if "out" in args else result

    def _outer(self, name: str, node: ast.Call) -> Value:
        args = self.arguments(node, "a", "b", "out", required=2)
        flat = [
            self.reshape(self.as_array(value, node), (Const(-1),), node)
            for value in self.evaluate_all([args["a"], args["b"]])
        ]
        result = self.outer(flat[0], flat[1], node)
        return self.store_out(args["out"], result, node) if "out" in args else result

    def _copy(self, name: str, node: ast.Call) -> Value:
        (value,) = self._arrays(node, "a")
        return self.computed(self._reducible(value, node))

    def _transpose(self, name: str, node: ast.Call) -> Value:
        args = self.arguments(node, "a", "axes", required=1)
        owner = self.owner(args["a"])
        axes = self.axes_argument(args.get("axes"), len(owner.shape))
        return self.transposed(owner, axes, node)

    def _reshape(self, name: str, node: ast.Call) -> Value:
        args = self.arguments(node, "a", "shape", required=2)
        owner, shape = self.evaluate_all([args["a"], args["shape"]])
        values = list(shape.items) if isinstance(shape, Items) else [shape]
        if not isinstance(owner, AnyArray):
            raise self.mismatch(f"expected an array, found {describe(owner)}", args["a"])
        return self.reshape(owner, self._sizes(values, node), node)

    def _flip(self, name: str, node: ast.Call) -> Value:
        args = self.arguments(node, "m", "axis", required=1)
        owner = self.owner(args["m"])
        axes = self.axes_argument(args.get("axis"), len(owner.shape))
        return self.flip(owner, range(len(owner.shape)) if axes is None else axes, node)

    def _ravel(self, name: str, node: ast.Call) -> Value:
        owner = self.owner(self.arguments(node, "a", required=1)["a"])
        return self.reshape(owner, self._sizes([integer(-1)], node), node)

    _ARRAY_HANDLERS: ClassVar[dict[str, Handler]] = {
        **dict.fromkeys(("zeros", "ones", "empty"), ArrayGrids.make_filled),
        **dict.fromkeys(("zeros_like", "ones_like", "empty_like"), ArrayGrids.make_filled_like),
        **dict.fromkeys(("full", "full_like"), ArrayGrids.make_full),
        "arange": ArrayGrids.make_range,
        "linspace": ArrayGrids.make_linspace,
        "eye": ArrayGrids.make_eye,
        "identity": ArrayGrids.make_eye,
        "dot": _product_of,
        "matmul": _product_of,
        "outer": _outer,
        "pad": ArrayPadding.pad,
        "einsum": ArrayContractions.einsum,
        "tensordot": ArrayContractions.tensordot,
        "copy": _copy,
        "transpose": _transpose,
        "reshape": _reshape,
        "flip": _flip,
        "ravel": _ravel,
        "swapaxes": ArrayGrids.swap_axes,
        "moveaxis": ArrayGrids.move_axis,
        "expand_dims": ArrayGrids.expand_axis,
        "squeeze": ArrayGrids.squeeze,
        "diagonal": ArrayGrids.diagonal,
        "repeat": ArrayGrids.repeat,
        "tile": ArrayGrids.tile,
        "roll": ArrayGrids.roll,
        "take": ArrayGrids.take,
        "broadcast_to": ArrayGrids.broadcast,
        "concatenate": ArrayGrids.concatenate,
        "stack": ArrayGrids.stack_arrays,
        **dict.fromkeys(("hstack", "vstack", "dstack", "column_stack"), ArrayGrids.stack_along),
        "block": ArrayGrids.block,
        **dict.fromkeys(("split", "array_split", "hsplit", "vsplit", "dsplit"), ArrayGrids.split),
        "result_type": ArrayGrids.result_type,
        "indices": ArrayGrids.make_indices,
        "meshgrid": ArrayGrids.mesh,
        **dict.fromkeys(("array", "asarray"), ArrayGrids.make_array),
        **dict.fromkeys(("cumsum", "cumprod"), ArrayGrids.accumulate),
    }
