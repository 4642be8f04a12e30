"""Expressions of the source, translated to values."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from hybridjit.errors import Span
from hybridjit.frontend.arrays.memory import evaluate_all, then
from hybridjit.frontend.builder import Builder, Never
from hybridjit.frontend.frame import Pending, Variable
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    Builtin,
    ElementType,
    GrowingList,
    Items,
    Nothing,
    PythonType,
    Text,
    Value,
    View,
    describe,
)
from hybridjit.ir.dtype import BOOL, WEAK_BOOL
from hybridjit.ir.expr import And, Binary, Const, Expr, Load, Or, Pow, Select
from hybridjit.ir.stmt import If, Stmt, seq
from hybridjit.ir.visit import walk
from hybridjit.lazy import lazy_module
from hybridjit.scalars.comparisons import COMPARE, compare
from hybridjit.scalars.conversion import join_types, truth
from hybridjit.scalars.kinds import is_python_number, weak_type
from hybridjit.scalars.operators import (
    BINARY,
    binary,
    binary_of_arrays,
    conjunction,
    logical_not,
    select,
    unary,
)
from hybridjit.scalars.scalar import Scalar, index, integer

if TYPE_CHECKING:
    from hybridjit.frontend import list_methods, refusals, tuple_variables
    from hybridjit.frontend.arrays import choices
    from hybridjit.frontend.arrays import elementwise as elementwise_arrays
    from hybridjit.frontend.arrays import lists as array_lists
    from hybridjit.frontend.arrays import products as array_products
    from hybridjit.frontend.arrays import refusals as array_refusals
else:
    array_products = lazy_module("hybridjit.frontend.arrays.products")
    choices = lazy_module("hybridjit.frontend.arrays.choices")
    elementwise_arrays = lazy_module("hybridjit.frontend.arrays.elementwise")
    array_lists = lazy_module("hybridjit.frontend.arrays.lists")
    array_refusals = lazy_module("hybridjit.frontend.arrays.refusals")
    list_methods = lazy_module("hybridjit.frontend.list_methods")
    refusals = lazy_module("hybridjit.frontend.refusals")
    tuple_variables = lazy_module("hybridjit.frontend.tuple_variables")

# A value that may not be reached, and the statements that compute it.
Lazy = tuple[Scalar, list[Stmt]]
# A longer tuple is a slip: each of its items is a value of its own.
MAX_TUPLE = 4096


def tuple_of_items(build: Builder, node: ast.Tuple | ast.List) -> Value:
    """A tuple or a list as it is written."""
    items = tuple(_items(build, node.elts))
    if node in build.knowledge.growing:
        return array_lists.make_list(build, node, items)
    if not isinstance(node, ast.List):
        return Items(items)
    return Items(items, is_list=True, origin=(build.frame.path, node))


def _items(build: Builder, nodes: Sequence[ast.expr]) -> list[Value]:
    """The items of a tuple as it is written: `(n, *a.shape)`."""
    parts = [node.value if isinstance(node, ast.Starred) else node for node in nodes]
    items: list[Value] = []
    for node, value in zip(nodes, evaluate_all(build, parts), strict=True):
        if not isinstance(node, ast.Starred):
            items.append(value)
        elif isinstance(value, Items):
            items.extend(value.items)
        else:
            raise build.mismatch(
                f"'*' needs a tuple, found {describe(value)}", node, help="leave out the '*'"
            )
    return items


def literal(build: Builder, node: ast.Constant) -> Value:
    value = node.value
    if is_python_number(value):
        type = weak_type(value)
        return Scalar(Const(value, type.dtype, span=build.span(node)), type)
    if isinstance(value, str):
        return Text(value)
    if value is None:
        return Nothing()
    raise refusals.refusal(node, build.span(node))


# operators


def evaluate_operand(build: Builder, node: ast.expr) -> Scalar:
    """The value of an expression that must be a number; whole arrays are told apart."""
    return _operands(build, [node], node)[0]


def _operands(build: Builder, nodes: Sequence[ast.expr], whole: ast.expr) -> list[Scalar]:
    return build.as_operands(evaluate_all(build, nodes), nodes, whole)


def binary_operation(build: Builder, node: ast.BinOp) -> Value:
    nodes = [node.left, node.right]
    values = evaluate_all(build, nodes)
    if isinstance(node.op, ast.MatMult):
        return array_products.product(build, values[0], values[1], node)
    op = BINARY[type(node.op)]
    is_of_arrays = any(isinstance(value, AnyArray) for value in values)
    is_of_tuples = any(isinstance(value, (Items, GrowingList)) for value in values)
    is_of_tuples = is_of_tuples and not is_of_arrays
    if is_of_tuples and isinstance(node.op, (ast.Add, ast.Mult)):
        return _tuple_arithmetic(build, node, *values)
    for value in values:
        if isinstance(value, Text):
            raise refusals.refuse_text_arithmetic(value.text, build.span(node))
    span = build.span(node)
    if is_of_arrays:
        return elementwise_arrays.elementwise(
            build, values, lambda parts: combined(build, op, parts, span), node
        )
    lhs, rhs = build.as_operands(values, nodes, node)
    return binary(op, lhs, rhs, span)


def combined(build: Builder, op: type[Binary], parts: list[Scalar], span: Span) -> Scalar:
    """`lhs op rhs` for elements of arrays; a power uses its base several times."""
    base = build.let(parts[0], "t", span) if op is Pow else parts[0]
    return binary_of_arrays(op, base, parts[1], span)


def _tuple_arithmetic(build: Builder, node: ast.BinOp, lhs: Value, rhs: Value) -> Value:
    """`a.shape + (2,)` and `(4,) * 2`: tuples known now; lists may be of any length."""
    match node.op, lhs, rhs:
        case ast.Add(), Items(left), Items(right) if node not in build.knowledge.growing:
            is_list = lhs.is_list and rhs.is_list
            origin = (build.frame.path, node) if is_list else None
            return Items(left + right, is_list, origin=origin)
        case (
            ast.Add(),
            GrowingList() | Items(is_list=True),
            GrowingList() | Items(is_list=True),
        ):
            return array_lists.joined_lists(build, node, [lhs, rhs])
        case ast.Mult(), Items(items, True), Scalar() as times if _grows(build, times, node):
            return array_lists.repeated_list(build, node, items, times)
        case ast.Mult(), Scalar() as times, Items(items, True) if _grows(build, times, node):
            return array_lists.repeated_list(build, node, items, times)
        case ast.Mult(), Items(), Scalar() as times if isinstance(times.constant, int):
            return _repeated(build, lhs, times.constant, node)
        case ast.Mult(), Scalar() as times, Items() if isinstance(times.constant, int):
            return _repeated(build, rhs, times.constant, node)
        case _:
            raise build.mismatch(
                f"cannot combine {describe(lhs)} and {describe(rhs)}",
                node,
                help="only tuples of known length can be joined with + or repeated with *",
            )


def _grows(build: Builder, times: Scalar, node: ast.BinOp) -> bool:
    """Whether `[x] * times` is a list whose items lie in memory."""
    return node in build.knowledge.growing or not isinstance(times.constant, int)


def _repeated(build: Builder, value: Items, times: int, node: ast.BinOp) -> Items:
    items = value.items
    if len(items) * times > MAX_TUPLE:
        raise build.refuse(
            f"this tuple would have {len(items) * times} items; at most {MAX_TUPLE}",
            node,
            help="keep the values in an array: allocate(shape, dtype)",
        )
    origin = (build.frame.path, node) if value.is_list else None
    return Items(items * times, value.is_list, origin=origin)


def unary_operation(build: Builder, node: ast.UnaryOp) -> Value:
    value = build.evaluate(node.operand)
    if isinstance(value, AnyArray) and not isinstance(node.op, ast.Not):
        span = build.span(node)
        return elementwise_arrays.elementwise(
            build, [value], lambda parts: unary(node.op, parts[0], span), node
        )
    if isinstance(node.op, ast.Not):
        value = _as_length(build, value, node.operand)
    (value,) = build.as_operands([value], [node.operand], node)
    return unary(node.op, value, build.span(node))


def comparison(build: Builder, node: ast.Compare) -> Value:
    is_membership = [isinstance(op, (ast.In, ast.NotIn)) for op in node.ops]
    if any(is_membership) and len(node.ops) > 1:
        raise refusals.refusal(node.ops[is_membership.index(True)], build.span(node))
    nodes = [node.left, node.comparators[0]]
    if any(is_membership) and _is_range(build, nodes[1]):
        return _answer(build, list_methods.is_in_range(build, node), node)
    values = evaluate_all(build, nodes)
    if any(is_membership):
        return _answer(build, _membership(build, values[0], values[1], node), node)
    if len(node.ops) == 1:
        static = _static_comparison(build, node.ops[0], values[0], values[1], node)
        if static is not None:
            return static
        if all(isinstance(value, Items) for value in values):
            return _order(build, node.ops[0], values[0], values[1], node)
        if any(isinstance(value, AnyArray) for value in values):
            return elementwise_arrays.elementwise(
                build,
                values,
                lambda parts: _link(build, node.ops[0], parts[0], parts[1], node),
                node,
            )
    return _chain(build, build.as_operands(values, nodes, node), node)


def _chain(
    build: Builder, operands: Sequence[Scalar], node: ast.Compare, position: int = 0
) -> Scalar:
    """`x < y < z` from a link on: what comes after an operand is computed only where it holds."""
    first, last = operands
    result = _link(build, node.ops[position], first, last, node)
    if position + 1 == len(node.ops):
        return result

    def rest() -> Scalar:
        side = node.comparators[position + 1]
        middle, after = then(build, last, lambda: evaluate_operand(build, side))
        assert isinstance(middle, Scalar)
        return _chain(build, (middle, after), node, position + 1)

    value, stmts = build.reached(rest)
    if value is None:
        _end_where(build, truth(result, build.span(node)), stmts, node)
        return result
    if stmts:
        return _join_lazily(build, And, result, value, stmts, node)
    return _both(build, result, value, node)


def _membership(build: Builder, item: Value, items: Value, node: ast.Compare) -> Scalar:
    """`x in items`; of what is neither a list, a tuple nor an array of one axis, a refusal.

    Of a string, whether it is part of another: what kinds of numbers are asked with.
    """
    if isinstance(item, Text) and isinstance(items, Text):
        return _decided(build, item.text in items.text, node)
    if isinstance(items, Items) and _is_known_alike(item, items.items):
        return _among(build, item, items.items, node)
    is_row = isinstance(items, AnyArray) and len(items.shape) == 1
    if not is_row and not isinstance(items, (GrowingList, Items)):
        raise refusals.refusal(node.ops[0], build.span(node))
    return list_methods.contains(build, node, item, items)


def _is_range(build: Builder, node: ast.expr) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return False
    callee = build.evaluate(node.func)
    return isinstance(callee, Builtin) and callee.name == "range"


def _answer(build: Builder, is_in: Scalar, node: ast.Compare) -> Scalar:
    """What `in` says, or `not in`."""
    return is_in if isinstance(node.ops[0], ast.In) else logical_not(is_in, build.span(node))


def _is_known_alike(item: Value, others: Sequence[Value]) -> bool:
    """True for tuples and what is no number, such as a string: no loop goes through these."""
    known = (ElementType, PythonType, Text, Nothing)
    return isinstance(item, Items) or any(isinstance(value, known) for value in (item, *others))


def _among(build: Builder, item: Value, others: Sequence[Value], node: ast.Compare) -> Scalar:
    """Whether a value is one of others; `_is_known_alike` says of which this is asked."""
    found = _decided(build, False, node)
    for other in others:
        if isinstance(item, AnyArray) or isinstance(other, AnyArray):
            raise refusals.refusal(node.ops[0], build.span(node))
        equal = _equality(build, item, other, node)
        expr = conjunction(Or, found.expr, equal.expr, build.span(node))
        found = Scalar(expr, join_types(found.type, equal.type, None))
    return found


def _link(build: Builder, op: ast.cmpop, lhs: Scalar, rhs: Scalar, node: ast.Compare) -> Scalar:
    kind = COMPARE.get(type(op))
    if kind is None:
        raise refusals.refusal(op, build.span(node))
    return compare(kind, lhs, rhs, build.span(node))


def _both(build: Builder, lhs: Scalar, rhs: Scalar, node: ast.expr) -> Scalar:
    expr = conjunction(And, lhs.expr, rhs.expr, build.span(node))
    return Scalar(expr, join_types(lhs.type, rhs.type, None))


def _static_comparison(
    build: Builder, op: ast.cmpop, lhs: Value, rhs: Value, node: ast.Compare
) -> Scalar | None:
    """Comparisons of what is known now: dtypes, strings, tuples and None."""
    if isinstance(op, (ast.Is, ast.IsNot)):
        if not (isinstance(lhs, Nothing) or isinstance(rhs, Nothing)):
            raise refusals.refusal(op, build.span(node))
        same = isinstance(lhs, Nothing) and isinstance(rhs, Nothing)
        return _decided(build, same == isinstance(op, ast.Is), node)
    if not isinstance(op, (ast.Eq, ast.NotEq)) or _needs_comparing(lhs, rhs):
        return None
    equal = _equality(build, lhs, rhs, node)
    return equal if isinstance(op, ast.Eq) else logical_not(equal, build.span(node))


def _equality(build: Builder, lhs: Value, rhs: Value, node: ast.Compare) -> Scalar:
    """`lhs == rhs`; a dtype equals its name, tuples are compared item by item."""
    match lhs, rhs:
        case Items(left), Items(right):
            result = _decided(build, len(left) == len(right), node)
            for a, b in zip(left, right, strict=False):
                result = _both(build, result, _equality(build, a, b, node), node)
            return result
        case Scalar(), Scalar():
            if lhs.expr == rhs.expr:
                return _decided(build, True, node)
            return compare(COMPARE[ast.Eq], lhs, rhs, build.span(node))
        case _:
            return _decided(build, _static_name(lhs) == _static_name(rhs), node)


def _order(build: Builder, op: ast.cmpop, lhs: Value, rhs: Value, node: ast.Compare) -> Scalar:
    """`(a, b) < (c, d)`: the first items that are not equal decide, or the lengths."""
    if not isinstance(lhs, Items) or not isinstance(rhs, Items):
        first, last = build.as_operands([lhs, rhs], [node.left, node.comparators[0]], node)
        return _link(build, op, first, last, node)
    sizes = integer(len(lhs.items)), integer(len(rhs.items))
    result = _link(build, op, *sizes, node)
    for a, b in reversed(list(zip(lhs.items, rhs.items, strict=False))):
        tied = _both(build, _equality(build, a, b, node), result, node)
        before = _order(build, _STRICT.get(type(op), op), a, b, node)
        expr = conjunction(Or, before.expr, tied.expr, build.span(node))
        result = Scalar(expr, join_types(before.type, tied.type, None))
    return result


_STRICT: dict[type[ast.cmpop], ast.cmpop] = {ast.LtE: ast.Lt(), ast.GtE: ast.Gt()}


def _decided(build: Builder, value: bool, node: ast.expr) -> Scalar:
    return Scalar(Const(value, BOOL, span=build.span(node)), WEAK_BOOL)


# lazy operators


def condition(build: Builder, node: ast.expr) -> Expr:
    """The truth of an expression."""
    return truth(_tested(build, node), build.span(node))


def _tested(build: Builder, node: ast.expr) -> Scalar:
    """A number that is as true as the value of an expression."""
    if isinstance(node, ast.BoolOp):
        # Only whether operands are true counts: they need not meet in one type.
        return _joined(build, node, _truth_of)
    value = _as_length(build, build.evaluate(node), node)
    if isinstance(value, Array):
        refuse = array_refusals.refuse_part if value.indices else array_refusals.refuse_truth
        raise refuse(value, build.span(node))
    if isinstance(value, (View, ArrayExpr)):
        raise array_refusals.refuse_whole(value, node, build.span(node))
    return build.as_scalar(value, node, "a condition")


def _truth_of(build: Builder, node: ast.expr) -> Scalar:
    """The truth of an expression as a number."""
    value = _tested(build, node)
    return value if value.type.dtype is BOOL else Scalar(truth(value, build.span(node)), WEAK_BOOL)


def _as_length(build: Builder, value: Value, node: ast.expr) -> Value:
    """What is tested in the place of a list: how many items it has."""
    match value:
        case GrowingList():
            return index(array_lists.length(build, value, node))
        case Items(items, is_list=True):
            return integer(len(items))
        case _:
            return value


def bool_operation(build: Builder, node: ast.BoolOp) -> Value:
    """`x and y`, whose value is one of the two."""
    return _joined(build, node, lambda build, side: _operands(build, [side], node)[0])


def _joined(
    build: Builder, node: ast.BoolOp, evaluate: Callable[[Builder, ast.expr], Scalar]
) -> Scalar:
    """The operands from the first one on, until it is decided."""
    result = evaluate(build, node.values[0])
    op = And if isinstance(node.op, ast.And) else Or
    for side in node.values[1:]:
        known = result.constant
        if known is not None and bool(known) == (op is Or):
            return result  # decided: what follows is not even looked at
        if known is not None:
            result = evaluate(build, side)
            continue
        value, stmts = build.reached(partial(evaluate, build, side))
        if value is None:
            _end_where(build, truth(result, build.span(node)), stmts, node, is_else=op is Or)
            return result  # which decides, if nothing has ended
        result = _join_lazily(build, op, result, value, stmts, node)
    return result


def _end_where(
    build: Builder, cond: Expr, stmts: list[Stmt], node: ast.expr, *, is_else: bool = False
) -> None:
    """Statements that end the script, where a condition holds or, if `is_else`, does not."""
    nothing, ending = seq(), build.close(stmts)
    span = build.span(node)
    build.emit(If(cond, nothing, ending, span=span) if is_else else If(cond, ending, span=span))


def _join_lazily(
    build: Builder,
    op: type[And] | type[Or],
    lhs: Scalar,
    rhs: Scalar,
    stmts: list[Stmt],
    node: ast.expr,
) -> Scalar:
    span = build.span(node)
    if not stmts and lhs.type.dtype is BOOL and rhs.type.dtype is BOOL:
        expr = conjunction(op, lhs.expr, rhs.expr, span)
        return Scalar(expr, join_types(lhs.type, rhs.type, span))
    # Python's `x and y` is y if x is true, else x itself; `or` the other way round.
    if any(isinstance(part, Select) for part in walk(lhs.expr)):
        lhs = build.let(lhs, "t", span)  # it is used twice: a chain would double at every step
    cond = truth(lhs, span)
    at_hand: Lazy = (lhs, [])
    then, otherwise = (rhs, stmts), at_hand
    if op is Or:
        then, otherwise = otherwise, then
    return _choose(build, cond, then, otherwise, node)


def conditional(build: Builder, node: ast.IfExp) -> Value:
    cond = condition(build, node.test)
    if isinstance(cond, Const):
        return build.evaluate(node.body if cond.value else node.orelse)
    sides = [build.reached(partial(build.evaluate, side)) for side in (node.body, node.orelse)]
    if any(value is None for value, _ in sides):
        return _chosen_by_ending(build, cond, sides, node)
    then, otherwise = ((value, stmts) for value, stmts in sides if value is not None)
    if isinstance(then[0], AnyArray) and isinstance(otherwise[0], AnyArray):
        arrays = [(then[0], then[1]), (otherwise[0], otherwise[1])]
        return choices.choose_array(build, cond, arrays, node)
    if isinstance(then[0], Items) and isinstance(otherwise[0], Items):
        sides = [(then[0], then[1]), (otherwise[0], otherwise[1])]
        return _choose_tuple(build, cond, sides, node)
    numbers = _as_number(build, then, node.body), _as_number(build, otherwise, node.orelse)
    return _choose(build, cond, *numbers, node)


def _choose_tuple(
    build: Builder, cond: Expr, sides: Sequence[tuple[Items, list[Stmt]]], node: ast.IfExp
) -> Items:
    """One of two tuples of numbers: all of one is computed, or all of the other."""
    (then, _), (otherwise, _) = sides
    flat = [dict(tuple_variables.leaves_of(side)) for side, _ in sides]
    if flat[0].keys() != flat[1].keys():
        raise build.mismatch(
            f"cannot choose between {describe(then)} and {describe(otherwise)} of another form",
            node,
            help="give both as many numbers, in the same places",
        )
    results = [fresh_variable(build, "t", node, k) for k in range(len(flat[0]))]
    bodies: list[Stmt] = []
    for numbers, (_, stmts) in zip(flat, sides, strict=True):
        with build.collect() as body:
            build.body.extend(stmts)
            for variable, number in zip(results, numbers.values(), strict=True):
                build.assign_variable(variable, build.as_scalar(number, node), build.span(node))
        bodies.append(build.close(body))
    build.emit(If(cond, bodies[0], bodies[1], span=build.span(node)))
    return tuple_variables.read_tuple(then, dict(zip(flat[0], results, strict=True)))


def _chosen_by_ending(
    build: Builder, cond: Expr, sides: Sequence[tuple[Value | None, list[Stmt]]], node: ast.IfExp
) -> Value:
    """The value of the side that does not end the script."""
    (then, first), (otherwise, second) = sides
    if then is not None:
        _end_where(build, cond, second, node, is_else=True)
        build.body.extend(first)
        return then
    if otherwise is not None:
        _end_where(build, cond, first, node)
        build.body.extend(second)
        return otherwise
    build.emit(If(cond, build.close(first), build.close(second), span=build.span(node)))
    if build.is_in_statement:
        raise Never
    return Nothing()


def _as_number(build: Builder, side: tuple[Value, list[Stmt]], node: ast.expr) -> Lazy:
    """A side of a conditional expression that chooses between numbers."""
    value, stmts = side
    if isinstance(value, (View, ArrayExpr)):
        raise array_refusals.refuse_choice(value, build.span(node))
    return build.as_operands([value], [node], node)[0], stmts


def _choose(
    build: Builder,
    cond: Expr,
    then: Lazy,
    otherwise: Lazy,
    node: ast.expr,
) -> Scalar:
    """One of two values, each computed only when it is chosen."""
    span = build.span(node)
    if isinstance(cond, Const):
        value, stmts = then if cond.value else otherwise
        build.body.extend(stmts)
        return value
    if not then[1] and not otherwise[1]:
        return select(cond, then[0], otherwise[0], span)
    result = fresh_variable(build, "t", node)
    sides: list[Stmt] = []
    for value, stmts in (then, otherwise):
        with build.collect() as body:
            build.body.extend(stmts)
            build.assign_variable(result, value, span)
        sides.append(build.close(body))
    build.emit(If(cond, sides[0], sides[1], span=span))
    assert result.buffer is not None
    assert result.type is not None
    return build.let(Scalar(Load(result.buffer, (), span=span), result.type), "t", span)


def fresh_variable(build: Builder, name: str, node: ast.AST, number: int = 0) -> Variable:
    """A mutable variable that no name of the source refers to, made here."""
    variable = Variable((build.frame.path, (node, number)), name)
    build.emit(Pending(variable=variable, span=build.span(node)))
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
