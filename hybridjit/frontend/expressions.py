"""Expressions of the source, translated to values."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TypeVar

from hybridjit.frontend.arrays import refuse_array_expression, refuse_slice
from hybridjit.frontend.captures import has_plain_attributes
from hybridjit.frontend.context import Context, Pending, Variable
from hybridjit.frontend.conversion import join_types, truth
from hybridjit.frontend.operators import (
    BINARY,
    COMPARE,
    binary,
    compare,
    conjunction,
    logical_not,
    select,
    unary,
)
from hybridjit.frontend.refusals import refusal
from hybridjit.frontend.suggest import did_you_mean
from hybridjit.frontend.values import (
    Array,
    ElementType,
    Foreign,
    Items,
    Method,
    Module,
    Nothing,
    PythonType,
    Scalar,
    Text,
    Value,
    describe,
    index,
    integer,
    type_name,
)
from hybridjit.ir.dtype import (
    BOOL,
    INT64,
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    ScalarType,
)
from hybridjit.ir.expr import And, Call, Const, Expr, ExternCall, Load, Mul, Or
from hybridjit.ir.stmt import Allocate, If, Let, Stmt
from hybridjit.ir.visit import walk

T = TypeVar("T")

_LITERALS = {bool: WEAK_BOOL, int: WEAK_INT, float: WEAK_FLOAT, complex: WEAK_COMPLEX}


class ExpressionTranslator(Context):
    """Literals, names, operators, subscripts and attributes."""

    def evaluate(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant():
                return self._literal(node)
            case ast.Name():
                return self.read_name(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.BoolOp():
                return self._bool_op(node)
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp():
                return self._conditional(node)
            case ast.Call():
                return self.evaluate_call(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return Items(tuple(self.evaluate_all(elts)))
            case _:
                raise refusal(node, self.span(node))

    def evaluate_call(self, node: ast.Call) -> Value:
        """The value of a call; provided by the layer above."""
        raise NotImplementedError

    def evaluate_all(self, nodes: Sequence[ast.expr]) -> list[Value]:
        """Values of several expressions, evaluated left to right.

        A value that reads memory is set aside when a later expression changes memory.
        """
        if not nodes:
            return []
        first = self.evaluate(nodes[0])
        first, rest = self.then(first, lambda: self.evaluate_all(nodes[1:]))
        return [first, *rest]

    def then(self, value: Value, action: Callable[[], T]) -> tuple[Value, T]:
        """Do what comes after `value` was computed; keep its old value if memory changes."""
        mark = len(self.body)
        result = action()
        later = self.body[mark:]
        if isinstance(value, Scalar) and any(map(_has_effect, later)) and _reads_memory(value.expr):
            del self.body[mark:]
            value = self.let(value, "t", value.expr.span)
            self.body.extend(later)
        return value, result

    def _literal(self, node: ast.Constant) -> Value:
        value = node.value
        weak = _LITERALS.get(type(value))
        if weak is not None:
            return Scalar(Const(value, weak.dtype, span=self.span(node)), weak)
        if isinstance(value, str):
            return Text(value)
        if value is None:
            return Nothing()
        raise refusal(node, self.span(node))

    # -- operators -----------------------------------------------------------------------------

    def operand(self, node: ast.expr) -> Scalar:
        """The value of an expression that must be a number; whole arrays are told apart."""
        return self._operands([node], node)[0]

    def _operands(self, nodes: Sequence[ast.expr], whole: ast.expr) -> list[Scalar]:
        return self.as_operands(self.evaluate_all(nodes), nodes, whole)

    def as_operands(
        self, values: Sequence[Value], nodes: Sequence[ast.expr], whole: ast.expr
    ) -> list[Scalar]:
        for value, node in zip(values, nodes, strict=True):
            if isinstance(value, Array):
                raise refuse_array_expression(value, whole, self.span(node))
        return [self.as_scalar(value, node) for value, node in zip(values, nodes, strict=True)]

    def _binary(self, node: ast.BinOp) -> Value:
        op = BINARY.get(type(node.op))
        if op is None:
            raise refusal(node, self.span(node))
        if isinstance(node.op, (ast.Add, ast.Mult)) and self._is_display(node):
            return self._tuple_arithmetic(node)
        lhs, rhs = self._operands([node.left, node.right], node)
        return binary(op, lhs, rhs, self.span(node))

    @staticmethod
    def _is_display(node: ast.BinOp) -> bool:
        return any(
            isinstance(side, (ast.Tuple, ast.List)) or _is_shape(side)
            for side in (node.left, node.right)
        )

    def _tuple_arithmetic(self, node: ast.BinOp) -> Value:
        """`a.shape + (2,)` and `(4,) * 2`: tuples known now."""
        lhs, rhs = self.evaluate_all([node.left, node.right])
        match node.op, lhs, rhs:
            case ast.Add(), Items(left), Items(right):
                return Items(left + right)
            case ast.Mult(), Items(items), Scalar() as times if isinstance(times.constant, int):
                return Items(items * times.constant)
            case ast.Mult(), Scalar() as times, Items(items) if isinstance(times.constant, int):
                return Items(items * times.constant)
            case _:
                raise self.mismatch(
                    f"cannot combine {describe(lhs)} and {describe(rhs)}",
                    node,
                    help="only tuples of known length can be joined with + or repeated with *",
                )

    def _unary(self, node: ast.UnaryOp) -> Value:
        (value,) = self._operands([node.operand], node)
        return unary(node.op, value, self.span(node))

    def _comparison(self, node: ast.Compare) -> Value:
        nodes = [node.left, *node.comparators]
        values = self.evaluate_all(nodes)
        if len(node.ops) == 1:
            static = self._static_comparison(node.ops[0], values[0], values[1], node)
            if static is not None:
                return static
        operands = self.as_operands(values, nodes, node)
        result: Scalar | None = None
        for i, op in enumerate(node.ops):
            kind = COMPARE.get(type(op))
            if kind is None:
                raise refusal(op, self.span(node))
            # A chain reads its middle operand twice; expressions have no effects, so it may.
            link = compare(kind, operands[i], operands[i + 1], self.span(node))
            result = link if result is None else self._both(result, link, node)
        assert result is not None
        return result

    def _both(self, lhs: Scalar, rhs: Scalar, node: ast.expr) -> Scalar:
        expr = conjunction(And, lhs.expr, rhs.expr, self.span(node))
        return Scalar(expr, join_types(lhs.type, rhs.type, None))

    def _static_comparison(
        self, op: ast.cmpop, lhs: Value, rhs: Value, node: ast.Compare
    ) -> Scalar | None:
        """Comparisons of what is known now: dtypes, strings, tuples and None."""
        if isinstance(op, (ast.Is, ast.IsNot)):
            if not (isinstance(lhs, Nothing) or isinstance(rhs, Nothing)):
                raise refusal(op, self.span(node))
            same = isinstance(lhs, Nothing) and isinstance(rhs, Nothing)
            return self._decided(same == isinstance(op, ast.Is), node)
        if not isinstance(op, (ast.Eq, ast.NotEq)) or isinstance(lhs, (Scalar, Array)):
            return None
        if isinstance(rhs, (Scalar, Array)):
            return None
        equal = self._equality(lhs, rhs, node)
        return equal if isinstance(op, ast.Eq) else logical_not(equal, self.span(node))

    def _equality(self, lhs: Value, rhs: Value, node: ast.Compare) -> Scalar:
        """`lhs == rhs`; a dtype equals its name, tuples are compared item by item."""
        match lhs, rhs:
            case Items(left), Items(right):
                result = self._decided(len(left) == len(right), node)
                for a, b in zip(left, right, strict=False):
                    result = self._both(result, self._equality(a, b, node), node)
                return result
            case Scalar(), Scalar():
                if lhs.expr == rhs.expr:
                    return self._decided(True, node)
                return compare(COMPARE[ast.Eq], lhs, rhs, self.span(node))
            case _:
                return self._decided(_static_name(lhs) == _static_name(rhs), node)

    def _decided(self, value: bool, node: ast.expr) -> Scalar:
        return Scalar(Const(value, BOOL, span=self.span(node)), WEAK_BOOL)

    # -- lazy operators ------------------------------------------------------------------------

    def lazily(self, node: ast.expr) -> tuple[Scalar, list[Stmt]]:
        """The value of an expression that may not be reached, and the statements it needs."""
        with self.collect() as stmts:
            value = self.operand(node)
        return value, stmts

    def condition(self, node: ast.expr) -> Expr:
        """The truth of an expression."""
        return truth(self.operand(node), self.span(node))

    def _bool_op(self, node: ast.BoolOp) -> Value:
        result = self._operands([node.values[0]], node)[0]
        op = And if isinstance(node.op, ast.And) else Or
        for side in node.values[1:]:
            known = result.constant
            if known is not None and bool(known) == (op is Or):
                return result  # decided: what follows is not even looked at
            if known is not None:
                result = self._operands([side], node)[0]
                continue
            value, stmts = self.lazily(side)
            result = self._join_lazily(op, result, value, stmts, node)
        return result

    def _join_lazily(
        self,
        op: type[And] | type[Or],
        lhs: Scalar,
        rhs: Scalar,
        stmts: list[Stmt],
        node: ast.BoolOp,
    ) -> Scalar:
        span = self.span(node)
        if not stmts and lhs.type.dtype is BOOL and rhs.type.dtype is BOOL:
            expr = conjunction(op, lhs.expr, rhs.expr, span)
            return Scalar(expr, join_types(lhs.type, rhs.type, span))
        # Python's `x and y` is y if x is true, else x itself; `or` the other way round.
        cond = truth(lhs, span)
        then, otherwise = ((rhs, stmts), (lhs, [])) if op is And else ((lhs, []), (rhs, stmts))
        return self._choose(cond, then, otherwise, node)

    def _conditional(self, node: ast.IfExp) -> Value:
        cond = self.condition(node.test)
        if isinstance(cond, Const):
            return self.evaluate(node.body if cond.value else node.orelse)
        return self._choose(cond, self.lazily(node.body), self.lazily(node.orelse), node)

    def _choose(
        self,
        cond: Expr,
        then: tuple[Scalar, list[Stmt]],
        otherwise: tuple[Scalar, list[Stmt]],
        node: ast.expr,
    ) -> Scalar:
        """One of two values, each computed only when it is chosen."""
        span = self.span(node)
        if not then[1] and not otherwise[1]:
            return select(cond, then[0], otherwise[0], span)
        result = self.fresh_variable("t", node)
        sides: list[Stmt] = []
        for value, stmts in (then, otherwise):
            with self.collect() as body:
                self.body.extend(stmts)
                self.assign_variable(result, value, span)
            sides.append(self.close(body))
        self.emit(If(cond, sides[0], sides[1], span=span))
        assert result.buffer is not None
        assert result.type is not None
        return self.let(Scalar(Load(result.buffer, (), span=span), result.type), "t", span)

    def fresh_variable(self, name: str, node: ast.AST, number: int = 0) -> Variable:
        """A mutable variable that no name of the source refers to, made here."""
        variable = Variable((self.frame.path, (node, number)), name)
        self.emit(Pending(variable=variable, span=self.span(node)))
        return variable

    # -- subscripts and attributes -------------------------------------------------------------

    def _subscript(self, node: ast.Subscript) -> Value:
        owner = self.evaluate(node.value)
        match owner:
            case Array():
                return self.element(self.subscript_array(owner, node), node)
            case Items(items):
                return self._item(items, node)
            case _:
                raise self.mismatch(f"{describe(owner)} cannot be indexed", node)

    def element(self, part: Array, node: ast.AST) -> Value:
        """A fully indexed array is the element; otherwise it stays a part of the array."""
        if part.shape:
            return part
        return Scalar(
            Load(part.buffer, part.indices, span=self.span(node)), ScalarType(part.buffer.dtype)
        )

    def subscript_array(self, owner: Array, node: ast.Subscript) -> Array:
        """The array with more of its indices given."""
        nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for entry in nodes:
            if _is_slice(entry):
                raise refuse_slice(owner, self.span(entry))
        if len(nodes) > len(owner.shape):
            raise self.mismatch(
                f"too many indices: '{owner.buffer.name}' has {owner.buffer.ndim} "
                f"dimension{'s' * (owner.buffer.ndim != 1)}, "
                f"found {len(owner.indices) + len(nodes)} indices",
                node,
            )
        values = self.evaluate_all(nodes)
        first = len(owner.indices)
        found = [
            self._axis_index(value, owner.buffer.shape[first + axis], entry)
            for axis, (value, entry) in enumerate(zip(values, nodes, strict=True))
        ]
        return Array(owner.buffer, (*owner.indices, *found))

    def _axis_index(self, value: Value, extent: Expr, node: ast.expr) -> Expr:
        if isinstance(value, (Array, Items, Nothing)):
            raise refuse_array_expression(value, node, self.span(node))
        scalar = self.as_scalar(value, node, "an index")
        result = self.as_index(scalar, node, "an index")
        if isinstance(result, Const) and result.value.real < 0:
            return _from_end(result, extent)
        return result

    def _item(self, items: tuple[Value, ...], node: ast.Subscript) -> Value:
        if isinstance(node.slice, ast.Slice):
            return Items(items[self._static_slice(node.slice)])
        position = self.scalar(node.slice, "an index").constant
        if not isinstance(position, int):
            raise self.mismatch(
                "the index of a tuple must be known when the script is compiled",
                node.slice,
                help="loop over it with const_range, as in `for k in const_range(len(t))`",
            )
        if not -len(items) <= position < len(items):
            raise self.mismatch(f"index {position} of a tuple of {len(items)}", node.slice)
        return items[position]

    def _static_slice(self, node: ast.Slice) -> slice:
        parts: list[int | None] = []
        for part in (node.lower, node.upper, node.step):
            constant = None if part is None else self.scalar(part).constant
            if part is not None and not isinstance(constant, int):
                raise self.mismatch("a slice of a tuple must be known now", part)
            parts.append(constant)
        return slice(*parts)

    def _attribute(self, node: ast.Attribute) -> Value:
        owner = self.evaluate(node.value)
        match owner:
            case Array():
                return self._array_attribute(owner, node)
            case Scalar():
                return self._scalar_attribute(owner, node)
            case Module(module):
                return self._outer_attribute(module, node)
            case Foreign(value) if has_plain_attributes(value):
                return self._outer_attribute(value, node)
            case Foreign(value):
                raise self.refuse(
                    f"cannot look into a {type_name(value)}",
                    node,
                    help=f"put the value in a variable first: {node.attr} = ...",
                )
            case ElementType(dtype) if node.attr == "itemsize":
                return integer(dtype.bits // 8)
            case _:
                raise self.refuse(f"{describe(owner)} has no attribute '{node.attr}'", node)

    def _array_attribute(self, owner: Array, node: ast.Attribute) -> Value:
        shape = owner.shape
        match node.attr:
            case "shape":
                return Items(tuple(index(extent) for extent in shape))
            case "ndim":
                return integer(len(shape))
            case "dtype":
                return ElementType(owner.buffer.dtype)
            case "size":
                size: Scalar = integer(1)
                for extent in shape:
                    size = binary(Mul, size, index(extent), self.span(node))
                return size
            case name:
                return Method(owner, name)

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
            case name:
                return Method(owner, name)

    def _outer_attribute(self, owner: object, node: ast.Attribute) -> Value:
        name = node.attr
        if not hasattr(owner, name):
            label = ast.unparse(node.value)
            raise self.refuse(
                f"'{label}' has no attribute '{name}'", node, help=did_you_mean(name, dir(owner))
            )
        value = getattr(owner, name)
        self.capture(ast.unparse(node), value, lambda: getattr(owner, name, None))
        return self.lift(value, name, node)


def _reads_memory(expr: Expr) -> bool:
    return any(isinstance(node, Load) for node in walk(expr))


def _has_effect(stmt: Stmt) -> bool:
    if isinstance(stmt, Let):
        return isinstance(stmt.value, ExternCall)
    return not isinstance(stmt, Allocate)


def _is_slice(node: ast.expr) -> bool:
    is_marker = isinstance(node, ast.Constant) and node.value in (None, ...)
    return isinstance(node, ast.Slice) or is_marker


def _is_shape(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "shape"


def _from_end(position: Const, extent: Expr) -> Expr:
    """A negative constant index as a distance from the start, where it is known to be one."""
    if not isinstance(extent, Const):
        return position
    size, offset = int(extent.value.real), int(position.value.real)
    return Const(size + offset, INT64, span=position.span) if -size <= offset else position


def _static_name(value: Value) -> object:
    """What a value known now is compared by: a dtype by its name."""
    match value:
        case ElementType(dtype):
            return dtype.name
        case PythonType(type):
            return type.dtype.name
        case Text(text):
            return text
        case _:
            return value
