"""Calls to other functions, put in place of the call."""

from __future__ import annotations

import ast
from dataclasses import replace
from types import FunctionType

from hybridjit.errors import ParseError
from hybridjit.frontend.arrays.calls import store_in
from hybridjit.frontend.arrays.elementwise import elementwise, without_list
from hybridjit.frontend.arrays.memory import elements_of, evaluate_all
from hybridjit.frontend.arrays.refusals import count
from hybridjit.frontend.arrays.stores import named
from hybridjit.frontend.builder import Builder, Never
from hybridjit.frontend.call_arguments import arguments
from hybridjit.frontend.captures import Environment
from hybridjit.frontend.frame import Frame, Skip
from hybridjit.frontend.joint_returns import several_returns, splice
from hybridjit.frontend.library.table import is_in_library
from hybridjit.frontend.returns import InlineReturn, find_returns
from hybridjit.frontend.values import AnyArray, Array, ArrayExpr, Callee, Items, Nothing, Value
from hybridjit.ir.dtype import ScalarType
from hybridjit.ir.stmt import Allocate, Stmt
from hybridjit.scalars.scalar import Scalar
from hybridjit.source import FunctionSource

MAX_CALL_DEPTH = 32


def inline(build: Builder, callee: Callee, node: ast.Call) -> Value:
    """The value of a call whose body is put in place."""
    pyfunc: FunctionType = callee.pyfunc
    source = _source_of(build, pyfunc, node)
    arguments = _bind_arguments(build, pyfunc, source, node)
    if is_in_library(source.file):
        return _inline_library(build, callee, source, arguments, node)
    return _inline_elements(build, callee, source, arguments, node)


def _inline_library(
    build: Builder,
    callee: Callee,
    source: FunctionSource,
    arguments: dict[ast.arg, Value],
    node: ast.Call,
) -> Value:
    """A function of NumPy: what it takes as `out` is where its result is put."""
    arguments = {
        arg: without_list(build, value, node) if callee.is_elementwise or _is_array(arg) else value
        for arg, value in arguments.items()
    }
    given = {arg: value for arg, value in arguments.items() if arg.arg == "out"}
    if callee.is_elementwise and all(_is_weak(value) for value in arguments.values()):
        arguments = {arg: _as_numpy_number(value) for arg, value in arguments.items()}
    result = _inline_elements(build, callee, source, arguments, node)
    for target in given.values():
        result = store_in(build, target, result, node, node)
    return result


def _inline_elements(
    build: Builder,
    callee: Callee,
    source: FunctionSource,
    arguments: dict[ast.arg, Value],
    node: ast.Call,
) -> Value:
    """A call as it stands, or, of a function of numbers, one for each element."""
    pyfunc: FunctionType = callee.pyfunc
    if not callee.is_elementwise or not any(
        isinstance(value, AnyArray) for value in arguments.values()
    ):
        return _inline_body(build, pyfunc, source, arguments, node)
    operands = {
        arg: value
        for arg, value in arguments.items()
        if isinstance(value, (Scalar, AnyArray)) and arg.arg != "out"
    }

    def element(parts: list[Scalar]) -> Scalar:
        bound: dict[ast.arg, Value] = arguments | dict(zip(operands, parts, strict=True))
        result = _inline_body(build, pyfunc, source, bound, node)
        return build.as_scalar(result, node, f"the result of '{pyfunc.__name__}'")

    return elementwise(build, list(operands.values()), element, node)


def _inline_body(
    build: Builder,
    pyfunc: FunctionType,
    source: FunctionSource,
    arguments: dict[ast.arg, Value],
    node: ast.Call,
) -> Value:
    outer, outer_stack = build.frame, build.stack
    copied_at = build.unit.copied_at
    build.unit.copied_at = copied_at or build.span(node)
    build.stack = (*build.stack, source)
    frame = Frame(
        source,
        Environment.of(pyfunc),
        build.knowledge.variables_of(source.node),
        path=(*outer.path, (id(node), 0)),
        annotations=annotations_in(source.node),
        is_root=False,
        caller=outer,
    )
    try:
        bound = {arg: _argument(build, arg.arg, value, node) for arg, value in arguments.items()}
        build.frame = frame
        for arg, value in bound.items():
            frame.fixed[arg] = value
            frame.bindings[frame.variables.writes[arg]] = value
        errors = len(build.unit.errors)
        with build.collect() as stmts:
            goes_on = build.run_block(source.node.body)
    finally:
        build.frame, build.stack = outer, outer_stack
        build.unit.copied_at = copied_at
    if len(build.unit.errors) > errors:
        _note_call(build, errors, pyfunc, node)
        raise Skip  # what the call would have returned is not known
    return _result(build, stmts, goes_on, pyfunc, node)


def _source_of(build: Builder, pyfunc: FunctionType, node: ast.Call) -> FunctionSource:
    name = pyfunc.__name__
    if len(build.stack) > MAX_CALL_DEPTH:
        raise build.refuse(
            f"calls are nested more than {MAX_CALL_DEPTH} deep",
            node,
            help=f"call what '{name}' calls directly",
        )
    try:
        source = build.knowledge.read_callee(pyfunc)
    except ParseError as error:
        raise build.refuse(
            f"cannot inline '{ast.unparse(node.func)}': {error.message}",
            node.func,
            help=error.diagnostics[0].help,
        ) from None
    if any(_same_function(source, other) for other in (build.root, *build.stack)):
        raise build.refuse(
            f"'{name}' calls itself; calls are inlined, so recursion has no end",
            node,
            help="write the recursion as a loop",
        )
    return source


