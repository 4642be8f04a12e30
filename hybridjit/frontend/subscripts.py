"""Subscripts and attributes: `a[i, j]`, `t[0]`, `a.shape`, `x.real`, `module.name`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from types import EllipsisType
from typing import TYPE_CHECKING

import numpy as np

from hybridjit.arith.totality import is_total
from hybridjit.errors import BoundsError, ParseError
from hybridjit.frontend.arrays.memory import (
    elements_of,
    evaluate_all,
    in_order,
    whole,
)
from hybridjit.frontend.arrays.subscripts import (
    element_or_part,
    is_slice,
    require_inside,
    row_as_it_was,
    written_out,
)
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.captures import MISSING, AttributeSource, has_plain_attributes
from hybridjit.frontend.item_arrays import item_at
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    Callee,
    ElementType,
    Foreign,
    GrowingList,
    Items,
    Method,
    Module,
    Nothing,
    NumpyFunction,
    RandomGenerator,
    Records,
    Text,
    Value,
    View,
    describe,
)
from hybridjit.ir.dtype import INT64, ScalarType
from hybridjit.ir.expr import Call, Const, Expr, Load, const
from hybridjit.ir.intrinsics import INTRINSICS
from hybridjit.lazy import lazy_module
from hybridjit.scalars.conversion import as_number
from hybridjit.scalars.functions import apply
from hybridjit.scalars.kinds import type_name
from hybridjit.scalars.scalar import Scalar, index, integer
from hybridjit.scalars.style import Style
from hybridjit.scalars.suggest import did_you_mean

if TYPE_CHECKING:
    from hybridjit.frontend import list_methods, numpy_refusals, object_methods, records, refusals
    from hybridjit.frontend.arrays import calls as array_calls
    from hybridjit.frontend.arrays import functions as array_functions
    from hybridjit.frontend.arrays import gather, index_grids, shapes
    from hybridjit.frontend.arrays import lists as array_lists
    from hybridjit.frontend.arrays import refusals as array_refusals
    from hybridjit.frontend.library import random as library_random
else:
    array_calls = lazy_module("hybridjit.frontend.arrays.calls")
    array_functions = lazy_module("hybridjit.frontend.arrays.functions")
    library_random = lazy_module("hybridjit.frontend.library.random")
    index_grids = lazy_module("hybridjit.frontend.arrays.index_grids")
    gather = lazy_module("hybridjit.frontend.arrays.gather")
    array_lists = lazy_module("hybridjit.frontend.arrays.lists")
    array_refusals = lazy_module("hybridjit.frontend.arrays.refusals")
    shapes = lazy_module("hybridjit.frontend.arrays.shapes")
    list_methods = lazy_module("hybridjit.frontend.list_methods")
    numpy_refusals = lazy_module("hybridjit.frontend.numpy_refusals")
    object_methods = lazy_module("hybridjit.frontend.object_methods")
    records = lazy_module("hybridjit.frontend.records")
    refusals = lazy_module("hybridjit.frontend.refusals")

# Methods of a function of NumPy.
UFUNC_METHODS = ("outer", "at", "reduce", "accumulate")


def evaluate_subscript(build: Builder, node: ast.Subscript) -> Value:
    """The value of `owner[...]`."""
    owner = build.evaluate(node.value)
    mark = len(build.body)
    with in_order(build, [node.slice]):
        return _subscript_of(build, row_as_it_was(build, owner, mark, node), node)


def _subscript_of(build: Builder, owner: Value, node: ast.Subscript) -> Value:
    if isinstance(owner, AnyArray):
        node = written_out(build, node)
    match owner:
        case Array():
            return _array_subscript(build, owner, node)
        case View() | ArrayExpr():
            return gather.array_part(build, whole(build, owner, build.span(node)), node)
        case Items() | Records():
            return _item_or_field(build, owner, node)
        case GrowingList():
            return list_methods.list_item(build, owner, node)
        case Scalar():
            raise build.mismatch(
                f"{describe(owner)} cannot be indexed",
                node,
                help=f"it is a number already: write {ast.unparse(node.value)}",
            )
        case Foreign():
            return _foreign_item(build, owner, node)
        case Text():
            raise build.mismatch(f"{describe(owner)} cannot be indexed", node, help=_LETTERS)
        case _:
            raise build.mismatch(f"{describe(owner)} cannot be indexed", node)


_LETTERS = "pass its letters as numbers, as in np.frombuffer(text.encode(), np.uint8)"


def _foreign_item(build: Builder, owner: Foreign, node: ast.Subscript) -> Value:
    found = owner.value
    if found is np.mgrid or found is np.ogrid:
        return index_grids.index_grid(build, node, is_open=found is np.ogrid)
    if refusals.index_help(found) is not None:
        label = ast.unparse(node.value)
        raise build.refuse(
            f"'{label}' is not supported inside a script", node, help=refusals.index_help(found)
        )
    raise build.mismatch(
        f"{describe(owner)} cannot be indexed inside a script",
        node,
        help=f"take the item outside the script: item = {ast.unparse(node)}",
    )


def _item_or_field(build: Builder, owner: Items | Records, node: ast.Subscript) -> Value:
    if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        return records.field_of(build, owner, node.slice.value, node)
    match node.slice, owner:
        case ast.Tuple([ast.Constant(str(name)), ast.Constant(EllipsisType())]), Records():
            records.field_of(build, owner, name, node)
            return records.memory_of(build, owner, name)
        case _, Records(ndim=0):
            return _item(build, records.numbers_of(build, owner, node), node)
        case _, Records():
            return records.part_of(build, owner, node)
        case _, Items():
            return _item(build, owner, node)


def element(build: Builder, part: Array, node: ast.AST) -> Value:
    """A fully indexed array is the element; otherwise it stays a part of the array."""
    if part.shape:
        return part
    return Scalar(
        Load(part.buffer, part.indices, span=build.span(node)), ScalarType(part.buffer.dtype)
    )


def _array_subscript(build: Builder, owner: Array, node: ast.Subscript) -> Value:
    nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if any(map(is_slice, nodes)):
        return gather.array_part(build, owner, node)
    values = evaluate_all(build, nodes)
    if any(isinstance(value, (AnyArray, Nothing)) for value in values):
        return element_or_part(build, gather.part_at(build, owner, values, node), node)
    return element(build, indexed(build, owner, values, nodes, node), node)


def indexed(
    build: Builder,
    owner: Array,
    values: Sequence[Value],
    nodes: Sequence[ast.expr],
    node: ast.Subscript,
) -> Array:
    """The array with more of its indices given."""
    if len(nodes) > len(owner.shape):
        raise build.mismatch(
            f"too many indices: '{owner.buffer.name}' has "
            f"{array_refusals.count(owner.buffer.ndim, 'dimension')}, "
            f"found {array_refusals.count(len(owner.indices) + len(nodes), 'index', 'indices')}",
            node,
            help=f"index one element, as in {array_refusals.element_of(owner)}",
        )
    first = len(owner.indices)
    found = [
        _axis_index(build, value, owner, first + axis, entry)
        for axis, (value, entry) in enumerate(zip(values, nodes, strict=True))
    ]
    part = Array(owner.buffer, (*owner.indices, *found))
    for axis, position in enumerate(found if part.shape else (), first):
        require_inside(build, position, owner.buffer, axis, node)
    return part


def _axis_index(build: Builder, value: Value, owner: Array, axis: int, node: ast.expr) -> Expr:
    if isinstance(value, Items):
        raise build.mismatch(
            f"an index must be an integer, found {describe(value)}",
            node,
            help=f"of a tuple, write the items, as in {array_refusals.element_of(owner)}; "
            f"of a list, make an array of indices, as in np.array({ast.unparse(node)})",
        )
    scalar = build.as_scalar(value, node, "an index")
    result = build.as_index(scalar, node, "an index")
    if isinstance(result, Const) and result.value.real < 0:
        return _from_end(result, owner.buffer.shape[axis])
    return result


def _item(build: Builder, owner: Items, node: ast.Subscript) -> Value:
    items = owner.items
    if isinstance(node.slice, ast.Tuple):
        return _nested_item(build, owner, node, node.slice.elts)
    if isinstance(node.slice, ast.Slice):
        return Items(items[_static_slice(build, node.slice)], owner.is_list)
    number = build.scalar(node.slice, "an index")
    position = number.constant
    if not isinstance(position, int) and owner.origin is not None and items:
        raise array_lists.grow(build, owner, node)
    if not isinstance(position, int):
        chosen = item_at(build, owner, number, node)
        if chosen is not None:
            return chosen
        raise build.mismatch(
            "the index of a tuple must be known when the script is compiled",
            node.slice,
            help=f"count with `for k in const_range(len({ast.unparse(node.value)})):`, "
            "or keep the values in an array",
        )
    if not -len(items) <= position < len(items):
        raise BoundsError(
            f"index {position} is out of bounds for {ast.unparse(node.value)}, "
            f"which has {array_refusals.count(len(items), 'item')}",
            build.span(node),
        )
    return items[position]


def _nested_item(
    build: Builder, owner: Items, node: ast.Subscript, indices: list[ast.expr]
) -> Value:
    """`b[i, j]` of nested tuples, as TVM's scripts write it: b[i][j]."""
    found: Value = owner
    for part in indices:
        if not isinstance(found, Items):
            raise build.mismatch(
                f"{ast.unparse(node.value)} is not nested as deep as it is indexed", part
            )
        found = _item(build, found, ast.copy_location(ast.Subscript(node.value, part), node))
    return found


