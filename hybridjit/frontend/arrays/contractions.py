"""Sums of products over named axes: np.einsum, np.tensordot and np.dot.

Two operands at a time: axes that only one of them has are the rows and the columns of a product of
matrices, those that both have and the result has not are summed, and those that all three have are
a stack of such products.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hybridjit.arith.ranges import ONE, ZERO, plus, times
from hybridjit.errors import ShapeMismatch, Span
from hybridjit.frontend.arrays.arrangements import as_array
from hybridjit.frontend.arrays.creation import evaluate_array
from hybridjit.frontend.arrays.elementwise import elementwise, require_size, without_list
from hybridjit.frontend.arrays.memory import elements_of, nest, scratch
from hybridjit.frontend.arrays.products import product
from hybridjit.frontend.arrays.reductions import Axes, reduce
from hybridjit.frontend.arrays.shapes import axis_of
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import arguments, refuse_keyword, text_argument
from hybridjit.frontend.values import AnyArray, Array, ArrayExpr, Items, Value
from hybridjit.ir.expr import Const, Expr
from hybridjit.ir.stmt import Store
from hybridjit.record import record
from hybridjit.scalars.functions import apply
from hybridjit.scalars.scalar import Scalar
from hybridjit.scalars.style import Style

Labels = tuple[str, ...]
# For the axes that '...' stands for: letters that NumPy does not take.
_OTHER_LETTERS = "αβγδεζηθικλμνξοπρστυφχψω"


@record
class Operand:
    """An array whose axes have names, each of them one."""

    labels: Labels
    array: ArrayExpr

    def size(self, label: str) -> Expr:
        """The size along an axis."""
        return self.array.shape[self.labels.index(label)]


@record
class _Parts:
    """The axes of a product of two operands."""

    stack: Labels
    rows: Labels
    summed: Labels
    columns: Labels


# how they are written


def einsum(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.einsum("ij,jk->ik", a, b)`."""
    if not node.args:
        raise build.refuse("np.einsum needs subscripts and arrays", node)
    for keyword in node.keywords:
        if keyword.arg != "optimize":
            raise refuse_keyword(build, ast.unparse(node.func), keyword)
    text = text_argument(build, node.args[0], "the subscripts").replace(" ", "")
    arrays = [elements_of(build, evaluate_array(build, arg)) for arg in node.args[1:]]
    text = _spelled_out(build, text, [len(array.shape) for array in arrays], node)
    terms, wanted = _subscripts(build, text, node)
    if len(terms) != len(arrays):
        raise build.mismatch(
            f"the subscripts {text!r} are those of {len(terms)} arrays, found {len(arrays)}",
            node,
        )
    operands = [
        _labelled(build, term, array, node) for term, array in zip(terms, arrays, strict=True)
    ]
    return contract(build, operands, wanted, node)


def _spelled_out(build: Builder, text: str, ranks: Sequence[int], node: ast.Call) -> str:
    """Subscripts with a letter for each axis that '...' stands for, the last ones first."""
    inputs, arrow, output = text.partition("->")
    if "..." not in text:
        return text
    letters = inputs.replace("...", "").replace(",", "")
    terms = inputs.split(",")
    counts = [
        max(rank - len(term.replace("...", "")), 0) if "..." in term else 0
        for term, rank in zip(terms, ranks, strict=False)
    ]
    most = max(counts, default=0)
    others = _OTHER_LETTERS[-most:] if most else ""
    if not arrow:
        output = "..." + "".join(sorted(x for x in set(letters) if letters.count(x) == 1))
    elif others and "..." not in output:
        raise build.mismatch("the result must have the axes that '...' stands for", node.args[0])
    for place, count in enumerate(counts):
        terms[place] = terms[place].replace("...", others[most - count :])
    return f"{','.join(terms)}->{output.replace('...', others)}"


def _subscripts(build: Builder, text: str, node: ast.Call) -> tuple[list[str], Labels]:
    """The labels of each operand and of the result; without '->', those that occur once."""
    inputs, arrow, output = text.partition("->")
    letters = inputs.replace(",", "")
    if not (letters + output).isalpha() and letters + output:
        raise build.refuse(
            f"the subscripts {text!r} are not supported: they must be letters, ',', '->' and '...'",
            node.args[0],
            help="name every axis by a letter of its own",
        )
    if not arrow:
        output = "".join(sorted(x for x in set(letters) if letters.count(x) == 1))
    if not set(output) <= set(letters) or len(set(output)) < len(output):
        raise build.mismatch(
            f"each letter of the result {output!r} must occur once in it, and in an operand",
            node.args[0],
        )
    return inputs.split(","), tuple(output)


