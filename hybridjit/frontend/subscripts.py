"""Subscripts and attributes: `a[i, j]`, `t[0]`, `a.shape`, `x.real`, `module.name`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np

from hybridjit.arith.ranges import ZERO
from hybridjit.errors import BoundsError, ParseError
from hybridjit.frontend.arrays.choices import ArrayChoices
from hybridjit.frontend.arrays.refusals import (
    ARRAY_ATTRIBUTES,
    ARRAY_METHODS,
    count,
    element_of,
    refuse_array_attribute,
)
from hybridjit.frontend.captures import MISSING, AttributeSource, has_plain_attributes
from hybridjit.frontend.functions import apply
from hybridjit.frontend.kinds import type_name
from hybridjit.frontend.numpy_refusals import RENAMED, ufunc_method_help
from hybridjit.frontend.operators import binary
from hybridjit.frontend.refusals import index_help, refuse_text_arithmetic
from hybridjit.frontend.style import Style
from hybridjit.frontend.suggest import did_you_mean
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    Callee,
    ElementType,
    Foreign,
    Items,
    Method,
    Module,
    Nothing,
    NumpyFunction,
    Place,
    Scalar,
    Text,
    Value,
    View,
    describe,
    index,
    integer,
)
from hybridjit.ir.dtype import INT64, ScalarType
from hybridjit.ir.expr import Call, Const, Expr, Load, Mul
from hybridjit.ir.intrinsics import INTRINSICS

# Methods of a function of NumPy.
UFUNC_METHODS = ("outer", "at", "reduce", "accumulate")


class SubscriptTranslator(ArrayChoices):
    """Parts of a value: an element of an array, an item of a tuple, an attribute."""

    def evaluate_subscript(self, node: ast.Subscript) -> Value:
        """The value of `owner[...]`."""
        owner = self.evaluate(node.value)
        match owner:
            case Array():
                return self._array_subscript(owner, node)
            case View() | ArrayExpr():
                return self.array_part(owner, node)
            case Items(items):
                return self._item(items, node)
            case Scalar():
                raise self.mismatch(
                    f"{describe(owner)} cannot be indexed",
                    node,
                    help=f"it is a number already: write {ast.unparse(node.value)}",
                )
            case Foreign(grid) if grid is np.mgrid or grid is np.ogrid:
                return self.index_grid(node, is_open=grid is np.ogrid)
            case Foreign(found) if index_help(found) is not None:
                label = ast.unparse(node.value)
                raise self.refuse(
                    f"'{label}' is not supported inside a script", node, help=index_help(found)
                )
            case Foreign():
                raise self.mismatch(
                    f"{describe(owner)} cannot be indexed inside a script",
                    node,
                    help=f"take the item outside the script: item = {ast.unparse(node)}",
                )
            case _:
                raise self.mismatch(f"{describe(owner)} cannot be indexed", node)

    def index_grid(self, node: ast.Subscript, *, is_open: bool) -> Value:
        """`np.mgrid[0:n, 0:m]` and np.ogrid; provided by the layer above."""
        raise NotImplementedError

    def element(self, part: Array, node: ast.AST) -> Value:
        """A fully indexed array is the element; otherwise it stays a part of the array."""
        if part.shape:
            return part
        return Scalar(
            Load(part.buffer, part.indices, span=self.span(node)), ScalarType(part.buffer.dtype)
        )

    def _array_subscript(self, owner: Array, node: ast.Subscript) -> Value:
        nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(map(self.is_slice, nodes)):
            return self.array_part(owner, node)
        values = self.evaluate_all(nodes)
        if any(isinstance(value, (AnyArray, Nothing)) for value in values):
            return self.element_or_part(self.part_at(owner, values, node), node)
        return self.element(self.indexed(owner, values, nodes, node), node)

    def indexed(
        self,
        owner: Array,
        values: Sequence[Value],
        nodes: Sequence[ast.expr],
        node: ast.Subscript,
    ) -> Array:
        """The array with more of its indices given."""
        if len(nodes) > len(owner.shape):
            raise self.mismatch(
                f"too many indices: '{owner.buffer.name}' has "
                f"{count(owner.buffer.ndim, 'dimension')}, "
                f"found {count(len(owner.indices) + len(nodes), 'index', 'indices')}",
                node,
                help=f"index one element, as in {element_of(owner)}",
            )
        first = len(owner.indices)
        found = [
            self._axis_index(value, owner, first + axis, entry)
            for axis, (value, entry) in enumerate(zip(values, nodes, strict=True))
        ]
        part = Array(owner.buffer, (*owner.indices, *found))
        for axis, position in enumerate(found if part.shape else (), first):
            self.require_inside(position, owner.buffer, axis, node)
        return part

    def _axis_index(self, value: Value, owner: Array, axis: int, node: ast.expr) -> Expr:
        if isinstance(value, Items):
            raise self.mismatch(
                f"an index must be an integer, found {describe(value)}",
                node,
                help=f"of a tuple, write the items, as in {element_of(owner)}; of a list, make an "
                f"array of indices, as in np.array({ast.unparse(node)})",
            )
        scalar = self.as_scalar(value, node, "an index")
        result = self.as_index(scalar, node, "an index")
        if isinstance(result, Const) and result.value.real < 0:
            return _from_end(result, owner.buffer.shape[axis])
        return result

    def _item(self, items: tuple[Value, ...], node: ast.Subscript) -> Value:
        if isinstance(node.slice, ast.Slice):
            return Items(items[self._static_slice(node.slice)])
        position = self.scalar(node.slice, "an index").constant
        if not isinstance(position, int):
            raise self.mismatch(
                "the index of a tuple must be known when the script is compiled",
                node.slice,
                help=f"count with `for k in const_range(len({ast.unparse(node.value)})):`, "
                "or keep the values in an array",
            )
        if not -len(items) <= position < len(items):
            raise BoundsError(
                f"index {position} is out of bounds for {ast.unparse(node.value)}, "
                f"which has {count(len(items), 'item')}",
                self.span(node),
            )
        return items[position]

    def _static_slice(self, node: ast.Slice) -> slice:
        parts: list[int | None] = []
        for part in (node.lower, node.upper, node.step):
            constant = None if part is None else self.scalar(part).constant
            if part is not None and not isinstance(constant, int):
                raise self.mismatch(
                    "the bounds of a slice of a tuple must be known when the script is compiled",
                    part,
                    help="use constants, or keep the values in an array",
                )
            parts.append(constant)
        return slice(*parts)

    def evaluate_attribute(self, node: ast.Attribute) -> Value:
        """The value of `owner.name`."""
        owner = self.evaluate(node.value)
        match owner:
            case Array() | View() | ArrayExpr():
                return self._array_attribute(owner, node)
            case Scalar():
                return self._scalar_attribute(owner, node)
            case Module(module):
                return self._outer_attribute(module, node)
            case Foreign(value):
                return self._object_attribute(value, node)
            case Text(text) if hasattr(str, node.attr):
                raise refuse_text_arithmetic(text, self.span(node))
            case Items():
                raise self._refuse_list_attribute(node)
            case ElementType(dtype) if node.attr in ("itemsize", "kind"):
                is_size = node.attr == "itemsize"
                return integer(dtype.bits // 8) if is_size else Text(dtype.numpy.kind)
            case NumpyFunction() if node.attr in UFUNC_METHODS:
                return Method(owner, node.attr)
            case _:
                raise self._refuse_attribute_of(owner, node)

    def _refuse_attribute_of(self, owner: Value, node: ast.Attribute) -> ParseError:
        match owner:
            case NumpyFunction():
                help = f"call {ast.unparse(node.value)} on the elements in a loop"
            case Callee(pyfunc) if node.attr in dir(np.ufunc):
                help = ufunc_method_help(pyfunc.__name__)
            case _:
                return self.refuse(f"{describe(owner)} has no attribute '{node.attr}'", node)
        return self.refuse(
            f"'{ast.unparse(node)}' is not supported inside a script", node, help=help
        )

    def _array_attribute(self, owner: AnyArray, node: ast.Attribute) -> Value:
        if isinstance(owner, ArrayExpr) and owner.mask is not None:
            self._check_selected(node)
        shape = owner.shape
        match node.attr:
            case "shape":
                return Items(tuple(index(extent) for extent in shape))
            case "ndim":
                return integer(len(shape))
            case "dtype":
                return ElementType(self.array(owner).dtype)
            case "size":
                return self._size_of(owner, node)
            case "T" | "mT":
                return self._transposed(owner, node)
            case "itemsize":
                return integer(self.array(owner).dtype.bits // 8)
            case "real" | "imag" as name:
                span = self.span(node)
                return self.elementwise(
                    [owner], lambda parts: apply(name, Style.LANGUAGE, parts, span), node
                )
            case name if name in ARRAY_METHODS:
                return Method(owner, name)
            case name:
                raise refuse_array_attribute(owner, name, self.span(node))

    def _transposed(self, owner: AnyArray, node: ast.Attribute) -> Value:
        """`a.T`, all axes in reverse order, or `a.mT`, the last two of them exchanged."""
        order = list(range(len(owner.shape)))
        if node.attr == "mT" and len(order) < 2:
            raise self.mismatch("mT needs an array of at least two dimensions", node)
        order[-2:] = order[:-3:-1]
        return self.transposed(owner, order if node.attr == "mT" else None, node)

    def _size_of(self, owner: AnyArray, node: ast.Attribute) -> Scalar:
        if isinstance(owner, ArrayExpr) and owner.mask is not None:
            return self.count_selected(owner, node)
        size: Scalar = integer(1)
        for extent in owner.shape:
            size = binary(Mul, size, index(extent), self.span(node))
        return size

    def count_selected(self, value: ArrayExpr, node: ast.expr) -> Scalar:
        """How many elements a mask selects; provided by the layer above."""
        raise NotImplementedError

    def _check_selected(self, node: ast.Attribute) -> None:
        if node.attr in ("shape", "ndim", "T"):
            raise self.refuse_selected(node)

    def refuse_selected(self, node: ast.expr) -> ParseError:
        """The error for the shape of what a mask selects."""
        return self.refuse(
            f"`{ast.unparse(node)}` is known only when the script runs: it depends on how many "
            "elements a mask selects",
            node,
            help="count them, as in np.sum(m)",
        )

    def transposed(self, owner: AnyArray, axes: Sequence[int] | None, node: ast.AST) -> Value:
        """The array with its axes in another order, by default reversed."""
        order = tuple(reversed(range(len(owner.shape)))) if axes is None else tuple(axes)
        places = tuple(Place(ZERO, 1, order.index(axis)) for axis in range(len(order)))
        if not order:
            return owner
        return self.shown(owner, places, tuple(owner.shape[axis] for axis in order), node)

    def _object_attribute(self, value: object, node: ast.Attribute) -> Value:
        if has_plain_attributes(value):
            return self._outer_attribute(value, node)
        if type(value) in (np.iinfo, np.finfo) and hasattr(value, node.attr):
            return self.lift(getattr(value, node.attr), node.attr, node)
        raise self._refuse_object(value, node)

    def _refuse_list_attribute(self, node: ast.Attribute) -> ParseError:
        value, name = ast.unparse(node.value), node.attr
        if name in ARRAY_ATTRIBUTES:
            return self.refuse(
                f"'{value}' is a list or tuple, which has no '{name}'",
                node,
                help=f"make it an array outside the script: np.array({value})",
            )
        if not hasattr(list, name):
            return self.refuse(
                f"'{value}' is a list or tuple here, which has no '{name}': the items of a named "
                "tuple are known by their places",
                node,
                help=f"index it, as in {value}[0], or name its items, as in x, y = {value}",
            )
        return self.refuse(
            f"'{name}' of a list or tuple is not supported: its items are fixed",
            node,
            help="make an array with output_tensor(shape, dtype) or "
            "allocate(shape, dtype) and store into its elements",
        )

    def _refuse_object(self, value: object, node: ast.Attribute) -> ParseError:
        label, name = ast.unparse(node.value), node.attr
        if callable(getattr(type(value), name, None)):
            return self.refuse(
                f"cannot call the method '{name}' of '{label}', a Python {type_name(value)}",
                node,
                help=f"call it outside the script, or define a function that does what {name} does",
            )
        return self.refuse(
            f"cannot read '{name}' of '{label}', a Python {type_name(value)}",
            node,
            help=f"read it outside the script: {name} = {ast.unparse(node)}",
        )

    def _scalar_attribute(self, owner: Scalar, node: ast.Attribute) -> Value:
        is_complex = owner.type.dtype.is_complex
        match node.attr:
            case "real" | "imag" if is_complex:
                type = ScalarType(owner.type.dtype.component, owner.type.weak)
                if isinstance(owner.expr, Const):
                    part = getattr(owner.expr.value, node.attr)
                    return Scalar(Const(part, type.dtype, span=self.span(node)), type)
                return Scalar(Call(node.attr, (owner.expr,), span=self.span(node)), type)
            case "real":
                return owner
            case "imag":
                zero = Const(0 if owner.type.dtype.is_integer else 0.0, owner.type.dtype)
                return Scalar(zero, owner.type)
            case "dtype" if not owner.type.weak:
                return ElementType(owner.type.dtype)
            case "T" if not owner.type.weak:
                return owner
            case name if name in ARRAY_METHODS and not owner.type.weak:
                return Method(owner, name)
            case "conjugate" | "conj" | "item" | "astype" as name:
                return Method(owner, name)
            case name:
                value = ast.unparse(node.value)
                raise self.refuse(
                    f"{describe(owner)} has no attribute '{name}'",
                    node,
                    help=f"write {name}({value})" if name in INTRINSICS else None,
                )

    def _outer_attribute(self, owner: object, node: ast.Attribute) -> Value:
        name = node.attr
        value = getattr(owner, name, MISSING)
        self.capture(ast.unparse(node), value, AttributeSource(owner, name))
        if value is MISSING:
            label = ast.unparse(node.value)
            meant = f"did you mean '{RENAMED[name]}'?" if owner is np and name in RENAMED else None
            raise self.refuse(
                f"'{label}' has no attribute '{name}'",
                node,
                help=meant or did_you_mean(name, dir(owner)),
            )
        return self.lift(value, name, node)


def _from_end(position: Const, extent: Expr) -> Expr:
    """A negative constant index as a distance from the start, where it is known to be one."""
    if not isinstance(extent, Const):
        return position
    size, offset = int(extent.value.real), int(position.value.real)
    return Const(size + offset, INT64, span=position.span) if -size <= offset else position