def _static_slice(build: Builder, node: ast.Slice) -> slice:
    parts: list[int | None] = []
    for part in (node.lower, node.upper, node.step):
        constant = None if part is None else build.scalar(part).constant
        if part is not None and not isinstance(constant, int):
            raise build.mismatch(
                "the bounds of a slice of a tuple must be known when the script is compiled",
                part,
                help="use constants, or keep the values in an array",
            )
        parts.append(constant)
    return slice(*parts)


def evaluate_attribute(build: Builder, node: ast.Attribute) -> Value:
    """The value of `owner.name`."""
    owner = build.evaluate(node.value)
    match owner:
        case Array() | View() | ArrayExpr():
            return _array_attribute(build, owner, node)
        case Scalar():
            return _scalar_attribute(build, owner, node)
        case Module(module):
            return _outer_attribute(build, module, node)
        case Foreign(value):
            return _object_attribute(build, value, node)
        case Text(text) if hasattr(str, node.attr):
            raise refusals.refuse_text_arithmetic(text, build.span(node))
        case GrowingList() | Items():
            return _field(build, owner, node)
        case Records() if node.attr in (*owner.fields, *records.RECORDS_ATTRIBUTES):
            return records.records_attribute(build, owner, node)
        case ElementType() if node.attr in ("type", "itemsize", "kind"):
            return _type_attribute(owner, node)
        case RandomGenerator() | NumpyFunction() if node.attr in _methods_of(owner):
            return Method(owner, node.attr)
        case _:
            raise _refuse_attribute_of(build, owner, node)


