"""Calls to other functions, put in place of the call."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import FunctionType
from weakref import WeakKeyDictionary

from hybridjit.errors import ParseError, Span
from hybridjit.frontend.annotations import annotations_in
from hybridjit.frontend.arrays.calls import store_in
from hybridjit.frontend.arrays.elementwise import elementwise, without_list
from hybridjit.frontend.arrays.memory import elements_of, evaluate_all, settled
from hybridjit.frontend.arrays.refusals import count
from hybridjit.frontend.arrays.stores import named
from hybridjit.frontend.assignments import frozen
from hybridjit.frontend.builder import Builder, Never
from hybridjit.frontend.call_arguments import arguments
from hybridjit.frontend.captures import Environment
from hybridjit.frontend.frame import Frame, Skip
from hybridjit.frontend.inner_functions import defaults, function_of, is_defined
from hybridjit.frontend.joint_returns import several_returns, splice
from hybridjit.frontend.library.table import is_in_library
from hybridjit.frontend.noted_names import note_name
from hybridjit.frontend.refusals import refusal
from hybridjit.frontend.returns import InlineReturn, find_returns
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    Callee,
    InnerFunction,
    Items,
    Nothing,
    Value,
)
from hybridjit.ir.dtype import WEAK_INT, ScalarType
from hybridjit.ir.stmt import Allocate, Stmt
from hybridjit.record import record
from hybridjit.scalars.scalar import Scalar
from hybridjit.source import FunctionSource

MAX_CALL_DEPTH = 32


@record(eq=False)
class _Called:
    """A function that is called: its source, and what its names mean."""

    name: str
    source: FunctionSource
    environment: Environment
    defaults: Mapping[str, Callable[[], Value]]
    is_elementwise: bool = False
    definer: Frame | None = None


@record(eq=False)
class _Call:
    """A call, and where it stands: its elements may be computed in another function."""

    node: ast.Call
    span: Span


def inline(build: Builder, callee: Callee | InnerFunction, node: ast.Call) -> Value:
    """The value of a call whose body is put in place."""
    if isinstance(callee, Callee):
        called = _find_called(build, callee, node)
    else:
        called = _find_inner(callee)
    _check_depth(build, called, node)
    node = _spread_out(build, node)
    arguments = _bind_arguments(build, called, node)
    call = _Call(node, build.span(node))
    if is_in_library(called.source.file):
        return _inline_library(build, called, arguments, call)
    return _inline_elements(build, called, arguments, call)


def make_function(build: Builder, node: ast.Lambda) -> Value:
    """A function that is defined here; its defaults are computed now."""
    if not is_defined(node):
        raise refusal(node, build.span(node))
    values = {name: build.evaluate(value) for name, value in defaults(node.args).items()}
    kept = ((name, _argument(build, name, value, node)) for name, value in values.items())
    return InnerFunction(function_of(node), build.frame, tuple(kept))


def _find_called(build: Builder, callee: Callee, node: ast.Call) -> _Called:
    pyfunc: FunctionType = callee.pyfunc
    try:
        source = build.knowledge.read_callee(pyfunc)
    except ParseError as error:
        raise build.refuse(
            f"cannot inline '{ast.unparse(node.func)}': {error.message}",
            node.func,
            help=error.diagnostics[0].help,
        ) from None
    args = source.node.args
    positional, given = [*args.posonlyargs, *args.args], pyfunc.__defaults__ or ()
    values: dict[str, object] = dict(pyfunc.__kwdefaults__ or {})
    for arg, value in zip(positional[len(positional) - len(given) :], given, strict=True):
        values[arg.arg] = value
    lifted = {name: partial(build.lift, value, name, node) for name, value in values.items()}
    environment = Environment.of(pyfunc)
    return _Called(pyfunc.__name__, source, environment, lifted, callee.is_elementwise)


def _find_inner(callee: InnerFunction) -> _Called:
    definer: Frame = callee.definer
    source = replace(definer.source, name=callee.node.name, node=callee.node)
    known = {name: partial(_as_it_is, value) for name, value in callee.defaults}
    return _Called(source.name, source, definer.environment, known, definer=definer)


def _as_it_is(value: Value) -> Value:
    return value


def _inline_library(
    build: Builder,
    called: _Called,
    arguments: dict[ast.arg, Value],
    call: _Call,
) -> Value:
    """A function of NumPy or Python: what it takes as `out` is where its result is put."""
    is_of_numbers = any(_is_of_python(arg, value, arguments) for arg, value in arguments.items())
    arguments = {
        arg: without_list(build, value, call.node)
        if called.is_elementwise or _is_array(arg, value, arguments)
        else value
        for arg, value in arguments.items()
    }
    node = call.node
    given = {arg: value for arg, value in arguments.items() if arg.arg == "out"}
    if called.is_elementwise and all(_is_weak(value) for value in arguments.values()):
        arguments = {arg: _as_numpy_number(value) for arg, value in arguments.items()}
    result = _inline_elements(build, called, arguments, call)
    for target in given.values():
        result = store_in(build, target, result, node, node)
    if is_of_numbers and isinstance(result, Scalar):  # an array of the items has types of NumPy
        return Scalar(result.expr, ScalarType(result.type.dtype, weak=True))
    return result


def _inline_elements(
    build: Builder,
    called: _Called,
    arguments: dict[ast.arg, Value],
    call: _Call,
) -> Value:
    """A call as it stands, or, of a function of numbers, one for each element."""
    if not called.is_elementwise or not any(
        isinstance(value, AnyArray) for value in arguments.values()
    ):
        return _inline_body(build, called, arguments, call)
    operands = {
        arg: value
        for arg, value in arguments.items()
        if isinstance(value, (Scalar, AnyArray)) and arg.arg != "out"
    }

    def element(parts: list[Scalar]) -> Scalar:
        bound: dict[ast.arg, Value] = arguments | dict(zip(operands, parts, strict=True))
        result = _inline_body(build, called, bound, call)
        return build.as_scalar(result, call.node, f"the result of '{called.name}'")

    return elementwise(build, list(operands.values()), element, call.node)


def _inline_body(
    build: Builder,
    called: _Called,
    arguments: dict[ast.arg, Value],
    call: _Call,
) -> Value:
    outer, outer_stack, source = build.frame, build.stack, called.source
    evaluated, build.evaluated = build.evaluated, {}  # of expressions in the caller
    node = call.node
    copied_at = build.unit.copied_at
    build.unit.copied_at = copied_at or call.span
    build.stack = (*build.stack, source)
    frame = Frame(
        source,
        called.environment,
        build.knowledge.variables_of(source.node),
        path=(*outer.path, (id(node), 0)),
        annotations=annotations_in(source.node),
        is_root=False,
        caller=outer,
        call=call.span,
        definer=called.definer,
    )
    try:
        bound = {arg: _argument(build, arg.arg, value, node) for arg, value in arguments.items()}
        build.frame = frame
        for arg, value in bound.items():
            note_name(build, arg.arg, value, build.span(arg), is_step=False)
            frame.fixed[arg] = value
            frame.bindings[frame.variables.writes[arg]] = value
        errors = len(build.unit.errors)
        with build.collect() as stmts:
            goes_on = build.run_block(source.node.body)
    finally:
        build.frame, build.stack, build.evaluated = outer, outer_stack, evaluated
        build.unit.copied_at = copied_at
    if len(build.unit.errors) > errors:
        _note_call(build, errors, called, node)
        raise Skip  # what the call would have returned is not known
    return _result(build, stmts, goes_on, called.name, node)


def _check_depth(build: Builder, called: _Called, node: ast.Call) -> None:
    name = called.name
    if len(build.stack) > MAX_CALL_DEPTH:
        raise build.refuse(
            f"calls are nested more than {MAX_CALL_DEPTH} deep",
            node,
            help=f"call what '{name}' calls directly",
        )
    if any(_same_function(called.source, other) for other in (build.root, *build.stack)):
        raise build.refuse(
            f"'{name}' calls itself; calls are inlined, so recursion has no end",
            node,
            help="write the recursion as a loop, or as one on numbers: arrays are handed on as "
            "they are, with indices in place of parts of them",
        )


def _spread_out(build: Builder, node: ast.Call) -> ast.Call:
    """`f(*xs)` as a call with an argument for each item of a tuple."""
    if not any(isinstance(arg, ast.Starred) for arg in node.args):
        return node
    args: list[ast.expr] = []
    for arg in node.args:
        args.extend(_items_of(build, arg, node) if isinstance(arg, ast.Starred) else [arg])
    # A call is known by its node: each has one for each number of its arguments.
    calls = _SPREAD_CALLS.setdefault(node, {})
    call = calls.setdefault(len(args), ast.Call(node.func, args, node.keywords))
    call.args = args
    return ast.copy_location(call, node)


_SPREAD_CALLS: WeakKeyDictionary[ast.Call, dict[int, ast.Call]] = WeakKeyDictionary()


def _items_of(build: Builder, arg: ast.Starred, node: ast.Call) -> list[ast.expr]:
    value = build.evaluate(arg.value)
    if not isinstance(value, Items):
        raise refusal(arg, build.span(arg))
    names: list[ast.expr] = []
    for item in value.items:
        name = ast.copy_location(ast.Name(ast.unparse(arg.value), ast.Load()), arg)
        build.frame.fixed[name] = _argument(build, "item", item, node)
        names.append(name)
    return names


def _bind_arguments(build: Builder, called: _Called, node: ast.Call) -> dict[ast.arg, Value]:
    args = called.source.node.args
    positional = [*args.posonlyargs, *args.args]
    every = [*positional, *args.kwonlyargs]
    rest = node.args[len(positional) :] if args.vararg else []
    found = _find_arguments(build, called, node, every)
    missing = [arg.arg for arg in every if arg.arg not in found and arg.arg not in called.defaults]
    if missing:
        raise build.refuse(
            f"{called.name} needs an argument '{missing[0]}'",
            node,
            help=f"it takes {', '.join(arg.arg for arg in every)}",
        )
    by_position = len(node.args) - len(rest)
    first, last = list(found)[:by_position], list(found)[by_position:]
    nodes = [*(found[name] for name in first), *rest, *(found[name] for name in last)]
    evaluated = evaluate_all(build, nodes)
    starred = evaluated[len(first) : len(first) + len(rest)]
    del evaluated[len(first) : len(first) + len(rest)]
    values = dict(zip((*first, *last), evaluated, strict=True))
    for name, default in called.defaults.items():
        if name not in values:
            values[name] = default()
    bound = {arg: values[arg.arg] for arg in every}
    if args.vararg:
        bound[args.vararg] = Items(tuple(starred))
    return bound


def _find_arguments(
    build: Builder, called: _Called, node: ast.Call, every: list[ast.arg]
) -> dict[str, ast.expr]:
    """The arguments of a call by the names of the parameters, without those of `*args`."""
    args = called.source.node.args
    if args.kwarg:
        raise build.refuse(
            f"cannot inline '{called.name}': it takes ** arguments",
            node,
            help="give it named parameters",
        )
    positional = len(args.posonlyargs) + len(args.args)
    if args.vararg:
        node = ast.copy_location(ast.Call(node.func, node.args[:positional], node.keywords), node)
    found = arguments(build, node, *(arg.arg for arg in every), required=0)
    unnamed = {arg.arg for arg in args.posonlyargs}
    for keyword in node.keywords:
        if keyword.arg in unnamed:
            raise build.refuse(
                f"{called.name} takes '{keyword.arg}' by position only",
                keyword,
                help="give it without its name",
            )
    if len(node.args) > positional:
        raise build.refuse(
            f"{called.name} takes {count(positional, 'argument')} by position, "
            f"found {len(node.args)}",
            node,
            help=f"give the others by name, as in {args.kwonlyargs[0].arg}=...",
        )
    return found


def _argument(build: Builder, name: str, value: Value, node: ast.expr) -> Value:
    """An argument is evaluated once, before the call."""
    if isinstance(value, Scalar):
        return build.let(value, name, build.span(node))
    if isinstance(value, Items):
        items = tuple(_argument(build, name, item, node) for item in value.items)
        return replace(value, items=items)
    if isinstance(value, ArrayExpr):
        return named(build, value, name, node)
    return settled(build, value) if isinstance(value, Array) else value


def _note_call(build: Builder, first: int, called: _Called, node: ast.Call) -> None:
    """An error inside an inlined function says where the call is."""
    errors, span = build.unit.errors, build.span(node)
    if is_in_library(called.source.file):
        _blame_call(build, first, node)
        return
    errors[first:] = [error.with_call(called.name, span) for error in errors[first:]]


def _blame_call(build: Builder, first: int, node: ast.Call) -> None:
    """An error inside a function of NumPy is one of its call: the user never saw its source."""
    error = build.unit.errors[first]
    if not is_in_library(build.frame.source.file):
        message = f"in `{ast.unparse(node)}`: {error.message}"
        error = type(error)(message, build.span(node), help=error.diagnostics[0].help)
    build.unit.errors[first:] = [error]


# results


def return_inlined(build: Builder, stmt: ast.Return) -> None:
    """A `return` of a function that is inlined."""
    check_return_order(build, stmt)
    value = Nothing() if stmt.value is None else build.evaluate(stmt.value)
    if build.tries:  # a `finally` may change what it is computed from
        value = frozen(build, value, "result", stmt)
    build.emit(InlineReturn(value=value, span=build.span(stmt)))


def check_return_order(build: Builder, stmt: ast.Return) -> None:
    """Refuse a return from a loop whose iterations may run at the same time."""
    for loop in build.frame.loops:
        if loop.kind is not None and loop.kind.is_concurrent:
            raise build.refuse(
                f"return in a {loop.word} loop: its iterations have no order",
                stmt,
                help="store the result in a variable and return after the loop",
            )


def _result(build: Builder, stmts: list[Stmt], goes_on: bool, name: str, node: ast.Call) -> Value:
    returns = find_returns(stmts)
    if not returns and not goes_on and build.is_in_statement:
        build.body.extend(stmts)
        raise Never
    if not returns or all(isinstance(r.value, Nothing) for r in returns):
        splice(build, stmts, None, node)
        return Nothing()
    if goes_on:
        raise build.refuse(
            f"'{name}' returns a value on some paths and none on others",
            node,
            help=f"add a return to the end of '{name}'",
        )
    if len(returns) == 1 and stmts[-1] is returns[0]:
        build.body.extend(stmts[:-1])
        return _fresh(build, returns[0].value, stmts)
    result = several_returns(build, stmts, returns, name, node)
    return _as_returned(result, [site.value for site in returns])


def _as_returned(result: Value, values: Sequence[Value]) -> Value:
    """A result with what all returns agree on: it is a list, or its items have names."""
    tuples = [value for value in values if isinstance(value, Items)]
    if not isinstance(result, Items) or len(tuples) < len(values):
        return result
    first, *others = tuples
    items = (
        _as_returned(item, [t.items[k] for t in tuples]) for k, item in enumerate(result.items)
    )
    made = replace(result, items=tuple(items), is_list=all(t.is_list for t in tuples))
    if any((other.fields, other.maker) != (first.fields, first.maker) for other in others):
        return made
    return replace(made, fields=first.fields, maker=first.maker)


def _fresh(build: Builder, value: Value, stmts: list[Stmt]) -> Value:
    """An array that the call made: once it is over, nothing else refers to its memory."""
    if not isinstance(value, Array) or value.indices:
        return value
    made = [stmt.buffer for stmt in stmts if isinstance(stmt, Allocate)]
    if value.buffer not in made:
        return value
    return replace(elements_of(build, value), buffer=value.buffer)


def _is_array(arg: ast.arg, value: Value, arguments: Mapping[ast.arg, Value]) -> bool:
    """True if a function of the library says that a parameter is an array, or may be one."""
    kind = _kind_of(arg)
    if kind == "Terms" and isinstance(value, Items):
        alike = _is_of_python(arg, value, arguments) or _are_of_one_type(value.items)
        return alike and len(value.items) > 0
    return kind.startswith("Array") or (kind == "Sequence" and isinstance(value, Items))


def _is_of_python(arg: ast.arg, value: Value, arguments: Mapping[ast.arg, Value]) -> bool:
    """True for a tuple or list of Python's numbers, given to a function that takes such. Terms of
    what starts with a number of NumPy meet that one by one.
    """
    kind = _kind_of(arg)
    if kind == "Terms" and not all(map(_is_weak, arguments.values())):
        return False
    is_sequence = kind in ("Sequence", "Terms")
    return is_sequence and isinstance(value, Items) and all(map(_is_weak, value.items))


def _kind_of(arg: ast.arg) -> str:
    return "" if arg.annotation is None else ast.unparse(arg.annotation)


def _are_of_one_type(values: Sequence[Value]) -> bool:
    """True for numbers of one type of NumPy: an array of them has it, too."""
    types = {value.type if isinstance(value, Scalar) else WEAK_INT for value in values}
    return len(types) == 1 and not any(type.weak for type in types)


def _is_weak(value: Value) -> bool:
    return not isinstance(value, (Scalar, AnyArray)) or (
        isinstance(value, Scalar) and value.type.weak
    )


def _as_numpy_number(value: Value) -> Value:
    """A number as NumPy takes it where it is given nothing but numbers of Python."""
    if not isinstance(value, Scalar):
        return value
    return Scalar(value.expr, ScalarType(value.type.dtype))


def _same_function(a: FunctionSource, b: FunctionSource) -> bool:
    return (a.file, a.name, *_place(a.node)) == (b.file, b.name, *_place(b.node))


def _place(node: ast.FunctionDef) -> tuple[int, int]:
    return node.lineno, node.col_offset
