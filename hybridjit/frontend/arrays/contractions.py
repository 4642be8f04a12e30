"""Sums of products over named axes: np.einsum, np.tensordot and np.dot.

Two operands at a time: axes that only one of them has are the rows and the columns of a product of
matrices, those that both have and the result has not are summed, and those that all three have are
a stack of such products.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from hybridjit.arith.ranges import ONE, ZERO, plus, times
from hybridjit.errors import ShapeMismatch, Span
from hybridjit.frontend.arrays.grids import ArrayGrids
from hybridjit.frontend.arrays.reductions import Axes
from hybridjit.frontend.functions import apply
from hybridjit.frontend.style import Style
from hybridjit.frontend.values import AnyArray, Array, ArrayExpr, Items, Scalar, Value
from hybridjit.ir.expr import Const, Expr
from hybridjit.ir.stmt import Store

Labels = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Operand:
    """An array whose axes have names, each of them one."""

    labels: Labels
    array: ArrayExpr

    def size(self, label: str) -> Expr:
        """The size along an axis."""
        return self.array.shape[self.labels.index(label)]


@dataclass(frozen=True, slots=True)
class _Parts:
    """The axes of a product of two operands."""

    stack: Labels
    rows: Labels
    summed: Labels
    columns: Labels


class ArrayContractions(ArrayGrids):
    """Products of arrays, as sums over some of their axes."""

    # -- how they are written ------------------------------------------------------------------

    def einsum(self, name: str, node: ast.Call) -> Value:
        """`np.einsum("ij,jk->ik", a, b)`."""
        if not node.args:
            raise self.refuse("np.einsum needs subscripts and arrays", node)
        for keyword in node.keywords:
            if keyword.arg != "optimize":
                raise self.refuse_keyword(ast.unparse(node.func), keyword)
        text = self.text_argument(node.args[0], "the subscripts").replace(" ", "")
        arrays = [self.array(self.owner(arg)) for arg in node.args[1:]]
        terms, wanted = self._subscripts(text, node)
        if len(terms) != len(arrays):
            raise self.mismatch(
                f"the subscripts {text!r} are those of {len(terms)} arrays, found {len(arrays)}",
                node,
            )
        operands = [
            self._labelled(term, array, node) for term, array in zip(terms, arrays, strict=True)
        ]
        return self.contract(operands, wanted, node)

    def _subscripts(self, text: str, node: ast.Call) -> tuple[list[str], Labels]:
        """The labels of each operand and of the result; without '->', those that occur once."""
        inputs, arrow, output = text.partition("->")
        letters = inputs.replace(",", "")
        if not (letters + output).isalpha() and letters + output:
            raise self.refuse(
                f"the subscripts {text!r} are not supported: they must be letters, ',' and '->'",
                node.args[0],
                help="name every axis by a letter of its own",
            )
        if not arrow:
            output = "".join(sorted(x for x in set(letters) if letters.count(x) == 1))
        if not set(output) <= set(letters) or len(set(output)) < len(output):
            raise self.mismatch(
                f"each letter of the result {output!r} must occur once in it, and in an operand",
                node.args[0],
            )
        return inputs.split(","), tuple(output)

    def _labelled(self, term: str, array: ArrayExpr, node: ast.Call) -> Operand:
        """An operand; where a letter occurs twice, its diagonal."""
        if len(term) != len(array.shape):
            raise ShapeMismatch(
                f"the subscripts {term!r} are those of {len(term)} dimensions, the array has "
                f"{len(array.shape)}",
                self.span(node),
            )
        labels = tuple(dict.fromkeys(term))
        shape = tuple(array.shape[term.index(label)] for label in labels)
        for label, size in zip(term, array.shape, strict=True):
            self._check_size(size, shape[labels.index(label)], label, node)

        def element(indices: Sequence[Expr]) -> Scalar:
            return array.element([indices[labels.index(label)] for label in term])

        if len(labels) == len(term):
            return Operand(labels, array)
        return Operand(labels, ArrayExpr(shape, array.dtype, element))

    def _check_size(self, size: Expr, wanted: Expr, label: str, node: ast.Call) -> None:
        if self.ranges.same(size, wanted):
            return
        if isinstance(size, Const) and isinstance(wanted, Const):
            raise ShapeMismatch(
                f"the axis {label!r} in `{ast.unparse(node)}` has two sizes, {wanted.value} and "
                f"{size.value}",
                self.span(node),
            )
        self.require_size(size, wanted, node)

    def tensordot(self, name: str, node: ast.Call) -> Value:
        """`np.tensordot(a, b, axes)`: a number of axes, or the axes of each."""
        args = self.arguments(node, "a", "b", "axes", required=2)
        a, b = (self.array(self.owner(args[key])) for key in ("a", "b"))
        value = self.evaluate(args["axes"]) if "axes" in args else None
        if isinstance(value, Items) and len(value.items) == 2:
            pairs = [
                self._axes(item, len(array.shape), args["axes"])
                for item, array in zip(value.items, (a, b), strict=True)
            ]
        else:
            number = 2 if value is None else self.as_scalar(value, node).constant
            if not isinstance(number, int) or number > min(len(a.shape), len(b.shape)):
                raise self.mismatch("the axes do not fit the arrays", args.get("axes", node))
            pairs = [[len(a.shape) - number + k for k in range(number)], list(range(number))]
        return self._tensor_product(a, b, pairs, node)

    def _axes(self, value: Value, ndim: int, node: ast.expr) -> list[int]:
        items = value.items if isinstance(value, Items) else (value,)
        return [self.axis_of(item, ndim, node) for item in items]

    def dot(self, a: Value, b: Value, node: ast.Call) -> Value:
        """`np.dot(a, b)`: the last axis of a with the last but one of b."""
        a, b = self.without_list(a, node), self.without_list(b, node)
        if not isinstance(a, AnyArray) or not isinstance(b, AnyArray) or not (a.shape and b.shape):
            return self.elementwise([a, b], lambda p: apply("*", Style.NUMPY, p, None), node)
        if len(a.shape) <= 2 and len(b.shape) <= 2:
            return self.product(a, b, node)
        axes = [[len(a.shape) - 1], [max(len(b.shape) - 2, 0)]]
        return self._tensor_product(self.array(a), self.array(b), axes, node)

    def _tensor_product(
        self, a: ArrayExpr, b: ArrayExpr, axes: list[list[int]], node: ast.Call
    ) -> Value:
        if len(axes[0]) != len(axes[1]):
            raise self.mismatch("the axes of both arrays must be as many", node)
        left = [f"a{axis}" for axis in range(len(a.shape))]
        right = [f"b{axis}" for axis in range(len(b.shape))]
        for mine, other in zip(*axes, strict=True):
            right[other] = left[mine]
        wanted = tuple(x for x in (*left, *right) if (x in left) != (x in right))
        return self.contract([Operand(tuple(left), a), Operand(tuple(right), b)], wanted, node)

    # -- how they are computed -----------------------------------------------------------------

    def contract(self, operands: Sequence[Operand], wanted: Labels, node: ast.Call) -> Value:
        """The sum of the products of all operands over the axes that are not wanted."""
        first, *rest = operands
        while rest:
            second, *rest = rest
            kept = {*wanted, *(label for other in rest for label in other.labels)}
            first = self._pair(first, second, kept, node)
        first = self._summed(first, set(wanted), node)
        return self._arranged(first, wanted) if wanted else first.array.element(())

    def _pair(self, a: Operand, b: Operand, kept: set[str], node: ast.Call) -> Operand:
        """The product of two operands, summed over the axes that nothing else needs."""
        for label in b.labels:
            if label in a.labels:
                self._check_size(b.size(label), a.size(label), label, node)
        a = self._summed(a, kept | set(b.labels), node)
        b = self._summed(b, kept | set(a.labels), node)
        parts = _Parts(
            tuple(x for x in a.labels if x in b.labels and x in kept),
            tuple(x for x in a.labels if x not in b.labels),
            tuple(x for x in a.labels if x in b.labels and x not in kept),
            tuple(x for x in b.labels if x not in a.labels),
        )
        is_matrix = bool(parts.rows and parts.columns)
        if parts.summed and (is_matrix or not parts.stack):
            return self._product(a, b, parts, node)
        return self._summed(self._multiplied(a, b, node), kept, node)

    def _multiplied(self, a: Operand, b: Operand, node: ast.Call) -> Operand:
        """Every pair of elements, without sums."""
        labels = tuple(dict.fromkeys((*a.labels, *b.labels)))
        shape = tuple((a if x in a.labels else b).size(x) for x in labels)

        def part(operand: Operand) -> ArrayExpr:
            return ArrayExpr(
                shape,
                operand.array.dtype,
                lambda i: operand.array.element([i[labels.index(x)] for x in operand.labels]),
            )

        span = self.span(node)
        found = self.elementwise(
            [part(a), part(b)], lambda p: apply("*", Style.NUMPY, p, span), node
        )
        return Operand(labels, self.array(self.as_array(found, node)))

    def _summed(self, operand: Operand, kept: set[str], node: ast.Call) -> Operand:
        """An operand without the axes that nothing needs."""
        dropped = tuple(k for k, label in enumerate(operand.labels) if label not in kept)
        if not dropped:
            return operand
        array = operand.array
        axes = Axes(dropped, len(array.shape))
        name = "any" if array.dtype.is_bool else "sum"
        found = self.reduce(name, array, axes, node, None if array.dtype.is_bool else array.dtype)
        labels = tuple(label for label in operand.labels if label in kept)
        return Operand(labels, self.array(self.as_array(found, node)))

    def _product(self, a: Operand, b: Operand, parts: _Parts, node: ast.Call) -> Operand:
        """The product of two operands as one of matrices, or of a stack of them."""
        span = self.span(node)
        groups = [group for group in (parts.rows, parts.summed) if group]
        left = self._grouped(a, parts.stack, groups, span)
        groups = [group for group in (parts.summed, parts.columns) if group]
        right = self._grouped(b, parts.stack, groups, span)
        found = self.array(self.as_array(self.product(left, right, node), node))
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
        self, operand: Operand, stack: Labels, groups: Sequence[Labels], span: Span | None
    ) -> ArrayExpr:
        """An operand with one axis for each group; a copy, where a group has several axes."""
        labels = (*stack, *(label for group in groups for label in group))
        source = self._arranged(operand, labels)
        if all(len(group) == 1 for group in groups):
            return source
        sizes = [operand.size(label) for label in stack]
        for group in groups:
            size: Expr = ONE
            for label in group:
                size = times(size, operand.size(label))
            sizes.append(size)
        buffer = self.scratch("t", ArrayExpr(tuple(sizes), source.dtype, source.element), span)

        def store(indices: tuple[Expr, ...]) -> None:
            place, at = list(indices[: len(stack)]), len(stack)
            for group in groups:
                end = at + len(group)
                place.append(_flat(indices[at:end], source.shape[at:end]))
                at = end
            self.emit(Store(buffer, tuple(place), source.element(indices).expr, span=span))

        self.nest(source.shape, store, span)
        return self.array(Array(buffer))

    def _arranged(self, operand: Operand, labels: Labels) -> ArrayExpr:
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