def _labelled(build: Builder, term: str, array: ArrayExpr, node: ast.Call) -> Operand:
    """An operand; where a letter occurs twice, its diagonal."""
    if len(term) != len(array.shape):
        raise ShapeMismatch(
            f"the subscripts {term!r} are those of {len(term)} dimensions, the array has "
            f"{len(array.shape)}",
            build.span(node),
        )
    labels = tuple(dict.fromkeys(term))
    shape = tuple(array.shape[term.index(label)] for label in labels)
    for label, size in zip(term, array.shape, strict=True):
        _check_size(build, size, shape[labels.index(label)], label, node)

    def element(indices: Sequence[Expr]) -> Scalar:
        return array.element([indices[labels.index(label)] for label in term])

    if len(labels) == len(term):
        return Operand(labels, array)
    return Operand(labels, ArrayExpr(shape, array.dtype, element))


def _check_size(build: Builder, size: Expr, wanted: Expr, label: str, node: ast.Call) -> None:
    if build.ranges.same(size, wanted):
        return
    if isinstance(size, Const) and isinstance(wanted, Const):
        raise ShapeMismatch(
            f"the axis {label!r} in `{ast.unparse(node)}` has two sizes, {wanted.value} and "
            f"{size.value}",
            build.span(node),
        )
    require_size(build, size, wanted, node)


def tensordot(build: Builder, name: str, node: ast.Call) -> Value:
    """`np.tensordot(a, b, axes)`: a number of axes, or the axes of each."""
    args = arguments(build, node, "a", "b", "axes", required=2)
    a, b = (elements_of(build, evaluate_array(build, args[key])) for key in ("a", "b"))
    value = build.evaluate(args["axes"]) if "axes" in args else None
    if isinstance(value, Items) and len(value.items) == 2:
        pairs = [
            _axes(build, item, len(array.shape), args["axes"])
            for item, array in zip(value.items, (a, b), strict=True)
        ]
    else:
        number = 2 if value is None else build.as_scalar(value, node).constant
        if not isinstance(number, int) or number > min(len(a.shape), len(b.shape)):
            raise build.mismatch("the axes do not fit the arrays", args.get("axes", node))
        pairs = [[len(a.shape) - number + k for k in range(number)], list(range(number))]
    return _tensor_product(build, a, b, pairs, node)


def _axes(build: Builder, value: Value, ndim: int, node: ast.expr) -> list[int]:
    items = value.items if isinstance(value, Items) else (value,)
    return [axis_of(build, item, ndim, node) for item in items]


def dot(build: Builder, a: Value, b: Value, node: ast.Call) -> Value:
    """`np.dot(a, b)`: the last axis of a with the last but one of b."""
    a, b = without_list(build, a, node), without_list(build, b, node)
    if not isinstance(a, AnyArray) or not isinstance(b, AnyArray) or not (a.shape and b.shape):
        pair = [as_array(build, a, node), as_array(build, b, node)]
        return elementwise(build, pair, lambda p: apply("*", Style.NUMPY, p, None), node)
    if len(a.shape) <= 2 and len(b.shape) <= 2:
        return product(build, a, b, node)
    axes = [[len(a.shape) - 1], [max(len(b.shape) - 2, 0)]]
    return _tensor_product(build, elements_of(build, a), elements_of(build, b), axes, node)


def _tensor_product(
    build: Builder, a: ArrayExpr, b: ArrayExpr, axes: list[list[int]], node: ast.Call
) -> Value:
    if len(axes[0]) != len(axes[1]):
        raise build.mismatch("the axes of both arrays must be as many", node)
    left = [f"a{axis}" for axis in range(len(a.shape))]
    right = [f"b{axis}" for axis in range(len(b.shape))]
    for mine, other in zip(*axes, strict=True):
        right[other] = left[mine]
    wanted = tuple(x for x in (*left, *right) if (x in left) != (x in right))
    return contract(build, [Operand(tuple(left), a), Operand(tuple(right), b)], wanted, node)


# how they are computed


def contract(build: Builder, operands: Sequence[Operand], wanted: Labels, node: ast.Call) -> Value:
    """The sum of the products of all operands over the axes that are not wanted."""
    first, *rest = operands
    while rest:
        second, *rest = rest
        kept = {*wanted, *(label for other in rest for label in other.labels)}
        first = _pair(build, first, second, kept, node)
    first = _summed(build, first, set(wanted), node)
    return _arranged(build, first, wanted) if wanted else first.array.element(())


