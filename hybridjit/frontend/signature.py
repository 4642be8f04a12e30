"""What a script takes and gives: parameters, returns and output arrays."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from hybridjit.errors import ParseError, Span
from hybridjit.frontend.arrays.memory import (
    copied,
    elements_of,
    materialize,
    note_sizes,
    store_array,
    view_of,
    whole,
)
from hybridjit.frontend.arrays.stores import refuse_alias
from hybridjit.frontend.assignments import type_in
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.frame import Key, ListResult, Skip
from hybridjit.frontend.inner_functions import in_call_order
from hybridjit.frontend.lift import lift
from hybridjit.frontend.name_states import is_alike
from hybridjit.frontend.random_state import give_back_state
from hybridjit.frontend.values import (
    Array,
    ArrayExpr,
    GivenList,
    GrowingList,
    Items,
    Method,
    Nothing,
    RandomGenerator,
    Records,
    Value,
    View,
    buffers_of,
    describe,
)
from hybridjit.ir.dtype import UINT64, DType, ScalarType
from hybridjit.ir.expr import Buffer, BufferRef, Const, Expr, Load, Var
from hybridjit.ir.signature import ArrayResult, Nesting, Result, ScalarParam, ScalarResult
from hybridjit.ir.stmt import Allocate, Return
from hybridjit.ir.visit import substitute, walk
from hybridjit.lazy import lazy_module
from hybridjit.scalars.conversion import convert
from hybridjit.scalars.scalar import Scalar, index
from hybridjit.scalars.specs import (
    STATE_SIZE,
    ArraySpec,
    ConstantSpec,
    GeneratorSpec,
    ScalarSpec,
    Spec,
    TupleSpec,
)

if TYPE_CHECKING:
    from hybridjit.frontend import agreeing_returns, inline, nested_results, printed_sizes
    from hybridjit.frontend.agreeing_returns import Given
    from hybridjit.frontend.arrays import elementwise as elementwise_arrays
    from hybridjit.frontend.arrays import lists as array_lists
    from hybridjit.frontend.nested_results import Leaves
else:
    inline = lazy_module("hybridjit.frontend.inline")  # for what is returned
    agreeing_returns = lazy_module("hybridjit.frontend.agreeing_returns")
    elementwise_arrays = lazy_module("hybridjit.frontend.arrays.elementwise")
    array_lists = lazy_module("hybridjit.frontend.arrays.lists")
    nested_results = lazy_module("hybridjit.frontend.nested_results")
    printed_sizes = lazy_module("hybridjit.frontend.printed_sizes")

# The longest size, in nodes, that the caller computes from those of the parameters.
_LONGEST = 1000


def bind_parameters(build: Builder, node: ast.FunctionDef) -> None:
    """Make the parameters of the function, and what their names stand for."""
    build.signature.result_types = _declared_results(build, node)
    args = in_call_order(node.args)
    for arg, spec in zip(args, build.signature.specs, strict=True):
        if isinstance(spec, ScalarSpec):
            build.signature.number_params[arg.arg] = Scalar(
                Var(arg.arg, spec.type.dtype, span=build.span(arg)), spec.type
            )
    for arg, spec in zip(args, build.signature.specs, strict=True):
        value = _parameter(build, arg.arg, spec, build.span(arg))
        build.frame.fixed[arg] = value
        web = build.frame.variables.writes[arg]
        if not web.is_mutable:
            build.frame.bindings[web] = value


def _parameter(build: Builder, name: str, spec: Spec, span: Span) -> Value:
    match spec:
        case ArraySpec(dtype, shape):
            buffer = Buffer(name, dtype, tuple(_size(build, extent, span) for extent in shape))
            build.signature.params.append(buffer)
            note_sizes(build, buffer)
            return Array(buffer)
        case GeneratorSpec():
            buffer = Buffer(name, UINT64, (Const(STATE_SIZE),))
            build.signature.params.append(buffer)
            return RandomGenerator(Array(buffer))
        case ScalarSpec(type):
            scalar = build.signature.number_params.get(name) or Scalar(
                Var(name, type.dtype, span=span), type
            )
            assert isinstance(scalar.expr, Var)
            build.signature.params.append(ScalarParam(scalar.expr, type.weak))
            return scalar
        case TupleSpec(items, fields, records, is_list, maker):
            names = range(len(items)) if fields is None else fields
            parts = (
                _parameter(build, f"{name}_{part}", item, span)
                for part, item in zip(names, items, strict=True)
            )
            if records is not None:
                return Records(fields or (), tuple(parts), records)
            return Items(tuple(parts), is_list, fields=fields, maker=maker, is_given=True)
        case ConstantSpec(value):
            return lift(value)


def _size(build: Builder, extent: int | str, span: Span) -> Expr:
    if isinstance(extent, int):
        return Const(extent)
    if extent.isidentifier() or not build.frame.source.is_printed:
        return _dimension(build, extent)
    return printed_sizes.read_size(extent, partial(_number, build), span)


def _number(build: Builder, name: str) -> Scalar:
    """What a name in the size of a parameter stands for."""
    return build.signature.number_params.get(name) or index(_dimension(build, name))


def _dimension(build: Builder, name: str) -> Var:
    return build.signature.dimensions.setdefault(name, Var(name))


def _declared_results(build: Builder, node: ast.FunctionDef) -> list[ScalarType | None]:
    """The scalar result types of a printed function: its return annotation."""
    if node.returns is None or not build.frame.source.is_printed:
        return []
    nodes = node.returns.elts if isinstance(node.returns, ast.Tuple) else [node.returns]
    return [type_in(build, entry) for entry in nodes]


def run_return(build: Builder, stmt: ast.Return) -> bool:
    """A `return`, of the script or of a function that is inlined."""
    if not build.frame.is_root:
        inline.return_inlined(build, stmt)
        return False
    inline.check_return_order(build, stmt)
    value = Nothing() if stmt.value is None else build.evaluate(stmt.value)
    leaves, nesting = _leaves(build, value, stmt)
    results: list[Given] = []
    given: list[Expr] = []
    for position, (item, node) in enumerate(leaves):
        if isinstance(item, (GrowingList, GivenList)):
            results.append(_give_list(build, item, given, node))
        else:
            results.append(_give(build, item, position, given, results, node))
    agreeing_returns.agree(build, None if isinstance(value, Nothing) else results, nesting, stmt)
    give_back_state(build, build.span(stmt))
    build.emit(Return(tuple(given), span=build.span(stmt)))
    return False


def _leaves(build: Builder, value: Value, stmt: ast.Return) -> tuple[Leaves, Nesting | None]:
    """What is returned, one after the other, and how it stands in tuples, if it does."""
    if isinstance(value, Nothing):
        return [], None
    assert stmt.value is not None
    return nested_results.leaves_of_result(build, value, stmt.value)


def _give(
    build: Builder,
    item: Value,
    position: int,
    given: list[Expr],
    results: list[Given],
    node: ast.expr,
) -> Given:
    """One result; a number or a computed array is given by the `Return`."""
    item = _returned_array(build, item, position, node)
    if isinstance(item, Array) and position in build.unit.computed_results:
        buffer = _given_away(build, item, given, node)
        given.append(BufferRef(buffer, span=build.span(node)))
        return ArrayResult(buffer.dtype, buffer.ndim)
    if isinstance(item, Array) and not item.indices:
        _check_returned(build, item.buffer, node)
        return item.buffer
    scalar = _returned_scalar(build, item, node)
    key: Key = ((), ("return", position))
    declared = _declared_result(build, sum(isinstance(result, tuple) for result in results))
    type = build.join_type(key, declared or scalar.type, build.span(node))
    given.append(convert(scalar, type.dtype, build.span(node)))
    return key


def _give_list(
    build: Builder, item: GrowingList | GivenList, given: list[Expr], node: ast.expr
) -> ListResult:
    """A list is given away as arrays of what it holds, of which the caller makes a list."""
    span = build.span(node)
    if isinstance(item, GivenList):
        given += [BufferRef(array.buffer, span=span) for array, _, _ in item.columns]
        parts = (ArrayResult(a.buffer.dtype, 1, place, weak) for a, place, weak in item.columns)
        return ListResult(tuple(parts))
    if not item.columns:
        raise Skip(array_lists.refuse_empty(build, item, node))
    size = array_lists.length(build, item, node)
    columns: list[ArrayResult] = []
    for place, column in item.columns.items():
        array = elements_of(build, array_lists.column_view(column, size))
        given.append(BufferRef(copied(build, array, item.name, span), span=span))
        columns.append(ArrayResult(column.type.dtype, 1, place, column.type.weak))
    return ListResult(tuple(columns))


def _returned_array(build: Builder, item: Value, position: int, node: ast.expr) -> Value:
    """An array that is computed becomes an output, and so does a part of a local array."""
    build.signature.ever_returned.update(buffers_of(item))
    if isinstance(item, ArrayExpr):
        item = whole(build, item, build.span(node))
    if isinstance(item, (Array, View)) and item.buffer not in build.signature.params:
        item = item if item == Array(item.buffer) else elements_of(build, item)
    if (
        isinstance(item, ArrayExpr)
        and item.shown is not None
        and item.shown in build.signature.params
    ):
        raise refuse_alias(build, "result", item.shown, build.span(node))
    if isinstance(item, (Array, ArrayExpr)) and _is_computed(build, item):
        build.unit.computed_results.add(position)
    if position in build.unit.computed_results and isinstance(item, (Array, ArrayExpr)):
        if isinstance(item, Array) and item == Array(item.buffer):
            return item
        return materialize(build, elements_of(build, item), "result", build.span(node))
    if position in build.unit.common_results and isinstance(item, (Array, ArrayExpr)):
        return Array(_common_result(build, elements_of(build, item), position, node))
    if isinstance(item, ArrayExpr):
        return materialize(build, item, "result", build.span(node))
    return item


def _is_computed(build: Builder, item: Array | ArrayExpr) -> bool:
    """Whether a size of a new array depends on values that the script computes, or is so long in
    terms of the parameters that it is better computed by the script.
    """
    shape = item.buffer.shape if isinstance(item, Array) else item.shape
    lengths: dict[Var, int] = {}
    if any(_length_without_lets(build, extent, lengths) > _LONGEST for extent in shape):
        return True
    return not _is_known(build, tuple(_without_lets(build, extent) for extent in shape))


def _given_away(build: Builder, item: Array, given: list[Expr], node: ast.expr) -> Buffer:
    """A local array that the caller is given: a copy of one that is not local, or given already."""
    buffer = item.buffer
    taken = [value.buffer for value in given if isinstance(value, BufferRef)]
    constants = [constant.buffer for constant in build.unit.constants]
    if buffer in (*taken, *constants, *build.signature.params):
        copied = elements_of(build, item)
        buffer = materialize(build, copied, "result", build.span(node)).buffer
    return buffer


def _common_result(build: Builder, value: ArrayExpr, position: int, node: ast.expr) -> Buffer:
    """Store an array where all paths store what they return at this position."""
    result = build.signature.common.get(position)
    if result is None:
        result = Buffer("result", value.dtype, tuple(value.shape), "global")
        build.signature.common[position] = result
    if not is_alike(build, result, Buffer("", value.dtype, tuple(value.shape))):
        if (result.dtype, result.ndim) == (value.dtype, len(value.shape)):
            build.unit.computed_results.add(position)
            return result
        found = _array_text(value.dtype, value.shape)
        raise agreeing_returns.other_array(
            build, found, _array_text(result.dtype, result.shape), node
        )
    store_array(build, view_of(build, Array(result)), value, build.span(node))
    return result


def _check_returned(build: Builder, buffer: Buffer, node: ast.expr) -> None:
    build.signature.returned_at.setdefault(buffer, build.span(node))
    name = buffer.name
    if any(constant.buffer is buffer for constant in build.unit.constants):
        raise build.mismatch(
            f"cannot return '{name}', which comes from outside the script",
            node,
            help="copy its elements into an output_tensor(shape, dtype)",
        )


def _declared_result(build: Builder, position: int) -> ScalarType | None:
    return (
        build.signature.result_types[position]
        if position < len(build.signature.result_types)
        else None
    )


def _returned_scalar(build: Builder, item: Value, node: ast.expr) -> Scalar:
    if isinstance(item, Scalar):
        return item
    help = "return arrays, numbers, or a tuple of these"
    if isinstance(item, (Array, View)):
        help = "return a copy of it, with .copy()"
    if isinstance(item, Records):
        help = f"return its fields, as in {ast.unparse(node)}[{item.fields[0]!r}]; " + (
            "what is written to an argument, the caller sees"
        )
    if isinstance(item, Method) and isinstance(node, ast.Attribute):
        help = f"call it, as in {ast.unparse(node)}()"
    raise build.mismatch(f"cannot return {describe(item)}", node, help=help)


def final_results(build: Builder, final: Mapping[Buffer, Buffer]) -> tuple[Result, ...] | None:
    """What the function returns, its outputs replaced by those of `final`."""
    if build.signature.results is None:
        return None
    found: list[Result] = []
    for result in build.signature.results:
        if isinstance(result, Buffer):
            found.append(final.get(result, result))
        elif isinstance(result, ArrayResult):
            found.append(result)
        elif isinstance(result, ListResult):
            found.extend(result.columns)
        else:
            type = build.unit.found[result]
            found.append(ScalarResult(type.dtype, type.weak))
    return tuple(found)


def find_outputs(build: Builder, returned: list[Buffer]) -> list[Buffer]:
    """The arrays that the call makes: those returned, in the order they are declared."""
    _check_aliases(build)
    made = [stmt.buffer for stmt in build.body if isinstance(stmt, Allocate)]
    made.extend(build.signature.common.values())
    params = [param for param in build.signature.params if isinstance(param, Buffer)]
    for position, buffer in enumerate(build.signature.results or ()):
        if isinstance(buffer, Buffer) and buffer not in made and buffer not in params:
            build.unit.common_results.add(position)  # it is made inside a loop or a branch
    for buffer, span in build.unit.declared_outputs.items():
        if buffer not in build.signature.ever_returned:
            build.unit.errors.append(
                ParseError(
                    f"the output '{buffer.name}' is never returned",
                    span,
                    help=f"add `return {buffer.name}`; for scratch use allocate(shape, dtype)",
                )
            )
    return [buffer for buffer in made if buffer in returned]


def _check_aliases(build: Builder) -> None:
    """Refuse names for what is a view or a copy, if what they show is written to."""
    for alias in build.aliases:
        # Memory of a name that is given other arrays is written to for these.
        is_steady = alias.shown not in build.unit.rebound - build.unit.updated
        if alias.may_change(
            build.body, shares_memory=build.unit.shares_memory, is_steady=is_steady
        ):
            error = refuse_alias(build, alias.name, alias.shown, alias.span, is_written=True)
            build.unit.errors.append(error)


def output_shape(build: Builder, buffer: Buffer) -> tuple[Expr, ...]:
    """The shape of an output, in terms of the parameters only."""
    shape = tuple(_without_lets(build, extent) for extent in buffer.shape)
    assert _is_known(build, shape), buffer.name
    return shape


def _is_known(build: Builder, shape: tuple[Expr, ...]) -> bool:
    """Whether sizes are in terms of the parameters."""
    known = {param.var for param in build.signature.params if isinstance(param, ScalarParam)}
    known |= set(build.signature.dimensions.values())
    return all(
        not isinstance(node, Load) and (not isinstance(node, Var) or node in known)
        for extent in shape
        for node in walk(extent)
    )


def _length_without_lets(build: Builder, expr: Expr, lengths: dict[Var, int]) -> int:
    """How many nodes `_without_lets` would give, which may be 2 to the number of lets; `lengths`
    are those of lets that are known.
    """
    length = 0
    for node in walk(expr):
        length += 1
        if isinstance(node, Var) and node in build.unit.let_values:
            if node not in lengths:
                value = build.unit.let_values[node]
                lengths[node] = _length_without_lets(build, value, lengths)
            length += lengths[node]
    return length


def _without_lets(build: Builder, expr: Expr) -> Expr:
    for _ in range(len(build.unit.let_values) + 1):
        values = {
            node: build.unit.let_values[node]
            for node in walk(expr)
            if isinstance(node, Var) and node in build.unit.let_values
        }
        if not values:
            break
        expr = substitute(expr, values)
    return expr


def _array_text(dtype: DType, shape: tuple[Expr, ...]) -> str:
    return f"{dtype} of shape {elementwise_arrays.shape_text(shape)}"