def _methods_of(owner: RandomGenerator | NumpyFunction) -> Sequence[str]:
    return UFUNC_METHODS if isinstance(owner, NumpyFunction) else tuple(library_random.METHODS)


def _refuse_attribute_of(build: Builder, owner: Value, node: ast.Attribute) -> ParseError:
    match owner:
        case RandomGenerator():
            help = f"it has {', '.join(library_random.METHODS)}"
        case NumpyFunction():
            help = f"call {ast.unparse(node.value)} on the elements in a loop"
        case Callee(pyfunc) if node.attr in dir(np.ufunc):
            help = numpy_refusals.ufunc_method_help(pyfunc.__name__)
        case _:
            return build.refuse(f"{describe(owner)} has no attribute '{node.attr}'", node)
    return build.refuse(f"'{ast.unparse(node)}' is not supported inside a script", node, help=help)


# What takes elements that a mask selects as they come; for all else they become an array.
_OF_ELEMENTS = (
    *("size", "dtype", "itemsize", "real", "imag", "astype"),
    *("sum", "prod", "mean", "var", "std", "min", "max", "any", "all"),
)


def _array_attribute(build: Builder, owner: AnyArray, node: ast.Attribute) -> Value:
    if node.attr not in _OF_ELEMENTS:
        owner = whole(build, owner, build.span(node))
    shape = owner.shape
    match node.attr:
        case "shape":
            return Items(tuple(index(extent) for extent in shape))
        case "ndim":
            return integer(len(shape))
        case "dtype":
            return ElementType(elements_of(build, owner).dtype)
        case "size":
            return _size_of(build, owner, node)
        case "T" | "mT" | "flat":
            return _rearranged(build, owner, node)
        case "itemsize":
            return integer(elements_of(build, owner).dtype.bits // 8)
        case "real" | "imag" as name:
            return array_calls.complex_part(build, owner, name, node.value)
        case name if name in array_refusals.ARRAY_METHODS:
            return Method(owner, name)
        case name:
            raise array_refusals.refuse_array_attribute(owner, name, build.span(node))


def _rearranged(build: Builder, owner: AnyArray, node: ast.Attribute) -> Value:
    """`a.T`, all axes in reverse order; `a.mT`, the last two of them exchanged; `a.flat`, one."""
    if node.attr == "flat":
        return shapes.reshape(build, owner, (Const(-1),), node)
    order = list(range(len(owner.shape)))
    if node.attr == "mT" and len(order) < 2:
        raise build.mismatch("mT needs an array of at least two dimensions", node)
    order[-2:] = order[:-3:-1]
    return shapes.transposed(build, owner, order if node.attr == "mT" else None, node)


def _size_of(build: Builder, owner: AnyArray, node: ast.Attribute) -> Scalar:
    if isinstance(owner, ArrayExpr) and owner.mask is not None:
        return array_functions.count_selected(build, owner, node)
    return records.product_of(build, owner.shape, node)


def _object_attribute(build: Builder, value: object, node: ast.Attribute) -> Value:
    if has_plain_attributes(value):
        return _outer_attribute(build, value, node)
    if type(value) in (np.iinfo, np.finfo) and hasattr(value, node.attr):
        return build.lift(getattr(value, node.attr), node.attr, node)
    raise _refuse_object(build, value, node)


def _type_attribute(owner: ElementType, node: ast.Attribute) -> Value:
    if node.attr == "type":
        return owner
    dtype = owner.dtype
    return integer(dtype.bits // 8) if node.attr == "itemsize" else Text(dtype.numpy.kind)


def _field(build: Builder, owner: Items | GrowingList, node: ast.Attribute) -> Value:
    """What a named tuple or a dataclass holds under a name; a method of a list."""
    is_list = isinstance(owner, GrowingList) or owner.is_list
    fields = None if isinstance(owner, GrowingList) else owner.fields
    if node.attr in (
        list_methods.LIST_METHODS if is_list else list_methods.SEARCHES if not fields else ()
    ):
        return Method(owner, node.attr)
    if fields is None or isinstance(owner, GrowingList):
        raise _refuse_list_attribute(
            build, node, list_methods.LIST_METHODS if is_list else list_methods.SEARCHES
        )
    if node.attr in fields:
        return owner.items[fields.index(node.attr)]
    method = object_methods.find_method(build, owner, node)
    if method is not None:
        return method
    value = ast.unparse(node.value)
    raise build.refuse(
        f"'{value}' holds no array or number '{node.attr}'",
        node,
        help=f"it has {', '.join(fields)}; pass anything else as an argument"
        if fields
        else "pass it as an argument",
    )


def _refuse_list_attribute(
    build: Builder, node: ast.Attribute, methods: Iterable[str]
) -> ParseError:
    value, name = ast.unparse(node.value), node.attr
    if name in array_refusals.ARRAY_ATTRIBUTES:
        return build.refuse(
            f"'{value}' is a list or tuple, which has no '{name}'",
            node,
            help=f"make it an array outside the script: np.array({value})",
        )
    if not hasattr(list, name):
        meant = did_you_mean(name, methods)
        if meant is not None:
            return build.refuse(f"'{value}' is a list or tuple, which has no '{name}'", node, meant)
        return build.refuse(
            f"'{value}' is a list or tuple here, which has no '{name}': the items of a named "
            "tuple are known by their places",
            node,
            help=f"index it, as in {value}[0], or name its items, as in x, y = {value}",
        )
    return build.refuse(
        f"'{name}' of a list or tuple is not supported: its items are fixed",
        node,
        help="make a list in the script, as in out = [], and append to it; or an array with "
        "allocate(shape, dtype), and store into its elements",
    )


def _refuse_object(build: Builder, value: object, node: ast.Attribute) -> ParseError:
    label, name = ast.unparse(node.value), node.attr
    if callable(getattr(type(value), name, None)):
        return build.refuse(
            f"cannot call the method '{name}' of '{label}', a Python {type_name(value)}",
            node,
            help=f"call it outside the script, or define a function that does what {name} does",
        )
    return build.refuse(
        f"cannot read '{name}' of '{label}', a Python {type_name(value)}",
        node,
        help=f"read it outside the script: {name} = {ast.unparse(node)}",
    )


def _scalar_attribute(build: Builder, owner: Scalar, node: ast.Attribute) -> Value:
    is_complex = owner.type.dtype.is_complex
    match node.attr:
        case "real" | "imag" if is_complex:
            type = ScalarType(owner.type.dtype.component, owner.type.weak)
            if isinstance(owner.expr, Const):
                part = getattr(owner.expr.value, node.attr)
                return Scalar(Const(part, type.dtype, span=build.span(node)), type)
            return Scalar(Call(node.attr, (owner.expr,), span=build.span(node)), type)
        case "real":
            return as_number(owner)
        case "imag" if is_total(owner.expr):
            number = as_number(owner)
            return Scalar(const(0, number.type.dtype), number.type)
        case "imag":  # reading it may fail
            return apply("imag", Style.LANGUAGE, [owner], build.span(node))
        case "dtype" if not owner.type.weak:
            return ElementType(owner.type.dtype)
        case "T" if not owner.type.weak:
            return owner
        case name if name in array_refusals.ARRAY_METHODS and not owner.type.weak:
            return Method(owner, name)
        case "conjugate" | "conj" | "item" | "astype" as name:
            return Method(owner, name)
        case name:
            value = ast.unparse(node.value)
            raise build.refuse(
                f"{describe(owner)} has no attribute '{name}'",
                node,
                help=f"write {name}({value})" if name in INTRINSICS else None,
            )


def _outer_attribute(build: Builder, owner: object, node: ast.Attribute) -> Value:
    name = node.attr
    value = getattr(owner, name, MISSING)
    build.capture(ast.unparse(node), value, AttributeSource(owner, name))
    if value is MISSING:
        label = ast.unparse(node.value)
        meant = (
            f"did you mean '{numpy_refusals.RENAMED[name]}'?"
            if owner is np and name in numpy_refusals.RENAMED
            else None
        )
        raise build.refuse(
            f"'{label}' has no attribute '{name}'",
            node,
            help=meant or did_you_mean(name, dir(owner)),
        )
    return build.lift(value, name, node)


def _from_end(position: Const, extent: Expr) -> Expr:
    """A negative constant index as a distance from the start, where it is known to be one."""
    if not isinstance(extent, Const):
        return position
    size, offset = int(extent.value.real), int(position.value.real)
    return Const(size + offset, INT64, span=position.span) if -size <= offset else position
