"""Expressions of the source, translated to values."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hybridjit.errors import Span
from hybridjit.frontend.arrays.refusals import (
    refuse_array_expression,
    refuse_choice,
    refuse_part,
    refuse_truth,
    refuse_whole,
)
from hybridjit.frontend.comparisons import COMPARE, compare
from hybridjit.frontend.conversion import join_types, truth
from hybridjit.frontend.frame import Pending, Variable
from hybridjit.frontend.kinds import is_python_number, weak_type
from hybridjit.frontend.operators import (
    BINARY,
    binary,
    binary_of_arrays,
    conjunction,
    logical_not,
    select,
    unary,
)
from hybridjit.frontend.refusals import refusal, refuse_text_arithmetic
from hybridjit.frontend.subscripts import SubscriptTranslator
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    ElementType,
    Items,
    Nothing,
    PythonType,
    Scalar,
    Text,
    Value,
    View,
    describe,
)
from hybridjit.ir.dtype import BOOL, WEAK_BOOL
from hybridjit.ir.expr import And, Binary, Const, Expr, Load, Or, Pow, Select
from hybridjit.ir.stmt import If, Stmt
from hybridjit.ir.visit import walk

# A value that may not be reached, and the statements that compute it.
Lazy = tuple[Scalar, list[Stmt]]
# A longer tuple is a slip: each of its items is a value of its own.
MAX_TUPLE = 4096


class ExpressionTranslator(SubscriptTranslator):
    """Literals, names, operators, and what is evaluated only when it is reached."""

    def evaluate(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant():
                return self._literal(node)
            case ast.Name():
                return self.read_name(node)
            case ast.Call():
                return self.evaluate_call(node)
            case ast.Subscript():
                return self.evaluate_subscript(node)
            case ast.Attribute():
                return self.evaluate_attribute(node)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return Items(tuple(self._items(elts)))
            case _:
                return self._evaluate_operator(node)

    def _items(self, nodes: Sequence[ast.expr]) -> list[Value]:
        """The items of a tuple as it is written: `(n, *a.shape)`."""
        parts = [node.value if isinstance(node, ast.Starred) else node for node in nodes]
        items: list[Value] = []
        for node, value in zip(nodes, self.evaluate_all(parts), strict=True):
            if not isinstance(node, ast.Starred):
                items.append(value)
            elif isinstance(value, Items):
                items.extend(value.items)
            else:
                raise self.mismatch(
                    f"'*' needs a tuple, found {describe(value)}", node, help="leave out the '*'"
                )
        return items

    def _evaluate_operator(self, node: ast.expr) -> Value:
        match node:
            case ast.BinOp():
                return self._binary(node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.Compare():
                return self._comparison(node)
            case ast.BoolOp():
                return self._bool_op(node)
            case ast.IfExp():
                return self._conditional(node)
            case _:
                raise refusal(node, self.span(node))

    def evaluate_call(self, node: ast.Call) -> Value:
        """The value of a call; provided by the layer above."""
        raise NotImplementedError

    def _literal(self, node: ast.Constant) -> Value:
        value = node.value
        if is_python_number(value):
            type = weak_type(value)
            return Scalar(Const(value, type.dtype, span=self.span(node)), type)
        if isinstance(value, str):
            return Text(value)
        if value is None:
            return Nothing()
        raise refusal(node, self.span(node))

    # -- operators -----------------------------------------------------------------------------

    def operand(self, node: ast.expr) -> Scalar:
        """The value of an expression that must be a number; whole arrays are told apart."""
        return self._operands([node], node)[0]

    def as_operands(
        self, values: Sequence[Value], nodes: Sequence[ast.expr], whole: ast.expr
    ) -> list[Scalar]:
        """Values that must be numbers; a whole array is refused with the expression it is in."""
        for value, node in zip(values, nodes, strict=True):
            if isinstance(value, (View, ArrayExpr)):
                raise refuse_whole(value, whole, self.span(whole))
            if isinstance(value, Array):
                span = self.span(node if value.indices else whole)
                raise refuse_array_expression(value, whole, span)
        return [self.as_scalar(value, node) for value, node in zip(values, nodes, strict=True)]

    def _operands(self, nodes: Sequence[ast.expr], whole: ast.expr) -> list[Scalar]:
        return self.as_operands(self.evaluate_all(nodes), nodes, whole)

    def _binary(self, node: ast.BinOp) -> Value:
        nodes = [node.left, node.right]
        values = self.evaluate_all(nodes)
        if isinstance(node.op, ast.MatMult):
            return self.product(values[0], values[1], node)
        op = BINARY[type(node.op)]
        is_of_arrays = any(isinstance(value, AnyArray) for value in values)
        is_of_tuples = any(isinstance(value, Items) for value in values) and not is_of_arrays
        if is_of_tuples and isinstance(node.op, (ast.Add, ast.Mult)):
            return self._tuple_arithmetic(node, *values)
        for value in values:
            if isinstance(value, Text):
                raise refuse_text_arithmetic(value.text, self.span(node))
        span = self.span(node)
        if is_of_arrays:
            return self.elementwise(values, lambda parts: self.combined(op, parts, span), node)
        lhs, rhs = self.as_operands(values, nodes, node)
        return binary(op, lhs, rhs, span)

    def product(self, lhs: Value, rhs: Value, node: ast.expr) -> Value:
        """`lhs @ rhs`; provided by the layer above."""
        raise NotImplementedError

    def combined(self, op: type[Binary], parts: list[Scalar], span: Span) -> Scalar:
        """`lhs op rhs` for elements of arrays; a power uses its base several times."""
        base = self.let(parts[0], "t", span) if op is Pow else parts[0]
        return binary_of_arrays(op, base, parts[1], span)

    def _tuple_arithmetic(self, node: ast.BinOp, lhs: Value, rhs: Value) -> Value:
        """`a.shape + (2,)` and `(4,) * 2`: tuples known now."""
        match node.op, lhs, rhs:
            case ast.Add(), Items(left), Items(right):
                return Items(left + right)
            case ast.Mult(), Items(items), Scalar() as times if isinstance(times.constant, int):
                return self._repeated(items, times.constant, node)
            case ast.Mult(), Scalar() as times, Items(items) if isinstance(times.constant, int):
                return self._repeated(items, times.constant, node)
            case _:
                raise self.mismatch(
                    f"cannot combine {describe(lhs)} and {describe(rhs)}",
                    node,
                    help="only tuples of known length can be joined with + or repeated with *",
                )

    def _repeated(self, items: tuple[Value, ...], times: int, node: ast.BinOp) -> Items:
        if len(items) * times > MAX_TUPLE:
            raise self.refuse(
                f"this tuple would have {len(items) * times} items; at most {MAX_TUPLE}",
                node,
                help="keep the values in an array: allocate(shape, dtype)",
            )
        return Items(items * times)

    def _unary(self, node: ast.UnaryOp) -> Value:
        value = self.evaluate(node.operand)
        if isinstance(value, AnyArray) and not isinstance(node.op, ast.Not):
            span = self.span(node)
            return self.elementwise([value], lambda parts: unary(node.op, parts[0], span), node)
        (value,) = self.as_operands([value], [node.operand], node)
        return unary(node.op, value, self.span(node))

    def _comparison(self, node: ast.Compare) -> Value:
        for op in node.ops:
            if isinstance(op, (ast.In, ast.NotIn)):
                raise refusal(op, self.span(node))
        nodes = [node.left, node.comparators[0]]
        values = self.evaluate_all(nodes)
        if len(node.ops) == 1:
            static = self._static_comparison(node.ops[0], values[0], values[1], node)
            if static is not None:
                return static
            if any(isinstance(value, AnyArray) for value in values):
                return self.elementwise(
                    values, lambda parts: self._link(node.ops[0], parts[0], parts[1], node), node
                )
        first, last = self.as_operands(values, nodes, node)
        result = self._link(node.ops[0], first, last, node)
        for op, side in zip(node.ops[1:], node.comparators[1:], strict=True):
            value, stmts = self.lazily(side)
            if stmts:  # they may change what the operand in the middle reads
                last = self.let(last, "t", last.expr.span)
            link = self._link(op, last, value, node)
            if stmts:
                result = self._join_lazily(And, result, link, stmts, node)
            else:
                result = self._both(result, link, node)
            last = value
        return result

    def _link(self, op: ast.cmpop, lhs: Scalar, rhs: Scalar, node: ast.Compare) -> Scalar:
        kind = COMPARE.get(type(op))
        if kind is None:
            raise refusal(op, self.span(node))
        return compare(kind, lhs, rhs, self.span(node))

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
        if not isinstance(op, (ast.Eq, ast.NotEq)) or _needs_comparing(lhs, rhs):
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

    def lazily(self, node: ast.expr) -> Lazy:
        """The value of an expression that may not be reached, and the statements it needs."""
        with self.collect() as stmts:
            value = self.operand(node)
        return value, stmts

    def condition(self, node: ast.expr) -> Expr:
        """The truth of an expression."""
        return truth(self._tested(self.evaluate(node), node), self.span(node))

    def _tested(self, value: Value, node: ast.expr) -> Scalar:
        if isinstance(value, Array):
            refuse = refuse_part if value.indices else refuse_truth
            raise refuse(value, self.span(node))
        if isinstance(value, (View, ArrayExpr)):
            raise refuse_whole(value, node, self.span(node))
        return self.as_scalar(value, node, "a condition")

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
        node: ast.expr,
    ) -> Scalar:
        span = self.span(node)
        if not stmts and lhs.type.dtype is BOOL and rhs.type.dtype is BOOL:
            expr = conjunction(op, lhs.expr, rhs.expr, span)
            return Scalar(expr, join_types(lhs.type, rhs.type, span))
        # Python's `x and y` is y if x is true, else x itself; `or` the other way round.
        if any(isinstance(part, Select) for part in walk(lhs.expr)):
            lhs = self.let(lhs, "t", span)  # it is used twice: a chain would double at every step
        cond = truth(lhs, span)
        at_hand: Lazy = (lhs, [])
        then, otherwise = (rhs, stmts), at_hand
        if op is Or:
            then, otherwise = otherwise, then
        return self._choose(cond, then, otherwise, node)

    def _conditional(self, node: ast.IfExp) -> Value:
        cond = self.condition(node.test)
        if isinstance(cond, Const):
            return self.evaluate(node.body if cond.value else node.orelse)
        then, otherwise = self._evaluated(node.body), self._evaluated(node.orelse)
        if isinstance(then[0], AnyArray) and isinstance(otherwise[0], AnyArray):
            arrays = [(then[0], then[1]), (otherwise[0], otherwise[1])]
            return self.choose_array(cond, arrays, node)
        numbers = self._as_number(then, node.body), self._as_number(otherwise, node.orelse)
        return self._choose(cond, *numbers, node)

    def _evaluated(self, node: ast.expr) -> tuple[Value, list[Stmt]]:
        """A value that may not be needed, and the statements that it needs."""
        with self.collect() as stmts:
            value = self.evaluate(node)
        return value, stmts

    def _as_number(self, side: tuple[Value, list[Stmt]], node: ast.expr) -> Lazy:
        """A side of a conditional expression that chooses between numbers."""
        value, stmts = side
        if isinstance(value, (View, ArrayExpr)):
            raise refuse_choice(value, self.span(node))
        return self.as_operands([value], [node], node)[0], stmts

    def _choose(
        self,
        cond: Expr,
        then: Lazy,
        otherwise: Lazy,
        node: ast.expr,
    ) -> Scalar:
        """One of two values, each computed only when it is chosen."""
        span = self.span(node)
        if isinstance(cond, Const):
            value, stmts = then if cond.value else otherwise
            self.body.extend(stmts)
            return value
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


def _needs_comparing(lhs: Value, rhs: Value) -> bool:
    """False if it is known now whether two values are equal: a string or None is no number."""
    if isinstance(lhs, AnyArray) or isinstance(rhs, AnyArray):
        return True
    numbers = isinstance(lhs, Scalar) + isinstance(rhs, Scalar)
    decided = isinstance(lhs, (Text, Nothing)) or isinstance(rhs, (Text, Nothing))
    return numbers == 2 or (numbers == 1 and not decided)