def _pair(build: Builder, a: Operand, b: Operand, kept: set[str], node: ast.Call) -> Operand:
    """The product of two operands, summed over the axes that nothing else needs."""
    for label in b.labels:
        if label in a.labels:
            _check_size(build, b.size(label), a.size(label), label, node)
    a = _summed(build, a, kept | set(b.labels), node)
    b = _summed(build, b, kept | set(a.labels), node)
    parts = _Parts(
        tuple(x for x in a.labels if x in b.labels and x in kept),
        tuple(x for x in a.labels if x not in b.labels),
        tuple(x for x in a.labels if x in b.labels and x not in kept),
        tuple(x for x in b.labels if x not in a.labels),
    )
    is_matrix = bool(parts.rows and parts.columns)
    if parts.summed and (is_matrix or not parts.stack):
        return _product(build, a, b, parts, node)
    return _summed(build, _multiplied(build, a, b, node), kept, node)


def _multiplied(build: Builder, a: Operand, b: Operand, node: ast.Call) -> Operand:
    """Every pair of elements, without sums."""
    labels = tuple(dict.fromkeys((*a.labels, *b.labels)))
    shape = tuple((a if x in a.labels else b).size(x) for x in labels)

    def part(operand: Operand) -> ArrayExpr:
        return ArrayExpr(
            shape,
            operand.array.dtype,
            lambda i: operand.array.element([i[labels.index(x)] for x in operand.labels]),
        )

    span = build.span(node)
    found = elementwise(build, [part(a), part(b)], lambda p: apply("*", Style.NUMPY, p, span), node)
    return Operand(labels, elements_of(build, as_array(build, found, node)))


def _summed(build: Builder, operand: Operand, kept: set[str], node: ast.Call) -> Operand:
    """An operand without the axes that nothing needs."""
    dropped = tuple(k for k, label in enumerate(operand.labels) if label not in kept)
    if not dropped:
        return operand
    array = operand.array
    axes = Axes(dropped, len(array.shape))
    name = "any" if array.dtype.is_bool else "sum"
    found = reduce(build, name, array, axes, node, None if array.dtype.is_bool else array.dtype)
    labels = tuple(label for label in operand.labels if label in kept)
    return Operand(labels, elements_of(build, as_array(build, found, node)))


def _product(build: Builder, a: Operand, b: Operand, parts: _Parts, node: ast.Call) -> Operand:
    """The product of two operands as one of matrices, or of a stack of them."""
    span = build.span(node)
    groups = [group for group in (parts.rows, parts.summed) if group]
    left = _grouped(build, a, parts.stack, groups, span)
    groups = [group for group in (parts.summed, parts.columns) if group]
    right = _grouped(build, b, parts.stack, groups, span)
    found = elements_of(build, as_array(build, product(build, left, right, node), node))
    labels = (*parts.stack, *parts.rows, *parts.columns)
    shape = tuple((a if x in a.labels else b).size(x) for x in labels)
    first = len(parts.stack)
    second = first + len(parts.rows)

    def element(indices: Sequence[Expr]) -> Scalar:
        place = list(indices[:first])
        if parts.rows:
            place.append(_flat(indices[first:second], shape[first:second]))
        if parts.columns:
            place.append(_flat(indices[second:], shape[second:]))
        return found.element(place)

    return Operand(labels, ArrayExpr(shape, found.dtype, element))


def _grouped(
    build: Builder, operand: Operand, stack: Labels, groups: Sequence[Labels], span: Span | None
) -> ArrayExpr:
    """An operand with one axis for each group; a copy, where a group has several axes."""
    labels = (*stack, *(label for group in groups for label in group))
    source = _arranged(build, operand, labels)
    if all(len(group) == 1 for group in groups):
        return source
    sizes = [operand.size(label) for label in stack]
    for group in groups:
        size: Expr = ONE
        for label in group:
            size = times(size, operand.size(label))
        sizes.append(size)
    buffer = scratch(build, "t", ArrayExpr(tuple(sizes), source.dtype, source.element), span)

    def store(indices: tuple[Expr, ...]) -> None:
        place, at = list(indices[: len(stack)]), len(stack)
        for group in groups:
            end = at + len(group)
            place.append(_flat(indices[at:end], source.shape[at:end]))
            at = end
        build.emit(Store(buffer, tuple(place), source.element(indices).expr, span=span))

    nest(build, source.shape, store, span)
    return elements_of(build, Array(buffer))


def _arranged(build: Builder, operand: Operand, labels: Labels) -> ArrayExpr:
    """The array with its axes in another order."""
    if labels == operand.labels:
        return operand.array
    order = [labels.index(label) for label in operand.labels]
    shape = tuple(operand.size(label) for label in labels)
    array = operand.array
    return ArrayExpr(shape, array.dtype, lambda i: array.element([i[k] for k in order]))


def _flat(indices: Sequence[Expr], shape: Sequence[Expr]) -> Expr:
    """The place of an element in C order."""
    place: Expr = ZERO
    for index, size in zip(indices, shape, strict=True):
        place = plus(times(place, size), index)
    return place