def _bind_arguments(
    build: Builder, pyfunc: FunctionType, source: FunctionSource, node: ast.Call
) -> dict[ast.arg, Value]:
    args = source.node.args
    if args.vararg or args.kwarg:
        raise build.refuse(
            f"cannot inline '{pyfunc.__name__}': it takes * arguments",
            node,
            help="give it named parameters, or one parameter for a tuple",
        )
    positional = [*args.posonlyargs, *args.args]
    every = [*positional, *args.kwonlyargs]
    defaults: dict[str, object] = dict(pyfunc.__kwdefaults__ or {})
    given = pyfunc.__defaults__ or ()
    for arg, value in zip(positional[len(positional) - len(given) :], given, strict=True):
        defaults[arg.arg] = value
    found = arguments(build, node, *(arg.arg for arg in every), required=0)
    unnamed = {arg.arg for arg in args.posonlyargs}
    for keyword in node.keywords:
        if keyword.arg in unnamed:
            raise build.refuse(
                f"{pyfunc.__name__} takes '{keyword.arg}' by position only",
                keyword,
                help="give it without its name",
            )
    if len(node.args) > len(positional):
        raise build.refuse(
            f"{pyfunc.__name__} takes {count(len(positional), 'argument')} by position, "
            f"found {len(node.args)}",
            node,
            help=f"give the others by name, as in {args.kwonlyargs[0].arg}=...",
        )
    missing = [arg.arg for arg in every if arg.arg not in found and arg.arg not in defaults]
    if missing:
        raise build.refuse(
            f"{pyfunc.__name__} needs an argument '{missing[0]}'",
            node,
            help=f"it takes {', '.join(arg.arg for arg in every)}",
        )
    names = list(found)
    values = dict(zip(names, evaluate_all(build, [found[name] for name in names]), strict=True))
    for name, default in defaults.items():
        if name not in values:
            values[name] = build.lift(default, name, node)
    return {arg: values[arg.arg] for arg in every}


def _argument(build: Builder, name: str, value: Value, node: ast.Call) -> Value:
    """An argument is evaluated once, before the call."""
    if isinstance(value, Scalar):
        return build.let(value, name, build.span(node))
    if isinstance(value, Items):
        return Items(tuple(_argument(build, name, item, node) for item in value.items))
    if isinstance(value, ArrayExpr):
        return named(build, value, name, node)
    return value


def _note_call(build: Builder, first: int, pyfunc: FunctionType, node: ast.Call) -> None:
    """An error inside an inlined function says where the call is."""
    errors, span = build.unit.errors, build.span(node)
    if is_in_library(pyfunc.__code__.co_filename):
        _blame_call(build, first, node)
        return
    errors[first:] = [error.with_call(pyfunc.__name__, span) for error in errors[first:]]


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


def _result(
    build: Builder, stmts: list[Stmt], goes_on: bool, pyfunc: FunctionType, node: ast.Call
) -> Value:
    returns = find_returns(stmts)
    if not returns and not goes_on and build.is_in_statement:
        build.body.extend(stmts)
        raise Never
    if not returns or all(isinstance(r.value, Nothing) for r in returns):
        splice(build, stmts, None, node)
        return Nothing()
    if goes_on:
        raise build.refuse(
            f"'{pyfunc.__name__}' returns a value on some paths and none on others",
            node,
            help=f"add a return to the end of '{pyfunc.__name__}'",
        )
    if len(returns) == 1 and stmts[-1] is returns[0]:
        build.body.extend(stmts[:-1])
        return _fresh(build, returns[0].value, stmts)
    return several_returns(build, stmts, returns, pyfunc, node)


def _fresh(build: Builder, value: Value, stmts: list[Stmt]) -> Value:
    """An array that the call made: once it is over, nothing else refers to its memory."""
    if not isinstance(value, Array) or value.indices:
        return value
    made = [stmt.buffer for stmt in stmts if isinstance(stmt, Allocate)]
    if value.buffer not in made:
        return value
    return replace(elements_of(build, value), buffer=value.buffer)


def _is_array(arg: ast.arg) -> bool:
    """True if a function of the library says that a parameter is an array, or may be one."""
    return arg.annotation is not None and ast.unparse(arg.annotation).startswith("Array")


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
    return (a.file, a.name, a.node.lineno) == (b.file, b.name, b.node.lineno)


def annotations_in(node: ast.FunctionDef) -> dict[str, ast.expr]:
    """The annotations of local names, the first one of each name."""
    found: dict[str, ast.expr] = {}
    stack: list[ast.stmt] = list(reversed(node.body))
    while stack:  # statements only: walking every expression takes ten times as long
        stmt = stack.pop()
        match stmt:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                found.setdefault(name, annotation)
            case ast.For(body=body, orelse=orelse) | ast.While(body=body, orelse=orelse):
                stack.extend(reversed([*body, *orelse]))
            case ast.If(body=body, orelse=orelse):
                stack.extend(reversed([*body, *orelse]))
            case ast.With(body=body):
                stack.extend(reversed(body))
            case _:
                pass
    return found
