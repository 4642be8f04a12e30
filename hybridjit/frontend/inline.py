"""Calls to other functions, put in place of the call."""

from __future__ import annotations

import ast
from dataclasses import replace
from types import FunctionType

from hybridjit.errors import ParseError
from hybridjit.frontend.arrays.refusals import count
from hybridjit.frontend.captures import Environment
from hybridjit.frontend.context import Never
from hybridjit.frontend.frame import Frame, Skip
from hybridjit.frontend.joint_returns import JointReturns
from hybridjit.frontend.library.table import is_in_library
from hybridjit.frontend.returns import InlineReturn, find_returns
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    Callee,
    Items,
    Nothing,
    Scalar,
    Value,
)
from hybridjit.frontend.variables import Variables
from hybridjit.ir.dtype import ScalarType
from hybridjit.ir.stmt import Allocate, Stmt
from hybridjit.source import FunctionSource

MAX_CALL_DEPTH = 32


class InlineTranslator(JointReturns):
    """Inlining of scripts and of plain Python functions."""

    stack: tuple[FunctionSource, ...] = ()
    root: FunctionSource

    def variables_of(self, node: ast.FunctionDef) -> Variables:
        """The variables of a function, with what is known of its static branches."""
        raise NotImplementedError

    def inline(self, callee: Callee, node: ast.Call) -> Value:
        pyfunc: FunctionType = callee.pyfunc
        source = self._source_of(pyfunc, node)
        arguments = self._bind_arguments(pyfunc, source, node)
        if is_in_library(source.file):
            return self._inline_library(callee, source, arguments, node)
        return self._inline_elements(callee, source, arguments, node)

    def _inline_library(
        self,
        callee: Callee,
        source: FunctionSource,
        arguments: dict[ast.arg, Value],
        node: ast.Call,
    ) -> Value:
        """A function of NumPy: what it takes as `out` is where its result is put."""
        arguments = {
            arg: self.without_list(value, node)
            if callee.is_elementwise or _is_array(arg)
            else value
            for arg, value in arguments.items()
        }
        given = {arg: value for arg, value in arguments.items() if arg.arg == "out"}
        if callee.is_elementwise and all(_is_weak(value) for value in arguments.values()):
            arguments = {arg: _as_numpy_number(value) for arg, value in arguments.items()}
        result = self._inline_elements(callee, source, arguments, node)
        for target in given.values():
            result = self.store_in(target, result, node, node)
        return result

    def _inline_elements(
        self,
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
            return self._inline_body(pyfunc, source, arguments, node)
        operands = {
            arg: value
            for arg, value in arguments.items()
            if isinstance(value, (Scalar, AnyArray)) and arg.arg != "out"
        }

        def element(parts: list[Scalar]) -> Scalar:
            bound: dict[ast.arg, Value] = arguments | dict(zip(operands, parts, strict=True))
            result = self._inline_body(pyfunc, source, bound, node)
            return self.as_scalar(result, node, f"the result of '{pyfunc.__name__}'")

        return self.elementwise(list(operands.values()), element, node)

    def _inline_body(
        self,
        pyfunc: FunctionType,
        source: FunctionSource,
        arguments: dict[ast.arg, Value],
        node: ast.Call,
    ) -> Value:
        outer, outer_stack = self.frame, self.stack
        copied_at = self.unit.copied_at
        self.unit.copied_at = copied_at or self.span(node)
        self.stack = (*self.stack, source)
        frame = Frame(
            source,
            Environment.of(pyfunc),
            self.variables_of(source.node),
            path=(*outer.path, (id(node), 0)),
            annotations=annotations_in(source.node),
            is_root=False,
            caller=outer,
        )
        try:
            bound = {arg: self._argument(arg.arg, value, node) for arg, value in arguments.items()}
            self.frame = frame
            for arg, value in bound.items():
                frame.fixed[arg] = value
                frame.bindings[frame.variables.writes[arg]] = value
            errors = len(self.unit.errors)
            with self.collect() as stmts:
                goes_on = self.run_block(source.node.body)
        finally:
            self.frame, self.stack = outer, outer_stack
            self.unit.copied_at = copied_at
        if len(self.unit.errors) > errors:
            self._note_call(errors, pyfunc, node)
            raise Skip  # what the call would have returned is not known
        return self._result(stmts, goes_on, pyfunc, node)

    def _source_of(self, pyfunc: FunctionType, node: ast.Call) -> FunctionSource:
        name = pyfunc.__name__
        if len(self.stack) > MAX_CALL_DEPTH:
            raise self.refuse(
                f"calls are nested more than {MAX_CALL_DEPTH} deep",
                node,
                help=f"call what '{name}' calls directly",
            )
        try:
            source = self.read_callee(pyfunc)
        except ParseError as error:
            raise self.refuse(
                f"cannot inline '{ast.unparse(node.func)}': {error.message}",
                node.func,
                help=error.diagnostics[0].help,
            ) from None
        if any(_same_function(source, other) for other in (self.root, *self.stack)):
            raise self.refuse(
                f"'{name}' calls itself; calls are inlined, so recursion has no end",
                node,
                help="write the recursion as a loop",
            )
        return source

    def _bind_arguments(
        self, pyfunc: FunctionType, source: FunctionSource, node: ast.Call
    ) -> dict[ast.arg, Value]:
        args = source.node.args
        if args.vararg or args.kwarg:
            raise self.refuse(
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
        found = self.arguments(node, *(arg.arg for arg in every), required=0)
        unnamed = {arg.arg for arg in args.posonlyargs}
        for keyword in node.keywords:
            if keyword.arg in unnamed:
                raise self.refuse(
                    f"{pyfunc.__name__} takes '{keyword.arg}' by position only",
                    keyword,
                    help="give it without its name",
                )
        if len(node.args) > len(positional):
            raise self.refuse(
                f"{pyfunc.__name__} takes {count(len(positional), 'argument')} by position, "
                f"found {len(node.args)}",
                node,
                help=f"give the others by name, as in {args.kwonlyargs[0].arg}=...",
            )
        missing = [arg.arg for arg in every if arg.arg not in found and arg.arg not in defaults]
        if missing:
            raise self.refuse(
                f"{pyfunc.__name__} needs an argument '{missing[0]}'",
                node,
                help=f"it takes {', '.join(arg.arg for arg in every)}",
            )
        names = list(found)
        values = dict(zip(names, self.evaluate_all([found[name] for name in names]), strict=True))
        for name, default in defaults.items():
            if name not in values:
                values[name] = self.lift(default, name, node)
        return {arg: values[arg.arg] for arg in every}

    def _argument(self, name: str, value: Value, node: ast.Call) -> Value:
        """An argument is evaluated once, before the call."""
        if isinstance(value, Scalar):
            return self.let(value, name, self.span(node))
        if isinstance(value, Items):
            return Items(tuple(self._argument(name, item, node) for item in value.items))
        if isinstance(value, ArrayExpr):
            return self.named(value, name, node)
        return value

    def _note_call(self, first: int, pyfunc: FunctionType, node: ast.Call) -> None:
        """An error inside an inlined function says where the call is."""
        errors, span = self.unit.errors, self.span(node)
        if is_in_library(pyfunc.__code__.co_filename):
            self._blame_call(first, node)
            return
        errors[first:] = [error.with_call(pyfunc.__name__, span) for error in errors[first:]]

    def _blame_call(self, first: int, node: ast.Call) -> None:
        """An error inside a function of NumPy is one of its call: the user never saw its source."""
        error = self.unit.errors[first]
        if not is_in_library(self.frame.source.file):
            message = f"in `{ast.unparse(node)}`: {error.message}"
            error = type(error)(message, self.span(node), help=error.diagnostics[0].help)
        self.unit.errors[first:] = [error]

    # -- results -------------------------------------------------------------------------------

    def run_return(self, stmt: ast.Return) -> None:
        self.check_return_order(stmt)
        value = Nothing() if stmt.value is None else self.evaluate(stmt.value)
        self.emit(InlineReturn(value=value, span=self.span(stmt)))

    def check_return_order(self, stmt: ast.Return) -> None:
        """Refuse a return from a loop whose iterations may run at the same time."""
        for loop in self.frame.loops:
            if loop.kind is not None and loop.kind.is_concurrent:
                raise self.refuse(
                    f"return in a {loop.word} loop: its iterations have no order",
                    stmt,
                    help="store the result in a variable and return after the loop",
                )

    def _result(
        self, stmts: list[Stmt], goes_on: bool, pyfunc: FunctionType, node: ast.Call
    ) -> Value:
        returns = find_returns(stmts)
        if not returns and not goes_on and self.is_in_statement:
            self.body.extend(stmts)
            raise Never
        if not returns or all(isinstance(r.value, Nothing) for r in returns):
            self.splice(stmts, None, node)
            return Nothing()
        if goes_on:
            raise self.refuse(
                f"'{pyfunc.__name__}' returns a value on some paths and none on others",
                node,
                help=f"add a return to the end of '{pyfunc.__name__}'",
            )
        if len(returns) == 1 and stmts[-1] is returns[0]:
            self.body.extend(stmts[:-1])
            return self._fresh(returns[0].value, stmts)
        return self.several_returns(stmts, returns, pyfunc, node)

    def _fresh(self, value: Value, stmts: list[Stmt]) -> Value:
        """An array that the call made: once it is over, nothing else refers to its memory."""
        if not isinstance(value, Array) or value.indices:
            return value
        made = [stmt.buffer for stmt in stmts if isinstance(stmt, Allocate)]
        if value.buffer not in made:
            return value
        return replace(self.array(value), buffer=value.buffer)


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
